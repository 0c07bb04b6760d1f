"""What bytes from outside can be guilty of."""

from tallystick.errors import BadRequest


class MalformedFrame(BadRequest):
    """Bytes that are not the protocol. After one in a stream nothing that follows can be trusted."""

    code = "malformed-frame"


class ChecksumMismatch(BadRequest):
    """An entry whose bytes changed on their way."""

    code = "checksum-mismatch"

    def __init__(self, stated: int, computed: int) -> None:
        super().__init__(
            f"the entry's CRC32-C is {computed:08x}, but it says {stated:08x}: it was damaged on its way; send it again"
        )
        self.stated = stated
        self.computed = computed
