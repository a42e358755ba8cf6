"""Direct rules: mlx5dv_dr(3)."""

from pyverbs.base import PyverbsCM
from pyverbs.link import call
from pyverbs.providers.mlx5.dr_action import DrAction
from pyverbs.providers.mlx5.dr_matcher import DrMatcher
from pyverbs.providers.mlx5.mlx5dv_flow import Mlx5FlowMatchParameters


class DrRule(PyverbsCM):
    """A rule."""

    kind = "rule"
    destroy = "mlx5dv_dr_rule_destroy"

    def __init__(
        self, matcher: DrMatcher, value: Mlx5FlowMatchParameters, actions: list[DrAction] | None = None
    ) -> None:
        given = actions or []
        made = call("mlx5dv_dr_rule_create", matcher, value.value, len(given), given)
        self.made(made, matcher, *given)
