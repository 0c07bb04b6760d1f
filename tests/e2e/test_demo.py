"""`tally demo` and `tally rules`, as users start them."""

import json
import re
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml

TALLY = str(Path(sysconfig.get_path("scripts")) / "tally")


def tally(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([TALLY, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in done.stdout + done.stderr
    return done


def test_the_demo_tells_its_story_and_ends_by_itself() -> None:
    done = tally("demo")
    assert (done.returncode, done.stderr) == (0, "")
    verdicts = [line for line in done.stdout.splitlines() if line.startswith(("✓", "✗"))]
    assert [verdict.partition(":")[0] for verdict in verdicts] == [
        "✓ order-v2.avsc fits under FULL",
        "✗ order-v3.avsc does not fit under FULL",
        "✓ order-v3-mended.avsc fits under FULL_TRANSITIVE",
        "✗ customer-v2.json does not fit under BACKWARD",
        "✗ payment-v2.proto does not fit under BACKWARD",
    ]
    for rule in ("AVRO_FIELD_ADDED_NEEDS_DEFAULT", "AVRO_FIELD_REMOVED_NEEDS_DEFAULT", "AVRO_TYPE_WIDENED"):
        assert f"  rule    {rule}\n" in done.stdout
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) < 230
    _, _, served = done.stdout.partition("6. The registry")
    registry, _, messages = served.partition("7. Messages")
    answers = [line for line in registry.splitlines() if line.startswith(("orders-value version", "tally: error"))]
    assert answers == [
        "orders-value version 1, id 1",
        "orders-value version 2, id 2",
        "tally: error: the registry refuses the schema: 3 findings",
        "orders-value version 3, id 3",
    ]
    assert "orders-v2.ndjson:2:" in messages
    shown = [line.split("  ")[1:3] for line in messages.splitlines() if re.match(r"orders \d+:", line)]
    assert shown == [["v1", "key=a-1"], ["v1", "key=a-2"], ["v2", "key=a-3"]]


def test_the_demo_has_colours_when_asked() -> None:
    assert "\x1b[1;31m✗ order-v3.avsc" in tally("demo", "--color", "always").stdout


def test_rules_are_listed_by_type() -> None:
    listed = tally("rules").stdout
    assert "  AVRO_FIELD_ADDED_NEEDS_DEFAULT  [breaks BACKWARD]  " in listed
    for kind in ("AVRO", "JSON_SCHEMA", "PROTOBUF", "KEY_VALUE", "ANY"):
        assert f"{kind} (" in listed
    avro = json.loads(tally("rules", "--type", "avro", "--output", "json").stdout)["rules"]
    assert len(avro) > 10
    assert {rule["type"] for rule in avro} == {"AVRO"}
    assert yaml.safe_load(tally("rules", "--type", "PULSAR_JSON", "--output", "yaml").stdout)["rules"] == avro


def test_a_rule_is_explained() -> None:
    shown = tally("rules", "avro_field_added_needs_default").stdout
    assert shown.startswith("AVRO_FIELD_ADDED_NEEDS_DEFAULT\nA field that is added needs a default.\n")
    assert "breaks  BACKWARD: readers with the new schema cannot read records written with the old schema" in shown
    assert "refused under ALWAYS_INCOMPATIBLE, BACKWARD, FULL, BACKWARD_TRANSITIVE, FULL_TRANSITIVE" in shown
    assert "passes  under ALWAYS_COMPATIBLE, FORWARD, FORWARD_TRANSITIVE" in shown
    assert "\n  source  " in shown
    rule = json.loads(tally("rules", "AVRO_FIELD_ADDED_NEEDS_DEFAULT", "--output", "json").stdout)
    assert rule["breaks"] == ["BACKWARD"]
    assert set(rule) == {"id", "type", "sentence", "breaks", "refused_by", "certain", "source"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["AVRO_FIELD_ADED_NEEDS_DEFAULT"], "did you mean AVRO_FIELD_ADDED_NEEDS_DEFAULT"),
        (["AVRO_FIELD_ADDED"], "did you mean AVRO_FIELD_ADDED_NEEDS_DEFAULT"),
        (["???"], "`tally rules` lists them all"),
        (["--type", "XML"], "no rules are of type 'XML'; there are"),
    ],
)
def test_what_is_not_there_is_told_with_a_suggestion(arguments: list[str], said: str) -> None:
    done = tally("rules", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())
