"""The process between the advisor and a class; it ends when either does, and ends all processes of the class.

It holds the class's end of the channel without reading: the advisor's end closes with the advisor. Orphans of the class
become its children in any session.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

# The memory limit.
MEMORY_EXIT = 120
_POLL_MS = 50
_ENDING_S = 3.0
_BETWEEN_KILLS_S = 0.005


def supervise(worker: int, channel: int, memory_bytes: int) -> NoReturn:
    """Wait for ``worker`` to exit or ``channel`` to close, then exit like the worker."""
    ends = select.poll()
    ends.register(channel, getattr(select, "POLLRDHUP", 0))
    status = None
    while status is None:
        if ends.poll(_POLL_MS):
            _end_all(worker)
            os._exit(0)
        status = _reap(worker)
        if _is_beyond(_descendants(), memory_bytes):
            _end_all(worker)
            os._exit(MEMORY_EXIT)
    _end_all(None)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with suppress(OSError, ValueError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _reap(worker: int) -> int | None:
    status = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == worker:
                status = ended[1]
    return status


def _end_all(worker: int | None) -> None:
    deadline = time.monotonic() + _ENDING_S
    if worker is not None:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    while (left := _descendants()) and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_BETWEEN_KILLS_S)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _descendants() -> list[int]:
    pids: list[int] = []
    ahead = [os.getpid()]
    while ahead:
        for threads in Path(f"/proc/{ahead.pop()}/task").glob("*/children"):
            with suppress(OSError):
                below = [int(pid) for pid in threads.read_text().split()]
                pids += below
                ahead += below
    return pids


def _is_beyond(pids: list[int], memory_bytes: int) -> bool:
    """Resident memory is cheap but counts shared pages twice, so proportional memory decides; the kernel limits one
    process.
    """
    if len(pids) < 2 or _sum(pids, "statm") <= memory_bytes:
        return False
    return _sum(pids, "smaps_rollup") > memory_bytes


def _sum(pids: Iterable[int], file: str) -> int:
    total = 0
    for pid in pids:
        with suppress(OSError, StopIteration):  # just ended
            text = Path(f"/proc/{pid}/{file}").read_text()
            if file == "statm":
                total += int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")
            else:
                total += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) * 1024
    return total
