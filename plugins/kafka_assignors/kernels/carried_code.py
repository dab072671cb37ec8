"""Machine code that came with the wheel, for a baseline processor: a first run finds it and compiles nothing.

It is looked for after numba's own cache on disk, and used where all fits: the text of the kernel's module and of what
it imports, the bytecode, the types, the versions of Python and numba, the kind of system, and a processor that has all
features of the baseline. Where anything differs there is nothing, and the kernel is compiled as it always was.
``stack/wheel/carry_kernels.py`` makes it. Results are the same: neither code fuses or reorders what is computed.
It is unpickled, as numba does with its own, and is as much to be trusted as the modules that it lies beside.

Numba refuses to import a cached function where no folder is writable: a read-only package and no home. Here such a
kernel loads carried code, or is compiled anew in each process. A folder that becomes full or read-only later is no
reason to stop either.
"""

from __future__ import annotations

import contextlib
import pickle
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile

PACKAGE = __name__.partition(".")[0]
FOLDER = "carried"

# x86-64-v3, as LLVM names it: Intel since Haswell (2013), AMD since Excavator (2015).
BASELINE = "x86-64-v3"
FEATURES = (
    "avx", "avx2", "bmi", "bmi2", "cmov", "crc32", "cx16", "cx8", "f16c", "fma", "fxsr", "lzcnt", "mmx", "movbe",
    "popcnt", "sahf", "sse", "sse2", "sse3", "sse4.1", "sse4.2", "ssse3", "xsave",
)  # fmt: skip
# As NUMBA_CPU_FEATURES wants it.
FEATURES_TEXT = ",".join(f"+{name}" for name in FEATURES)


# Nothing can be made below a device, not even by root.
_NO_FOLDER = "/dev/null/no-folder-is-writable"
_without_folder: set[str] = set()


class _NoFolder:
    """The last of numba's locators: where no other finds a writable folder."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file, self._line = file, function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _NoFolder:
        _without_folder.add(file)
        return cls(function, file)

    def get_cache_path(self) -> str:
        return _NO_FOLDER

    def ensure_cache_path(self) -> None:
        """Numba calls this before it saves; ``DiskThenCarried`` finds out by itself."""

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        """The line, as of a source file on disk: carried code has it in its name."""
        return str(self._line)


class _KernelCacheImpl(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [*CompileResultCacheImpl._locator_classes, _NoFolder]  # noqa: RUF012  # as numba has it


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of one kernel: its folder on disk where there is one, then what was carried."""

    _impl_class = _KernelCacheImpl

    def __init__(self, function: Callable[..., Any], sources: str) -> None:
        """``sources``: a digest of all that the kernel's machine code depends on."""
        super().__init__(function)
        disk: Any = self._cache_file
        self._cache_file: Any = DiskThenCarried(disk, function.__module__, sources)


def has_folder() -> bool:
    """Whether what is compiled here is kept for the next process."""
    return not _without_folder


class DiskThenCarried(IndexDataCacheFile):  # type: ignore[misc]
    """The files of one kernel: numba's own, then what was carried."""

    def __init__(self, disk: Any, module: str, sources: str) -> None:
        base = disk._index_name.removesuffix(".nbi")
        super().__init__(disk._cache_path, base, (disk._source_stamp, sources))
        self.carried_index = f"{module}/{base}"
        self.sources = sources

    def load(self, key: tuple[Any, Any, Any]) -> Any:
        """What was compiled for ``key``: types, processor, bytecode; None where nothing was."""
        found = super().load(key)
        return self._load_carried(*key) if found is None else found

    def save(self, key: tuple[Any, Any, Any], data: Any) -> None:
        """Keep what was compiled; nothing happens where that is not possible."""
        with contextlib.suppress(OSError):
            super().save(key, data)

    def _load_index(self) -> dict[Any, str]:
        """Numba reads the types before it looks whether they are old: those of a module that is gone cannot be read."""
        try:
            return dict(super()._load_index())
        except (ImportError, AttributeError, EOFError, OSError, pickle.UnpicklingError):
            return {}

    def _load_carried(self, signature: Any, magic: tuple[str, str, str], bytecode: Any) -> Any:
        triple, _, features = magic
        if not has_baseline(features):
            return None
        index = _read(triple, self.carried_index)
        if index is None or index[: len(self.sources)] != self.sources.encode():
            return None
        names: Mapping[Any, str] = pickle.loads(index[len(self.sources) :])  # noqa: S301 - part of the package
        name = names.get((signature, bytecode))
        data = None if name is None else _read(triple, name)
        return None if data is None else pickle.loads(data)  # noqa: S301 - part of the package


def has_baseline(features: str) -> bool:
    """Whether a processor has all of ``FEATURES``; ``features`` is what numba says of it: ``+avx,-avx512f…``."""
    return {f"+{name}" for name in FEATURES}.issubset(features.split(","))


def carried_for(triple: str) -> str:
    """The folder, inside that of the package, of code for this Python and numba and a system of ``triple``."""
    return f"{FOLDER}/cp{sys.version_info.major}{sys.version_info.minor}-numba-{numba.__version__}-{triple}-{BASELINE}"


def _read(triple: str, name: str) -> bytes | None:
    """A carried file, by the loader that read the package: it may lie in an archive."""
    package = sys.modules[PACKAGE]
    read = getattr(getattr(package.__spec__, "loader", None), "get_data", None)
    folders = list(getattr(package, "__path__", ()))
    if read is None or not folders:
        return None
    try:
        return bytes(read(f"{folders[0]}/{carried_for(triple)}/{name}"))
    except OSError:
        return None
