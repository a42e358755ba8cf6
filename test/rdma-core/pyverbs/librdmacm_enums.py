"""Enumerations, by name."""

from pyverbs.constants import member as __getattr__  # noqa: F401
