"""While a kernel is compiled, numba does three things cheaper: same results, a third less work outside LLVM.

- Its flags are compared and hashed tens of thousands of times, each time by reading all of some thirty options.
- What ``a + b`` means for two types is found by trying the many templates of ``+``, anew at each place where it stands.
- Compiling makes millions of objects that stay alive, which Python's garbage collector goes through again and again.

All of it ends with the compiling, and the lock that numba compiles under keeps other threads out of it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types.functions import BaseFunction

# New objects before the young are gone through, and how often that makes the old ones due.
_RARELY = (200_000, 20, 50)

# mypy forbids to exchange methods.
_functions: Any = BaseFunction
_flags: Any = TargetConfig

_looked_up = BaseFunction.get_call_type
_answers: dict[int, tuple[Any, dict[Any, Any]]] = {}


@contextmanager
def cheaply() -> Iterator[None]:
    """What is compiled inside is compiled cheaper."""
    with global_compiler_lock:
        before = gc.get_threshold(), _functions.get_call_type, _flags.__eq__, _flags.__hash__
        try:
            gc.set_threshold(*_RARELY)
            _functions.get_call_type = remembered_call_type
            _flags.__eq__, _flags.__hash__ = same_options, hash_of_options
            yield
        finally:
            threshold, _functions.get_call_type, _flags.__eq__, _flags.__hash__ = before
            gc.set_threshold(*threshold)


def remembered_call_type(function: Any, context: Any, args: tuple[types.Type, ...], kws: dict[str, Any]) -> Any:
    """The signature by which a function of numba's own is called with ``args``; refusals are not remembered."""
    if kws or type(function) is not types.Function:
        return _looked_up(function, context, args, kws)
    # The function is kept with its answers, so no other gets its number.
    _, answers = _answers.setdefault(id(function), (function, {}))
    asked = (context, args, ConfigStack.top_or_none())
    found = answers.get(asked)
    if found is None:
        found = _looked_up(function, context, args, kws)
        if found is not None:
            answers[asked] = found
    return found


def same_options(one: Any, other: Any) -> Any:
    """As ``TargetConfig.__eq__``: equal if all options are, whether they were set or left at their defaults."""
    if not isinstance(other, TargetConfig):
        return NotImplemented
    if one.options is other.options and one._values == other._values:
        return True
    return bool(one.values() == other.values())


def hash_of_options(one: Any) -> int:
    """As ``TargetConfig.__hash__``, to the bit: it looks at the names of the options alone."""
    return _hash_of_names(tuple(one.options))


@cache
def _hash_of_names(options: tuple[str, ...]) -> int:
    return hash(tuple(sorted(options)))
