import pytest

from tallystick.errors import InvalidArgument
from tallystick.model.pipeline import (
    MOST_SCHEMAS,
    OTHERS,
    Outcomes,
    PipelineState,
    PipelineStatus,
    bounded,
    pipeline_name,
    status_of,
)

STATUS = PipelineStatus(
    state=PipelineState.RUNNING,
    records=Outcomes(5, 2, 1),
    by_schema={"orders v1": Outcomes(5, 2, 0)},
    batch=3,
    lag=0,
    rate=12.5,
    started_at="2026-01-02T03:04:05Z",
    message="so far",
    details={"ids": {"1": 7}},
)


def test_a_status_comes_back_from_its_json() -> None:
    assert status_of(STATUS.as_dict()) == STATUS
    assert STATUS.as_dict()["records"] == {"seen": 8, "good": 5, "quarantined": 2, "tombstones": 1}


def test_what_is_not_known_is_not_told() -> None:
    waiting = PipelineStatus(state=PipelineState.WAITING)
    assert waiting.as_dict().keys() == {"state", "records", "schemas"}
    assert status_of({"state": "waiting"}) == waiting


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "state is one of running"),
        ({"state": "dancing"}, "'dancing'"),
        ({"state": "running", "mood": 1}, "'mood'"),
        ({"state": "running", "lag": -1}, "lag is a whole number"),
        ({"state": "running", "batch": True}, "batch is a whole number"),
        ({"state": "running", "rate": float("nan")}, "rate is a number"),
        ({"state": "running", "records": []}, "records is a JSON object"),
        ({"state": "running", "records": {"good": "many"}}, "good is a whole number"),
        ({"state": "running", "schemas": {"a": 1}}, "schemas of 'a'"),
        ({"state": "running", "schemas": {"": {}}}, "schemas are named"),
        ({"state": "running", "schemas": {str(i): {} for i in range(MOST_SCHEMAS + 1)}}, "sum those beyond"),
        ({"state": "running", "message": 7}, "message is a text"),
        ({"state": "running", "details": {"x": float("inf")}}, "details is no JSON"),
    ],
)
def test_what_is_no_status_is_told(body: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidArgument, match=told):
        status_of(body)


@pytest.mark.parametrize("name", ["", " ", "a/b", "a\nb", "x" * 201])
def test_what_is_no_name_is_told(name: str) -> None:
    with pytest.raises(InvalidArgument, match="is no name"):
        pipeline_name(name)


def test_schemas_beyond_the_limit_are_summed() -> None:
    many = {f"v{i}": Outcomes(good=i) for i in range(10)}
    few = bounded(many, 4)
    assert few == {"v9": Outcomes(9), "v8": Outcomes(8), "v7": Outcomes(7), OTHERS: Outcomes(21)}
    assert bounded(few, 4) == few
    assert bounded(few, 3) == {"v9": Outcomes(9), "v8": Outcomes(8), OTHERS: Outcomes(28)}
