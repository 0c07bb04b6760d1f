"""What the cases of `conformance/verification` do not show: findings, and which version is meant."""

from tallystick.compat.evolution import Registered, check
from tallystick.compat.verification import Refused, check_consumer, check_producer, version_of
from tallystick.finding import Direction
from tallystick.formats import Schema, parse
from tallystick.model import schema_type as types
from tallystick.model.definition import SchemaDefinition
from tallystick.model.policy import Policy
from tallystick.model.strategy import Strategy


def _schema(text: str) -> Schema:
    return parse(SchemaDefinition(types.AVRO, text))


ONE = _schema('{"type": "record", "name": "O", "fields": []}')
TWO = _schema('{"type": "record", "name": "O", "fields": [{"name": "a", "type": "int"}]}')
OTHER = _schema('{"type": "record", "name": "O", "fields": [{"name": "b", "type": "int"}]}')


def test_schema_that_came_back_is_its_last_version() -> None:
    history = [Registered(1, ONE), Registered(2, TWO), Registered(5, ONE)]
    assert version_of(history, ONE) == 5
    assert version_of(history, OTHER) is None


def test_consumer_is_never_asked_to_be_read() -> None:
    verdict = check_consumer([Registered(1, TWO)], OTHER, Policy(Strategy.FULL_TRANSITIVE), topic_in_use=True)
    assert isinstance(verdict, Refused)
    assert {finding.direction for finding in verdict.findings} == {Direction.BACKWARD}


def test_producer_hears_both_directions_under_full() -> None:
    verdict = check_producer([Registered(1, TWO)], OTHER, Policy(Strategy.FULL))
    assert isinstance(verdict, Refused)
    assert {finding.direction for finding in verdict.findings} == set(Direction)


def test_enforced_validation_says_what_the_topic_has() -> None:
    verdict = check_producer([Registered(3, ONE)], None, Policy(Strategy.FULL, validation_enforced=True))
    assert isinstance(verdict, Refused)
    (finding,) = verdict.findings
    assert (finding.version, finding.was, finding.direction) == (3, "AVRO", None)


def test_frozen_subject_takes_back_any_of_its_versions() -> None:
    history = [Registered(1, ONE), Registered(2, TWO)]
    assert check(history, ONE, Strategy.ALWAYS_INCOMPATIBLE) == []
    (finding,) = check(history, OTHER, Strategy.ALWAYS_INCOMPATIBLE)
    assert (finding.rule, finding.version) == ("SCHEMA_FROZEN", 2)
