"""Tables of direct rules: mlx5dv_dr(3)."""

from pyverbs.base import PyverbsCM
from pyverbs.link import call
from pyverbs.providers.mlx5.dr_domain import DrDomain


class DrTable(PyverbsCM):
    """A table."""

    kind = "table"
    closes = ("matcher", "action")
    destroy = "mlx5dv_dr_table_destroy"

    def __init__(self, domain: DrDomain, level: int) -> None:
        self.made(call("mlx5dv_dr_table_create", domain, level), domain)
