"""librdkafka's clients: made from options, reached within a time, watched for what they say."""

import logging
import time
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from confluent_kafka import KafkaError, KafkaException, Message

from tallystick.errors import Closed, InvalidArgument, TallystickError, TopicNotFound, Unavailable
from tallystick.transports.kafka.failures import PASSING, translated, unauthenticated
from tallystick.transports.kafka.settings import KafkaSettings, Option

log = logging.getLogger("tallystick.kafka")

Client = TypeVar("Client")
_TURN_S = 0.2
"""How often a client that waits is asked whether it has been refused."""
_GLANCE_S = 0.05
_NO_TOPIC = "__consumer_offsets"
"""Any topic that no client makes: only whether there is an answer counts."""
_CREATION_S = 3.0
"""How long a topic that a broker makes by itself may take to show."""
_NOT_YET = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE)


class Reachable(Protocol):
    """What producers and consumers have in common."""

    def list_topics(self, topic: str | None = None, timeout: float = -1) -> Any: ...

    def poll(self, timeout: float = -1) -> object: ...


class Quietly:
    """What librdkafka logs is information, whatever it calls it: it tries again, and what it gives up on is raised."""

    def log(self, level: int, text: str, *arguments: object) -> None:
        log.log(min(level, logging.INFO), text, *arguments)


class Watch:
    """What a client says apart from the answers to its calls."""

    def __init__(self, servers: str) -> None:
        self._servers = servers
        self._last: KafkaError | None = None
        self._is_down = False
        self._is_closed = False
        self._refusal: KafkaError | None = None
        self.heard: KafkaError | None = None
        """What a consumer was told before it had partitions; librdkafka says it once."""

    def __call__(self, error: KafkaError) -> None:
        """librdkafka's error_cb."""
        log.info("Kafka at %s: %s", self._servers, error)
        self._last = error
        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._is_down = True
        elif error.code() == KafkaError._AUTHENTICATION:
            self._refusal = error

    def hear(self, event: object) -> None:
        """What a poll returned."""
        if isinstance(event, Message) and event.error() is not None:
            self.heard = event.error()

    def is_away(self, client: Reachable) -> bool:
        """Whether no broker could be reached, and none can be now. Blocks for a moment."""
        if self._is_down:
            try:
                client.list_topics(_NO_TOPIC, timeout=_GLANCE_S)
                self._is_down = False
            except KafkaException:
                pass
        return self._is_down

    def close(self) -> None:
        """Nobody waits any more for what this client does."""
        self._is_closed = True

    @property
    def trouble(self) -> TallystickError | None:
        """What the broker refused us for. One that is only away comes back, and is not told when it does."""
        return None if self._refusal is None else unauthenticated(self._refusal, self._servers)

    def require_hope(self) -> None:
        """Raises what makes waiting vain: `Unauthenticated` where the broker refused us, `Closed` after closing."""
        if self._is_closed:
            raise Closed(f"the connection to Kafka at {self._servers} was closed meanwhile")
        if self.trouble is not None:
            raise self.trouble

    def unreachable(self, timeout_s: float) -> Unavailable:
        reason = f": {self._last.str()}" if self._last is not None else ""
        return Unavailable(f"Kafka at {self._servers} cannot be reached within {timeout_s:g} s{reason}")


def made(kind: type[Client], config: Mapping[str, object], options: Mapping[str, Option], watch: Watch) -> Client:
    """Raises `InvalidArgument` naming the option that librdkafka does not take."""
    try:
        return kind({**config, "error_cb": watch, "logger": Quietly()})  # type: ignore[call-arg]
    except KafkaException as e:
        reason = e.args[0].str()
        raise InvalidArgument(_blamed(reason, options) or _blamed(reason, config) or "options", reason) from e


def _blamed(reason: str, options: Mapping[str, object]) -> str | None:
    return max((name for name in options if name in reason), key=len, default=None)


def reached_partitions(client: Reachable, topic: str, settings: KafkaSettings, watch: Watch) -> list[int]:
    """The partitions of a topic, which the broker makes where it may. Blocks.

    Raises `Unavailable`, `Unauthenticated`, `Forbidden`, and `TopicNotFound` for a topic that is not made.
    """
    limit = time.monotonic() + settings.operation_timeout_s
    creation_limit = None
    while True:
        found, error = _asked(client, topic, limit)
        watch.hear(client.poll(0))
        watch.require_hope()
        if found:
            return found
        now = time.monotonic()
        if error is not None and error.code() in _NOT_YET:
            creation_limit = creation_limit or now + _CREATION_S
            if now >= min(limit, creation_limit):
                raise TopicNotFound(topic)
            time.sleep(0.05)
        elif error is not None and error.code() not in PASSING:
            raise translated(error, topic, settings.servers)
        elif now >= limit:
            raise watch.unreachable(settings.operation_timeout_s)


def _asked(client: Reachable, topic: str, limit: float) -> tuple[list[int], KafkaError | None]:
    try:
        answer = client.list_topics(topic, timeout=max(0.01, min(_TURN_S, limit - time.monotonic())))
    except KafkaException as e:
        return [], e.args[0]
    described = answer.topics[topic]
    return sorted(described.partitions), described.error


def failure_of(e: KafkaException, topic: str, settings: KafkaSettings) -> TallystickError:
    return translated(e.args[0], topic, settings.servers)
