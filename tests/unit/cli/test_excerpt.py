"""Excerpts: the carets stand under what the place points at, in any line."""

import pytest

from tallystick.cli.output.excerpt import excerpt, printable
from tallystick.finding import Place


def plain(text: str, line: int, column: int, width: int | None = None) -> list[str]:
    return [shown.plain for shown in excerpt(text, Place("", line, column), width)]


def test_a_string_is_underlined_whole_and_a_key_with_its_value() -> None:
    assert plain('{\n  "name": "note"\n}', 2, 3) == [
        '  2 |   "name": "note"',
        "    |   ^^^^^^^^^^^^^^",
    ]
    assert plain('{\n  "name": "note"\n}', 2, 11)[1] == "    |           ^^^^^^"


def test_a_member_is_underlined_with_its_value_where_that_ends_on_the_line() -> None:
    assert plain('{"a": 1, "type": ["null", {"b": 2}], "c": 3}', 1, 10)[1] == "    |" + " " * 10 + "^" * 26
    assert plain('"type": {\n  "b": 2\n}', 1, 1)[1] == "    | ^^^^^^"


def test_brackets_are_underlined_up_to_their_partner() -> None:
    assert plain('[{"a": "}"}, 2]', 1, 2) == ['  1 | [{"a": "}"}, 2]', "    |  ^^^^^^^^^^"]


@pytest.mark.parametrize(
    ("line", "column", "underlined"),
    [
        ("  map<string, int32> m = 3 [deprecated = true]; // x;", 3, "map<string, int32> m = 3 [deprecated = true]"),
        ("message Order {", 1, "message Order"),
        ("enum E { A = 0; }", 10, "A = 0"),
        ("  repeated Item", 3, "repeated"),
        ('{"a": [true, {"b": 1}]}', 8, "true"),
    ],
)
def test_a_statement_is_underlined_without_its_end(line: str, column: int, underlined: str) -> None:
    shown, carets = plain(line, 1, column)
    start = carets.index("^")
    assert shown[start : start + carets.count("^")] == underlined


def test_an_open_bracket_alone_is_shown_with_what_follows() -> None:
    assert plain('[\n  {\n    "name": "a",\n    "type": "b"\n  }\n]', 2, 3) == [
        "  2 |   {",
        "    |   ^",
        '  3 |     "name": "a",',
        '  4 |     "type": "b"',
    ]


def test_wide_characters_and_tabs_keep_the_caret_in_place() -> None:
    assert plain('\t"名前": x', 1, 8) == ['  1 |     "名前": x', "    |             ^"]


def test_a_long_line_is_cut_around_the_place() -> None:
    line = "a" * 500 + '"here"' + "b" * 500
    shown, carets = plain(line, 1, 501, width=60)
    assert len(shown) <= 60
    start = carets.index("^")
    assert shown[start : start + 6] == '"here"'
    assert carets.count("^") == 6
    assert shown.count("…") == 2


def test_a_long_line_in_a_pipe_does_not_flood() -> None:
    shown, _ = plain("x" * 100_000, 1, 1)
    assert len(shown) == 100


@pytest.mark.parametrize("place", [None, Place("/a"), Place("", 9, 1)])
def test_a_place_without_a_line_in_the_text_has_no_excerpt(place: Place | None) -> None:
    assert excerpt("one line", place) == []


def test_a_column_past_the_end_is_marked_at_the_end() -> None:
    assert plain("ab", 1, 9) == ["  1 | ab", "    |   ^"]


def test_windows_line_ends_leave_no_trace() -> None:
    assert plain("ab\r\ncd\r\n", 1, 1) == ["  1 | ab", "    | ^^"]


def test_escape_sequences_do_not_reach_the_terminal() -> None:
    assert printable("a\x1b[31mb\x07\ud800") == "a�[31mb��"
