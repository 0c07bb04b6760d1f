"""What a table has to be given before rows can land, without a table."""

import pytest
from pyspark.errors import PythonException
from pyspark.sql.types import (
    ArrayType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from tallystick.errors import IncompatibleSchema, Unavailable
from tallystick.model.pipeline import OTHERS, Outcomes, PipelineState, PipelineStatus
from tallystick.spark.failures import transient_reason
from tallystick.spark.landing.counts import SchemaKey, counted
from tallystick.spark.landing.evolution import Addition, additions, merged
from tallystick.spark.progress import told


def record(**fields: object) -> StructType:
    return StructType([StructField(name, kind) for name, kind in fields.items()])  # type: ignore[arg-type]


INNER, WIDER = record(x=IntegerType()), record(x=IntegerType(), y=StringType())
TABLE = record(id=LongType(), a=INNER, l=ArrayType(INNER), m=MapType(StringType(), INNER))


def test_what_is_missing_is_found_however_deep_it_is() -> None:
    rows = record(ID=IntegerType(), l=ArrayType(WIDER), m=MapType(StringType(), WIDER), new=DoubleType())
    assert additions(TABLE, rows, "t") == [
        Addition(("l", "element", "y"), StringType()),
        Addition(("m", "value", "y"), StringType()),
        Addition(("new",), DoubleType()),
    ]
    grown = merged(TABLE, rows)
    assert additions(grown, rows, "t") == []
    assert grown.names == ["id", "a", "l", "m", "new"]
    assert grown["id"].dataType == LongType()


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        (LongType(), ShortType()),
        (DoubleType(), FloatType()),
        (DecimalType(12, 2), DecimalType(9, 2)),
    ],
)
def test_smaller_numbers_fit_and_larger_ones_do_not(table: object, rows: object) -> None:
    assert additions(record(a=table), record(a=rows), "t") == []
    with pytest.raises(IncompatibleSchema, match="nothing was written") as refused:
        additions(record(a=rows), record(a=table), "t")
    (finding,) = refused.value.findings
    assert (finding.was, finding.now) == (rows.simpleString(), table.simpleString())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("table", "rows", "path"),
    [
        (StringType(), IntegerType(), "a"),
        (INNER, StringType(), "a"),
        (ArrayType(INNER), ArrayType(record(x=StringType())), "a.element.x"),
        (MapType(StringType(), LongType()), MapType(IntegerType(), LongType()), "a.key"),
        (DecimalType(9, 2), DecimalType(9, 3), "a"),
        (LongType(), DoubleType(), "a"),
    ],
)
def test_another_type_is_refused_with_its_place(table: object, rows: object, path: str) -> None:
    with pytest.raises(IncompatibleSchema) as refused:
        additions(record(a=table), record(a=rows), "t")
    assert str(refused.value.findings[0].old) == path


def test_counts_add_up_whatever_was_told_apart() -> None:
    one, two = SchemaKey("persistent://public/default/t", None, 1), SchemaKey("t", 17, None)
    whole = {"good": 5, "quarantined": 3, "tombstones": 1}
    assert counted(whole, [one]) == {"t v1": Outcomes(5, 3, 1)}
    apart = {"good_0": 4, "quarantined_0": 0, "tombstones_0": 0, "good_1": 1, "quarantined_1": 1, "tombstones_1": 0}
    assert counted(whole | apart, [one, two]) == {
        "t v1": Outcomes(4),
        "t id 17": Outcomes(1, 1),
        OTHERS: Outcomes(0, 2, 1),
    }
    assert counted(whole, [one, two]) == {OTHERS: Outcomes(5, 3, 1)}


def test_what_may_pass_is_told_from_what_will_not() -> None:
    assert transient_reason(Unavailable("gone")) == "gone"
    assert transient_reason(IncompatibleSchema("no", [])) is None
    assert transient_reason(ValueError("tallystick.errors.Unavailable: gone")) is None
    worker = "Traceback:\n  File x\ntallystick.errors.{}: gone\n\n\tat org.apache.spark"
    assert transient_reason(PythonException(worker.format("Unavailable"))) == "gone"
    assert transient_reason(PythonException(worker.format("NotFound"))) is None


def test_the_line_of_a_pipeline() -> None:
    status = PipelineStatus(state=PipelineState.WAITING, records=Outcomes(1200, 3, 1), rate=60.4, lag=9, message="gone")
    assert told(status) == "1,200 landed, 1 deleted, 3 in quarantine, 60/s, 9 to go, waiting: gone"
