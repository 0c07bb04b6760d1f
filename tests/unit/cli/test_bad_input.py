"""Bad input: the file, the reason and exit code 2, never an internal error."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tallystick.cli.main import run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with one schema that is right."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "order-v1.avsc").write_text('{"type": "record", "name": "Order", "fields": []}')
    return tmp_path


BAD_FILES = {
    "empty.avsc": b"",
    "empty.json": b" \n",
    "empty.proto": b"",
    "truncated.avsc": b'{"type": "record", "name": "A", "fields": [',
    "truncated.json": b'{"type": ',
    "truncated.proto": b'syntax = "proto3"; message A {',
    "binary.avsc": bytes(range(256)),
    "binary.proto": b"\x00\xff\xfe",
    "utf16.json": "{}".encode("utf-16"),
    "deep.avsc": b"[" * 100_000,
    "deep.json": b'{"not":' * 10_000 + b"true" + b"}" * 10_000,
    "twice.avsc": b'{"type": "enum", "name": "E", "symbols": ["A", "A"]}',
    "avro.json": b'{"type": "record", "name": "A", "fields": []}',
    "unknown.txt": b"{}",
    "surrogate.avsc": b'{"type": "record", "name": "\\ud800", "fields": []}',
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_named_with_the_reason(folder: Path, capfd: pytest.CaptureFixture[str], name: str) -> None:
    (folder / name).write_bytes(BAD_FILES[name])
    assert run(["check", name]) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(name)
    assert ": error: " in shown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument"),
        (["missing.avsc"], "missing.avsc: error: there is no such file"),
        (["order-v1.avsc", "order-v4.avsc"], "did you mean"),
        (["."], ".: error: "),
        (["order-v1.avsc", "--strategy", "SIDEWAYS"], "SIDEWAYS"),
        (["order-v1.avsc", "--type", "XML"], "XML"),
        (["order-v1.avsc", "--type", "AUTO_CONSUME"], "AUTO_CONSUME"),
        (["order-v1.avsc", "--output", "pdf"], "pdf"),
        (["order-v1.avsc", "--reference", "x=none.avsc"], "none.avsc: error: there is no such file"),
        (["-", "-", "--type", "AVRO"], "standard input can be read only once"),
        (["-"], "give --type"),
        (["order-v1.avsc", "--nonsense"], "--nonsense"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_bad_arguments(capfd: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert run(["check", *arguments]) == 2
    shown = capfd.readouterr()
    assert shown.out == ""
    assert said in shown.err


@pytest.mark.parametrize("output", ["json", "yaml", "github", "gitlab", "junit"])
def test_a_fault_is_in_the_format_and_on_standard_error(
    folder: Path, capfd: pytest.CaptureFixture[str], output: str
) -> None:
    (folder / "cut.avsc").write_text('{\n  "type": ')
    assert run(["check", "order-v1.avsc", "cut.avsc", "--output", output]) == 2
    shown = capfd.readouterr()
    assert shown.err.startswith("cut.avsc:2:")
    match output:
        case "json" | "yaml":
            value = yaml.safe_load(shown.out)
            assert value["fits"] is False
            assert value["error"]["code"] == "invalid-schema"
            assert value["error"]["place"]["line"] == 2
        case "github":
            assert shown.out.startswith("::error file=cut.avsc,line=2,")
        case "gitlab":
            assert json.loads(shown.out)[0]["severity"] == "blocker"
        case "junit":
            assert ElementTree.fromstring(shown.out).get("errors") == "1"
