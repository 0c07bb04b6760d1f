"""What a subscription has acknowledged, entry by entry."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping

from tallystick.broker.log.values import CursorState


class Cursor:
    """Everything below `acked_before` is acknowledged, and beyond it the entries of some ranges.

    Ranges and not single numbers: where one entry is never acknowledged, those after it do not take memory each.
    """

    def __init__(self, state: CursorState) -> None:
        self.acked_before = state.acked_before
        self._firsts = [first for first, _ in state.acked]
        self._lasts = [last for _, last in state.acked]
        self._beyond = sum(last - first + 1 for first, last in state.acked)
        self.partly = {number: int.from_bytes(bits, "little") for number, bits in state.partly.items()}
        """Entries of which some messages are acknowledged: a bit for each that is not."""

    def state(self, properties: Mapping[str, str]) -> CursorState:
        partly = {number: _as_bytes(bits) for number, bits in self.partly.items()}
        return CursorState(self.acked_before, tuple(zip(self._firsts, self._lasts, strict=True)), partly, properties)

    def is_acked(self, number: int) -> bool:
        if number < self.acked_before:
            return True
        at = bisect_right(self._firsts, number) - 1
        return at >= 0 and number <= self._lasts[at]

    def next_unacked(self, number: int) -> int:
        """The first entry from this one on that is not acknowledged."""
        number = max(number, self.acked_before)
        at = bisect_right(self._firsts, number) - 1
        return self._lasts[at] + 1 if at >= 0 and number <= self._lasts[at] else number

    def after_unacked(self, start: int, count: int) -> int:
        """The number behind so many entries that are not acknowledged."""
        number = self.next_unacked(start)
        for first, last in zip(self._firsts, self._lasts, strict=True):
            if last < number:
                continue
            if number + count <= first:
                break
            count -= first - number
            number = last + 1
        return number + count

    def unacked_before(self, end: int) -> int:
        """How many entries below `end` are not acknowledged."""
        return max(0, end - self.acked_before - self._beyond)

    def ack(self, number: int) -> bool:
        """Answers whether that is new."""
        if self.is_acked(number):
            return False
        self.partly.pop(number, None)
        self._insert(number)
        self._advance()
        return True

    def ack_messages(self, number: int, unacked_bits: int) -> bool:
        """Acknowledges the messages of a batch whose bits are not set; answers whether the whole entry is done now."""
        if self.is_acked(number):
            return False
        left = self.partly.get(number, unacked_bits) & unacked_bits
        if left:
            self.partly[number] = left
            return False
        return self.ack(number)

    def ack_before(self, number: int) -> None:
        """Acknowledges every entry below this one."""
        if number <= self.acked_before:
            return
        self.acked_before = number
        at = bisect_left(self._lasts, number)
        self._beyond -= sum(last - first + 1 for first, last in zip(self._firsts[:at], self._lasts[:at], strict=True))
        del self._firsts[:at], self._lasts[:at]
        if self._firsts and self._firsts[0] < number:
            self._beyond -= number - self._firsts[0]
            self._firsts[0] = number
        self.partly = {n: bits for n, bits in self.partly.items() if n >= number}
        self._advance()

    def reset(self, number: int) -> None:
        """Starts over: nothing from this entry on is acknowledged."""
        self.acked_before = number
        self._firsts, self._lasts, self._beyond, self.partly = [], [], 0, {}

    def _insert(self, number: int) -> None:
        at = bisect_left(self._firsts, number)
        joins_before = at > 0 and self._lasts[at - 1] == number - 1
        joins_after = at < len(self._firsts) and self._firsts[at] == number + 1
        if joins_before and joins_after:
            self._lasts[at - 1] = self._lasts[at]
            del self._firsts[at], self._lasts[at]
        elif joins_before:
            self._lasts[at - 1] = number
        elif joins_after:
            self._firsts[at] = number
        else:
            self._firsts.insert(at, number)
            self._lasts.insert(at, number)
        self._beyond += 1

    def _advance(self) -> None:
        if self._firsts and self._firsts[0] == self.acked_before:
            self._beyond -= self._lasts[0] - self._firsts[0] + 1
            self.acked_before = self._lasts[0] + 1
            del self._firsts[0], self._lasts[0]


def bits_of(words: Iterable[int]) -> int:
    """The wire's signed 64-bit words, lowest first, as one number."""
    return int.from_bytes(b"".join((word & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little") for word in words), "little")


def words_of(bits: int) -> list[int]:
    words = []
    while bits:
        word = bits & 0xFFFFFFFFFFFFFFFF
        words.append(word - (1 << 64) if word >> 63 else word)
        bits >>= 64
    return words


def _as_bytes(bits: int) -> bytes:
    return bits.to_bytes(8 * ((bits.bit_length() + 63) // 64), "little")
