"""``@kernel``: numba's ``njit`` with its disk cache on, and with the types of the Python function kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile at the first call, keep the machine code on disk. Deterministic: no parallel loops, no fast maths."""
    return cast("Callable[P, R]", njit(cache=True)(function))
