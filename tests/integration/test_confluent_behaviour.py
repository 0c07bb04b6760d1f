"""The cases of conformance/confluent, request by request, through the real server on every store."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.postgres import binaries, own_database, running_postgres
from tests.servers import running_registry

_CASES = Path(__file__).parents[2] / "conformance" / "confluent"


def _cases() -> Iterator[Any]:
    for file in sorted(_CASES.glob("*.yaml")):
        for case in yaml.safe_load(file.read_text()):
            yield pytest.param(case["steps"], id=f"{file.stem}: {case['name']}")


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    if binaries() is None:
        pytest.skip("PostgreSQL is not installed")
    with running_postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[str | None]:
    if request.param == "sqlite":
        yield None
    else:
        with own_database(request.getfixturevalue("postgres")) as url:
            yield url


@pytest.mark.parametrize("steps", list(_cases()))
def test_case(steps: list[dict[str, Any]], store: str | None, tmp_path: Path) -> None:
    kept: dict[str, str] = {}
    with running_registry(tmp_path, store) as server, httpx.Client(base_url=server.confluent) as client:
        for step in steps:
            _check(client, _filled(step, kept), kept)


def _filled(value: Any, kept: dict[str, str]) -> Any:
    """The step with what earlier answers gave for `$name`."""
    if isinstance(value, str):
        return re.sub(r"\$([a-z]+)", lambda match: kept.get(match[1], match[0]), value)
    if isinstance(value, dict):
        return {key: _filled(inner, kept) for key, inner in value.items()}
    return [_filled(inner, kept) for inner in value] if isinstance(value, list) else value


def _check(client: httpx.Client, step: dict[str, Any], kept: dict[str, str]) -> None:
    method, path = step["request"].split(" ", 1)
    content = step["text"] if "text" in step else json.dumps(step["body"]) if "body" in step else None
    headers = {"content-type": step.get("type", "application/vnd.schemaregistry.v1+json")} if content else {}
    response = client.request(method, path, content=content, headers=headers)
    said = f"{step['request']} {content or ''} answered {response.status_code} {response.text}"
    assert response.status_code == step.get("status", 200), said
    answer: Any = response.json() if response.content else None
    if "error" in step:
        assert answer["error_code"] == step["error"], said
    if "message" in step:
        assert step["message"] in answer["message"], said
    if "answer" in step:
        assert _holds(answer, step["answer"]), said
    for field in step.get("absent", ()):
        assert field not in answer, said
    kept.update({name: answer[field] for name, field in step.get("keep", {}).items()})


def _holds(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict) and isinstance(found, dict):
        if not wanted:
            return not found
        return all(key in found and _holds(found[key], value) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(_holds, found, wanted))
    return bool(found == wanted)
