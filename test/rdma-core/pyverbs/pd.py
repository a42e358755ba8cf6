"""Protection domains."""

from pyverbs import absent as __getattr__  # noqa: F401
from pyverbs.base import PyverbsCM
from pyverbs.device import Context
from pyverbs.link import call


class PD(PyverbsCM):
    """A protection domain."""

    kind = "pd"
    closes = ("qp", "wq", "ah", "srq", "mr")
    destroy = "ibv_dealloc_pd"

    def __init__(self, context: Context) -> None:
        self.made(call("ibv_alloc_pd", context), context)
