"""One mutant against the tests that reach its line: in a forked process whose import of that module is the mutant.

What is large and never changes (numpy, scipy, numba, pytest) is imported once, before the first fork; the
file on disk stays as it is.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import multiprocessing
import multiprocessing.popen_fork  # before any fork: one that forks while another thread imports it hangs for ever
import os
import resource
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import pytest
import scipy.optimize
import scipy.sparse  # noqa: F401

from tests.mutation.mutants import Mutant, mutated
from tests.mutation.small_cases import ROOT, Suite

LONGER_BY_THE_CLOCK = 20
_FORK = multiprocessing.get_context("fork")
# A fork takes along whatever lock another thread holds: nobody else starts one meanwhile.
_STARTING = threading.Lock()


class _Loader(importlib.abc.Loader):
    def __init__(self, path: Path, number: int) -> None:
        self._path, self._number = path, number

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """As usual."""

    def exec_module(self, module: ModuleType) -> None:
        """The mutant instead of the module."""
        tree = mutated(self._path.read_text(), self._number)
        exec(compile(tree, str(self._path), "exec"), module.__dict__)

    def get_source(self, _name: str) -> str:
        """As on disk: else all kernels that depend on the module would be compiled anew."""
        return self._path.read_text()


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, path: Path, number: int) -> None:
        self._name, self._path, self._number = name, path, number

    def find_spec(self, name: str, _path: Any, _target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Only for the one module."""
        if name != self._name:
            return None
        loader = _Loader(self._path, self._number)
        return importlib.util.spec_from_file_location(name, self._path, loader=loader)


def survives(suite: Suite, mutant: Mutant, tests: Sequence[str], seconds: float) -> bool:
    """No test fails within so many seconds of CPU; one that never ends fails.

    By the clock it may take longer: on a busy machine a mutant is not killed by the others' work.
    """
    process = _FORK.Process(target=_run, args=(suite, mutant, tests, seconds))
    with _STARTING:
        process.start()
    process.join(seconds * LONGER_BY_THE_CLOCK)
    if process.is_alive():
        process.kill()
        process.join()
        return False
    return process.exitcode == 0


def _run(suite: Suite, mutant: Mutant, tests: Sequence[str], seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 6))
    if suite.is_interpreted:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        numba.config.DISABLE_JIT = True
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    path = ROOT / mutant.path
    name = ".".join(path.relative_to(ROOT / "plugins").with_suffix("").parts)
    sys.meta_path.insert(0, _Finder(name, path, mutant.number))
    code = pytest.main(["-x", "-q", *suite.arguments, *tests])
    os._exit(0 if code == pytest.ExitCode.OK else 1)
