"""Shared receive queues."""

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.base import PyverbsObject
from pyverbs.link import call
from pyverbs.pd import PD
from pyverbs.wr import Receiver


class SrqAttr(PyverbsObject):
    """`struct ibv_srq_attr`."""

    def __init__(self, max_wr: int = 100, max_sge: int = 1, srq_limit: int = 0) -> None:
        self.max_wr = max_wr
        self.max_sge = max_sge
        self.srq_limit = srq_limit

    @property
    def value(self) -> dict[str, int]:
        """The struct."""
        return {"max_wr": self.max_wr, "max_sge": self.max_sge, "srq_limit": self.srq_limit}


class SrqInitAttr(PyverbsObject):
    """`struct ibv_srq_init_attr`."""

    def __init__(self, attr: SrqAttr) -> None:
        self.value = {"attr": attr.value}


class SRQ(Receiver):
    """A shared receive queue."""

    kind = "srq"
    closes = ("qp",)
    destroy = "ibv_destroy_srq"
    post = "ibv_post_srq_recv"

    def __init__(self, creator: PD, attr: SrqInitAttr) -> None:
        self.made(call("ibv_create_srq", creator, attr.value), creator)

    def modify(self, attr: SrqAttr, comp_mask: int) -> None:
        """ibv_modify_srq(3)"""
        call("ibv_modify_srq", self, attr.value, comp_mask)

    def query(self) -> SrqAttr:
        """ibv_query_srq(3)"""
        return SrqAttr(**call("ibv_query_srq", self))
