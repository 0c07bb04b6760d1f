"""Single messages of a topic: where they are, and what they hold."""

from datetime import UTC, datetime
from typing import Any

from tallystick.errors import NotFound
from tallystick.server.dialects.pulsar_admin.asked import Ask, shown, topic_in, whole_number
from tallystick.server.dialects.pulsar_admin.documented import AUTHORITATIVE, MESSAGE_ID, NUMBER, reads
from tallystick.server.dialects.pulsar_admin.told import Refusal
from tallystick.server.http import MalformedRequest, Request, Response, as_json
from tallystick.server.routing import Route


class Messages:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def last_id(self, request: Request) -> Response:
        topic = topic_in(request)
        self._require_no_partitions(request, topic, "GetLastMessageId on a partitioned-topic is not allowed")
        ledger, entry, partition, batch_index = self._ask().messages.last_id(request.caller, topic)
        return shown(_id(ledger, entry, partition, batch_index))

    def id_at(self, request: Request) -> Response:
        topic, ms = topic_in(request), max(0, whole_number(request.path["timestamp"], "a timestamp"))
        self._require_no_partitions(request, topic, "Get message ID by timestamp on a partitioned topic is not allowed")
        return shown(_id(*self._ask().messages.id_at(request.caller, topic, ms), -1))

    def peek(self, request: Request) -> Response:
        topic, position = topic_in(request), whole_number(request.path["position"], "a position")
        self._require_no_partitions(request, topic, "Peek messages on a partitioned topic is not allowed")
        return _message(self._ask().messages.peek(request.caller, topic, request.path["subscription"], position))

    def examine(self, request: Request) -> Response:
        topic, start = topic_in(request), request.text("initialPosition", "latest")
        if start not in ("earliest", "latest"):
            raise MalformedRequest(f"initialPosition is earliest or latest, not {start[:40]!r}")
        self._require_no_partitions(request, topic, "Examine messages on a partitioned topic is not allowed")
        position = request.number("messagePosition", 1)
        try:
            found = self._ask().messages.examine(request.caller, topic, position, from_end=start == "latest")
        except NotFound as e:
            if type(e) is not NotFound:
                raise
            raise Refusal(412, "Could not examine messages due to the total message is zero") from e
        return _message(found)

    def _require_no_partitions(self, request: Request, topic: str, refusal: str) -> None:
        if self._ask().topics.partitions(request.caller, topic):
            raise Refusal(405, refusal)


def _id(ledger: int, entry: int, partition: int, batch_index: int) -> dict[str, int]:
    return {
        "ledgerId": ledger,
        "entryId": entry,
        "partitionIndex": partition,
        "batchIndex": batch_index,
        "batchSize": 0,
    }


def _message(found: dict[str, Any]) -> Response:
    """The payload, with what is known of it in the headers. A batch comes whole, as its producer put it together."""
    headers: dict[str, Any] = {
        "X-Pulsar-Message-ID": f"{found['ledger']}:{found['entry']}",
        "X-Pulsar-producer-name": found["producer"],
        "X-Pulsar-sequence-id": found["sequence"],
        "X-Pulsar-publish-time": _time(found["published_ms"]),
        "X-Pulsar-event-time": found["event_ms"] and _time(found["event_ms"]),
        "X-Pulsar-partition-key": found["key"],
        "X-Pulsar-PROPERTY": as_json(found["properties"]).decode() if found["properties"] else None,
        "X-Pulsar-num-batch-message": found["batch"],
        "X-Pulsar-batch-size": len(found["payload"]) if found["batch"] is not None else None,
    }
    told = tuple((name.lower(), _header(value)) for name, value in headers.items() if value is not None)
    return Response(200, found["payload"], "application/octet-stream", told)


def _header(value: Any) -> str:
    """What a producer chose may hold any character; a header may not."""
    text = str(value)
    return "".join(c if " " <= c <= "~" else f"\\u{ord(c):04x}" for c in text)


def _time(ms: int) -> str:
    """A producer says when; what is no time is shown as the number that it is."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return str(ms)


def routes(ask: Ask) -> tuple[Route, ...]:
    do = Messages(ask)
    topic = "/persistent/{tenant}/{namespace}/{topic}"
    peek = f"{topic}/subscription/{{subscription}}/position/{{position}}"
    examined = {"initialPosition": {"enum": ["earliest", "latest"]}, "messagePosition": NUMBER}
    return (
        Route("GET", f"{topic}/lastMessageId", do.last_id, reads("The last message.", MESSAGE_ID, **AUTHORITATIVE)),
        Route("GET", f"{topic}/messageid/{{timestamp}}", do.id_at, reads("The first of a time, in ms.", MESSAGE_ID)),
        Route("GET", peek, do.peek, reads("The n-th entry of a backlog, as it is stored.", None)),
        Route("GET", f"{topic}/examinemessage", do.examine, reads("The n-th entry of a topic.", None, **examined)),
    )
