"""Objects and how they close: an object closes those that refer to it, then itself."""

from typing import Any, ClassVar
from weakref import WeakSet

from pyverbs.link import Object, call
from pyverbs.pyverbs_error import PyverbsRDMAError


def inc_rkey(rkey: int) -> int:
    """ibv_inc_rkey"""
    return call("ibv_inc_rkey", rkey)


def PyverbsRDMAErrno(msg: str) -> PyverbsRDMAError:
    """Returns an error without a number."""
    return PyverbsRDMAError(msg)


class PyverbsObject:
    """Attributes of a call."""


class PyverbsCM(PyverbsObject):
    """An object of the device."""

    kind: ClassVar[str] = ""
    # The kinds of objects that refer to this one, in the order in which they close.
    closes: ClassVar[tuple[str, ...]] = ()
    destroy: ClassVar[str] = ""

    remote: Object | None = None

    def made(self, made: Object, *refers_to: "PyverbsCM | None") -> None:
        """Takes the object that a call made, which refers to others."""
        self.remote = made
        self.referrers: dict[str, WeakSet[PyverbsCM]] = {kind: WeakSet() for kind in self.closes}
        self.refers_to = [one for one in refers_to if one is not None]
        for one in self.refers_to:
            one.referrers[self.kind].add(self)

    def member(self, name: str) -> Any:
        """Returns a member of the struct that stands for the object."""
        return call("member", self, name)

    def close(self) -> None:
        """Destroys the object."""
        if self.remote is None:
            return
        for kind in self.closes:
            for one in list(self.referrers[kind]):
                one.close()
        call(self.destroy, self)
        self.remote = None
        self.refers_to = []

    def __enter__(self) -> "PyverbsCM":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()
