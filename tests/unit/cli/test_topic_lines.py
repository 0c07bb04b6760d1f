"""Lines of input: what is in them, where a finding stands, and where reading a topic begins."""

import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tallystick.cli import topic_lines
from tallystick.cli.faults import BadInput
from tallystick.cli.topic_lines import Line, Source, bad_line, opened
from tallystick.cli.topic_places import place_of
from tallystick.cli.topic_reading import is_wanted
from tallystick.errors import InvalidRecord
from tallystick.finding import Finding, Place
from tallystick.model.position import KafkaPosition, Position, PulsarPosition

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def lines(data: bytes, *, with_empty: bool = False) -> list[tuple[int, bytes]]:
    source = Source("x", io.BytesIO(data), len(data))
    return [(line.number, line.data) for line in source.lines(with_empty=with_empty)]


def test_lines_keep_their_numbers() -> None:
    assert lines(b"\xef\xbb\xbf1\r\n\n  \n2") == [(1, b"1"), (4, b"2")]
    assert lines(b"a\n\nb\n", with_empty=True) == [(1, b"a"), (2, b""), (3, b"b")]
    assert lines(b"") == []


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_lines, "LONGEST", 10)
    assert lines(b"1234567890") == [(1, b"1234567890")]
    with pytest.raises(BadInput, match="line 2 has more than"):
        lines(b"1\n12345678901\n")


def test_a_file_is_opened_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1\n2\n")
    with opened(str(tmp_path / "a")) as source:
        assert (source.size, [line.value for line in source.lines(with_empty=False)]) == (4, [1, 2])


@pytest.mark.parametrize(("name", "told"), [("missing", "no such file"), (".", "cannot be read")])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(BadInput, match=told), opened(str(tmp_path / name)):
        pass


@pytest.mark.parametrize(
    ("data", "rule", "column"),
    [
        (b'{"a": }', "TOPIC_LINE_NOT_JSON", 7),
        (b'{"a": 1} x', "TOPIC_LINE_NOT_JSON", 10),
        (b'{"a": 1, "a": 2}', "TOPIC_LINE_NOT_JSON", 10),
        (b'"\xff"', "TOPIC_LINE_NOT_UTF_8", 2),
        (b"null", "TOPIC_LINE_NULL", 1),
    ],
)
def test_lines_that_hold_no_value(data: bytes, rule: str, column: int) -> None:
    line = Line(3, data)
    with pytest.raises(InvalidRecord) as refused:
        _ = line.value
    [finding] = bad_line("f", line, refused.value, refused.value.findings).findings
    assert (finding.rule, finding.new) == (rule, Place("", 3, column))


@pytest.mark.parametrize(
    ("path", "column"),
    [("/a", 2), ("/a/0/b~1c", 9), ("/a/1", 21), ("/a/1/missing", 21), ("/missing", 1), ("/a/7", 2), ("", 1)],
)
def test_findings_get_their_place_in_the_line(path: str, column: int) -> None:
    line = Line(7, b'{"a": [{"b/c": 12}, 3]}')
    finding = Finding(rule="R", message="m", fix="f", new=Place(path))
    [placed] = bad_line("f", line, InvalidRecord("m", [finding]), [finding]).findings
    assert placed.new == Place(path, 7, column)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("earliest", "earliest"),
        ("latest", "latest"),
        ("2026-01-30T11:00:00", datetime(2026, 1, 30, 11, tzinfo=UTC)),
        ("2026-01-30T11:00:00+01:00", datetime(2026, 1, 30, 10, tzinfo=UTC)),
        ("2026-01-30", datetime(2026, 1, 30, tzinfo=UTC)),
        ("90m", datetime(2026, 1, 31, 10, 30, tzinfo=UTC)),
        ("999999999d", datetime(1970, 1, 1, tzinfo=UTC)),
        ("3:17", PulsarPosition(3, 17)),
        ("3:17:2", PulsarPosition(3, 17, 2)),
        ("3:17:-1:5", PulsarPosition(3, 17, -1, 5)),
    ],
)
def test_places(text: str, place: Any) -> None:
    assert place_of(text, NOW, is_kafka=False) == place


def test_places_of_kafka() -> None:
    assert place_of("2:17", NOW, is_kafka=True) == KafkaPosition(2, 17)
    for text in ("3:17:-1:5", "1:-5", "17"):
        with pytest.raises(BadInput) as refused:
            place_of(text, NOW, is_kafka=True)
        assert refused.value.fault.fix is not None
        assert "PARTITION:OFFSET" in refused.value.fault.fix


@pytest.mark.parametrize("text", ["yesterday", "", "5y", "12:00:00:00:00"])
def test_no_places(text: str) -> None:
    with pytest.raises(BadInput, match="is no place in a topic"):
        place_of(text, NOW, is_kafka=False)


def test_a_partition_ends_with_its_last_message() -> None:
    ends: dict[int, Position] = {0: PulsarPosition(1, 5, 0, 2), 1: PulsarPosition(2, 0, 1)}
    came = [(0, 4, 9), (0, 5, 1), (0, 5, 2), (0, 5, 3), (0, 6, -1)]
    wanted = [is_wanted(PulsarPosition(1, entry, part, index), ends) for part, entry, index in came]
    assert wanted == [True, True, True, False, False]
    assert list(ends) == [1]
    assert is_wanted(PulsarPosition(2, 1, 1), ends) is False
    assert ends == {}
