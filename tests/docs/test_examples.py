"""Every command in README and docs does what its page says."""

import os
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.maven import missing
from tests.postgres import binaries
from tools.examples import (
    NOT_RUN,
    ROOT,
    Command,
    File,
    Result,
    examples,
    needs_postgres,
    needs_spark,
    pages,
    rewritten,
    run,
    unnamed_languages,
    unshown_failures,
)

each_page = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


each_run = pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.jvm if needs_spark(page.read_text()) else ()) for page in pages()],
    ids=lambda page: str(page.relative_to(ROOT)),
)


@each_run
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    text = page.read_text()
    if needs_spark(text) and (reason := missing()) is not None:
        pytest.skip(f"Spark cannot run here: {reason}")
    if needs_postgres(text) and binaries() is None:
        pytest.skip("PostgreSQL is not installed")
    results = run(text, tmp_path)
    assert len(results) == sum(isinstance(one, Command) and one.runs for one in examples(text))
    assert "".join(_difference(result) for result in results if not result.is_as_told) == ""
    assert unshown_failures(results) == []


@each_page
def test_every_other_block_is_a_file(page: Path) -> None:
    assert unnamed_languages(page.read_text()) <= {"console", "text"}


@each_page
def test_commands_in_ci_files_are_run_on_their_page(page: Path) -> None:
    assert _in_ci_files(page) - _shown(page) - set(NOT_RUN) == set()


def test_every_command_that_is_not_run_stands_somewhere() -> None:
    assert set(NOT_RUN) - set().union(*(_shown(page) | _in_ci_files(page) for page in pages())) == set()


PAGE = """
Save this as `a/word.txt`:

```text
tally
```

```console
$ cat a/word.txt
tally
$ printf 'one\\ntwo 2\\nthree\\n'
…
two …
three
$ cat <<EOF
> two lines
> EOF
two lines
$ (exit 3)
$ echo $?
3
```
"""


def test_a_page_runs_from_top_to_bottom(tmp_path: Path) -> None:
    results = run(PAGE, tmp_path)
    assert [result.is_as_told for result in results] == [True] * 5
    assert [result.status for result in results] == [0, 0, 0, 3, 0]
    assert unshown_failures(results) == []
    assert rewritten(PAGE, results) == PAGE


@pytest.mark.parametrize(
    ("was", "now"), [("tally\n$", "tallies\n$"), ("three\n", "four\n"), ("\n3\n", "\n0\n"), ("two …\n", "two …\n2\n")]
)
def test_a_page_that_tells_something_else_is_found_and_can_be_mended(tmp_path: Path, was: str, now: str) -> None:
    assert was in PAGE
    wrong = PAGE.replace(was, now)
    results = run(wrong, tmp_path)
    assert [result.is_as_told for result in results].count(False) == 1
    mended = rewritten(wrong, results)
    assert mended in (PAGE, PAGE.replace("…\ntwo …\n", "one\ntwo 2\n"))


def test_a_failure_without_its_exit_code_is_found(tmp_path: Path) -> None:
    results = run("```console\n$ false\n$ true\n```\n", tmp_path)
    assert unshown_failures(results) == ["false"]


SERVED = """
<!-- $ tally serve --http 127.0.0.1:8080 -->

Save this as `name.txt`:

```text
http://127.0.0.1:8080
```

```console
$ curl --silent $(cat name.txt)/health/ready
{"status":"ready"}
$ jobs -p
…
$ tally serve --no-broker --data other --http 127.0.0.1:9080 --confluent 127.0.0.1:9081
…
tally serve is ready; data in other
OpenSchema
  curl http://127.0.0.1:9080/subjects
…
$ tally serve --no-broker --http 127.0.0.1:8080
Error: --http 127.0.0.1:8080: cannot listen there (Address already in use)
$ echo $?
2
```
"""


def test_servers_run_on_free_ports_until_their_page_ends(tmp_path: Path) -> None:
    results = run(SERVED, tmp_path)
    assert "".join(_difference(result) for result in results if not result.is_as_told) == ""
    assert unshown_failures(results) == []
    assert rewritten(SERVED, results) == SERVED
    server = int(results[2].output)
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)


def test_a_command_that_is_not_shown_must_not_fail(tmp_path: Path) -> None:
    results = run("<!-- $ false -->\n", tmp_path)
    assert [result.is_as_told for result in results] == [False]
    assert unshown_failures(results) == ["false"]


def test_times_are_not_written_into_pages(tmp_path: Path) -> None:
    page = "```console\n$ echo at 2026-11-15T10:43:05.188Z and 1794739383643\n```\n"
    assert rewritten(page, run(page, tmp_path)) == page.replace("3643\n", "3643\nat … and …\n")


def _difference(result: Result) -> str:
    told, printed = result.command.output, result.output
    lines = unified_diff(told.splitlines(True), printed.splitlines(True), "the page", "the command")
    return f"$ {result.command.text}\n{''.join(lines)}\n"


def _shown(page: Path) -> set[str]:
    return {one.text for one in examples(page.read_text()) if isinstance(one, Command)}


def _in_ci_files(page: Path) -> set[str]:
    files = [one for one in examples(page.read_text()) if isinstance(one, File)]
    values = [yaml.safe_load(file.text) for file in files if file.name.endswith((".yml", ".yaml"))]
    return {command for value in values for command in _commands_in(value)}


def _commands_in(value: Any, key: str = "") -> Iterator[str]:
    """The lines of every `run`, `script` and `before_script` in a CI file."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _commands_in(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _commands_in(inner, key)
    elif key in {"run", "script", "before_script"}:
        yield from str(value).strip().splitlines()
