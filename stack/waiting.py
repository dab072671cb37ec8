"""Wait for a condition; errors name the missing one in their first line."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

# Limit for one condition on a busy machine: broken things fail late, slow ones do not.
PATIENCE_S = 300.0
_SHOWN_CHARACTERS = 1_000
_LOG_LINES = 60
_ERROR = re.compile(r"(?i:\b(error|fatal|critical)\b)|(Error|Exception)\b")

Seen = TypeVar("Seen")


class WaitError(TimeoutError):
    """Timeout. The message names the condition and the last value seen."""


class StartError(RuntimeError):
    """A program did not start: "Kafka broker 2 did not start within 300 s: LAST ERROR", then the end of its log.

    LAST ERROR is the last log line about an error, else the last line; indented stack frames are skipped.
    """

    def __init__(self, what: str, how: str, log: str) -> None:
        lines = [line for line in log.splitlines() if line.strip()][-_LOG_LINES:]
        candidates = [line for line in lines if not line[0].isspace()] or lines or ["(it wrote nothing)"]
        last = next((line for line in reversed(candidates) if _ERROR.search(line)), candidates[-1])
        super().__init__("\n".join([f"{what} {how}: {last.strip()}", *lines]))


def wait_for(
    what: str,
    look: Callable[[], Seen],
    *,
    until: Callable[[Seen], object] = bool,
    gist: Callable[[Seen], object] = lambda state: state,
    unchanged_s: float = 0.0,
    seconds: float = PATIENCE_S,
    every_s: float = 0.1,
) -> Seen:
    """First value of ``look`` that satisfies ``until``, once its ``gist`` is unchanged for ``unchanged_s``.

    A pause is at least as long as the look before it. Raises WaitError after ``seconds``, with the gist of the last
    value.
    """
    began = same_since = looked_at = time.monotonic()
    state = look()
    last_gist = gist(state)
    while not until(state) or time.monotonic() - same_since < unchanged_s:
        if (waited := time.monotonic() - began) > seconds:
            raise WaitError(f"waited {waited:.0f} s for {what}; seen last: {_shown(last_gist)}")
        time.sleep(max(every_s, time.monotonic() - looked_at))
        looked_at = time.monotonic()
        state = look()
        if (new_gist := gist(state)) != last_gist:
            last_gist, same_since = new_gist, time.monotonic()
    return state


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
    """Result of ``start``, retried once after a StartError: a busy machine, a port.

    After two failures every later start of the same ``what`` fails at once with the same message.
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
    """Stop a process (SIGSTOP) during the block; the block begins when each of its threads is stopped.

    A signal takes effect after ``kill`` returns: a busy server answers several requests meanwhile.
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
