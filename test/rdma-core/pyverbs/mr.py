"""Memory regions."""

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.base import PyverbsCM
from pyverbs.link import call, link
from pyverbs.pd import PD


class MR(PyverbsCM):
    """A memory region over memory of its own."""

    kind = "mr"
    destroy = "ibv_dereg_mr"

    def __init__(self, creator: PD, length: int, access: int) -> None:
        self.buf = link.allocate(length)
        self.length = length
        self.made(call("ibv_reg_mr", creator, link.view(self.buf, length), length, access), creator)
        self.lkey: int = self.member("lkey")
        self.rkey: int = self.member("rkey")

    def write(self, data: bytes | str, length: int, offset: int = 0) -> None:
        """Writes the first `length` bytes of `data`."""
        octets = data.encode() if isinstance(data, str) else bytes(data)
        call("store", link.view(self.buf + offset, length), octets[:length])

    def read(self, length: int, offset: int) -> bytes:
        """Reads bytes."""
        return call("load", link.view(self.buf + offset, length))

    def close(self) -> None:
        open_before = self.remote is not None
        super().close()
        if open_before:
            link.free(self.buf)
