"""Compiled functions of the library: ``@kernel`` where Python calls them, ``@inner_kernel`` where only kernels do.

Compiling is what a first run waits for, and most of it is spent per compiled variant. So a kernel exists once for all
kinds of integers (an index read from an int32 array and a counted one would otherwise be two variants of all that is
called with it) and for ``True`` and ``False``, and an inner kernel has no door for Python. As numbers of every kind may
be passed, mypy is not told the types of arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from numba import njit, types

R = TypeVar("R")


def kernel(function: Callable[..., R]) -> Callable[..., R]:
    """Compile at the first call, keep the machine code on disk. Deterministic: no parallel loops, no fast maths."""
    return cast("Callable[..., R]", _for_wide_integers(njit(cache=True)(function)))


def inner_kernel(function: Callable[..., R]) -> Callable[..., R]:
    """As ``kernel``, but only other kernels can call it."""
    compiled = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return cast("Callable[..., R]", _for_wide_integers(compiled))


def inlined_kernel(function: Callable[..., R]) -> Callable[..., R]:
    """As ``inner_kernel``, put in place of each call: for what is called millions of times with a state of many arrays.

    To pass those costs more than a small function does: all of their shapes and strides go over the stack.
    """
    compiled = njit(cache=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)(function)
    return cast("Callable[..., R]", _for_wide_integers(compiled))


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
    return types.int64 if is_narrow else plain if isinstance(plain, types.Boolean) else argument
