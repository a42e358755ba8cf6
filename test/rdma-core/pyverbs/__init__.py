"""Stand-in for rdma-core's pyverbs, on flowsteer: only what rdma-core's flow-steering tests use."""

import importlib.abc
import importlib.machinery
import sys
from types import ModuleType
from typing import Sequence


class Absent:
    """A name of pyverbs that this stand-in lacks. It can be imported, and subclassed, not used."""

    def __init__(self, *_: object, **__: object) -> None:
        raise NotImplementedError(f"{type(self).__name__} is not in this stand-in for pyverbs")


def absent(name: str) -> type[Absent]:
    """Returns a class of its own for a name that this stand-in lacks."""
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (Absent,), {})


class AbsentModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of pyverbs that this stand-in lacks: all their names are absent."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not name.startswith("pyverbs."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        module.__getattr__ = absent  # type: ignore[method-assign]


sys.meta_path.append(AbsentModules())
