"""Lines → messages: each is checked, sent, and waited for."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tallystick.cli import topic_from_json
from tallystick.cli.topic_chosen_schema import ChosenSchema
from tallystick.cli.topic_from_json import FromJson
from tallystick.cli.topic_lines import BadLine, Line, bad_line
from tallystick.cli.topic_progress import Advance
from tallystick.errors import InvalidRecord, SchemaSerializationError, TallystickError
from tallystick.finding import Finding, Place
from tallystick.model import schema_type as types

if TYPE_CHECKING:
    from tallystick.messaging.pending import Pending
    from tallystick.messaging.producer import Producer
    from tallystick.model.position import Position

NO_KEY = "TOPIC_LINE_WITHOUT_KEY"

MOST_TOLD = 1000
"""Bad lines that are kept for the report of a program; all are counted, and told as they come."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What becomes of each line."""

    file: str
    key_field: str | None
    properties: Mapping[str, str]
    stops: bool
    """At the first bad line, with nothing after it sent."""


@dataclass(slots=True)
class Outcome:
    sent: int = 0
    failed: int = 0
    stopped_at: int | None = None
    """The first bad line, where the run ended there."""
    read_to: int = 0
    """The last line that was looked at."""
    bad_lines: list[BadLine] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Content:
    """A line as a message."""

    value: Any
    key: str | None
    source: FromJson | None


class Sending:
    """Sends lines through one producer. `tell` is called with each bad line when it is known."""

    def __init__(
        self,
        producer: "Producer[Any]",
        chosen: ChosenSchema,
        rules: Rules,
        tell: Callable[[BadLine], None],
        advance: Advance,
    ) -> None:
        self.outcome = Outcome()
        self._producer = producer
        self._is_text = chosen.definition.type == types.STRING
        self._sends_bytes = producer.schema.definition.type == types.BYTES
        self._read = None if chosen.takes_lines else topic_from_json.reader_of(chosen.parsed)
        self._rules = rules
        self._tell = tell
        self._advance = advance
        self._waiting: deque[tuple[Line, Pending[Position]]] = deque()
        self._bytes = 0

    def send(self, lines: Iterable[Line]) -> None:
        """Raises what ends the run as a whole: a cluster that does not answer, who may not send."""
        began = time.monotonic()
        try:
            for line in lines:
                self._put(line)
                self._collect(is_over=False)
                if self.outcome.stopped_at is not None:
                    break
            self.finish()
        finally:
            self.outcome.seconds = time.monotonic() - began

    def finish(self) -> None:
        """Waits for what is on its way."""
        self._producer.flush_async()
        self._collect(is_over=True)

    def _put(self, line: Line) -> None:
        self.outcome.read_to = line.number
        source: FromJson | None = None
        try:
            content = self._content(line)
            source = content.source
            sent = self._producer.send_async(content.value, key=content.key, properties=self._rules.properties)
        except (InvalidRecord, SchemaSerializationError) as e:
            self._fail(line, e, source)
            return
        self._waiting.append((line, sent))
        self._bytes += len(line.data) + 1

    def _content(self, line: Line) -> Content:
        if self._read is None:
            text = line.text if self._is_text else None
            return Content(line.data if text is None or self._sends_bytes else text, None, None)
        raw = line.value
        source = self._read(raw)
        return Content(source.value, self._key(raw), source)

    def _key(self, raw: Any) -> str | None:
        name = self._rules.key_field
        if name is None:
            return None
        key = raw.get(name) if isinstance(raw, dict) else None
        if isinstance(key, str):
            return key
        if isinstance(key, bool):
            return str(key).lower()
        if isinstance(key, int | float):
            return str(key)
        was = "has no such field" if key is None else "has an object or a list there"
        message = f"the key is to be field `{name}`, and the line {was}"
        fix = f"write a text or a number as `{name}`, or leave out --key-field"
        raise InvalidRecord(message, [Finding(rule=NO_KEY, message=message, fix=fix, new=Place(f"/{name}"))])

    def _collect(self, *, is_over: bool) -> None:
        """Takes the answers that are there, in the order of the lines; at the end waits for all."""
        while self._waiting and (is_over or self._waiting[0][1].done()):
            line, sent = self._waiting.popleft()
            try:
                sent.result()
            except TallystickError as e:
                if e.transient:
                    raise
                self._fail(line, e, None)
            else:
                self.outcome.sent += 1
        self._advance(self._bytes, self.outcome.sent)

    def _fail(self, line: Line, error: TallystickError, source: FromJson | None) -> None:
        findings = getattr(error, "findings", ())
        bad = bad_line(self._rules.file, line, error, findings if source is None else source.explained(findings))
        outcome = self.outcome
        outcome.failed += 1
        if self._rules.stops and outcome.stopped_at is None:
            outcome.stopped_at = line.number
        if len(outcome.bad_lines) < MOST_TOLD:
            outcome.bad_lines.append(bad)
        self._tell(bad)
