"""Wait until something has happened; errors that say in their first line what did not."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

# The longest that one thing may take on a busy machine. What is broken fails that late, what is slow does not fail.
PATIENCE_S = 300.0
_SHOWN_CHARACTERS = 1_000
_LOG_LINES = 60
_ERROR = re.compile(r"(?i:\b(error|fatal|critical)\b)|(Error|Exception)\b")

Seen = TypeVar("Seen")


class WaitError(TimeoutError):
    """Something did not happen in time. The message names it and the value that was seen last."""


class StartError(RuntimeError):
    """A program did not start: "Kafka broker 2 did not start within 300 s: LAST ERROR", then the end of its log.

    Where no line of the log is about an error it is the last line. Frames of a stack are indented, and passed over.
    """

    def __init__(self, what: str, how: str, log: str) -> None:
        lines = [line for line in log.splitlines() if line.strip()][-_LOG_LINES:]
        said = [line for line in lines if not line[0].isspace()] or lines or ["(it wrote nothing)"]
        last = next((line for line in reversed(said) if _ERROR.search(line)), said[-1])
        super().__init__("\n".join([f"{what} {how}: {last.strip()}", *lines]))


def wait_for(
    what: str,
    look: Callable[[], Seen],
    *,
    until: Callable[[Seen], object] = bool,
    gist: Callable[[Seen], object] = lambda seen: seen,
    unchanged_s: float = 0.0,
    seconds: float = PATIENCE_S,
    every_s: float = 0.1,
) -> Seen:
    """Return the first value of ``look`` that satisfies ``until``, once its ``gist`` is the same for ``unchanged_s``.

    Raises WaitError after ``seconds``; its message shows the gist of the last value.
    """
    began = same_since = time.monotonic()
    seen = look()
    known = gist(seen)
    while not until(seen) or time.monotonic() - same_since < unchanged_s:
        if (waited := time.monotonic() - began) > seconds:
            raise WaitError(f"waited {waited:.0f} s for {what}; seen last: {_shown(known)}")
        time.sleep(every_s)
        seen = look()
        if (found := gist(seen)) != known:
            known, same_since = found, time.monotonic()
    return seen


def wait_started(
    what: str,
    is_ready: Callable[[], object],
    *,
    ended: Callable[[], object],
    log: Callable[[], str],
    seconds: float = PATIENCE_S,
) -> None:
    """Wait until a program is ready. Raises StartError, with the end of its ``log``, when it ends or time is up."""
    try:
        wait_for(what, lambda: "ready" if is_ready() else "ended" if ended() else "", seconds=seconds)
    except WaitError:
        raise StartError(what, f"did not start within {seconds:.0f} s", log()) from None
    if not is_ready():
        raise StartError(what, "ended while starting", log())


_given_up: dict[str, StartError] = {}


def start_twice(what: str, start: Callable[[], Seen]) -> Seen:
    """Return what ``start`` returns, in its second try where the first one raises StartError: a busy machine, a port.

    Where both fail, every later start of the same ``what`` fails at once with the same words.
    """
    if what in _given_up:
        raise _given_up[what].with_traceback(None)
    try:
        return start()
    except StartError:
        try:
            return start()
        except StartError as error:
            _given_up[what] = error
            raise


@contextmanager
def frozen(pid: int) -> Iterator[None]:
    """Stop a process (SIGSTOP) as long as the block runs; the block begins when each of its threads is stopped.

    A signal takes effect later than ``kill`` returns: on a busy machine a server answers several requests meanwhile.
    """
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_for(f"process {pid} to stop", lambda: _states(pid), until=lambda states: states == {"T"}, every_s=0.002)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _states(pid: int) -> set[str]:
    """State of each thread: "T" where it is stopped (proc(5), ``stat``, third field, after the name in brackets)."""
    stats = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/stat")]
    return {stat.rpartition(")")[2].split()[0] for stat in stats}


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}… ({len(text):,} characters)"
