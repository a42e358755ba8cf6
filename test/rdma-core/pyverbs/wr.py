"""Work requests."""

from typing import Any

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.addr import AH
from pyverbs.base import PyverbsCM, PyverbsObject
from pyverbs.constants import constant
from pyverbs.link import link


class SGE(PyverbsObject):
    """`struct ibv_sge`."""

    def __init__(self, addr: int, length: int, lkey: int) -> None:
        self.value = {"addr": link.view(addr, length), "length": length, "lkey": lkey}


class RecvWR(PyverbsObject):
    """`struct ibv_recv_wr`."""

    def __init__(self, wr_id: int = 0, num_sge: int = 0, sg: list[SGE] | None = None) -> None:
        entries = [one.value for one in sg or []]
        self.value: dict[str, Any] = {"wr_id": wr_id, "sg_list": entries, "num_sge": num_sge}


class SendWR(RecvWR):
    """`struct ibv_send_wr`."""

    def __init__(
        self,
        wr_id: int = 0,
        opcode: int = constant("IBV_WR_SEND"),
        num_sge: int = 0,
        imm_data: int = 0,
        sg: list[SGE] | None = None,
        send_flags: int = constant("IBV_SEND_SIGNALED"),
    ) -> None:
        super().__init__(wr_id, num_sge, sg)
        self.value |= {"opcode": opcode, "send_flags": send_flags, "imm_data": imm_data}

    @property
    def imm_data(self) -> int:
        """The immediate data."""
        return self.value["imm_data"]

    @imm_data.setter
    def imm_data(self, data: int) -> None:
        self.value["imm_data"] = data

    def set_wr_ud(self, ah: AH, rqpn: int, rqkey: int) -> None:
        """Sets the destination of a datagram."""
        self.value["wr"] = {"ud": {"ah": ah, "remote_qpn": rqpn, "remote_qkey": rqkey}}


class Receiver(PyverbsCM):
    """A queue that receive requests are posted to."""

    post: str

    def post_recv(self, wr: RecvWR, bad_wr: RecvWR | None = None) -> None:
        """Posts a receive request."""
        link.request(self.post, (self, wr.value))
