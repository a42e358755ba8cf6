"""Completion queues."""

from types import SimpleNamespace
from typing import Any

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.base import PyverbsCM, PyverbsObject
from pyverbs.device import Context
from pyverbs.link import NS_PER_EMPTY_POLL, call, link
from pyverbs.pyverbs_error import PyverbsRDMAError


class CompChannel(PyverbsCM):
    """A completion channel."""

    kind = "channel"
    closes = ("cq",)
    destroy = "ibv_destroy_comp_channel"

    def __init__(self, context: Context) -> None:
        self.made(call("ibv_create_comp_channel", context), context)

    def get_cq_event(self, expected_cq: "CQ") -> None:
        """ibv_get_cq_event(3)"""
        if call("ibv_get_cq_event", self)["cq"] != expected_cq.remote:
            raise PyverbsRDMAError("an event of another completion queue")
        expected_cq.num_events += 1


class CQ(PyverbsCM):
    """A completion queue."""

    kind = "cq"
    closes = ("qp", "srq", "wq")
    destroy = "ibv_destroy_cq"

    def __init__(
        self,
        context: Context,
        cqe: int,
        cq_context: object = None,
        channel: CompChannel | None = None,
        comp_vector: int = 0,
    ) -> None:
        made = call("ibv_create_cq", context, cqe, cq_context, channel, comp_vector)
        self.made(made, context, channel)
        self.comp_channel = channel
        self.num_events = 0

    def req_notify(self, solicited_only: bool = False) -> None:
        """ibv_req_notify_cq(3)"""
        call("ibv_req_notify_cq", self, solicited_only)

    def close(self) -> None:
        if self.remote is not None and self.num_events:
            call("ibv_ack_cq_events", self, self.num_events)
            self.num_events = 0
        super().close()

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
        channel: CompChannel | None = None,
        comp_vector: int = 0,
        wc_flags: int = 0,
        comp_mask: int = 0,
        flags: int = 0,
    ) -> None:
        self.cqe = cqe
        self.channel = channel
        self.comp_vector = comp_vector
        self.wc_flags = wc_flags
        self.comp_mask = comp_mask
        self.flags = flags

    @property
    def value(self) -> dict[str, Any]:
        """The struct."""
        return {"cq_context": None, **vars(self)}


class CQEX(PyverbsCM):
    """A completion queue that is read field by field."""

    kind = "cq"
    closes = ("qp", "srq", "wq")
    destroy = "ibv_destroy_cq"

    def __init__(self, context: Context, init_attr: CqInitAttrEx) -> None:
        self.made(self.create(context, init_attr), context, init_attr.channel)
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

    def read_imm_data(self) -> int:
        """ibv_wc_read_imm_data"""
        return call("ibv_wc_read_imm_data", self)

    def read_flow_tag(self) -> int:
        """ibv_wc_read_flow_tag"""
        return call("ibv_wc_read_flow_tag", self)
