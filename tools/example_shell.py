"""How the commands of a page run: in one shell, with real servers, on ports that are free on this machine.

A command that begins with `tally serve` goes on in the background and is stopped when the page ends; its log is shown
unless `2> FILE` keeps it. The ports that a page names are mapped to free ones on the way in, and back on the way out.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ports import free_ports

_LIMIT_S = 600
_DEFAULTS = {"--http": "127.0.0.1:8080", "--confluent": "127.0.0.1:8081", "--pulsar": "127.0.0.1:6650"}
_LISTEN = re.compile(r"--(?:http|confluent|pulsar)[ =][^\s:]+:(\d+)")
_LOG = re.compile(r" 2> (\S+)")
_POSTGRES_PORT = 5432

_SERVERS = r"""
__servers=()
__serve() {
  local printed=.printed-by-server-${#__servers[@]}
  : > $printed
  "$@" >> $printed 2>> ${__log:-$printed} &
  __servers+=($!)
  until grep -q '^tally serve is ready' $printed; do
    kill -0 $! 2> /dev/null || { wait $!; local status=$?; cat $printed; return $status; }
    sleep 0.02
  done
  cat $printed
}
trap '[ ${#__servers[@]} = 0 ] || { kill "${__servers[@]}"; wait; } 2> /dev/null' EXIT
"""


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports that a page names, each with the one that is used."""

    used: Mapping[int, int]

    def mapped(self, text: str) -> str:
        return _replaced(text, self.used)

    def as_told(self, text: str) -> str:
        return _replaced(text, {used: named for named, used in self.used.items()})


@contextmanager
def ports_for(commands: Iterable[str], *, with_postgres: bool) -> Iterator[Ports]:
    """Free ports for the servers of a page; with PostgreSQL, that one runs as long as the context."""
    named = sorted({6650, 8080, 8081} | {int(port) for command in commands for port in _LISTEN.findall(command)})
    used = dict(zip(named, free_ports(len(named)), strict=True))
    if not with_postgres:
        yield Ports(used)
        return
    import psycopg

    from tests.postgres import running_postgres

    with running_postgres() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE registry")
        port = int(re.findall(r":(\d+)/", url)[0])
        yield Ports({**used, _POSTGRES_PORT: port})


def line_of(command: str) -> str:
    """The command as the shell gets it."""
    if not command.startswith("tally serve"):
        return command
    listen = {name: address for name, address in _DEFAULTS.items() if name not in command}
    if "--no-broker" in command:
        listen.pop("--pulsar", None)
    options = "".join(f" {name} {address}" for name, address in listen.items())
    # The shell's own redirection would be that of the waiting, not of the server.
    bare, log = _LOG.sub("", command), _LOG.search(command)
    return f"{f'__log={log[1]} ' if log else ''}__serve {bare}{options}"


def shell(lines: Iterable[str], folder: Path) -> str:
    """What the lines print, errors too. Everything that they started is gone when it returns."""
    process = subprocess.Popen(
        ["bash", "-c", _SERVERS + "\n".join(lines)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=_environment(os.environ, folder),
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return "".join(line.rstrip(" ") for line in re.split(r"(\n)", output))


def _environment(outer: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Little of the machine's own, so that a page prints the same everywhere."""
    path = os.pathsep.join([str(Path(sys.executable).parent), outer.get("PATH", os.defpath)])
    shown = {"LANG": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb"}
    # What is downloaded once for each machine is not downloaded for each page.
    cache = outer.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return {"PATH": path, "HOME": str(folder), "XDG_CACHE_HOME": cache, **shown}


def _replaced(text: str, ports: Mapping[int, int]) -> str:
    return re.sub(r"(?<=[:=])(\d{4,5})\b", lambda found: str(ports.get(int(found[1]), found[1])), text)
