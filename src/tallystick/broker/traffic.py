"""Counting what passes: messages, bytes, and how many a second."""


class Traffic:
    __slots__ = ("_bytes_then", "_messages_then", "byte_rate", "bytes", "entries", "message_rate", "messages")

    def __init__(self) -> None:
        self.entries = self.messages = self.bytes = 0
        self.message_rate = self.byte_rate = 0.0
        self._messages_then = self._bytes_then = 0

    def add(self, messages: int, size: int) -> None:
        self.entries += 1
        self.messages += messages
        self.bytes += size

    def measure(self, seconds: float) -> None:
        """The rates since the last call, which was so long ago."""
        self.message_rate = (self.messages - self._messages_then) / seconds
        self.byte_rate = (self.bytes - self._bytes_then) / seconds
        self._messages_then, self._bytes_then = self.messages, self.bytes
