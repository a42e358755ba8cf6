"""Queue pairs."""

import socket
from typing import Any

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.addr import AH, AHAttr
from pyverbs.base import PyverbsObject
from pyverbs.constants import constant
from pyverbs.cq import CQ, CQEX
from pyverbs.device import Context
from pyverbs.link import Object, call, link
from pyverbs.pd import PD
from pyverbs.srq import SRQ
from pyverbs.wq import RwqIndTable, RxHashConf
from pyverbs.wr import SGE, Receiver, SendWR


class QPCap(PyverbsObject):
    """`struct ibv_qp_cap`."""

    def __init__(
        self,
        max_send_wr: int = 1,
        max_recv_wr: int = 10,
        max_send_sge: int = 1,
        max_recv_sge: int = 1,
        max_inline_data: int = 0,
    ) -> None:
        self.value = {
            "max_send_wr": max_send_wr,
            "max_recv_wr": max_recv_wr,
            "max_send_sge": max_send_sge,
            "max_recv_sge": max_recv_sge,
            "max_inline_data": max_inline_data,
        }


class QPInitAttr(PyverbsObject):
    """`struct ibv_qp_init_attr`."""

    def __init__(
        self,
        qp_type: int = constant("IBV_QPT_UD"),
        qp_context: object = None,
        scq: CQ | CQEX | None = None,
        rcq: CQ | CQEX | None = None,
        srq: SRQ | None = None,
        cap: QPCap | None = None,
        sq_sig_all: int = 1,
    ) -> None:
        self.qp_type = qp_type
        self.queues = (scq, rcq, srq)
        self.value: dict[str, Any] = {
            "qp_context": qp_context,
            "send_cq": scq,
            "recv_cq": rcq,
            "srq": srq,
            "cap": (cap or QPCap(0, 0, 0, 0, 0)).value,
            "qp_type": qp_type,
            "sq_sig_all": sq_sig_all,
        }


class QPInitAttrEx(QPInitAttr):
    """`struct ibv_qp_init_attr_ex`."""

    def __init__(
        self,
        *,
        comp_mask: int = 0,
        pd: PD | None = None,
        create_flags: int = 0,
        hash_conf: RxHashConf | None = None,
        ind_table: RwqIndTable | None = None,
        send_ops_flags: int = 0,
        sq_sig_all: int = 0,
        **kwargs: Any,
    ) -> None:
        super().__init__(sq_sig_all=sq_sig_all, **kwargs)
        self.pd = pd
        self.ind_table = ind_table
        self.value |= {
            "comp_mask": comp_mask,
            "pd": pd,
            "create_flags": create_flags,
            "send_ops_flags": send_ops_flags,
        }
        if hash_conf is not None:
            self.value["rx_hash_conf"] = hash_conf.value
        if ind_table is not None:
            self.value["rwq_ind_tbl"] = ind_table


class QPAttr(PyverbsObject):
    """`struct ibv_qp_attr`: its members are attributes, unset ones are 0."""

    def __init__(
        self,
        qp_state: int = constant("IBV_QPS_INIT"),
        cur_qp_state: int = constant("IBV_QPS_RESET"),
        port_num: int = 1,
        path_mtu: int = constant("IBV_MTU_1024"),
    ) -> None:
        for name in MEMBERS:
            setattr(self, name, 0)
        self.qp_state = qp_state
        self.cur_qp_state = cur_qp_state
        self.port_num = port_num
        self.path_mtu = path_mtu
        self.ah_attr: AHAttr | None = None

    @property
    def value(self) -> dict[str, Any]:
        """The struct."""
        members = {name: getattr(self, name) for name in MEMBERS}
        return members if self.ah_attr is None else members | {"ah_attr": self.ah_attr.value}


MEMBERS = (
    "qp_state",
    "cur_qp_state",
    "path_mtu",
    "qkey",
    "rq_psn",
    "sq_psn",
    "dest_qp_num",
    "qp_access_flags",
    "pkey_index",
    "max_rd_atomic",
    "max_dest_rd_atomic",
    "min_rnr_timer",
    "port_num",
    "timeout",
    "retry_cnt",
    "rnr_retry",
)

# The attributes that each step of the state machine needs, for each type of queue pair.
STEPS: dict[int, dict[str, tuple[str, ...]]] = {
    constant("IBV_QPT_RAW_PACKET"): {"INIT": ("PORT",), "RTR": (), "RTS": ()},
    constant("IBV_QPT_UD"): {"INIT": ("PKEY_INDEX", "PORT", "QKEY"), "RTR": (), "RTS": ("SQ_PSN",)},
    constant("IBV_QPT_RC"): {
        "INIT": ("PKEY_INDEX", "PORT", "ACCESS_FLAGS"),
        "RTR": ("AV", "PATH_MTU", "DEST_QPN", "RQ_PSN", "MAX_DEST_RD_ATOMIC", "MIN_RNR_TIMER"),
        "RTS": ("TIMEOUT", "RETRY_CNT", "RNR_RETRY", "SQ_PSN", "MAX_QP_RD_ATOMIC"),
    },
}


class QP(Receiver):
    """A queue pair. With `qp_attr` it goes to RTS, or to INIT if it is connected."""

    kind = "qp"
    closes = ("flow", "action")
    destroy = "ibv_destroy_qp"
    post = "ibv_post_recv"

    def __init__(self, creator: PD | Context, init_attr: QPInitAttr, qp_attr: QPAttr | None = None) -> None:
        extended = isinstance(init_attr, QPInitAttrEx)
        more = (init_attr.pd, init_attr.ind_table) if extended else ()
        self.made(self.create(creator, init_attr), creator, *more, *init_attr.queues)
        self.qp_type = init_attr.qp_type
        self.qp_num: int = self.member("qp_num")
        if qp_attr is None:
            return
        if self.qp_type == constant("IBV_QPT_RC"):
            self._step("INIT", qp_attr)
        else:
            self.to_rts(qp_attr)

    def create(self, creator: PD | Context, init_attr: QPInitAttr) -> Object:
        """Creates the queue pair."""
        extended = isinstance(init_attr, QPInitAttrEx)
        return call("ibv_create_qp_ex" if extended else "ibv_create_qp", creator, init_attr.value)

    @property
    def qp_state(self) -> int:
        """The state, by ibv_query_qp(3)."""
        return call("ibv_query_qp", self, constant("IBV_QP_STATE"))["attr"]["qp_state"]

    def _step(self, state: str, qp_attr: QPAttr) -> None:
        qp_attr.qp_state = constant(f"IBV_QPS_{state}")
        mask = constant("IBV_QP_STATE")
        for name in STEPS[self.qp_type][state]:
            mask |= constant(f"IBV_QP_{name}")
        self.modify(qp_attr, mask)

    def to_rts(self, qp_attr: QPAttr) -> None:
        """Takes all the steps to RTS that are left."""
        state = self.qp_state
        if state != constant("IBV_QPS_RTR"):
            if state != constant("IBV_QPS_INIT"):
                self._step("INIT", qp_attr)
            self._step("RTR", qp_attr)
        self._step("RTS", qp_attr)

    def modify(self, qp_attr: QPAttr, comp_mask: int) -> None:
        """ibv_modify_qp(3)"""
        call("ibv_modify_qp", self, qp_attr.value, comp_mask)

    def post_send(self, wr: SendWR, bad_wr: SendWR | None = None) -> None:
        """ibv_post_send(3)"""
        link.request("ibv_post_send", (self, wr.value))


class QPEx(QP):
    """A queue pair with extended attributes, whose requests are built call by call."""

    wr_id = 0
    wr_flags = 0

    def __init__(self, creator: PD | Context, init_attr: QPInitAttrEx, qp_attr: QPAttr | None = None) -> None:
        super().__init__(creator, init_attr, qp_attr)
        self.ind_table = init_attr.ind_table
        if init_attr.value["comp_mask"] & constant("IBV_QP_INIT_ATTR_SEND_OPS_FLAGS"):
            self.qp_ex: Object = call("ibv_qp_to_qp_ex", self)

    def _build(self, name: str, *args: Any) -> None:
        call("assign", self.qp_ex, {"wr_id": self.wr_id, "wr_flags": self.wr_flags})
        call(f"ibv_wr_{name}", self.qp_ex, *args)

    def wr_start(self) -> None:
        """ibv_wr_start"""
        call("ibv_wr_start", self.qp_ex)

    def wr_complete(self) -> None:
        """ibv_wr_complete"""
        call("ibv_wr_complete", self.qp_ex)

    def wr_send(self) -> None:
        """ibv_wr_send"""
        self._build("send")

    def wr_send_imm(self, data: int) -> None:
        """ibv_wr_send_imm. C takes the data in network byte order."""
        self._build("send_imm", socket.htonl(data))

    def wr_set_ud_addr(self, ah: AH, remote_qpn: int, remote_rkey: int) -> None:
        """ibv_wr_set_ud_addr"""
        call("ibv_wr_set_ud_addr", self.qp_ex, ah, remote_qpn, remote_rkey)

    def wr_set_sge(self, sge: SGE) -> None:
        """ibv_wr_set_sge"""
        call("ibv_wr_set_sge", self.qp_ex, sge.value["lkey"], sge.value["addr"], sge.value["length"])
