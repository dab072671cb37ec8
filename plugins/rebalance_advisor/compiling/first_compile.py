"""The compiling of kernels, which a first run waits for: announced once on stderr, and shared by two processes.

Numba compiles one function at a time in a process. So when the first kernel turns out not to be on disk, a second
process starts that compiles what this one needs later (``compile_ahead``), and leaves it on disk for it.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from typing import Any

from numba.core import event

from kafka_assignors.kernels.carried_code import has_folder
from rebalance_advisor.terminal import write_lines

# Each command and each step of a DAG has kernels of its own, so the next one may say it again.
_NOTICE = "       kernels of this {what} are compiled, once: its first run takes half a minute longer"
_NOTICE_NO_FOLDER = (
    "       kernels of this {what} are compiled at each run, which takes half a minute: "
    "set NUMBA_CACHE_DIR to a writable folder"
)
_listening: list[_FirstCompile] = []


class _FirstCompile(event.Listener):
    def __init__(self, ahead_of: str | None, what: str) -> None:
        self._is_told = False
        self._ahead_of, self._what = ahead_of, what

    def on_start(self, _event: Any) -> None:
        """A kernel was not found on disk."""
        if not self._is_told:
            self._is_told = True
            write_lines(sys.stderr, (_NOTICE if has_folder() else _NOTICE_NO_FOLDER).format(what=self._what))
            sys.stderr.flush()
            if self._ahead_of is not None and _processors() > 1 and has_folder():
                _start_ahead(self._ahead_of)

    def on_end(self, _event: Any) -> None:
        """Nothing is said of each."""


def tell_of_first_compile(ahead_of: str | None = None, *, what: str = "command") -> None:
    """Say on stderr when the first kernel has to be compiled; nothing where all of them are on disk already.

    ``ahead_of``: the command ("plan" or "advise") whose later kernels a second process then compiles. ``what`` they
    are of: a "command", or a "step" in the log of a task.
    """
    if not _listening:  # once a process: a command that runs again in it starts no second helper
        _listening.append(_FirstCompile(ahead_of, what))
        event.register("numba:compile", _listening[0])


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start_ahead(command: str) -> None:
    """It ends with this process at the latest. Where it cannot be started, this process compiles everything itself."""
    # -P: not from the folder that somebody happens to stand in
    line = [sys.executable, "-P", "-m", "rebalance_advisor.compiling.compile_ahead", command]
    nowhere = subprocess.DEVNULL
    try:
        process = subprocess.Popen(line, stdin=nowhere, stdout=nowhere, stderr=nowhere)
    except OSError:
        return
    atexit.register(_stop, process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
