"""Decorators that compile kernels. Compile time grows with variants, so a kernel has one for all integers and booleans,
and mypy does not check arguments.

``NUMBA_DISABLE_JIT=1`` gives plain Python functions, for debugging and line coverage (``make coverage``).

Each kernel that Python calls is compiled once, with all inner kernels below it. Numba optimises every function with all
it calls: one below five callers five times. Here inner kernels stay LLVM's intermediate code, linked once before
optimisation, which halves compile time (``docs/internals/cold-start.md``).
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import config, njit, types
from numba.core.caching import InTreeCacheLocator, UserProvidedCacheLocator, UserWideCacheLocator, ZipCacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _EntryLibrary(JITCodeLibrary):  # type: ignore[misc]
    def finalize(self) -> None:
        linked = _callers_first(self._linking_libraries)
        self._linking_libraries: list[Any] = linked
        super().finalize()
        for library in linked:
            for name, environment in getattr(library, "environments", {}).items():
                if self.codegen._engine.is_symbol_defined(name):
                    self.codegen.set_env(name, environment)


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Environments are set once there is machine code."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.environments: dict[str, Any] = {}

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        self.environments[name] = environment

    def finalize(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        return 0


def _callers_first(direct: list[Any]) -> list[Any]:
    """A linker drops code that no earlier code needs."""
    order: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if isinstance(library, _InnerLibrary) and library not in order:
            for called in library._linking_libraries:
                visit(called)
        order.setdefault(library)

    for library in direct:
        visit(library)
    return list(order)[::-1]


class EntryCompiler(Compiler):  # type: ignore[misc]
    library: type[JITCodeLibrary] = _EntryLibrary

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return list(super().define_pipelines())


class InnerCompiler(EntryCompiler):
    library = _InnerLibrary


R = TypeVar("R")

PACKAGE = __name__.partition(".")[0]
_IMPORTED = re.compile(r"^(?:from|import) ([\w.]+)", re.MULTILINE)
_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)

# Python's division by zero needs an exit in every function; no kernel divides by a possible zero.
_ALIKE = {"no_cfunc_wrapper": True, "error_model": "numpy"}
_without_folder: set[str] = set()


def kernel(function: Callable[..., R]) -> Callable[..., R]:
    """Called from Python. Deterministic: no parallel loops, no fast maths."""
    if config.DISABLE_JIT:
        return function
    numbas_own, config.CACHE_LOCATOR_CLASSES = config.CACHE_LOCATOR_CLASSES, f"{__name__}.LocatorBySources"
    try:
        compiled = njit(cache=True, pipeline_class=EntryCompiler, **_ALIKE)(function)
    except RuntimeError:  # no writable folder
        _without_folder.add(function.__module__)
        compiled = njit(pipeline_class=EntryCompiler, **_ALIKE)(function)
    finally:
        config.CACHE_LOCATOR_CLASSES = numbas_own
    return _for_wide_integers(compiled)


def inner_kernel(function: Callable[..., R]) -> Callable[..., R]:
    """Called only from kernels."""
    return _inner(function)


def inlined_kernel(function: Callable[..., R]) -> Callable[..., R]:
    """For a few lines called millions of times."""
    return _inner(function, forceinline=True)


def wraps_around(function: Callable[..., R]) -> Callable[..., R]:
    """Unsigned overflow is intended, also where interpreted; elsewhere an interpreted overflow differs and warns."""
    return np.errstate(over="ignore")(function) if config.DISABLE_JIT else function


def has_folder() -> bool:
    return not _without_folder


def _inner(function: Callable[..., R], **options: bool) -> Callable[..., R]:
    if config.DISABLE_JIT:
        return function
    return _for_wide_integers(
        njit(no_cpython_wrapper=True, pipeline_class=InnerCompiler, **_ALIKE, **options)(function)
    )


def _for_wide_integers(compiled: Any) -> Callable[..., R]:
    """Narrower integers use the variant for int64: numba asks ``get_call_template``, and converts."""
    choose = compiled.get_call_template

    def chosen(args: tuple[types.Type, ...], kws: Mapping[str, types.Type]) -> Any:
        return choose(tuple(map(_widen, args)), {name: _widen(argument) for name, argument in kws.items()})

    compiled.get_call_template = chosen
    return cast("Callable[..., R]", compiled)


def _widen(argument: types.Type) -> types.Type:
    plain = types.unliteral(argument)
    if isinstance(plain, types.Boolean):
        return plain
    is_narrow = isinstance(plain, types.Integer) and plain.signed and plain.bitwidth <= types.int64.bitwidth
    return types.int64 if is_narrow else argument


class LocatorBySources:
    """Numba's cache folders (``NUMBA_CACHE_DIR``, ``__pycache__``, the user's), with freshness by sources.

    A kernel's machine code contains each called function, while numba checks only its own source file. Here that module
    and all of ours that it imports decide. Numba reads the types in a file before it checks freshness, and fails where
    a class is gone: so names of modules and classes are part of the file name.
    """

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Any:
        names, texts = _digests(function.__module__)
        for kind in (UserProvidedCacheLocator, InTreeCacheLocator, UserWideCacheLocator, ZipCacheLocator):
            locator = kind.from_function(function, file)
            if locator is not None:
                locator.get_disambiguator, locator.get_source_stamp = lambda: names[:16], lambda: texts
                return locator
        return None


@cache
def _digests(module: str) -> tuple[str, str]:
    """Names and texts of ``module`` and its imports of its own package and of this one."""
    ours = {PACKAGE, module.partition(".")[0]}
    sources: dict[str, _Source] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = _source(name)
            waiting += [imported for imported in sources[name].imported if imported.partition(".")[0] in ours]
    parts = sorted(sources.items())
    return _digest([(name, source.classes) for name, source in parts]), _digest([source.digest for _, source in parts])


class _Source(NamedTuple):
    imported: list[str]
    classes: list[str]
    digest: str


@cache
def _source(module: str) -> _Source:
    specification = getattr(sys.modules.get(module), "__spec__", None)
    read = getattr(getattr(specification, "loader", None), "get_source", None)
    text = "" if read is None else read(module) or ""
    return _Source(_IMPORTED.findall(text), _CLASS.findall(text), _digest(text))


def _digest(parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()
