"""Addresses."""

from typing import Any

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.base import PyverbsCM, PyverbsObject
from pyverbs.link import call


class GID(PyverbsObject):
    """16 bytes."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    @property
    def gid(self) -> str:
        """Eight words in hexadecimal."""
        return self.raw.hex(":", 2)


class GlobalRoute(PyverbsObject):
    """`struct ibv_global_route`."""

    def __init__(
        self,
        dgid: GID,
        flow_label: int = 0,
        sgid_index: int = 0,
        hop_limit: int = 1,
        traffic_class: int = 0,
    ) -> None:
        self.value = {
            "dgid": dgid.raw,
            "flow_label": flow_label,
            "sgid_index": sgid_index,
            "hop_limit": hop_limit,
            "traffic_class": traffic_class,
        }


class AHAttr(PyverbsObject):
    """`struct ibv_ah_attr`."""

    def __init__(
        self,
        dlid: int = 0,
        sl: int = 0,
        src_path_bits: int = 0,
        static_rate: int = 0,
        is_global: int = 0,
        port_num: int = 1,
        gr: GlobalRoute | None = None,
    ) -> None:
        self.value: dict[str, Any] = {
            "dlid": dlid,
            "sl": sl,
            "src_path_bits": src_path_bits,
            "static_rate": static_rate,
            "is_global": is_global,
            "port_num": port_num,
        }
        if gr is not None:
            self.value["grh"] = gr.value


class AH(PyverbsCM):
    """An address handle."""

    kind = "ah"
    destroy = "ibv_destroy_ah"

    def __init__(self, pd: PyverbsCM, attr: AHAttr) -> None:
        self.made(call("ibv_create_ah", pd, attr.value), pd)
