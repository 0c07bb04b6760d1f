"""What follows from what, and what goes round."""

import pytest

from tallystick.pipeline import Graph, load, reads, writes
from tests.unit.pipeline.cases import ENVIRON, HERE, ROOT

CLUSTERS = """
clusters:
  a: {url: pulsar://127.0.0.1:1}
  b: {url: pulsar://127.0.0.1:2}
  c: {url: pulsar://127.0.0.1:3}
  k: {url: kafka://127.0.0.1:9092, registry: "http://127.0.0.1:8080"}
"""


def graph(steps: str) -> Graph:
    loaded = load(CLUSTERS + steps, {})
    return Graph(loaded.clusters, loaded.steps)


def edges(found: Graph) -> list[tuple[str, str, str]]:
    return [(edge.writer.name, str(edge.through), edge.reader.name) for edge in found.edges]


def test_the_example_flows_from_the_route_to_all_others() -> None:
    loaded = load(ROOT / "examples" / "mesh.yaml", {})
    found = Graph(loaded.clusters, loaded.steps)
    assert edges(found) == [("orders", "centre: orders", name) for name in ("invoices", "big-orders", "orders-table")]
    assert [step.name for step in found.order()] == ["orders", "invoices", "big-orders", "orders-table"]
    assert found.cycles() == []


def test_what_each_kind_of_step_reads_and_writes() -> None:
    steps = {step.name: step for step in load(HERE / "good" / "everything.yaml", ENVIRON).steps}
    told = {name: (list(map(str, reads(step))), list(map(str, writes(step)))) for name, step in steps.items()}
    assert told == {
        "mesh": (["edge: /orders-.*/"], ["centre: between", "centre: european", "centre: others"]),
        "invoices": (["centre: european", "centre: others"], ["centre: invoices", "centre: lost"]),
        "names": (["centre: names"], ["centre: capitals", "edge: misfits"]),
        "lists": (["centre: names"], ["centre: lists", "edge: misfits"]),
        "flags": (["centre: invoices"], ["edge: flags", "edge: misfits"]),
        "prices": ([], ["edge: prices", "edge: misfits"]),
        "up": (["edge: /flags/", "centre: /flags/"], ["centre: /flags/", "edge: /flags/"]),
        "down": (["centre: lists"], ["edge: lists"]),
        "table": (["centre: invoices"], []),
        "by-name": (["centre: invoices"], ["edge: misfits"]),
    }


def test_writers_come_before_their_readers_whatever_the_file_says() -> None:
    found = graph(
        "transforms:\n"
        "  last: {from: {cluster: a, topics: y}, to: {cluster: a, topic: z}}\n"
        "  first: {from: {cluster: a, topics: w}, to: {cluster: a, topic: x}}\n"
        "  middle: {from: {cluster: a, topics: x}, to: {cluster: a, topic: y}}\n"
    )
    assert [step.name for step in found.order()] == ["first", "middle", "last"]


@pytest.mark.parametrize(
    ("cluster", "written", "read", "is_met"),
    [
        ("a", "orders", "orders", True),
        ("a", "orders", "public/default/orders", True),
        ("a", "persistent://public/default/orders", "orders", True),
        ("a", "shop/eu/orders", "orders", False),
        ("k", "orders", "public/default/orders", False),
    ],
)
def test_topics_are_told_apart_as_their_cluster_does(cluster: str, written: str, read: str, is_met: bool) -> None:
    found = graph(
        "transforms:\n"
        f"  w: {{from: {{cluster: b, topics: t}}, to: {{cluster: {cluster}, topic: '{written}'}}}}\n"
        f"  r: {{from: {{cluster: {cluster}, topics: '{read}'}}, to: {{cluster: c, topic: t}}}}\n"
    )
    assert [(edge.writer.name, edge.reader.name) for edge in found.edges] == ([("w", "r")] if is_met else [])


@pytest.mark.parametrize(
    ("pattern", "is_met"), [("orders.*", True), ("public/default/ord.*", True), ("shop/eu/.*", False), ("rders", False)]
)
def test_a_pattern_fits_whole_names_of_its_namespace(pattern: str, is_met: bool) -> None:
    found = graph(
        "transforms:\n"
        "  w: {from: {cluster: b, topics: t}, to: {cluster: a, topic: orders}}\n"
        f"  r: {{from: {{cluster: a, pattern: '{pattern}'}}, to: {{cluster: c, topic: t}}}}\n"
    )
    assert bool(found.edges) is is_met


def test_replications_go_in_rings_and_records_do_not_go_round() -> None:
    found = graph(
        "replications:\n"
        "  ab: {from: a, to: b, pattern: .*}\n"
        "  bc: {from: b, to: c, pattern: .*}\n"
        "  ca: {from: c, to: a, pattern: .*}\n"
        "  both: {from: a, to: c, topics: x, direction: two-way}\n"
    )
    assert ("ca", "a: /.*/", "ab") in edges(found)
    assert found.cycles() == []
    assert len(found.order()) == 4


def test_a_replication_writes_under_the_names_that_it_gives() -> None:
    found = graph(
        "replications:\n"
        "  up: {from: a, to: b, pattern: 'orders-.*', rename: 'a-{topic}-copy'}\n"
        "landings:\n"
        "  yes: {from: {cluster: b, topics: a-orders-eu-copy}, table: {format: parquet, place: one}}\n"
        "  other: {from: {cluster: b, topics: orders-eu}, table: {format: parquet, place: two}}\n"
    )
    assert [(edge.writer.name, edge.reader.name) for edge in found.edges] == [("up", "yes")]


def test_the_shortest_ring_is_told() -> None:
    loaded = load(
        CLUSTERS
        + "transforms:\n"
        + "".join(
            f"  {name}: {{from: {{cluster: a, topics: {read}}}, to: {{cluster: a, topic: {written}}}}}\n"
            for name, read, written in (("x", "t1", "t2"), ("y", "t2", "t3"), ("z", "t3", "t4"))
        ),
        {},
    )
    back = load(CLUSTERS + "transforms:\n  w: {from: {cluster: a, topics: t3}, to: {cluster: a, topic: t1}}\n", {})
    (ring,) = Graph(loaded.clusters, (*loaded.steps, *back.steps)).cycles()
    assert [edge.writer.name for edge in ring] == ["x", "y", "w"]
