"""Completion queues."""

from types import SimpleNamespace
from typing import Any

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.base import PyverbsCM, PyverbsObject
from pyverbs.device import Context
from pyverbs.link import NS_PER_EMPTY_POLL, call, link


class CQ(PyverbsCM):
    """A completion queue."""

    kind = "cq"
    closes = ("qp", "wq")
    destroy = "ibv_destroy_cq"
    comp_channel = None

    def __init__(
        self,
        context: Context,
        cqe: int,
        cq_context: object = None,
        channel: None = None,
        comp_vector: int = 0,
    ) -> None:
        made = call("ibv_create_cq", context, cqe, cq_context, channel, comp_vector)
        self.made(made, context)

    def poll(self, num_entries: int = 1) -> tuple[int, list[SimpleNamespace]]:
        """ibv_poll_cq(3)"""
        found = [SimpleNamespace(**one) for one in call("ibv_poll_cq", self, num_entries)]
        if not found:
            link.now += NS_PER_EMPTY_POLL
        return len(found), found


class PollCqAttr(PyverbsObject):
    """`struct ibv_poll_cq_attr`."""

    value = {"comp_mask": 0}


class CqInitAttrEx(PyverbsObject):
    """`struct ibv_cq_init_attr_ex`."""

    def __init__(
        self,
        cqe: int = 100,
        channel: None = None,
        comp_vector: int = 0,
        wc_flags: int = 0,
        comp_mask: int = 0,
        flags: int = 0,
    ) -> None:
        self.value: dict[str, Any] = {
            "cqe": cqe,
            "cq_context": None,
            "channel": channel,
            "comp_vector": comp_vector,
            "wc_flags": wc_flags,
            "comp_mask": comp_mask,
            "flags": flags,
        }


class CQEX(PyverbsCM):
    """A completion queue that is read field by field."""

    kind = "cq"
    closes = ("qp", "wq")
    destroy = "ibv_destroy_cq"

    def __init__(self, context: Context, init_attr: CqInitAttrEx) -> None:
        self.made(self.create(context, init_attr), context)
        self.wr_id = 0
        self.status = 0

    def create(self, context: Context, init_attr: CqInitAttrEx) -> Any:
        """Creates the queue."""
        return call("ibv_create_cq_ex", context, init_attr.value)

    def start_poll(self, attr: PollCqAttr) -> int:
        """ibv_start_poll. The members of the struct that it sets are read with it."""
        return self._polled("ibv_start_poll", attr.value)

    def poll_next(self) -> int:
        """ibv_next_poll"""
        return self._polled("ibv_next_poll")

    def _polled(self, name: str, *args: Any) -> int:
        reply = link.request(name, (self, *args), ("wr_id", "status"))
        if reply.result == 0:
            self.wr_id, self.status = reply.members
        else:
            link.now += NS_PER_EMPTY_POLL
        return reply.result

    def end_poll(self) -> None:
        """ibv_end_poll"""
        call("ibv_end_poll", self)

    def read_flow_tag(self) -> int:
        """ibv_wc_read_flow_tag"""
        return call("ibv_wc_read_flow_tag", self)
