"""Compiled functions of the planner: ``@kernel`` where Python calls them, ``@inner_kernel`` where only kernels do.

Compiling is what a first run waits for, and most of it is spent per compiled variant. So a kernel exists once for all
kinds of integers (an index read from an int32 array and a counted one would otherwise be two variants of all that is
called with it), and an inner kernel has no door for Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast

from numba import njit, types

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile at the first call, keep the machine code on disk. Deterministic: no parallel loops, no fast maths."""
    return cast("Callable[P, R]", _for_wide_integers(njit(cache=True)(function)))


def inner_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """As ``kernel``, but only other kernels can call it."""
    compiled = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return cast("Callable[P, R]", _for_wide_integers(compiled))


def _for_wide_integers(compiled: Any) -> Any:
    """A call from another kernel with narrower integers compiles, and uses, the variant for int64.

    Numba asks ``get_call_template`` which variants a call could use, and converts the arguments to the one it chooses.
    """
    choose = compiled.get_call_template

    def chosen(args: tuple[types.Type, ...], kws: Mapping[str, types.Type]) -> tuple[Any, Any, Any, Any]:
        signature, folded = compiled._compiler.fold_argument_types(args, kws)
        template, *_ = choose(tuple(_widened(each) for each in folded), {})
        return template, signature, folded, {}

    compiled.get_call_template = chosen
    return compiled


def _widened(argument: types.Type) -> types.Type:
    plain = types.unliteral(argument)
    is_narrow = isinstance(plain, types.Integer) and plain.signed and plain.bitwidth <= types.int64.bitwidth
    return types.int64 if is_narrow else argument
