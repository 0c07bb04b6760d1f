"""Files become values; every mistake becomes a finding with its place."""

import re
from pathlib import Path

import pytest

from tallystick.errors import InvalidPipeline
from tallystick.finding import Finding
from tallystick.pipeline import FromTopics, Pipeline, SchemaFile, ToTopic, load
from tallystick.pipeline.findings import CATALOGUE, FILE_UNREADABLE
from tallystick.pipeline.nodes import MAX_CHARACTERS
from tests.unit.pipeline.cases import ENVIRON, GOOD, HERE, SECRET, Bad, bad_files

CLUSTER = "clusters: {a: {url: pulsar://127.0.0.1:6650}}\n"
LANDING = "landings: {b: {from: t, table: {format: parquet, place: /tables/t}}}\n"


def findings_of(source: Path | str, environ: dict[str, str] | None = None) -> tuple[Finding, ...]:
    with pytest.raises(InvalidPipeline) as raised:
        load(source, {} if environ is None else environ)
    return raised.value.findings


def everything() -> Pipeline:
    return load(HERE / "good" / "everything.yaml", ENVIRON)


@pytest.mark.parametrize("bad", bad_files(), ids=lambda bad: bad.path.stem)
def test_a_bad_file_has_its_finding_at_its_place(bad: Bad) -> None:
    with pytest.raises(InvalidPipeline) as raised:
        load(bad.path, ENVIRON)
    found = raised.value.findings
    assert [(one.rule, one.new and one.new.line, one.new and one.new.column) for one in found] == bad.expected
    assert all(one.message and one.fix for one in found)
    assert SECRET not in str(raised.value)
    assert str(raised.value).startswith(f"{bad.path}:{bad.expected[0][1]}:{bad.expected[0][2]}: ")


def test_every_kind_of_finding_has_a_bad_file() -> None:
    shown = {rule for bad in bad_files() for rule, _, _ in bad.expected}
    assert shown | {FILE_UNREADABLE} == CATALOGUE.keys()


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_file_loads(path: Path) -> None:
    loaded = load(path, ENVIRON)
    assert loaded.steps
    assert loaded.file == str(path)
    assert SECRET not in repr(loaded)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_a_good_file_loads_where_nobody_knows_the_variables(path: Path) -> None:
    assert [step.name for step in load(path, None).steps] == [step.name for step in load(path, ENVIRON).steps]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_lines() -> None:
    text = """
clusters:
  a: {url: http://127.0.0.1:1, credentials: {token: abc}}
transforms:
  t:
    from: {cluster: b, topics: [x]}
    to: no
    max_records: 0
    wher: x
landing:
"""
    told = [one.rule.removeprefix("PIPELINE_") for one in findings_of(text)]
    assert told == [
        "VALUE_INVALID",
        "SECRET_LITERAL",
        "CLUSTER_UNKNOWN",
        "VALUE_AMBIGUOUS",
        "VALUE_INVALID",
        "KEY_UNKNOWN",
        "KEY_UNKNOWN",
    ]


def test_a_mistake_in_one_step_hides_no_cycle_of_others() -> None:
    text = CLUSTER + "transforms:\n  x: {from: t, to: t}\n  y: {from: t}\n"
    assert [one.rule for one in findings_of(text)] == ["PIPELINE_CYCLE", "PIPELINE_KEY_MISSING"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (found,) = findings_of(tmp_path / "none.yaml")
    assert found.rule == FILE_UNREADABLE
    assert [one.rule for one in findings_of(tmp_path)] == [FILE_UNREADABLE]


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"clusters:\n  a: \xe9\n")
    (found,) = findings_of(path)
    assert (found.rule, found.new and found.new.line, found.new and found.new.column) == (FILE_UNREADABLE, 2, 6)


def test_a_file_that_is_too_long() -> None:
    (found,) = findings_of("#" * (MAX_CHARACTERS + 1))
    assert found.rule == "PIPELINE_TOO_LARGE"


def test_a_name_of_a_file_is_no_text() -> None:
    (found,) = findings_of("shop.yaml")
    assert found.rule == FILE_UNREADABLE


@pytest.mark.parametrize(
    ("file", "name"), [("shop.yaml", "shop"), ("my shop (2).yml", "my-shop-2"), ("_.yml", "pipeline")]
)
def test_a_pipeline_is_named_after_its_file(tmp_path: Path, file: str, name: str) -> None:
    path = tmp_path / file
    path.write_text(CLUSTER + LANDING)
    assert load(path, {}).name == name


def test_an_alias_stands_for_what_it_names() -> None:
    text = CLUSTER + "transforms:\n  x: {from: &t {topics: orders}, to: o}\n  y: {from: *t, to: p}\n"
    assert [step.from_.topics for step in load(text, {}).transforms] == [("orders",), ("orders",)]


def test_what_the_file_says_for_all_steps_counts_where_a_step_says_nothing() -> None:
    loaded = everything()
    mesh, (invoices, names, _), (flags,) = loaded.routes[0], loaded.transforms, loaded.functions
    assert (mesh.starting, names.starting) == ("2026-01-31T12:00:00+01:00", "latest")
    assert (mesh.delivery, names.delivery) == ("at-least-once", "exactly-once")
    assert (flags.multi_schema, loaded.sources[0].multi_schema) == ("auto", "on")
    assert mesh.on_failure.action == "stop"
    assert invoices.on_failure.to is not None
    assert (invoices.on_failure.to.topic, invoices.on_failure.log) == ("lost", "warning")
    of_all = names.on_failure
    assert of_all.to is not None
    assert (of_all.action, of_all.to.topic, of_all.log) == ("republish", "misfits", "error")


def test_a_quarantine_topic_of_the_file_is_not_one_of_a_landing() -> None:
    loaded = load(CLUSTER + LANDING + "on_failure: {action: quarantine, to: lost}\n", {})
    assert loaded.landings[0].on_failure.to is None


def test_a_step_knows_its_lines() -> None:
    (invoices, *_) = everything().transforms
    assert (invoices.place.path, invoices.place.line, invoices.place.column) == ("/transforms/invoices", 49, 3)
    assert invoices.where is not None
    assert invoices.where.text == "total > 0\n  AND customer IS NOT NULL"
    assert invoices.where.place.line == 53
    assert [(one.text, one.sql.place.line) for one in invoices.select] == [
        ("id AS `id`", 56),
        ("1 AS `one`", 57),
        ("cast(total * 100 as bigint) AS `cents`", 58),
    ]


def test_select_lists_are_taken_as_they_stand() -> None:
    _, names, lists = everything().transforms
    assert [one.text for one in names.select] == ["id, upper(name) AS name"]
    assert [one.text for one in lists.select] == ["id", "name"]


def test_the_one_cluster_need_not_be_named() -> None:
    loaded = load(HERE / "good" / "one-cluster.yaml", {"SHOP_URL": "pulsar://10.0.0.1:6650"})
    (landing,) = loaded.landings
    assert landing.from_.cluster == "shop"
    assert loaded.clusters["shop"].url == "pulsar://10.0.0.1:6650"


def test_a_route_has_an_internal_topic_of_its_own() -> None:
    (route,) = load(CLUSTER + "routes: {mesh: {ingress: in, egress: out}}\n", {}).routes
    assert (route.internal.cluster, route.internal.topic) == ("a", "mesh-mesh")
    assert route.mode == "split"
    assert [egress.to.topic for egress in route.egress] == ["out"]


def test_secrets_come_from_the_environment() -> None:
    edge, centre = everything().clusters.values()
    assert edge.credentials is not None
    assert (edge.credentials.token, edge.credentials.key_password) == (SECRET, SECRET)
    assert edge.credentials.ca == str(HERE / "good" / "ca.pem")
    assert centre.registry_credentials is not None
    assert centre.registry_credentials.password == SECRET
    assert centre.options["sasl.password"] == SECRET
    assert centre.options["sasl.username"] == "ada"
    assert centre.options["socket.keepalive.enable"] is True
    assert centre.options["linger.ms"] == 5


def test_references_stay_where_nobody_knows_the_variables() -> None:
    loaded = load("clusters: {a: {url: '${URL}', credentials: {token: '${TOKEN}'}}}\n" + LANDING, None)
    assert loaded.clusters["a"].url == "${URL}"
    assert loaded.clusters["a"].credentials is not None
    assert loaded.clusters["a"].credentials.token == "${TOKEN}"


def test_paths_begin_at_the_folder_of_the_file() -> None:
    loaded = everything()
    by_folder, by_name = loaded.landings
    assert by_folder.table.place == str(HERE / "good" / "tables" / "invoices")
    assert by_name.table.place == "lake.shop.invoices"
    assert loaded.sources[0].files.path == str(HERE / "good" / "prices" / "*.csv")
    assert load(HERE / "good" / "one-cluster.yaml", {}).state == str(HERE / "good" / "tally-state")


def test_checkpoints_are_in_the_one_folder_of_the_state() -> None:
    loaded = everything()
    assert loaded.checkpoint(loaded.routes[0], "ingress") == "s3a://bucket/state/mesh/ingress"
    assert loaded.checkpoint(loaded.landings[0]) == "s3a://bucket/state/table"
    assert loaded.step("table") is loaded.landings[0]
    assert loaded.step("nobody") is None


def test_schema_files_are_read() -> None:
    (flags,), (prices,) = everything().functions, everything().sources
    assert isinstance(flags.reader, SchemaFile)
    assert flags.reader.definition.type == "AVRO"
    assert [(one.format, one.schema is not None, one.subject) for one in flags.encode] == [
        ("AVRO", True, None),
        ("EXTERNAL", False, "flags"),
    ]
    assert prices.encode is not None
    assert prices.encode.schema is not None
    assert prices.encode.schema.definition.text == '"string"\n'


def test_records_of_tests_are_taken_as_they_stand() -> None:
    first, second = everything().transforms[0].tests
    assert first.input == {"id": 1, "at": "2026-01-31", "note": None, "tags": ["a", 1, True]}
    assert (first.name, first.key, first.topic, first.properties) == ("test 1", "1", "others", {"region": "eu"})
    assert (first.output, first.outcome) == ({"id": 1}, None)
    assert second.input["text"] == "${AS_IT_STANDS}"
    assert (second.name, second.outcome) == ("nothing is due", "skipped")


def test_replications_name_clusters_and_topics() -> None:
    up, down = everything().replications
    assert (up.from_.cluster, up.from_.pattern, up.to, up.direction) == ("edge", "flags", ("centre",), "two-way")
    assert up.renamed("flags") == "edge-flags"
    assert up.renamed("public/default/flags") == "public/default/edge-flags"
    assert (down.from_.topics, down.rename) == (("lists",), "{topic}")


def test_ends_have_what_they_say() -> None:
    (mesh,) = everything().routes
    assert mesh.ingress == FromTopics(
        cluster="edge", pattern="orders-.*", framing=mesh.ingress.framing, place=mesh.ingress.place
    )
    assert mesh.ingress.framing == "transport"
    first, second = (egress.to for egress in mesh.egress)
    assert first == ToTopic(cluster="centre", topic="european", framing=first.framing, place=first.place)
    assert (first.framing, second.framing) == ("payload", None)
    assert mesh.egress[0].when is not None
    assert mesh.egress[0].when.text == "properties['region'] = 'eu'"
    assert mesh.egress[1].when is None


def test_values_can_be_keys_and_cannot_be_changed() -> None:
    loaded = everything()
    assert len({hash(step) for step in loaded.steps}) == len(loaded.steps)
    with pytest.raises(AttributeError):
        loaded.name = "other"  # type: ignore[misc]


def test_the_names_of_sections_are_those_of_the_file() -> None:
    assert {step.section for step in everything().steps} == {
        match[1] for match in re.finditer(r"^(\w+s):$", (HERE / "good" / "everything.yaml").read_text(), re.MULTILINE)
    } - {"clusters"}
