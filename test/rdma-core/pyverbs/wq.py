"""Work queues."""

from typing import Any

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.base import PyverbsCM, PyverbsObject
from pyverbs.constants import constant
from pyverbs.cq import CQ, CQEX
from pyverbs.device import Context
from pyverbs.link import call
from pyverbs.pd import PD
from pyverbs.wr import Receiver


class WQInitAttr(PyverbsObject):
    """`struct ibv_wq_init_attr`."""

    def __init__(
        self,
        wq_context: object = None,
        wq_pd: PD | None = None,
        wq_cq: CQ | CQEX | None = None,
        wq_type: int = constant("IBV_WQT_RQ"),
        max_wr: int = 100,
        max_sge: int = 1,
        comp_mask: int = 0,
        create_flags: int = 0,
    ) -> None:
        self.pd = wq_pd
        self.cq = wq_cq
        self.value: dict[str, Any] = {
            "wq_context": wq_context,
            "wq_type": wq_type,
            "max_wr": max_wr,
            "max_sge": max_sge,
            "pd": wq_pd,
            "cq": wq_cq,
            "comp_mask": comp_mask,
            "create_flags": create_flags,
        }


class WQAttr(PyverbsObject):
    """`struct ibv_wq_attr`."""

    def __init__(
        self, attr_mask: int = 0, wq_state: int = 0, curr_wq_state: int = 0, flags: int = 0, flags_mask: int = 0
    ) -> None:
        self.value = {
            "attr_mask": attr_mask,
            "wq_state": wq_state,
            "curr_wq_state": curr_wq_state,
            "flags": flags,
            "flags_mask": flags_mask,
        }


class WQ(Receiver):
    """A work queue."""

    kind = "wq"
    closes = ("table_of_wqs",)
    destroy = "ibv_destroy_wq"
    post = "ibv_post_wq_recv"

    def __init__(self, ctx: Context, attr: WQInitAttr) -> None:
        self.made(call("ibv_create_wq", ctx, attr.value), ctx, attr.pd, attr.cq)
        self.wqn: int = self.member("wq_num")

    def modify(self, wq_attr: WQAttr) -> None:
        """ibv_modify_wq(3)"""
        call("ibv_modify_wq", self, wq_attr.value)


class RwqIndTableInitAttr(PyverbsObject):
    """`struct ibv_rwq_ind_table_init_attr`."""

    def __init__(self, log_ind_tbl_size: int = 5, wqs_list: list[WQ] | None = None, comp_mask: int = 0) -> None:
        self.wqs = wqs_list or []
        self.value = {"log_ind_tbl_size": log_ind_tbl_size, "ind_tbl": self.wqs, "comp_mask": comp_mask}


class RwqIndTable(PyverbsCM):
    """An indirection table."""

    kind = "table_of_wqs"
    closes = ("qp",)
    destroy = "ibv_destroy_rwq_ind_table"

    def __init__(self, ctx: Context, attr: RwqIndTableInitAttr) -> None:
        self.wqs = attr.wqs
        self.made(call("ibv_create_rwq_ind_table", ctx, attr.value), ctx, *attr.wqs)


class RxHashConf(PyverbsObject):
    """`struct ibv_rx_hash_conf`."""

    def __init__(
        self,
        rx_hash_function: int = 0,
        rx_hash_key_len: int = 0,
        rx_hash_fields_mask: int = 0,
        rx_hash_key: list[int] | None = None,
    ) -> None:
        self.value = {
            "rx_hash_function": rx_hash_function,
            "rx_hash_key_len": rx_hash_key_len,
            "rx_hash_fields_mask": rx_hash_fields_mask,
            "rx_hash_key": bytes(rx_hash_key or []),
        }
