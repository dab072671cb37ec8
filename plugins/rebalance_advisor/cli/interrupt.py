"""Ctrl-C is one line and exit code 130, from before the first import of weight on.

Native code calls back into Python and swallows, or prints, what is raised there (numba while it compiles, destructors,
the end of the interpreter). So Ctrl-C raises nothing: the process ends at once, except where something half-written
should be taken back first.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

EXIT_INTERRUPTED = 130


def end_on_interrupt() -> None:
    """From now on. Where Ctrl-C is ignored (a job in the background), or somebody else listens, it stays so."""
    with suppress(ValueError):  # not the main thread: then it is not our process
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)


@contextmanager
def taken_back_on_interrupt() -> Iterator[None]:
    """Inside, Ctrl-C raises KeyboardInterrupt, so that what was begun is removed on the way out."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


def tell_of_interrupt() -> int:
    """The one line, written past every buffer; a second Ctrl-C adds none. Returns the exit code."""
    with suppress(ValueError):
        if signal.getsignal(signal.SIGINT) is _end:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.write(2, b"interrupted\n")
    return EXIT_INTERRUPTED


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(tell_of_interrupt())
