"""Interceptors: a program's own code around every message of a producer or consumer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tallystick.messaging.message import Message, NewMessage
from tallystick.model.position import Position

if TYPE_CHECKING:
    from tallystick.messaging.consumer import Consumer
    from tallystick.messaging.producer import Producer


class ProducerInterceptor:
    """Sees each message before it is encoded and after the broker has answered. Override what is needed.

    Acknowledgements come from the client's own thread: be quick there, and wait for nothing.
    """

    def eligible(self, message: NewMessage[Any]) -> bool:
        """Whether this interceptor is for that message; a producer may send many kinds (PIP-43)."""
        return True

    def before_send(self, producer: "Producer[Any]", message: NewMessage[Any]) -> NewMessage[Any]:
        """The message to send instead. What it raises, `send` raises."""
        return message

    def on_send_acknowledgement(
        self,
        producer: "Producer[Any]",
        message: NewMessage[Any],
        position: Position | None,
        error: BaseException | None,
    ) -> None:
        """One of position and error is there."""

    def close(self) -> None:
        """Called when the producer is closed."""


class ConsumerInterceptor:
    """Sees each message before the program gets it, and what the program does with it."""

    def eligible(self, message: Message[Any]) -> bool:
        return True

    def before_consume(self, consumer: "Consumer[Any]", message: Message[Any]) -> Message[Any]:
        """The message that the program gets. What it raises, `receive` raises."""
        return message

    def on_acknowledge(self, consumer: "Consumer[Any]", message: Message[Any]) -> None: ...

    def on_acknowledge_cumulative(self, consumer: "Consumer[Any]", message: Message[Any]) -> None: ...

    def on_reject(self, consumer: "Consumer[Any]", message: Message[Any]) -> None: ...

    def close(self) -> None:
        """Called when the consumer is closed."""


def before_send(
    interceptors: Sequence[ProducerInterceptor], producer: "Producer[Any]", message: NewMessage[Any]
) -> NewMessage[Any]:
    for interceptor in interceptors:
        if interceptor.eligible(message):
            message = interceptor.before_send(producer, message)
    return message


def before_consume(
    interceptors: Sequence[ConsumerInterceptor], consumer: "Consumer[Any]", message: Message[Any]
) -> Message[Any]:
    for interceptor in interceptors:
        if interceptor.eligible(message):
            message = interceptor.before_consume(consumer, message)
    return message
