"""Ctrl-C prints one line and ends with exit code 130, also during heavy imports.

Native code (numba, destructors) swallows exceptions of callbacks, so Ctrl-C ends the process at once, except where
partial output must be removed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

EXIT_INTERRUPTED = 130


def end_on_interrupt() -> None:
    """Unless Ctrl-C is ignored (background job) or handled."""
    with suppress(ValueError):  # not the main thread
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)


@contextmanager
def taken_back_on_interrupt() -> Iterator[None]:
    """Raise KeyboardInterrupt inside, so that partial output is removed."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


def tell_of_interrupt() -> int:
    with suppress(ValueError):
        if signal.getsignal(signal.SIGINT) is _end:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    return EXIT_INTERRUPTED


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(tell_of_interrupt())
