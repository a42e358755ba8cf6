"""Matchers of direct rules: mlx5dv_dr(3)."""

from pyverbs.base import PyverbsCM
from pyverbs.constants import constant
from pyverbs.link import call
from pyverbs.providers.mlx5.dr_table import DrTable
from pyverbs.providers.mlx5.mlx5dv_flow import Mlx5FlowMatchParameters


class DrMatcher(PyverbsCM):
    """A matcher."""

    kind = "matcher"
    closes = ("rule",)
    destroy = "mlx5dv_dr_matcher_destroy"

    def __init__(
        self, table: DrTable, priority: int, match_criteria_enable: int, mask: Mlx5FlowMatchParameters
    ) -> None:
        args = (table, priority, match_criteria_enable, mask.value)
        self.made(call("mlx5dv_dr_matcher_create", *args), table)

    def set_layout(
        self, log_num_of_rules: int = 0, flags: int = constant("MLX5DV_DR_MATCHER_LAYOUT_NUM_RULE")
    ) -> None:
        """Says how many rules the matcher will have."""
        layout = {"flags": flags, "log_num_of_rules_hint": log_num_of_rules}
        call("mlx5dv_dr_matcher_set_layout", self, layout)
