"""Carried code is numba's own, from its cache on disk, in the folders where ``carried_code.py`` looks for it."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from numba.core.serialize import dumps

from kafka_assignors.kernels import carried_code
from kafka_assignors.kernels.carried_code import DiskThenCarried, carried_for


def collect_kernels(place: Path) -> None:
    """Copy the code of all kernels that this process compiled, or found in numba's cache, into ``place``/carried."""
    for cache in _caches():
        _collect(cache, place)


def _caches() -> Iterator[Any]:
    """Of each kernel that was called here."""
    for name, module in sorted(sys.modules.items()):
        if name.partition(".")[0] == carried_code.PACKAGE:
            for value in vars(module).values():
                cache = getattr(getattr(value, "_cache", None), "_cache_file", None)
                if isinstance(cache, DiskThenCarried) and value.py_func.__module__ == name and value.overloads:
                    yield cache


def _collect(cache: DiskThenCarried, place: Path) -> None:
    """Copy one kernel's code from numba's cache into the folder of carried code in ``place``."""
    names = {}
    for (signature, (triple, _, _), bytecode), data in sorted(cache._load_index().items(), key=lambda item: item[1]):
        folder = place / carried_for(triple)
        module = Path(cache.carried_index).parent
        (folder / module).mkdir(parents=True, exist_ok=True)
        names[signature, bytecode] = f"{module}/{Path(data).with_suffix('.code')}"
        payload = _without_annotations(cache._load_data(data))
        (folder / names[signature, bytecode]).write_bytes(dumps(payload))
        (folder / cache.carried_index).write_bytes(cache.sources.encode() + pickle.dumps(names))


def _without_annotations(payload: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parts of a compiled function; the text of its types, for reading only, names folders of this machine."""
    library, described, environment, signature, is_object, lifted, _annotations, *rest = payload
    return library, described, environment, signature, is_object, lifted, "", *rest
