"""Decorators that compile kernels, and the records of arrays that kernels take.

Compile time grows with variants, so a kernel has one for all integers and booleans, and mypy does not check arguments.
``NUMBA_DISABLE_JIT=1`` gives plain Python functions, for debugging and line coverage (``make coverage``).

Each kernel that Python calls is compiled once, with all inner kernels below it. Numba optimises every function with all
it calls: one below five callers five times. Here inner kernels stay LLVM's intermediate code, linked once before
optimisation, which halves compile time (``docs/internals/cold-start.md``).

A record of arrays (``ByReference``) is one pointer to a row of 64-bit words. Numba passes a tuple of thirty arrays as
about two hundred arguments, which costs time. In Python a record is a frozen dataclass. Unlike
``numba.experimental.structref`` it counts no references: Python keeps its arrays alive while a kernel runs. A kernel
may change the arrays' contents, but not make or return such a record, and return an array of it only as a copy.
"""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import config, extending, from_dtype, njit, types
from numba.core.caching import InTreeCacheLocator, UserProvidedCacheLocator, UserWideCacheLocator, ZipCacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typing.templates import AttributeTemplate


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

_IMPORTED = re.compile(r"^(?:from|import) ([\w.]+)", re.MULTILINE)
_CLASS = re.compile(r"^class (\w+)", re.MULTILINE)

# Python's division by zero needs an exit in every function; no kernel divides by a possible zero.
_ALIKE = {"no_cfunc_wrapper": True, "error_model": "numpy"}
_without_folder: set[str] = set()
_packages: set[str] = set()  # with a kernel


def kernel(function: Callable[..., R]) -> Callable[..., R]:
    """Called from Python. Deterministic: no parallel loops, no fast maths."""
    if config.DISABLE_JIT:
        return function
    _packages.add(function.__module__.partition(".")[0])
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
    _packages.add(function.__module__.partition(".")[0])
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
    """Names and texts of ``module`` and its imports of packages with kernels."""
    ours = _packages | {__name__.partition(".")[0]}
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
    loaded = sys.modules.get(module)
    file = getattr(getattr(loaded, "__spec__", None), "origin", None)
    # Asks the loader for what is no file, as in a zip; pytest's loader of tests has only files.
    text = "" if loaded is None or file is None else "".join(linecache.getlines(file, vars(loaded)))
    return _Source(_IMPORTED.findall(text), _CLASS.findall(text), _digest(text))


def _digest(parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


class RecordType(types.Type):  # type: ignore[misc]
    def __init__(self, class_name: str, members: dict[str, tuple[types.Type, int]]) -> None:
        self.members = members
        digest = hashlib.sha256(repr(members).encode()).hexdigest()[:12]
        super().__init__(name=f"{class_name}_{digest}")


# A plan makes hundreds of records of few layouts.
@cache
def _record_type(class_name: str, members: tuple[tuple[str, types.Type, int], ...]) -> RecordType:
    return RecordType(class_name, {name: (kind, first) for name, kind, first in members})


@cache
def _array_type(dtype: np.dtype[Any], dimensions: int) -> types.Array:
    return types.Array(from_dtype(dtype), dimensions, "C")


extending.register_model(RecordType)(extending.models.OpaqueModel)


class ByReference:
    """Base of frozen dataclasses of C-contiguous arrays, numbers and other records.

    Raises ValueError for other arrays: kernels are compiled for one layout.
    """

    _words: np.ndarray
    _address: int
    _numba_type_: RecordType

    def __post_init__(self) -> None:
        members: list[tuple[str, types.Type, int]] = []
        words: list[int] = []
        for field in fields(self):  # type: ignore[arg-type]
            kind, layout = _layout(field.name, getattr(self, field.name))
            members.append((field.name, kind, len(words)))
            words += layout
        object.__setattr__(self, "_words", np.array(words, dtype=np.int64))
        object.__setattr__(self, "_address", self._words.ctypes.data)
        object.__setattr__(self, "_numba_type_", _record_type(type(self).__name__, tuple(members)))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **{field.name: getattr(self, field.name) for field in fields(self)}), ()  # type: ignore[arg-type]


def _layout(name: str, value: Any) -> tuple[types.Type, list[int]]:
    """Numba's type, and 64-bit words: of an array its address, size, shape and strides."""
    if isinstance(value, ByReference):
        return value._numba_type_, [value._address]
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError(f"{name}: an array of shape {value.shape} is not C-contiguous; copy it first")
        words = [value.ctypes.data, value.size, *value.shape, *value.strides]
        return _array_type(value.dtype, value.ndim), words
    if isinstance(value, bool | np.bool_):
        return types.boolean, [int(value)]
    if isinstance(value, int | np.integer):
        return types.int64, [int(value)]
    return types.float64, [int(np.float64(value).view(np.int64))]


@extending.typeof_impl.register(ByReference)
def _typeof(value: ByReference, _context: Any) -> RecordType:
    return value._numba_type_


@extending.unbox(RecordType)
def _unbox(_kind: RecordType, value: Any, c: Any) -> extending.NativeValue:
    address = c.pyapi.object_getattr_string(value, "_address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return extending.NativeValue(pointer, is_error=c.pyapi.c_api_error())


@extending.infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = RecordType

    def generic_resolve(self, kind: RecordType, name: str) -> types.Type | None:
        return kind.members.get(name, (None,))[0]


@extending.lower_getattr_generic(RecordType)
def _get(context: Any, builder: Any, kind: RecordType, record: Any, name: str) -> Any:
    member, first = kind.members[name]
    words = builder.bitcast(record, context.get_value_type(types.int64).as_pointer())

    def word(index: int) -> Any:
        value = builder.load(builder.gep(words, [context.get_constant(types.int64, first + index)], inbounds=True))
        # No kernel writes to a record.
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    if isinstance(member, types.Array):
        size = context.get_abi_sizeof(context.get_data_type(member.dtype))
        lengths = types.UniTuple(types.intp, member.ndim)
        array = context.make_array(member)(context, builder)  # zeroed: numba counts no references
        array.data = builder.inttoptr(word(0), array.data.type)
        array.nitems, array.itemsize = word(1), context.get_constant(types.intp, size)
        array.shape = context.make_tuple(builder, lengths, [word(2 + d) for d in range(member.ndim)])
        array.strides = context.make_tuple(builder, lengths, [word(2 + member.ndim + d) for d in range(member.ndim)])
        return array._getvalue()
    if isinstance(member, RecordType):
        return builder.inttoptr(word(0), record.type)
    if isinstance(member, types.Boolean):
        return builder.icmp_signed("!=", word(0), context.get_constant(types.int64, 0))
    return builder.bitcast(word(0), context.get_value_type(member))
