"""The entries that came last, of all topics, in memory: most consumers read just these."""

from collections import OrderedDict

from tallystick.broker.log.values import Entry

_MOST_BYTES = 16 * 1024 * 1024
_BYTES_BESIDE_DATA = 400
"""What keeping an entry takes beside its data: of tiny ones it is nearly all."""


class RecentEntries:
    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._entries: OrderedDict[tuple[int, int], Entry] = OrderedDict()
        self.bytes = 0

    def put(self, topic_id: int, entry: Entry) -> None:
        self._entries[topic_id, entry.number] = entry
        self.bytes += len(entry.data) + _BYTES_BESIDE_DATA
        while self.bytes > self._most_bytes:
            _, oldest = self._entries.popitem(last=False)
            self.bytes -= len(oldest.data) + _BYTES_BESIDE_DATA

    def get(self, topic_id: int, number: int) -> Entry | None:
        return self._entries.get((topic_id, number))
