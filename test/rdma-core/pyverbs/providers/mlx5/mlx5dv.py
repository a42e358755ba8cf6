"""Contexts, device commands and queues of mlx5dv.h."""

from typing import Any

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.base import PyverbsCM, PyverbsObject
from pyverbs.cq import CQEX, CqInitAttrEx
from pyverbs.device import Context, FdArr
from pyverbs.link import Object, Out, call, link
from pyverbs.pyverbs_error import PyverbsUserError
from pyverbs.qp import QPEx, QPInitAttr, QPInitAttrEx


class Mlx5DVContextAttr(PyverbsObject):
    """`struct mlx5dv_context_attr`."""

    def __init__(self, flags: int = 0, comp_mask: int = 0, fds: FdArr | None = None) -> None:
        self.value: dict[str, Any] = {"flags": flags, "comp_mask": comp_mask}
        if fds is not None:
            self.value["fds"] = fds.value


class Mlx5Context(Context):
    """A context, by `mlx5dv_open_device`."""

    def __init__(self, attr: Mlx5DVContextAttr, name: str = "") -> None:
        self.attr = attr
        super().__init__(name)

    def open(self, device: Object) -> Object:
        if not call("mlx5dv_is_supported", device):
            raise PyverbsUserError("this is not an mlx5 device")
        return call("mlx5dv_open_device", device, self.attr.value)


class Mlx5DevxObj(PyverbsCM):
    """An object that a device command made."""

    kind = "devx"
    closes = ("flow", "action")
    destroy = "mlx5dv_devx_obj_destroy"

    def __init__(self, context: Context, in_: Any, outlen: int) -> None:
        reply = self._command("mlx5dv_devx_obj_create", context, in_, outlen)
        self.out_view = memoryview(reply.outputs[0])
        self.made(reply.result, context)

    def query(self, in_: Any, outlen: int) -> bytes:
        """mlx5dv_devx_obj_query(3)"""
        return self._command("mlx5dv_devx_obj_query", self, in_, outlen).outputs[0]

    def modify(self, in_: Any, outlen: int) -> bytes:
        """mlx5dv_devx_obj_modify(3)"""
        return self._command("mlx5dv_devx_obj_modify", self, in_, outlen).outputs[0]

    @staticmethod
    def _command(name: str, on: PyverbsCM, in_: Any, outlen: int) -> Any:
        command = bytes(in_)
        return link.request(name, (on, command, len(command), Out(outlen), outlen))


class Mlx5DVQPInitAttr(PyverbsObject):
    """`struct mlx5dv_qp_init_attr`."""

    def __init__(self, comp_mask: int = 0, create_flags: int = 0, send_ops_flags: int = 0) -> None:
        self.value = {"comp_mask": comp_mask, "create_flags": create_flags, "send_ops_flags": send_ops_flags}


class Mlx5QP(QPEx):
    """A queue pair, by `mlx5dv_create_qp`."""

    def __init__(self, context: Context, init_attr: QPInitAttrEx, dv_init_attr: Mlx5DVQPInitAttr) -> None:
        self.dv_init_attr = dv_init_attr
        super().__init__(context, init_attr)

    def create(self, creator: PyverbsCM, init_attr: QPInitAttr) -> Object:
        return call("mlx5dv_create_qp", creator, init_attr.value, self.dv_init_attr.value)


class Mlx5DVCQInitAttr(PyverbsObject):
    """`struct mlx5dv_cq_init_attr`."""

    def __init__(
        self, comp_mask: int = 0, cqe_comp_res_format: int = 0, flags: int = 0, cqe_size: int = 0
    ) -> None:
        self.value = {
            "comp_mask": comp_mask,
            "cqe_comp_res_format": cqe_comp_res_format,
            "flags": flags,
            "cqe_size": cqe_size,
        }


class Mlx5CQ(CQEX):
    """A completion queue, by `mlx5dv_create_cq`."""

    def __init__(self, context: Context, init_attr: CqInitAttrEx, dv_init_attr: Mlx5DVCQInitAttr) -> None:
        self.dv_init_attr = dv_init_attr
        super().__init__(context, init_attr)

    def create(self, context: Context, init_attr: CqInitAttrEx) -> Any:
        return call("mlx5dv_create_cq", context, init_attr.value, self.dv_init_attr.value)
