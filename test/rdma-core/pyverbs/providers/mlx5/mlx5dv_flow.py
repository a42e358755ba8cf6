"""Flows in device bytes: mlx5dv_create_flow(3)."""

from typing import Any

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.base import PyverbsCM, PyverbsObject
from pyverbs.constants import constant
from pyverbs.device import Context
from pyverbs.flow import Flow, FlowAction
from pyverbs.link import call
from pyverbs.providers.mlx5.mlx5dv import Mlx5DevxObj
from pyverbs.qp import QP


class Mlx5FlowMatchParameters(PyverbsObject):
    """`struct mlx5dv_flow_match_parameters`."""

    def __init__(self, size: int, values: Any) -> None:
        self.value = {"match_sz": size, "match_buf": bytes(values).ljust(size, b"\0")}


class Mlx5FlowMatcherAttr(PyverbsObject):
    """`struct mlx5dv_flow_matcher_attr`."""

    def __init__(
        self,
        match_mask: Mlx5FlowMatchParameters,
        attr_type: int = constant("IBV_FLOW_ATTR_NORMAL"),
        flags: int = 0,
        priority: int = 0,
        match_criteria_enable: int = 0,
        comp_mask: int = 0,
        ft_type: int = 0,
        ib_port: int = 0,
    ) -> None:
        self.value = {
            "type": attr_type,
            "flags": flags,
            "priority": priority,
            "match_criteria_enable": match_criteria_enable,
            "match_mask": match_mask.value,
            "comp_mask": comp_mask,
            "ft_type": ft_type,
            "ib_port": ib_port,
        }


class Mlx5FlowMatcher(PyverbsCM):
    """A flow matcher."""

    kind = "flow_matcher"
    closes = ("flow",)
    destroy = "mlx5dv_destroy_flow_matcher"

    def __init__(self, context: Context, attr: Mlx5FlowMatcherAttr) -> None:
        self.made(call("mlx5dv_create_flow_matcher", context, attr.value), context)


class Mlx5PacketReformatFlowAction(FlowAction):
    """A flow action that adds or removes headers."""

    def __init__(
        self,
        context: Context,
        data: bytes | None = None,
        reformat_type: int = constant("MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2"),
        ft_type: int = constant("MLX5DV_FLOW_TABLE_TYPE_NIC_RX"),
    ) -> None:
        size = 0 if data is None else len(data)
        name = "mlx5dv_create_flow_action_packet_reformat"
        self.made(call(name, context, size, data, reformat_type, ft_type), context)


class Mlx5FlowActionAttr(PyverbsObject):
    """`struct mlx5dv_flow_action_attr`."""

    def __init__(
        self,
        action_type: int,
        qp: QP | None = None,
        flow_action: FlowAction | None = None,
        obj: Mlx5DevxObj | None = None,
        offset: int = 0,
    ) -> None:
        self.refers_to = (qp, flow_action, obj)
        self.value: dict[str, Any] = {"type": action_type}
        if qp is not None:
            self.value["qp"] = qp
        if flow_action is not None:
            self.value["action"] = flow_action
        if action_type == constant("MLX5DV_FLOW_ACTION_COUNTERS_DEVX_WITH_OFFSET"):
            self.value["bulk_obj"] = {"obj": obj, "offset": offset}
        elif obj is not None:
            self.value["obj"] = obj


class Mlx5Flow(Flow):
    """A flow in device bytes."""

    def __init__(
        self,
        matcher: Mlx5FlowMatcher,
        match_value: Mlx5FlowMatchParameters,
        action_attrs: list[Mlx5FlowActionAttr] | None = None,
        num_actions: int = 0,
    ) -> None:
        attrs = action_attrs or []
        values = [one.value for one in attrs]
        made = call("mlx5dv_create_flow", matcher, match_value.value, num_actions, values)
        self.made(made, matcher, *(object for one in attrs for object in one.refers_to))
