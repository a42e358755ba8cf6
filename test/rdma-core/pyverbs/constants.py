"""Constants of verbs.h and mlx5dv.h, from flowsteer."""

from typing import Any

from pyverbs.link import call

CONSTANTS: dict[str, int] = call("constants")
# Constants of libibverbs that are not in verbs.h.
PRIVATE = {"IBV_GID_TYPE_SYSFS_IB_ROCE_V1": 0, "IBV_GID_TYPE_SYSFS_ROCE_V2": 1}


class AbsentConstant:
    """A constant that flowsteer lacks. Any arithmetic with it fails."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}: flowsteer has no such constant>"


def constant(name: str) -> Any:
    """Returns the value of a constant."""
    found = CONSTANTS.get(name, PRIVATE.get(name))
    return AbsentConstant(name) if found is None else found


class Enumeration:
    """An enumeration: its members are constants."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return constant(name)


def member(name: str) -> Any:
    """Returns what a module of enumerations has under a name: an enumeration or a constant."""
    if name.startswith("__"):
        raise AttributeError(name)
    return constant(name.strip("_")) if name.isupper() else Enumeration()
