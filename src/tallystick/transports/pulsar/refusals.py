"""What a broker answers instead, as our errors. The one table of its codes."""

import re
from collections.abc import Callable

from tallystick import errors
from tallystick.errors import TallystickError
from tallystick.finding import Finding
from tallystick.wire.pulsar.pulsar_pb2 import ServerError

_FINDING = re.compile(
    r"\[(?P<rule>[A-Z][A-Z0-9_]+)\] (?:version (?P<version>\d+): )?(?P<message>.*?) \(fix: (?P<fix>.*?)\)"
    r"(?=; \[[A-Z]|; and \d+ more|$)",
    re.DOTALL,
)
_JAVA_CLASS = re.compile(r"^(?:[a-z]\w*\.)+[A-Z]\w*(?:Exception|Error): ")

Make = Callable[[str, str], TallystickError]
"""Text and topic → error."""


def findings_in(text: str) -> list[Finding]:
    """The findings that a broker of ours quotes in its refusals."""
    return [
        Finding(
            rule=found["rule"],
            message=found["message"],
            fix=found["fix"],
            version=int(found["version"]) if found["version"] else None,
        )
        for found in _FINDING.finditer(text)
    ]


def _topic_not_found(text: str, topic: str) -> TallystickError:
    error = errors.TopicNotFound(topic)
    error.message = f"{error.message}: {text}"
    error.args = (error.message,)
    return error


def _named(kind: type[TallystickError]) -> Make:
    return lambda text, topic: kind(f"topic {topic}: {text}" if topic else text)


def _busy(what: str) -> Make:
    return lambda text, topic: errors.Busy(what, f"topic {topic}: {text}")


_MAKERS: dict[int, Make] = {
    ServerError.AuthenticationError: _named(errors.Unauthenticated),
    ServerError.AuthorizationError: _named(errors.Forbidden),
    ServerError.ConsumerBusy: _busy("consumer"),
    ServerError.ProducerBusy: _busy("producer"),
    ServerError.UnsupportedVersionError: _named(errors.Unsupported),
    ServerError.TopicNotFound: _topic_not_found,
    ServerError.SubscriptionNotFound: _named(errors.NotFound),
    ServerError.TopicTerminatedError: _named(errors.NotPermitted),
    ServerError.InvalidTopicName: lambda text, topic: errors.InvalidArgument("topic", f"{topic}: {text}"),
    ServerError.IncompatibleSchema: lambda text, topic: errors.IncompatibleSchema(
        f"topic {topic} refuses the schema: {text}", findings_in(text)
    ),
    ServerError.NotAllowedError: _named(errors.Unsupported),
    ServerError.ProducerFenced: _named(errors.Closed),
}
"""All others are worth a retry."""


def translated(code: int, text: str, topic: str = "") -> TallystickError:
    """The error that a code stands for."""
    told = _told(text)
    make = _MAKERS.get(code)
    if make is None:
        name = ServerError.Name(code) if code in ServerError.values() else str(code)
        return errors.Unavailable(f"topic {topic}: {told} ({name})" if topic else f"{told} ({name})", server_error=name)
    return make(told, topic)


def _told(text: str) -> str:
    """Without the names of Java's classes, and without what an error says of its cause after it has said it itself."""
    first, _, _ = text.partition(" caused by org.apache.")
    return _JAVA_CLASS.sub("", " ".join(first.split())) or "the broker gives no reason"


def refused_message(code: int, text: str, topic: str) -> TallystickError | None:
    """Why a message was not taken for what it is; None where another try may succeed."""
    if code == ServerError.TopicTerminatedError:
        return translated(code, text, topic)
    # Ours tells clients that know no other final answer that the message was damaged; the words say what it was.
    is_refused = code == ServerError.NotAllowedError or (code == ServerError.ChecksumError and not is_damaged(text))
    return errors.InvalidRecord(f"topic {topic}: {_told(text)}", findings_in(text)) if is_refused else None


def is_damaged(text: str) -> bool:
    return re.search("crc32|checksum", text, re.IGNORECASE) is not None


def is_passing(error: TallystickError) -> bool:
    """Whether one that was attached before should come back: the broker may not have noticed yet that it was gone."""
    return error.transient or isinstance(error, errors.Busy)
