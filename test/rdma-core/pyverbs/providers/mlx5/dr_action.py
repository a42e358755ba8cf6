"""Actions of direct rules: mlx5dv_dr(3)."""

import socket
from typing import Any

from pyverbs.base import PyverbsCM, PyverbsObject
from pyverbs.constants import constant
from pyverbs.link import call
from pyverbs.providers.mlx5.dr_domain import DrDomain
from pyverbs.providers.mlx5.dr_table import DrTable
from pyverbs.providers.mlx5.mlx5dv import Mlx5DevxObj
from pyverbs.qp import QP


class DrAction(PyverbsCM):
    """An action."""

    kind = "action"
    closes = ("rule", "action")
    destroy = "mlx5dv_dr_action_destroy"

    def create(self, name: str, *args: Any) -> None:
        """Creates the action. It refers to its arguments that are objects."""
        refers_to = [one for one in args if isinstance(one, PyverbsCM)]
        self.made(call(f"mlx5dv_dr_action_create_{name}", *args), *refers_to)


class DrActionQp(DrAction):
    """Delivers to a queue pair."""

    def __init__(self, qp: QP) -> None:
        self.create("dest_ibv_qp", qp)


class DrActionDestTir(DrAction):
    """Delivers to a TIR."""

    def __init__(self, devx_tir: Mlx5DevxObj) -> None:
        self.create("dest_devx_tir", devx_tir)


class DrActionFlowCounter(DrAction):
    """Counts."""

    def __init__(self, devx_obj: Mlx5DevxObj, offset: int = 0) -> None:
        self.create("flow_counter", devx_obj, offset)


class DrActionDrop(DrAction):
    """Drops."""

    def __init__(self) -> None:
        self.create("drop")


class DrActionDefMiss(DrAction):
    """Does what a miss does."""

    def __init__(self) -> None:
        self.create("default_miss")


class DrActionTag(DrAction):
    """Sets the tag."""

    def __init__(self, tag: int) -> None:
        self.create("tag", tag)


class DrActionDestTable(DrAction):
    """Goes on in a table."""

    def __init__(self, table: DrTable) -> None:
        self.create("dest_table", table)


class DrActionModify(DrAction):
    """Changes headers."""

    def __init__(self, domain: DrDomain, flags: int = 0, actions: list[Any] | None = None) -> None:
        words = b"".join(bytes(one) for one in actions or [])
        self.create("modify_header", domain, flags, len(words), words)


class DrActionPopVLan(DrAction):
    """Removes a VLAN tag."""

    def __init__(self) -> None:
        self.create("pop_vlan")


class DrActionPushVLan(DrAction):
    """Inserts a VLAN tag. `vlan_hdr` is in network byte order: `__be32` in C."""

    def __init__(self, domain: DrDomain, vlan_hdr: int) -> None:
        self.create("push_vlan", domain, socket.ntohl(vlan_hdr))


class DrActionVPort(DrAction):
    """Goes to a vport."""

    def __init__(self, domain: DrDomain, vport: int) -> None:
        self.create("dest_vport", domain, vport)


class DrActionIBPort(DrAction):
    """Goes to a port."""

    def __init__(self, domain: DrDomain, ib_port: int) -> None:
        self.create("dest_ib_port", domain, ib_port)


class DrActionPacketReformat(DrAction):
    """Adds or removes headers."""

    def __init__(
        self,
        domain: DrDomain,
        flags: int = 0,
        reformat_type: int = constant("MLX5DV_FLOW_ACTION_PACKET_REFORMAT_TYPE_L2_TUNNEL_TO_L2"),
        data: bytes | None = None,
    ) -> None:
        size = 0 if data is None else len(data)
        self.create("packet_reformat", domain, flags, reformat_type, size, data)


class DrActionDestAttr(PyverbsObject):
    """`struct mlx5dv_dr_action_dest_attr`."""

    def __init__(self, action_type: int, dest: DrAction, reformat: DrAction | None = None) -> None:
        self.actions = [dest] if reformat is None else [dest, reformat]
        self.value: dict[str, Any] = {"type": action_type}
        if reformat is None:
            self.value["dest"] = dest
        else:
            self.value["dest_reformat"] = {"reformat": reformat, "dest": dest}


class DrActionDestArray(DrAction):
    """Goes to several destinations."""

    def __init__(self, domain: DrDomain, actions_num: int, dest_actions: list[DrActionDestAttr]) -> None:
        values = [one.value for one in dest_actions]
        made = call("mlx5dv_dr_action_create_dest_array", domain, actions_num, values)
        self.made(made, domain, *(action for one in dest_actions for action in one.actions))


class DrFlowSamplerAttr(PyverbsObject):
    """`struct mlx5dv_dr_flow_sampler_attr`."""

    def __init__(
        self, sample_ratio: int, default_next_table: DrTable, sample_actions: list[DrAction], action: Any = None
    ) -> None:
        self.refers_to = [default_next_table, *sample_actions]
        self.value: dict[str, Any] = {
            "sample_ratio": sample_ratio,
            "default_next_table": default_next_table,
            "num_sample_actions": len(sample_actions),
            "sample_actions": sample_actions,
        }
        if action is not None:
            self.value["action"] = bytes(action)


class DrActionFlowSample(DrAction):
    """Samples."""

    def __init__(self, attr: DrFlowSamplerAttr) -> None:
        self.made(call("mlx5dv_dr_action_create_flow_sampler", attr.value), *attr.refers_to)


class DrFlowMeterAttr(PyverbsObject):
    """`struct mlx5dv_dr_flow_meter_attr`."""

    def __init__(
        self, next_table: DrTable, active: int = 1, reg_c_index: int = 0, flow_meter_parameter: Any = None
    ) -> None:
        parameters = bytes(flow_meter_parameter)
        self.table = next_table
        self.value = {
            "next_table": next_table,
            "active": active,
            "reg_c_index": reg_c_index,
            "flow_meter_parameter_sz": len(parameters),
            "flow_meter_parameter": parameters,
        }


class DrActionFlowMeter(DrAction):
    """Meters."""

    def __init__(self, attr: DrFlowMeterAttr) -> None:
        self.made(call("mlx5dv_dr_action_create_flow_meter", attr.value), attr.table)
