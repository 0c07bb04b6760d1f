"""What the workers of one test run have in common: servers that one of them starts, answers that one of them asks for.

Locks on files tell who still uses what, so a worker that dies leaves nobody waiting.
"""

import fcntl
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pytest
    from _typeshed import DataclassInstance

    Servers = TypeVar("Servers", bound=DataclassInstance)


def folder_of_run(paths: "pytest.TempPathFactory", worker_id: str, name: str) -> Path:
    """A folder of this run that all its workers see."""
    own = paths.getbasetemp()
    folder = (own if worker_id == "master" else own.parent) / name
    folder.mkdir(exist_ok=True)
    return folder


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


@contextmanager
def shared_servers(
    folder: Path, start: "Callable[[], AbstractContextManager[Servers]]", read: "Callable[[Any], Servers]"
) -> "Iterator[Servers]":
    """The first to come starts them, and stops them when nobody else uses them any more.

    The others get what `read` makes of their values.
    """
    known = folder / "servers.json"
    with locked(folder / "start.lock"):
        users = locked(folder / "users.lock", shared=True)
        if known.is_file():
            users.__enter__()
            servers, starting = read(json.loads(known.read_text())), None
        else:
            starting = start()
            servers = starting.__enter__()
            known.write_text(json.dumps(asdict(servers)))
    try:
        yield servers
    finally:
        if starting is None:
            users.__exit__(None, None, None)
        else:
            _stop(folder, known, starting)


def answers_of(folder: Path, name: str, ask: Callable[[], Any]) -> Any:
    """What `ask` returns, as JSON; asked for once in a run."""
    kept = folder / f"{name}.json"
    with locked(folder / f"{name}.lock"):
        if not kept.is_file():
            kept.write_text(json.dumps(ask()))
    return json.loads(kept.read_text())


def _stop(folder: Path, known: Path, starting: "AbstractContextManager[Servers]") -> None:
    with locked(folder / "start.lock"):
        known.unlink()
    with locked(folder / "users.lock"):
        starting.__exit__(None, None, None)
