"""Classes that no schema can be made from: each is told with its field and the fix."""

import datetime as dt
import typing
from collections import namedtuple
from dataclasses import InitVar, dataclass, field, make_dataclass
from decimal import Decimal
from enum import Enum, Flag
from typing import Annotated, Any, Generic, Literal, TypeVar

import pydantic
import pytest

from tallystick.errors import InvalidSchema
from tallystick.serde import Avro, AvroSchema, JsonSchema
from tests.unit.serde.classes import Card, Point

T = TypeVar("T")
Pair = namedtuple("Pair", "a b")


class Bits(Flag):
    ONE = 1


class Foreign(Enum):
    Ü = 1


class Objects(Enum):
    POINT = Point(1, 2)


@dataclass
class Generic1(Generic[T]):
    value: T


def with_field(hint: Any, default: Any = ...) -> Any:
    spec: Any = ("part", hint) if default is ... else ("part", hint, field(default=default))
    return make_dataclass("Whole", [spec])


@pytest.mark.parametrize("make", [AvroSchema, JsonSchema])
@pytest.mark.parametrize(
    ("hint", "reason"),
    [
        (Any, "no schema type holds Any"),
        (object, "no schema type holds object"),
        (None, "no schema type holds NoneType"),
        (complex, "no schema type holds complex"),
        (dt.timedelta, "no schema type holds timedelta"),
        (Pair, "no schema type holds Pair"),
        (Bits, "no schema type holds Bits"),
        (Generic1[int], "no schema type holds"),
        (list, "list does not say of what"),
        (dict, "dict does not say of what"),
        (typing.List, "List does not say of what"),  # noqa: UP006
        (typing.Dict | None, "Dict does not say of what"),  # noqa: UP006
        (dict[int, str], "the keys of its dict are int"),
        (tuple[int, str], "a tuple of fixed length has no schema"),
        (Literal["a", 1], "its literals are of several types"),
        (Literal[b"a"], "its literals are of several types"),
        (list[complex], "no schema type holds complex"),
        (Annotated[list[int], Avro("int")], "which has parts"),
    ],
    ids=str,
)
def test_types_that_no_schema_holds(make: Any, hint: Any, reason: str) -> None:
    with pytest.raises(InvalidSchema, match=f"Whole.part: .*{reason}") as refused:
        make(with_field(hint))
    assert refused.value.fix
    assert str(refused.value.place) == "/Whole/part"


@pytest.mark.parametrize(
    ("hint", "reason"),
    [
        (Decimal, "how many digits a Decimal has"),
        (Foreign, "the member 'Ü' of Foreign is not a name in Avro"),
        (int | dt.datetime, "two types of its union are 'long' in Avro"),
        (list[str] | list[int], "two types of its union are 'array' in Avro"),
        (dict[str, int] | Point, "both read as dict"),
    ],
    ids=str,
)
def test_types_that_avro_does_not_hold(hint: Any, reason: str) -> None:
    with pytest.raises(InvalidSchema, match=f"Whole.part: .*{reason}") as refused:
        AvroSchema(with_field(hint))
    assert refused.value.fix


@pytest.mark.parametrize(
    ("hint", "reason"),
    [
        (Objects, "values that are not JSON"),
        (dt.date | dt.datetime, "both read as str"),
        (str | dt.date, "both read as str"),
        (list[str] | set[int], "both read as list"),
        (Annotated[complex, Avro("string")], "JSON Schema has no type for complex"),
    ],
    ids=str,
)
def test_types_that_json_does_not_hold(hint: Any, reason: str) -> None:
    with pytest.raises(InvalidSchema, match=f"Whole.part: .*{reason}") as refused:
        JsonSchema(with_field(hint))
    assert refused.value.fix


@pytest.mark.parametrize("make", [AvroSchema, JsonSchema])
def test_classes_that_cannot_be_told_apart(make: Any) -> None:
    twin = make_dataclass("Twin", [("number", str)])
    with pytest.raises(InvalidSchema, match=r"Whole\.part: .*Card and Twin have fields of the same names"):
        make(with_field(Card | twin))


@pytest.mark.parametrize("make", [AvroSchema, JsonSchema])
def test_classes_of_one_name(make: Any) -> None:
    other = make_dataclass("Point", [("z", int)])
    both = make_dataclass("Both", [("first", Point), ("second", other)])
    with pytest.raises(InvalidSchema, match=r"Both\.second: .*are called 'Point'"):
        make(both)


@pytest.mark.parametrize("make", [AvroSchema, JsonSchema])
@pytest.mark.parametrize(
    ("hint", "default", "reason"),
    [
        (int, "text", "its default 'text' is not of its type"),
        (int, True, "its default True is not of its type"),
        (int | None, "text", "its default 'text' is"),
        (float, float("nan"), "its default nan is no"),
    ],
    ids=str,
)
def test_defaults_that_do_not_fit(make: Any, hint: Any, default: Any, reason: str) -> None:
    with pytest.raises(InvalidSchema, match=f"Whole.part: .*{reason}"):
        make(with_field(hint, default))


def test_a_default_without_a_time_zone_depends_on_the_machine() -> None:
    with pytest.raises(InvalidSchema, match="its default has no time zone"):
        AvroSchema(with_field(dt.datetime, dt.datetime(2026, 1, 1)))


def test_names_that_avro_does_not_have() -> None:
    with pytest.raises(InvalidSchema, match="'größe' is not a name in Avro"):
        AvroSchema(make_dataclass("Whole", [("größe", int)]))
    with pytest.raises(InvalidSchema, match="'Größe' is not a name in Avro"):
        AvroSchema(make_dataclass("Größe", []))


@dataclass
class Unmade:
    seed: InitVar[int]
    number: int = 0


@dataclass
class Lost:
    part: "Nowhere"  # type: ignore[name-defined]  # noqa: F821


class LostModel(pydantic.BaseModel):
    part: "Nowhere"  # type: ignore[name-defined]  # noqa: F821


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")


class TwoNames(pydantic.BaseModel):
    part: int = pydantic.Field(validation_alias="a", serialization_alias="b")


@pytest.mark.parametrize(
    ("cls", "reason"),
    [
        (Unmade, r"Unmade\.seed: the class asks for it, but does not keep it"),
        (Lost, "Lost: its types name 'Nowhere'"),
        (LostModel, "LostModel: its types name 'Nowhere'"),
        (Open, "Open: it takes fields that it does not name"),
        (TwoNames, r"TwoNames\.part: it is read by one name and written by another"),
    ],
)
def test_classes_that_cannot_be_made_again(cls: Any, reason: str) -> None:
    with pytest.raises(InvalidSchema, match=reason) as refused:
        AvroSchema(cls)
    assert refused.value.fix


def test_fields_that_a_class_makes_itself_are_left_out() -> None:
    @dataclass
    class Sum:
        a: int
        total: int = field(init=False)

        def __post_init__(self) -> None:
            self.total = self.a * 2

    schema = AvroSchema(Sum)
    assert schema.decode("t", schema.to_payload(Sum(2)), None) == Sum(2)
