"""Flows."""

import struct

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.base import PyverbsCM, PyverbsObject
from pyverbs.constants import constant
from pyverbs.link import call
from pyverbs.qp import QP
from pyverbs.spec import Spec


class FlowAttr(PyverbsObject):
    """`struct ibv_flow_attr`, with the specifications that follow it."""

    def __init__(
        self,
        num_of_specs: int = 0,
        flow_type: int = constant("IBV_FLOW_ATTR_NORMAL"),
        priority: int = 0,
        port: int = 1,
        flags: int = 0,
    ) -> None:
        self.specs: list[Spec] = []
        self.head = (flow_type, priority, num_of_specs, port, flags)

    def __bytes__(self) -> bytes:
        flow_type, priority, num_of_specs, port, flags = self.head
        specs = b"".join(bytes(spec) for spec in self.specs)
        # comp_mask, type, size (of the head, as pyverbs has it), priority, num_of_specs, port, flags
        return struct.pack("<IIHHBB2xI", 0, flow_type, HEAD, priority, num_of_specs, port, flags) + specs


HEAD = struct.calcsize("<IIHHBB2xI")


class Flow(PyverbsCM):
    """A flow."""

    kind = "flow"
    destroy = "ibv_destroy_flow"

    def __init__(self, qp: QP, flow_attr: FlowAttr) -> None:
        self.made(call("ibv_create_flow", qp, bytes(flow_attr)), qp)


class FlowAction(PyverbsCM):
    """A flow action."""

    kind = "flow_action"
    closes = ("flow",)
    destroy = "ibv_destroy_flow_action"
