"""Whole batches of JSON are read as the codec reads one payload: the same values, the same refusals."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.pandas.types import to_arrow_type

from tallystick.errors import InvalidRecord
from tallystick.formats import catalogue
from tallystick.formats.json_schema import JsonSchema
from tallystick.formats.json_schema.codec import decode
from tallystick.model.definition import SchemaDefinition
from tallystick.model.schema_type import JSON_SCHEMA
from tallystick.spark.decoding import json_layout, json_schema
from tallystick.spark.decoding.json_columns import Columns
from tallystick.spark.decoding.json_proofs import are_plain
from tallystick.spark.types.json_schema import Entries, Items, Leaf, Members, Shape, shape_of, type_of
from tests.spark.decoding.test_json_schema import mutated

TYPES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "ratio": {"type": "number"},
        "paid": {"type": "boolean"},
        "note": {"type": ["string", "null"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": ["array", "null"], "items": {"type": ["number", "null"]}},
        "inner": {
            "type": "object",
            "properties": {
                "x": {"type": "integer"},
                "note": {"type": ["string", "null"]},
                "ratio": {"type": ["number", "null"]},
            },
            "required": ["x"],
        },
        "many": {
            "type": "array",
            "items": {"type": "object", "properties": {"y": {"type": "number"}}, "required": ["y"]},
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "scores": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
        "deep": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
    },
    "required": ["id", "name"],
}
KEYWORDS: dict[str, Any] = {
    **TYPES,
    "properties": {
        **TYPES["properties"],
        "name": {"type": "string", "maxLength": 3},
        "id": {"type": "integer", "minimum": 0},
    },
}
GOOD = b'{"id":1,"name":"a"}'
ODD = (
    b"",
    b"null",
    b"[]",
    b"{}",
    b"5",
    b"\n",
    b"}",
    b"{",
    b"{}}",
    b'{"id":1,"name":"a"}null{"id":1,"name":"a"}',
    b'{"id":1,"name":"a"} null {"id":1,"name":"a"}',
    b'{"id":1,"name":"a"}\nnull',
    b'{"id":1,"name":"a"}{"id":1,"name":"a"}',
    b'{"id":1,"name":"a"}\n{"id":1,"name":"a"}',
    b'{"id":1,"name":"a"},{"id":1,"name":"a"}',
    b'{"id":1,"name":"a"},null,{}',
    *(
        b'{"id":1,"name":"a"}' + other + b'{"id":1,"name":"a"}'
        for other in (b"true", b'"x"', b"5", b"[]", b"]", b":", b"-")
    ),
    b'{"id":1,"name":"a"} ',
    b' {"id":1,"name":"a"}\n',
    b'{\n "id": 1,\n "name": "a",\n "inner": {\n  "x": 1\n }\n}',
    b'\xef\xbb\xbf{"id":1,"name":"a"}',
    b'{"id":1,"name":"a"}\x00',
    b'{"id":1,"name":"a"}\x00}',
    b'{"id":1,"name":"a\x00"}',
    b'{"id":1,"name":"a\\u0000"}',
    b'{"id":1,"name":"}',
    b'{"}',
    b'{"id":1,"name":"a\nb"}',
    b'{"id":1,"name":"a\tb"}',
    b'{"id":1,"name":"\x7f"}',
    b'{"id":1,"name":"\xff"}',
    b'{"id":1,"name":"\xed\xa0\x80"}',
    b'{"id":1,"name":"\\ud800"}',
    b'{"id":1,"name":"\\udc00"}',
    b'{"id":1,"name":"\\ud83d\\ude00"}',
    b'{"id":1,"name":"a} null"}',
    b'{"id":1,"name":"2020-01-01"}',
    b'{"id":1,"id":1,"name":"a"}',
    b'{"id":1,"name":null,"name":"a"}',
    b'{"id":1,"name":"a","note":null,"note":null}',
    b'{"id":1,"name":"a","labels":{"k":"1","k":"1"}}',
    b'{"id":1,"name":"a","labels":{"k":"1","\\u006b":"1"}}',
    b'{"id":1,"name":"a","unknown":{"k":1,"k":1}}',
    b'{"id":1,"name":"a","unknown":{"k":[1e400]}}',
    b'{"id":1,"name":"a","unknown":{"k":[null]}}',
    b'{"id":1,"n\\u0061me":"a"}',
    b'{"id":1}',
    b'{"name":"a"}',
    b'{"id":null,"name":"a"}',
    b'{"id":"1","name":"a"}',
    b'{"id":true,"name":"a"}',
    b'{"id":1.0,"name":"a"}',
    b'{"id":1e2,"name":"a"}',
    b'{"id":1.5,"name":"a"}',
    b'{"id":01,"name":"a"}',
    b'{"id":-0,"name":"a"}',
    b'{"id":+1,"name":"a"}',
    b'{"id":9223372036854775807,"name":"a"}',
    b'{"id":9223372036854775808,"name":"a"}',
    b'{"id":1,"name":"a","ratio":-0}',
    b'{"id":1,"name":"a","ratio":-0.0}',
    b'{"id":1,"name":"a","ratio":NaN}',
    b'{"id":1,"name":"a","ratio":-Infinity}',
    b'{"id":1,"name":"a","ratio":1e400}',
    b'{"id":1,"name":"a","ratio":1e-400}',
    b'{"id":1,"name":"a","ratio":' + b"9" * 400 + b"}",
    b'{"id":1,"name":"a","ratio":9007199254740993}',
    b'{"id":1,"name":"a","ratio":"5"}',
    b'{"id":1,"name":"a","ratio":null}',
    b'{"id":1,"name":"a","ratio": null}',
    b'{"id":1,"name":"a","ratio":  null}',
    b'{"id":1,"name":"a","ratio" :null}',
    b'{"id":1,"name":"a","ratio":\nnull}',
    b'{"id":1,"name":"a","note":null}',
    b'{"id":1,"name":"a","note": null}',
    b'{"id":1,"name":"a","x\\"note":null}',
    b'{"id":1,"name":"\\"note\\":null"}',
    b'{"id":1,"name":"a","paid":1}',
    b'{"id":1,"name":"a","paid":"true"}',
    b'{"id":1,"name":"a","tags":[null]}',
    b'{"id":1,"name":"a","tags":null}',
    b'{"id":1,"name":"a","tags":"b"}',
    b'{"id":1,"name":"a","tags":{}}',
    b'{"id":1,"name":"a","tags":["b",]}',
    b'{"id":1,"name":"a","numbers":[1,null,-0,2.5]}',
    b'{"id":1,"name":"a","numbers":[1,NaN]}',
    b'{"id":1,"name":"a","numbers":null}',
    b'{"id":1,"name":"a","inner":{}}',
    b'{"id":1,"name":"a","inner":null}',
    b'{"id":1,"name":"a","inner":[]}',
    b'{"id":1,"name":"a","inner":{"x":null}}',
    b'{"id":1,"name":"a","inner":{"x":1,"note":null}}',
    b'{"id":1,"name":"a","many":[{"y":1},{}]}',
    b'{"id":1,"name":"a","many":[{"y":1},null]}',
    b'{"id":1,"name":"a","many":[{"y":1},{"y":-0}]}',
    b'{"id":1,"name":"a","labels":{}}',
    b'{"id":1,"name":"a","labels":{"note":null}}',
    b'{"id":1,"name":"a","labels":{"note":"b","":"c"}}',
    b'{"id":1,"name":"a","labels":null}',
    b'{"id":1,"name":"a","scores":{"a":null,"b":1}}',
    b'{"id":1,"name":"a","scores":{"a":-0,"b":NaN}}',
    b'{"id":1,"name":"a","scores":{"note":null}}',
    b'{"id":1,"name":"a","deep":{"a":[1],"b":[]}}',
    b'{"id":1,"name":"a","deep":{"a":[null]}}',
    b'{"id":1,"name":"a","tags":' + b"[" * 300 + b"]" * 300 + b"}",
    b'{"id":1,"name":"' + b"x" * 100_000 + b'"}',
)


class Unfit(Exception):
    pass


def expected(schema: JsonSchema, payload: bytes) -> str:
    """What the codec reads, as the columns hold it."""
    try:
        return repr(_held(decode(schema, payload), shape_of(schema), _text))
    except (InvalidRecord, Unfit, OverflowError):
        return "None"


def _held(value: Any, shape: Shape, text: Callable[[Any], str]) -> Any:
    match shape:
        case _ if value is None:
            return None
        case Members(by_name=by_name):
            if not isinstance(value, dict):
                raise Unfit
            return [_held(value.get(name), inner, text) for name, inner in by_name.items()]
        case Entries(value=inner):
            pairs = value.items() if isinstance(value, dict) else value
            return sorted((key, _held(item, inner, text)) for key, item in pairs)
        case Items(item=inner):
            return [_held(item, inner, text) for item in value]
        case Leaf(type=type_) if type_.typeName() == "double":
            return float(value)
        case Leaf(type=type_) if type_.typeName() == "long":
            if not -(2**63) <= value < 2**63:
                raise Unfit
            return int(value)
        case Leaf():
            return value
    return text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read(schema: JsonSchema, rows: list[bytes]) -> list[str]:
    shape = shape_of(schema)
    values = json_schema.decoder(schema, type_of(schema)).values(pa.array(rows, pa.binary()), pa.nulls(len(rows)))
    values.validate(full=True)
    return [repr(_held(value, shape, str)) for value in values.to_pylist()]


def parsed(raw: Any) -> JsonSchema:
    schema = catalogue.parse(SchemaDefinition(JSON_SCHEMA, json.dumps(raw)))
    assert isinstance(schema, JsonSchema)
    return schema


def assert_agree(schema: JsonSchema, rows: list[bytes]) -> None:
    found = read(schema, rows)
    wrong = [(row, e, v) for row, v in zip(rows, found, strict=True) if (e := expected(schema, row)) != v]
    assert not wrong, wrong[:3]


@pytest.mark.parametrize("raw", [TYPES, KEYWORDS], ids=["types", "keywords"])
def test_odd_payloads_are_read_as_the_codec_reads_them_alone_and_among_good_ones(raw: Any) -> None:
    schema = parsed(raw)
    for odd in ODD:
        assert_agree(schema, [odd])
        assert_agree(schema, [GOOD, odd, GOOD])
    assert_agree(schema, list(ODD))


def test_a_null_is_told_from_a_property_that_is_not_there_however_its_name_is_written() -> None:
    raw = {"type": "object", "properties": {"A": {"type": "string"}, "\\u0041": {"type": ["string", "null"]}}}
    assert_agree(parsed(raw), [b'{"\\u0041":null}', b'{"\\\\u0041":null}', b'{"A":null}', b'{"A":"x"}', b"{}"])
    labels = [b'{"x\\"note":"b"}', b'{"x\\"note":null}', b'{"x\\\\":"b"}', b'{"note":null}', b'{"a":"b"}']
    assert_agree(parsed(TYPES), [b'{"id":1,"name":"a","scores":%s}' % one.replace(b'"b"', b"5") for one in labels])
    assert_agree(parsed(TYPES), [b'{"id":1,"name":"a","labels":%s}' % one for one in labels])


def test_the_parser_sees_payloads_of_one_object_alone() -> None:
    more = [b"null", b" null", b"{}", b"\n", b"\x00}"]
    rows = [
        GOOD,
        *(GOOD + one + tail for one in more for tail in (b"", b"{}")),
        b"null",
        b"",
        b"{",
        b"}",
        b" {}",
        b"{}",
    ]
    plain = are_plain(pa.array([*rows, None], pa.binary()), None)
    assert [row for row, is_plain in zip(rows, plain, strict=False) if is_plain] == [GOOD, b"{}"]
    assert list(are_plain(pa.array([b"null", GOOD, None, GOOD, b""]).slice(1, 3), None)) == [True, False, True]


def some(chance: random.Random) -> dict[str, Any]:
    text = chance.choice(["a", "é", 'x":', "😀", "\\", "null", "{}"])
    found: dict[str, Any] = {
        "id": chance.choice([0, -1, 2**63 - 1, 5]),
        "name": text,
        "ratio": chance.choice([0, 1.5, 1e-7, 12345678901234567890, 7]),
        "paid": chance.random() < 0.5,
        "note": chance.choice([None, text]),
        "tags": [text] * chance.randrange(3),
        "numbers": chance.choice([None, [], [1, None, 2.5]]),
        "inner": {"x": 1, "note": chance.choice([None, text])},
        "many": [{"y": chance.random()}] * chance.randrange(3),
        "labels": dict.fromkeys(chance.sample(["a", "b", "note", "ü", ""], 2), text),
        "scores": {key: chance.choice([1, 0.5, None]) for key in chance.sample(["a", "b"], 2)},
        "deep": {"a": [1, 2], "b": []},
    }
    return {name: value for name, value in found.items() if name in ("id", "name") or chance.random() < 0.8}


@pytest.mark.parametrize("raw", [TYPES, KEYWORDS], ids=["types", "keywords"])
def test_many_payloads_whole_and_broken_are_read_as_the_codec_reads_them(raw: Any) -> None:
    chance, schema = random.Random(5), parsed(raw)
    whole = [
        json.dumps(some(chance), ensure_ascii=chance.random() < 0.5, separators=chance.choice([None, (",", ":")]))
        for _ in range(1500)
    ]
    rows = [row.encode() for row in whole]
    for broken in (0.0, 0.01, 0.5):
        assert_agree(schema, [mutated(chance, row) if chance.random() < broken else row for row in rows])


LEAVES = [
    {"type": kinds} for kind in ("string", "integer", "number", "boolean") for kinds in (kind, [kind, "null"])
] + [{"type": "string", "minLength": 1}, {"type": "integer", "maximum": 100}, {"enum": ["a", "b"]}, {}]
NAMES = ["a", "b", "note", "é", "x y", 'q"', "back\\slash", ""]


def _inside(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    kinds = st.booleans().map(lambda takes_null: lambda kind: [kind, "null"] if takes_null else kind)
    return st.one_of(
        st.builds(lambda kind, items: {"type": kind("array"), "items": items}, kinds, inner),
        st.builds(lambda kind, value: {"type": kind("object"), "additionalProperties": value}, kinds, inner),
        st.builds(
            _object, kinds, st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=4), st.integers(0, 2)
        ),
    )


def _object(kind: Any, properties: Mapping[str, Any], required: int) -> dict[str, Any]:
    raw = {"type": kind("object"), "properties": properties}
    return {**raw, "required": sorted(properties)[:required]} if required else raw


SCHEMAS = st.recursive(st.sampled_from(LEAVES), _inside, max_leaves=6)
ROOTS = st.dictionaries(st.sampled_from(NAMES), SCHEMAS, min_size=1, max_size=4)
"""Properties of a record."""


def value_of(raw: Any, chance: random.Random) -> Any:
    """Mostly one that fits."""
    if not raw or chance.random() < 0.02:
        return chance.choice([None, 5, "x", 1.5, [], {}, True, [None], {"a": None}, {"note": 1}])
    kinds = raw.get("type", "enum")
    match chance.choice(kinds) if isinstance(kinds, list) else kinds:
        case "object" if "properties" in raw:
            left_out = {name for name in raw["properties"] if chance.random() < 0.1}
            found = {name: value_of(one, chance) for name, one in raw["properties"].items() if name not in left_out}
            return {**found, "surplus": 1} if chance.random() < 0.02 else found
        case "object":
            names = chance.sample(NAMES, chance.randrange(4))
            return {name: value_of(raw["additionalProperties"], chance) for name in names}
        case "array":
            return [value_of(raw["items"], chance) for _ in range(chance.randrange(4))]
        case kind:
            return chance.choice(VALUES[kind])


VALUES: dict[str, list[Any]] = {
    "string": ["", "a", "null", "}", "é", '"', "\\", "\n", ": null", "😀", "2020-01-01"],
    "integer": [0, 1, -1, 100, 101, 1.0, 2**63 - 1, -(2**63), 2**63],
    "number": [0, 1, -1.5, -0.0, 1e300, 5e-324, 2**53 + 1, 10**30],
    "boolean": [True, False],
    "enum": ["a", "b", "c"],
    "null": [None],
}
SWAPS = [
    (b"1", b"null"),
    (b'"a"', b'"b"'),
    (b":", b": "),
    (b":", b" :"),
    (b"0", b"-0"),
    (b"null", b"NaN"),
    (b"}", b"}\n"),
]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(ROOTS, st.booleans(), st.randoms(use_true_random=False))
def test_any_schema_reads_any_payloads_as_the_codec_does(
    properties: Any, is_closed: bool, chance: random.Random
) -> None:
    raw = {"type": "object", "properties": properties, "required": sorted(properties)[:1]}
    schema = parsed({**raw, "additionalProperties": False} if is_closed else raw)
    separators = chance.choice([None, (",", ":")])
    texts = [json.dumps(value_of(raw, chance), ensure_ascii=False, separators=separators) for _ in range(20)]
    rows = [text.encode() for text in texts]
    assert_agree(schema, rows)
    broken = [chance.choice([mutated(chance, row), row.replace(*chance.choice(SWAPS))]) for row in rows]
    assert_agree(schema, [chance.choice(pair) for pair in zip(rows, broken, strict=True)])
    assert_agree(schema, broken)


def left_over(raw: Any, *batches: Sequence[bytes | None]) -> list[bytes | None]:
    """The payloads that are read one by one."""
    schema = parsed(raw)
    layout = json_layout.of_types(shape_of(schema), schema.root)
    assert layout is not None
    found: list[bytes | None] = []

    def by_row(payloads: pa.Array) -> pa.Array:
        found.extend(payloads.to_pylist())
        return pa.nulls(len(payloads), to_arrow_type(type_of(schema)))

    reader = Columns(layout, type_of(schema), None)
    for rows in batches:
        reader.read(pa.array(rows, pa.binary()), by_row)
    return found


def undoubted(count: int) -> list[bytes]:
    chance = random.Random(6)
    values = [{**some(chance), "scores": {"a": 1}, "labels": {"b": "x"}} for _ in range(count)]
    return [json.dumps(value, ensure_ascii=chance.random() < 0.5).encode() for value in values]


def test_only_what_is_in_doubt_is_read_one_by_one() -> None:
    good = undoubted(5000)
    assert left_over(TYPES, good) == []
    cut = [row[:-3] if n % 100 == 0 else row for n, row in enumerate(good)]
    assert left_over(TYPES, cut) == cut[::100]
    assert left_over(TYPES, [b'{\n"id":1,\n"name":"a"}']) == []
    assert left_over(TYPES, [GOOD, b'{"id":1,"name":"a","ratio":NaN}']) == [b'{"id":1,"name":"a","ratio":NaN}']


REFUSED = (
    b'{"id":true,"name":"a"}',
    b'{"id":1.0,"name":"a"}',
    b'{"id":01,"name":"a"}',
    b'{"id":1,"name":5}',
    b'{"id":1,"nmae":"a"}',
    b'{"id":1,"name":"a","ratio":"x","unknown":1}',
    b'{"id":1,"name":"a","unknown":{"x":[1]}}',
    b'{"id":1,"name":"a","inner":{"x":1,"unknown":1}}',
    b'{"id":1,"name":"a","inner":[]}',
    b'{"id":1,"name":"a","many":[{"y":1},{"y":"2"}]}',
    b'{"id":1,"name":"a","tags":["b" "c"]}',
    b'{"id":1,"name":"a",}',
    b'{"id":1 "name":"a"}',
    b'{"id":1,"name":"a}',
    b'{"id":1,"name":"\xff"}',
    b'{"id":1,"name":"\xe2\x82"}',
    b'{"id":1,"name":"\\x"}',
    b'{"id":1,"name":"\\ud800"}',
    b'{"id":1,"name":"a\tb"}',
)


def with_some(rows: list[bytes], *others: bytes) -> list[bytes]:
    """Each hundredth is one of the others, in turn."""
    return [others[n // 100 % len(others)] if n % 100 == 37 else row for n, row in enumerate(rows)]


@pytest.mark.parametrize("bad", REFUSED, ids=repr)
def test_a_record_that_the_parser_refuses_spoils_no_other(bad: bytes) -> None:
    good = undoubted(600)
    rows = with_some(good, bad)
    # First the reader does not know that some are refused, then it does; good ones make no difference to it.
    assert left_over(TYPES, rows, rows, good, good, rows, [None, *rows]) == [*[bad] * 18, None, *[bad] * 6]


def test_many_refused_records_among_good_ones_are_read_as_the_codec_reads_them() -> None:
    chance = random.Random(8)
    good = [json.dumps(some(chance), ensure_ascii=chance.random() < 0.5).encode() for _ in range(5000)]
    for raw in (TYPES, KEYWORDS):
        assert_agree(parsed(raw), with_some(good, *REFUSED, GOOD[:-1] + b',"id":2}', b"null"))


def test_what_only_the_parser_refuses_spoils_few_others() -> None:
    twice = b'{"id":1,"name":"a","id":1}'
    assert len(left_over(TYPES, [*[GOOD] * 3000, twice])) == 3001 % 256
    wide = {"type": "object", "properties": {f"property {n}": {"type": "integer"} for n in range(600)}}
    rows = [b'{"property 0":%d}' % n for n in range(1000)]
    assert left_over(wide, [*rows, b'{"property 0":1.0}']) == [*rows[768:], b'{"property 0":1.0}']


def test_names_are_met_however_they_are_written() -> None:
    names = ["é", "x y", 'q"', "back\\slash", "", "a.b*", "[", "\n"]
    raw = {"type": "object", "properties": {name: {"type": "integer"} for name in names}}
    rows = [json.dumps({name: 1}, ensure_ascii=is_ascii).encode() for name in names for is_ascii in (True, False)]
    assert left_over(raw, [*rows * 30, b'{"e":1}']) == [b'{"e":1}']


def test_keys_are_learned_where_most_records_have_new_ones() -> None:
    rows = [b'{"id":1,"name":"a","labels":{"k%d":"x"}}' % (n % 10) for n in range(400)]
    assert left_over(TYPES, [*rows, *[GOOD] * 200]) == []


def test_maps_with_ever_new_keys_are_read_one_by_one() -> None:
    batches = [
        [b'{"id":1,"name":"a","labels":{"k%d":"x"}}' % (n + 100 * batch) for n in range(100)] for batch in (0, 1)
    ]
    assert left_over(TYPES, *batches) == [*batches[0], *batches[1]]
    few = [b'{"id":1,"name":"a","labels":{"k%d":"x"}}' % (n % 10) for n in range(100)]
    assert left_over(TYPES, few) == []


@pytest.mark.parametrize(
    "more",
    [
        {"minProperties": 3},
        {"required": ["surplus"]},
        {"required": ["note"]},
        {"properties": {"id": {"type": "integer", "minimum": 0}}},
        {"properties": {"id": {}}},
        {"properties": {"id": {"type": ["integer", "string"]}}},
        {"properties": {"id": {"$ref": "#/properties/name"}, "name": {"type": "string"}}},
        {"properties": {"id": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}}},
        {"patternProperties": {"^x": {"type": "string"}}},
        {"not": {"required": ["id"]}},
    ],
    ids=json.dumps,
)
def test_a_schema_that_says_more_than_types_has_no_layout_that_says_it_all(more: Any) -> None:
    schema = parsed({**TYPES, **more})
    assert json_layout.of_types(shape_of(schema), schema.root) is None
