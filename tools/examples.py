"""The examples in README and docs: found, run, and compared with what their page says.

A fenced block is a file when the line before it ends with the file's name in backticks and a colon. A `console`
block holds commands (`$ `, carried on by `> `) and what they print; `…` stands for any text in a line, alone in a
line for any lines. A page runs from top to bottom in one shell, in an empty folder. A command that fails is followed
by `$ echo $?`, so that readers see its exit code.

`$ tally serve` starts a server that runs until the page ends; the ports that a page names are free ones in truth (see
`example_shell`). `<!-- $ COMMAND -->` is run and not shown; `<!-- PostgreSQL -->` gives the page an empty database at
`postgresql://tally@127.0.0.1:5432/registry`. `<!-- Spark -->` says that the page needs Java.

`python -m tools.examples --write` puts what the commands print now into the pages.
"""

import argparse
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tools import example_shell

ROOT = Path(__file__).parents[1]

NOT_RUN = {
    "make demo": "the set-up needs the network; tests of `tally demo` run the command itself",
    "make test": "it is what runs this",
    "make test-fast": "a part of `make test`",
    "make check": "a part of `make test`",
    "make bench": "tests/unit/test_bench.py runs the harness on a toy",
    "tally secret": "it asks on a terminal; tests/unit/server/test_security.py answers it",
    "make docs": "tests/docs/test_reference.py and test_site.py make the same pages and site",
    "python3 -m venv .venv": "the Makefile does the same before `make test`",
    "pip install ./tallystick": "the Makefile installs the same package, editable, before `make test`",
    ".venv/bin/pip install .": "the Makefile installs the same package, editable, before `make test`",
    ".venv/bin/pip install '.[spark]'": "the Makefile installs the same packages before `make test`",
}
"""Commands that stand in the pages but cannot run in a test, each with what covers it instead."""

_FENCE = re.compile(r"^(`{3,})(\S*)[^\n]*\n(.*?)^\1[ ]*$|^<!-- \$ (.*?) -->$", re.DOTALL | re.MULTILINE)
_FILE_NAME = re.compile(r"`([^`\s]+\.[A-Za-z]+)`:\s*$")
_POSTGRES = "<!-- PostgreSQL -->"
_SPARK = "<!-- Spark -->"
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)?|\b1[5-9]\d{11}\b")
_END = "\x1e"


@dataclass(frozen=True, slots=True)
class File:
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    text: str
    output: str
    start: int
    """Where the output stands in the page."""
    is_shown: bool = True

    @property
    def runs(self) -> bool:
        return self.text not in NOT_RUN


@dataclass(frozen=True, slots=True)
class Result:
    command: Command
    output: str
    status: int

    @property
    def is_as_told(self) -> bool:
        if not self.command.is_shown:
            return self.status == 0
        return bool(_pattern(self.command.output).fullmatch(self.output))


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def examples(page: str) -> Iterator[File | Command]:
    """Files and commands in the order of the page."""
    for block in _FENCE.finditer(page):
        if block[4] is not None:
            yield Command(block[4], "", block.end(), is_shown=False)
        elif block[2] == "console":
            yield from _commands(block[3], block.start(3))
        elif name := _file_name(page, block):
            yield File(name, block[3])


def needs_postgres(page: str) -> bool:
    return _POSTGRES in page


def needs_spark(page: str) -> bool:
    return _SPARK in page


def unnamed_languages(page: str) -> set[str]:
    """The languages of the blocks that are no files."""
    blocks = (block for block in _FENCE.finditer(page) if block[4] is None)
    return {block[2] for block in blocks if not _file_name(page, block)}


def run(page: str, folder: Path) -> list[Result]:
    """What each command of a page prints, and its exit code. Files are there from the start of their block on."""
    found = list(examples(page))
    texts = [example.text for example in found if isinstance(example, Command)]
    with example_shell.ports_for(texts, with_postgres=needs_postgres(page)) as ports:
        script, commands = _script(found, folder, ports)
        parts = ports.as_told(example_shell.shell(script, folder)).split(_END)
    return [
        Result(command, output if not output or output.endswith("\n") else output + "\n", int(status))
        for command, output, status in zip(commands, parts[0::2], parts[1::2], strict=False)
    ]


def _script(
    found: Sequence[File | Command], folder: Path, ports: example_shell.Ports
) -> tuple[list[str], list[Command]]:
    script, commands = [], []
    for i, example in enumerate(found):
        if isinstance(example, File):
            waiting = folder / f".file-{i}"
            waiting.write_text(ports.mapped(example.text))
            script.append(f"mkdir -p $(dirname {example.name}); mv .file-{i} {example.name}")
        elif example.runs:
            # The marker must not change `$?`, which the next command may show.
            line = ports.mapped(example_shell.line_of(example.text))
            script.append(f"{line}\n__status=$?; printf '\\036%s\\036' $__status; (exit $__status)")
            commands.append(example)
    return script, commands


def unshown_failures(results: Sequence[Result]) -> list[str]:
    following = [*(result.command.text for result in results[1:]), ""]
    return [r.command.text for r, then in zip(results, following, strict=False) if r.status and then != "echo $?"]


def rewritten(page: str, results: Sequence[Result]) -> str:
    """The page with the outputs that the commands have now, without times; those that fit stay as they are."""
    for result in sorted(results, key=lambda result: result.command.start, reverse=True):
        if result.command.is_shown and not result.is_as_told:
            start = result.command.start
            page = page[:start] + _TIMES.sub("…", result.output) + page[start + len(result.command.output) :]
    return page


def _file_name(page: str, block: re.Match[str]) -> str | None:
    named = _FILE_NAME.search(page, 0, block.start())
    return None if named is None else named[1]


def _commands(block: str, offset: int) -> Iterator[Command]:
    prompts = [match.start() for match in re.finditer(r"^\$ ", block, re.MULTILINE)]
    for start, end in pairwise([*prompts, len(block)]):
        lines = block[start:end].splitlines(keepends=True)
        told = 1
        while told < len(lines) and lines[told].startswith("> "):
            told += 1
        text = "".join(line[2:] for line in lines[:told]).rstrip("\n")
        yield Command(text, "".join(lines[told:]), offset + start + sum(map(len, lines[:told])))


def _pattern(output: str) -> re.Pattern[str]:
    lines = output.splitlines(keepends=True)
    return re.compile("".join(r"(?:.*\n)*?" if line == "…\n" else _line_pattern(line) for line in lines))


def _line_pattern(line: str) -> str:
    return r"[^\n]*".join(re.escape(part) for part in line.split("…"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.examples", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put what the commands print now into the pages")
    parser.add_argument("page", nargs="*", type=Path, help="only these")
    options = parser.parse_args()
    for path in [each.resolve() for each in options.page] or pages():
        page = path.read_text()
        with tempfile.TemporaryDirectory() as folder:
            results = run(page, Path(folder))
        differing = [result for result in results if not result.is_as_told]
        for result in differing:
            print(f"{path.relative_to(ROOT)}: $ {result.command.text}\n{result.output}")
        if options.write and differing:
            path.write_text(rewritten(page, results))


if __name__ == "__main__":
    main()
