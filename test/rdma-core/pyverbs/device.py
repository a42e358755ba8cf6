"""Devices and contexts."""

from types import SimpleNamespace
from typing import Any

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.addr import GID
from pyverbs.base import PyverbsCM, PyverbsObject
from pyverbs.constants import constant
from pyverbs.link import Object, Out, call, link
from pyverbs.pyverbs_error import PyverbsRDMAError, PyverbsUserError


def get_device_list() -> list[SimpleNamespace]:
    """Returns the devices."""
    return [SimpleNamespace(name=name.encode()) for name in named_devices()]


def named_devices() -> dict[str, Object]:
    """Returns the devices by name."""
    return {call("ibv_get_device_name", one): one for one in call("ibv_get_device_list")}


class FdArr(PyverbsObject):
    """`struct ibv_fd_arr`."""

    def __init__(self, arr: list[int], count: int) -> None:
        self.value = {"arr": arr[:count], "count": count}


class AsyncEvent(PyverbsObject):
    """An asynchronous event."""

    def __init__(self, event: Object) -> None:
        self.event = event
        self.event_type: int = call("member", event, "event_type")

    def ack(self) -> None:
        """ibv_ack_async_event"""
        call("ibv_ack_async_event", self.event)


class Context(PyverbsCM):
    """A context, by `ibv_open_device`."""

    closes = ("devx", "qp", "table_of_wqs", "wq", "cq", "channel", "pd", "flow_matcher", "flow_action", "domain")
    destroy = "ibv_close_device"

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            raise PyverbsUserError("a context needs a device name")
        self.name = name
        devices = named_devices()
        if name not in devices:
            raise PyverbsRDMAError(f"no device is named {name}")
        self.made(self.open(devices[name]))

    def open(self, device: Object) -> Object:
        """Opens the device."""
        return call("ibv_open_device", device)

    @property
    def num_comp_vectors(self) -> int:
        """The number of completion vectors."""
        return self.member("num_comp_vectors")

    def get_async_event(self) -> AsyncEvent:
        """ibv_get_async_event(3)"""
        event = call("struct")["struct"]
        call("ibv_get_async_event", self, event)
        return AsyncEvent(event)

    def query_device(self) -> SimpleNamespace:
        """ibv_query_device(3)"""
        return SimpleNamespace(**call("ibv_query_device", self))

    def query_device_ex(self) -> SimpleNamespace:
        """ibv_query_device_ex(3)"""
        return SimpleNamespace(**call("ibv_query_device_ex", self))

    def query_port(self, port_num: int) -> SimpleNamespace:
        """ibv_query_port(3)"""
        return SimpleNamespace(**call("ibv_query_port", self, port_num))

    def query_gid(self, port_num: int, index: int) -> GID:
        """ibv_query_gid(3)"""
        return GID(call("ibv_query_gid", self, port_num, index)["raw"])

    def query_gid_type(self, port_num: int, index: int) -> int:
        """The type of a GID as sysfs has it: from `ibv_query_gid_ex`."""
        entry = call("ibv_query_gid_ex", self, port_num, index)
        second = entry["gid_type"] == constant("IBV_GID_TYPE_ROCE_V2")
        return constant("IBV_GID_TYPE_SYSFS_ROCE_V2" if second else "IBV_GID_TYPE_SYSFS_IB_ROCE_V1")

    def devx_general_cmd(self, in_: Any, outlen: int) -> bytes:
        """mlx5dv_devx_general_cmd(3)"""
        command = bytes(in_)
        reply = link.request(
            "mlx5dv_devx_general_cmd", (self, command, len(command), Out(outlen), outlen)
        )
        return reply.outputs[0]
