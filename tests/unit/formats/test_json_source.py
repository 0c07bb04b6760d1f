"""JSON text with places."""

import json
import time

import pytest

from tallystick.errors import InvalidSchema
from tallystick.finding import Place
from tallystick.formats.json_source import MAX_DEPTH, load, place, pointer, without_white_space

TEXT = """{
  "a": [1, {"b/c": "x \\" ] }"}, [[]]],
  "d": {"e": null,
        "f": {}}
}"""


def test_load_gives_the_value() -> None:
    assert load(TEXT) == {"a": [1, {"b/c": 'x " ] }'}, [[]]], "d": {"e": None, "f": {}}}


@pytest.mark.parametrize(
    ("text", "place_"),
    [
        ("", Place("", 1, 1)),
        ("{", Place("", 1, 2)),
        ('{"a": 1,}', Place("", 1, 9)),
        ('{\n  "a" 1}', Place("", 2, 7)),
        ("[1] x", Place("", 1, 5)),
        ("'a'", Place("", 1, 1)),
    ],
)
def test_fault_has_its_place(text: str, place_: Place) -> None:
    with pytest.raises(InvalidSchema, match="not JSON") as refused:
        load(text)
    assert refused.value.place is not None
    assert refused.value.place.line == place_.line
    # Python releases differ by one on where a comma too many is.
    assert abs((refused.value.place.column or 0) - (place_.column or 0)) <= 1


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_constants_of_python_are_no_json(text: str) -> None:
    with pytest.raises(InvalidSchema, match="is no JSON number"):
        load(text)


def test_number_of_thousands_of_digits_is_refused() -> None:
    with pytest.raises(InvalidSchema, match="not JSON"):
        load("1" * 10_000)


def test_second_of_two_equal_keys_is_shown() -> None:
    with pytest.raises(InvalidSchema, match="the key 'a' stands twice") as refused:
        load('{"b": {"a": 1},\n "a": 1, "c": [{"a": 1}],\n "a": 2}')
    assert (refused.value.place and refused.value.place.line) == 3


def test_escaped_key_equals_the_plain_one() -> None:
    with pytest.raises(InvalidSchema, match="the key 'a' stands twice"):
        load('{"a": 1, "\\u0061": 2}')


def test_depth_has_a_limit() -> None:
    assert load("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(InvalidSchema, match="nested deeper") as refused:
        load("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert refused.value.place == Place("", 1, MAX_DEPTH + 1)


def test_brackets_in_strings_are_no_depth() -> None:
    assert load(json.dumps("[" * 5_000)) == "[" * 5_000


def test_pointer_escapes() -> None:
    assert pointer(("a/b", 0, "m~n")) == "/a~1b/0/m~0n"
    assert pointer(()) == ""


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ((), 1, 1),
        (("a",), 2, 3),
        (("a", 0), 2, 9),
        (("a", 1, "b/c"), 2, 13),
        (("a", 2, 0), 2, 34),
        (("d", "e"), 3, 9),
        (("d", "f"), 4, 9),
    ],
)
def test_place_of_a_path(path: tuple[str | int, ...], line: int, column: int) -> None:
    assert place(TEXT, path) == Place(pointer(path), line, column)


@pytest.mark.parametrize("path", [("z",), ("a", 9), ("d", 0), ("a", "b"), ("d", "e", "f")])
def test_path_that_is_not_there_has_no_line(path: tuple[str | int, ...]) -> None:
    assert place(TEXT, path) == Place(pointer(path))


def test_white_space_goes_but_for_strings() -> None:
    assert without_white_space(' { "a b" : [ 1 ,\t"\\" c " ] }\r\n') == '{"a b":[1,"\\" c "]}'


def test_without_white_space_keeps_the_value() -> None:
    assert json.loads(without_white_space(TEXT)) == json.loads(TEXT)


@pytest.mark.parametrize("end", ["", "\\"])
def test_a_string_without_an_end_costs_one_look(end: str) -> None:
    text = '"' + '\\"' * 1_000_000 + end
    started = time.process_time()
    with pytest.raises(InvalidSchema, match="not JSON"):
        load(text)
    assert without_white_space(f" {text}") == text
    assert time.process_time() - started < 10
