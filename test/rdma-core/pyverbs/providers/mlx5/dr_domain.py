"""Domains of direct rules: mlx5dv_dr(3)."""

from pyverbs.base import PyverbsCM
from pyverbs.constants import constant
from pyverbs.device import Context
from pyverbs.link import File, call, link
from pyverbs.pyverbs_error import PyverbsRDMAError


class DrDomain(PyverbsCM):
    """A domain."""

    kind = "domain"
    closes = ("action", "table")
    destroy = "mlx5dv_dr_domain_destroy"

    def __init__(self, context: Context, domain_type: int) -> None:
        self.made(call("mlx5dv_dr_domain_create", context, domain_type), context)

    def allow_duplicate_rules(self, allow: bool) -> None:
        """Says whether two rules of a matcher can have the same values."""
        call("mlx5dv_dr_domain_allow_duplicate_rules", self, allow)

    def sync(
        self,
        flags: int = constant("MLX5DV_DR_DOMAIN_SYNC_FLAGS_SW") | constant("MLX5DV_DR_DOMAIN_SYNC_FLAGS_HW"),
    ) -> None:
        """Makes pending rules take effect."""
        call("mlx5dv_dr_domain_sync", self, flags)

    def dump(self, filepath: str) -> None:
        """Writes the domain to a file."""
        reply = link.request("mlx5dv_dump_dr_domain", (File(), self))
        if reply.result != 0:
            raise PyverbsRDMAError("the domain cannot be dumped", -reply.result)
        with open(filepath, "w", encoding="utf-8") as file:
            file.writelines(reply.outputs[0])
