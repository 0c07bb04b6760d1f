"""`tally check` as users and pipelines start it: exit codes, outputs, bad input."""

import json
import os
import pty
import subprocess
import sysconfig
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

TALLY = str(Path(sysconfig.get_path("scripts")) / "tally")

ORDER_V1 = """{
  "type": "record", "name": "Order", "namespace": "shop",
  "fields": [
    {"name": "id", "type": "long"},
    {"name": "note", "type": "string"}
  ]
}
"""
ORDER_V2 = ORDER_V1.replace('"string"}', '"string", "default": ""},\n    {"name": "channel", "type": "string"}')
ORDER_V3 = ORDER_V2.replace('"channel", "type": "string"', '"channel", "type": "string", "default": "web"')

CUSTOMER_V1 = """{
  "type": "object",
  "properties": {
    "name": {"type": "string"},
    "age": {"type": "integer"}
  },
  "required": ["name"]
}
"""
CUSTOMER_V2 = CUSTOMER_V1.replace('["name"]', '["name", "age"]')

PAYMENT_V1 = """syntax = "proto3";
package shop;

message Payment {
  string id = 1;
  int64 cents = 2;
}
"""
PAYMENT_V2 = PAYMENT_V1.replace("int64 cents", "string amount")

FILES = {
    "order-v1.avsc": ORDER_V1,
    "order-v2.avsc": ORDER_V2,
    "order-v3.avsc": ORDER_V3,
    "customer-v1.json": CUSTOMER_V1,
    "customer-v2.json": CUSTOMER_V2,
    "payment-v1.proto": PAYMENT_V1,
    "payment-v2.proto": PAYMENT_V2,
}

PAIRS = {
    "avro": ("order-v1.avsc", "order-v2.avsc"),
    "json_schema": ("customer-v1.json", "customer-v2.json"),
    "protobuf": ("payment-v1.proto", "payment-v2.proto"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("schemas")
    for name, text in FILES.items():
        (made / name).write_text(text)
    return made


def tally(
    folder: Path, *arguments: str, stdin: str = "", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    done = subprocess.run(
        [TALLY, *arguments],
        cwd=folder,
        input=stdin,
        env=clean | (env or {}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Traceback" not in done.stdout + done.stderr
    assert "internal error" not in done.stderr
    return done


@pytest.mark.parametrize("files", PAIRS.values(), ids=PAIRS)
def test_each_format_explains_a_refusal(folder: Path, files: tuple[str, str]) -> None:
    done = tally(folder, "check", *files)
    old, new = files
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"✗ {new} does not fit under BACKWARD: ")
    assert f"\n{new}:" in done.stdout
    assert "    | " in done.stdout
    assert "^" in done.stdout
    assert f"cannot read records written with version 1 ({old})" in done.stdout
    for label in ("breaks", "fix", "rule"):
        assert f"\n  {label:<8}" in done.stdout
    assert f"Changes from {old} to {new}" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("files", PAIRS.values(), ids=PAIRS)
def test_each_format_fits_itself(folder: Path, files: tuple[str, str]) -> None:
    done = tally(folder, "check", files[0], files[0], "--strategy", "full_transitive")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"✓ {files[0]} fits under FULL_TRANSITIVE\n")
    assert done.stdout.endswith(f"No changes from {files[0]} to {files[0]}\n")


@pytest.mark.parametrize("name", [files[0] for files in PAIRS.values()])
def test_one_file_alone_is_checked_for_validity(folder: Path, name: str) -> None:
    done = tally(folder, "check", name)
    assert done.returncode == 0
    assert done.stdout.startswith(f"✓ {name} is a valid schema of type ")


def test_the_place_in_the_text_is_exact(folder: Path) -> None:
    lines = tally(folder, "check", *PAIRS["avro"], "--no-diff").stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("order-v2.avsc:6:5: "))
    assert lines[at + 1 : at + 3] == [
        '  6 |     {"name": "channel", "type": "string"}',
        "    |     " + "^" * 37,
    ]
    assert not any(line.startswith("Changes") for line in lines)


def test_only_transitive_strategies_look_at_the_whole_history(folder: Path) -> None:
    files = ("order-v1.avsc", "order-v2.avsc", "order-v3.avsc")
    last = tally(folder, "check", *files, "--strategy", "BACKWARD", "--output", "json")
    all_ = tally(folder, "check", *files, "--strategy", "BACKWARD_TRANSITIVE", "--output", "json")
    assert (last.returncode, all_.returncode) == (0, 0)
    assert json.loads(last.stdout)["compared_with"] == [{"version": 2, "file": "order-v2.avsc"}]
    assert [old["version"] for old in json.loads(all_.stdout)["compared_with"]] == [1, 2]


def test_json_and_yaml_hold_the_same(folder: Path) -> None:
    as_json = tally(folder, "check", *PAIRS["avro"], "--output", "json")
    as_yaml = tally(folder, "check", *PAIRS["avro"], "--output", "yaml")
    assert (as_json.returncode, as_yaml.returncode) == (1, 1)
    value = json.loads(as_json.stdout)
    assert yaml.safe_load(as_yaml.stdout) == value
    assert value["fits"] is False
    assert [finding["rule"] for finding in value["findings"]] == ["AVRO_FIELD_ADDED_NEEDS_DEFAULT"]
    assert value["findings"][0]["new"] == {"path": "/fields/2", "line": 6, "column": 5}
    assert {change["kind"] for change in value["changes"]} >= {"added"}


def test_github_gitlab_and_junit(folder: Path) -> None:
    github, gitlab, junit = (
        tally(folder, "check", *PAIRS["avro"], "--output", output) for output in ("github", "gitlab", "junit")
    )
    assert [done.returncode for done in (github, gitlab, junit)] == [1, 1, 1]
    assert github.stdout.startswith("::error file=order-v2.avsc,line=6,col=5,title=AVRO_FIELD_ADDED_NEEDS_DEFAULT::")
    (issue,) = json.loads(gitlab.stdout)
    assert issue["location"] == {"path": "order-v2.avsc", "lines": {"begin": 6}}
    assert ElementTree.fromstring(junit.stdout).get("failures") == "1"


def test_standard_input_is_a_file_of_the_others_type(folder: Path) -> None:
    done = tally(folder, "check", "-", "order-v2.avsc", stdin=ORDER_V1)
    assert done.returncode == 1
    assert "version 1 (-)" in done.stdout


def test_a_type_can_be_given(folder: Path) -> None:
    done = tally(folder, "check", "-", "--type", "avro", "--output", "json", stdin='"string"')
    assert (done.returncode, json.loads(done.stdout)["type"]) == (0, "AVRO")


def test_files_of_two_types_never_fit(folder: Path) -> None:
    done = tally(folder, "check", "order-v1.avsc", "customer-v1.json", "--output", "json")
    assert done.returncode == 1
    assert {finding["rule"] for finding in json.loads(done.stdout)["findings"]} == {"SCHEMA_TYPE_CHANGED"}


def test_optional_properties_can_be_lenient(folder: Path) -> None:
    (folder / "open-v2.json").write_text(CUSTOMER_V1.replace('"age"', '"note": {"type": "string"},\n    "age"'))
    strict = tally(folder, "check", "customer-v1.json", "open-v2.json")
    lenient = tally(folder, "check", "customer-v1.json", "open-v2.json", "--optional-properties", "lenient")
    assert (strict.returncode, lenient.returncode) == (1, 0)


def test_avro_references(folder: Path) -> None:
    (folder / "money.avsc").write_text('{"type": "fixed", "name": "shop.Money", "size": 8}')
    (folder / "priced.avsc").write_text(
        '{"type": "record", "name": "P", "fields": [{"name": "p", "type": "shop.Money"}]}'
    )
    assert tally(folder, "check", "priced.avsc").returncode == 2
    assert tally(folder, "check", "priced.avsc", "--reference", "money.avsc").returncode == 0


def test_json_schema_references(folder: Path) -> None:
    (folder / "name.json").write_text('{"type": "string"}')
    (folder / "named.json").write_text('{"properties": {"a": {"$ref": "https://shop/name.json"}}}')
    done = tally(folder, "check", "named.json", "--reference", "https://shop/name.json=name.json")
    assert (done.returncode, done.stderr) == (0, "")


def test_protobuf_imports(folder: Path) -> None:
    (folder / "lib").mkdir()
    (folder / "lib" / "money.proto").write_text('syntax = "proto3"; message Money { int64 cents = 1; }')
    text = 'syntax = "proto3";\nimport "money.proto";\nmessage P { Money m = 1; }\n'
    (folder / "priced.proto").write_text(text)
    missing = tally(folder, "check", "priced.proto")
    assert missing.returncode == 2
    assert missing.stderr.startswith("priced.proto:2:")
    assert tally(folder, "check", "priced.proto", "--include", "lib").returncode == 0
    assert tally(folder, "check", "priced.proto", "--reference", "lib/money.proto").returncode == 0


def test_a_fault_in_a_reference_is_told_of_its_file(folder: Path) -> None:
    (folder / "broken-money.avsc").write_text('{"type": "fixed",\n "name": "Money"}')
    done = tally(folder, "check", "order-v1.avsc", "--reference", "broken-money.avsc")
    assert done.returncode == 2
    assert done.stderr.startswith("broken-money.avsc:")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.avsc"], "missing.avsc: error: there is no such file"),
        (["order-v1.avsc", "--strategy", "SIDEWAYS"], "SIDEWAYS"),
        (["cut.avsc"], "cut.avsc:2:"),
        (["cut.json"], "cut.json:2:"),
        (["cut.proto"], "cut.proto:2:"),
    ],
)
def test_bad_input_is_2_with_the_reason_on_standard_error(folder: Path, arguments: list[str], said: str) -> None:
    (folder / "cut.avsc").write_text('{\n  "type": ')
    (folder / "cut.json").write_text('{\n  "type": ')
    (folder / "cut.proto").write_text("message A {\n  int32 a = ")
    done = tally(folder, "check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_help_and_version(folder: Path) -> None:
    for arguments in (["--help"], ["-h"], ["check", "--help"], ["rules", "--help"], ["demo", "--help"]):
        done = tally(folder, *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Usage: tally")
    assert tally(folder, "--version").stdout.startswith("tally 0.")
    assert tally(folder, "chekc").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "never"),
    [
        (["--help"], {"fastavro", "google.protobuf", "grpc_tools", "jsonschema_rs", "yaml", "rich.text"}),
        (["check", "order-v1.avsc"], {"google.protobuf", "grpc_tools", "jsonschema_rs", "yaml", "rich.console"}),
        (["check", *PAIRS["avro"]], {"grpc_tools", "yaml", "rich.console"}),
    ],
)
def test_what_is_not_needed_is_not_loaded(folder: Path, arguments: list[str], never: set[str]) -> None:
    done = tally(folder, *arguments, env={"PYTHONPROFILEIMPORTTIME": "1"})
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "click" in loaded
    assert loaded & never == set()


def test_names_outside_the_terminals_encoding_are_escaped(folder: Path) -> None:
    done = tally(folder, "check", "order-v1.avsc", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout) == (0, "\\u2713 order-v1.avsc is a valid schema of type AVRO\n")
    github = tally(folder, "check", *PAIRS["avro"], "--output", "github", env={"PYTHONIOENCODING": "ascii"})
    assert "✗" in github.stdout


def test_a_closed_pipe_is_no_answer_and_no_noise(folder: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; '{TALLY}' check order-v1.avsc order-v2.avsc | true; echo ${{PIPESTATUS[0]}}"],
        cwd=folder, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    # The command may have finished before the other end closed.
    assert done.stdout.strip() in ("141", "1")
    assert done.stderr == ""


def test_colours_on_a_terminal_only(folder: Path) -> None:
    assert "\x1b[" in on_terminal(folder, {})
    assert "\x1b[" not in on_terminal(folder, {"NO_COLOR": "1"})
    assert "\x1b[" in tally(folder, "check", *PAIRS["avro"], "--color", "always").stdout


def on_terminal(folder: Path, env: dict[str, str]) -> str:
    """What `tally check` writes to a terminal of 60 columns."""
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [TALLY, "check", *PAIRS["avro"]],
        cwd=folder,
        stdout=theirs,
        env=clean | {"TERM": "xterm", "COLUMNS": "60"} | env,
    )
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 4096):
            shown += chunk
    except OSError:
        pass  # how Linux says that the terminal's last writer is gone
    os.close(ours)
    assert process.wait(timeout=60) == 1
    return shown.decode()
