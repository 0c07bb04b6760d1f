"""Values of the log as rows of its tables, and back."""

import json
from typing import Any

from tallystick.broker.log.values import CursorState, TopicRow

TOPIC_COLUMNS = "id, name, partitions, properties, created_ms, first, next, bytes, messages"


def topic_row(row: tuple[Any, ...]) -> TopicRow:
    topic_id, name, partitions, properties, *numbers = row
    return TopicRow(topic_id, name, partitions, json.loads(properties), *numbers)


def cursor_text(state: CursorState) -> str:
    partly = {str(number): bits.hex() for number, bits in state.partly.items()}
    return json_text([state.acked_before, state.acked, partly, dict(state.properties)])


def cursor_state(text: str) -> CursorState:
    acked_before, acked, partly, properties = json.loads(text)
    return CursorState(
        acked_before,
        tuple((first, last) for first, last in acked),
        {int(number): bytes.fromhex(bits) for number, bits in partly.items()},
        properties,
    )


def json_text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
