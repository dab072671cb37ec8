"""Compiled functions of the library: ``@kernel`` where Python calls them, ``@inner_kernel`` where only kernels do.

Compiling is what a first run waits for, and most of it is spent per compiled variant. So a kernel exists once for all
kinds of integers (an index read from an int32 array and a counted one would otherwise be two variants of all that is
called with it) and for ``True`` and ``False``, and an inner kernel has no door for Python. As numbers of every kind may
be passed, mypy is not told the types of arguments.

What a kernel calls, and each constant that it reads, is inside its machine code. So code on disk is old as soon as any
module changed that the kernel's own module imports, however far; numba by itself looks at the kernel's file alone.

With ``NUMBA_DISABLE_JIT=1`` kernels are the Python functions that they look like: to debug them, and to see which of
their lines tests reach (``make coverage``).
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit, types

from kafka_assignors.kernels.carried_code import KernelCache
from kafka_assignors.kernels.link_time import EntryCompiler, InnerCompiler

R = TypeVar("R")

PACKAGE = __name__.partition(".")[0]
_IMPORTED = re.compile(rf"^(?:from|import) ({PACKAGE}[\w.]*)", re.MULTILINE)


# Python's division by zero would need a way out of every function; no kernel divides by what may be zero.
_ALIKE = {"no_cfunc_wrapper": True, "error_model": "numpy"}


def kernel(function: Callable[..., R]) -> Callable[..., R]:
    """Compile at the first call, keep the machine code on disk. Deterministic: no parallel loops, no fast maths."""
    if config.DISABLE_JIT:
        return function
    compiled = njit(pipeline_class=EntryCompiler, **_ALIKE)(function)
    compiled._cache = KernelCache(function, _sources(function.__module__))  # as ``cache=True`` does with numba's own
    return cast("Callable[..., R]", _for_wide_integers(compiled))


def inner_kernel(function: Callable[..., R]) -> Callable[..., R]:
    """Only other kernels can call it; its machine code is part of theirs."""
    if config.DISABLE_JIT:
        return function
    compiled = njit(no_cpython_wrapper=True, pipeline_class=InnerCompiler, **_ALIKE)(function)
    return cast("Callable[..., R]", _for_wide_integers(compiled))


def inlined_kernel(function: Callable[..., R]) -> Callable[..., R]:
    """As ``inner_kernel``, put in place of each call: for a few lines that are called millions of times."""
    if config.DISABLE_JIT:
        return function
    compiled = njit(no_cpython_wrapper=True, pipeline_class=InnerCompiler, forceinline=True, **_ALIKE)(function)
    return cast("Callable[..., R]", _for_wide_integers(compiled))


def wraps_around(function: Callable[..., R]) -> Callable[..., R]:
    """Below the decorators above: unsigned sums and products lose their upper bits on purpose, also where interpreted.

    Elsewhere an overflow of the plain Python function is a difference to the compiled one, and warns.
    """
    return np.errstate(over="ignore")(function) if config.DISABLE_JIT else function


@cache
def _sources(module: str) -> str:
    """A digest of the text of ``module`` and of all that it imports of ours, and so on."""
    seen, waiting = {module}, [module]
    while waiting:
        new = set(_IMPORTED.findall(_source(waiting.pop()))) - seen
        seen |= new
        waiting += new
    return hashlib.sha256("".join(_digest(name) for name in sorted(seen)).encode()).hexdigest()


@cache
def _source(module: str) -> str:
    """Its text; nothing where it has none, such as a prompt."""
    specification = getattr(sys.modules.get(module), "__spec__", None)
    read = getattr(getattr(specification, "loader", None), "get_source", None)
    return "" if read is None else read(module) or ""


@cache
def _digest(module: str) -> str:
    return hashlib.sha256(f"{module}\n{_source(module)}".encode()).hexdigest()


def _for_wide_integers(compiled: Any) -> Any:
    """A call from another kernel with narrower integers compiles, and uses, the variant for int64.

    Numba asks ``get_call_template`` which variants a call could use, and converts the arguments to the one it chooses.
    """
    choose = compiled.get_call_template

    def chosen(args: tuple[types.Type, ...], kws: Mapping[str, types.Type]) -> tuple[Any, Any, Any, Any]:
        signature, folded = compiled._compiler.fold_argument_types(args, kws)
        template, *_ = choose(tuple(_widened(argument) for argument in folded), {})
        return template, signature, folded, {}

    compiled.get_call_template = chosen
    return compiled


def _widened(argument: types.Type) -> types.Type:
    plain = types.unliteral(argument)
    is_narrow = isinstance(plain, types.Integer) and plain.signed and plain.bitwidth <= types.int64.bitwidth
    return types.int64 if is_narrow else plain if isinstance(plain, types.Boolean) else argument
