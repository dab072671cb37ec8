"""Restart parts of the stack that end or hang, with a line in ``watch.log``: ``python -m stack.watch FOLDER``.

``make up`` starts it last and ``make down`` stops it first.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from stack.machine import Machine
from stack.processes import Program, stop

_LOOK_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
_WELL_SECONDS = 120.0  # after this run time a part is restarted at once
_ASK_SECONDS = 15.0
# Airflow's scheduler may lose Postgres and wait forever for its own worker to end.
_STUCK_SECONDS = 300.0
_KILL_SECONDS = 5.0


class Part(NamedTuple):
    is_running: Callable[[], bool]
    start: Callable[[], None]
    log_tail: Callable[[], str]
    is_silent: Callable[[], bool] = lambda: False  # it runs, but does not report
    end: Callable[[], None] = lambda: None


def main(folder: str) -> int:
    watch(parts_of(Machine(Path(folder))), _say, threading.Event())
    return 0


def parts_of(machine: Machine) -> dict[str, Part]:
    """Postgres, if it is the stack's own, and Airflow's components."""
    airflow = machine.airflow
    parts = {
        name: of_program(program, partial(airflow.start, name), lambda name=name: airflow.client.is_silent(name))
        for name, program in airflow.programs.items()
    }
    if (server := machine.server) is not None:
        parts = {"postgres": Part(lambda: server.is_running, server.start, partial(server.log_tail, 5))} | parts
    return parts


def of_program(program: Program, start: Callable[[], None], is_silent: Callable[[], bool] = lambda: False) -> Part:
    end = partial(stop, [program], _KILL_SECONDS)
    return Part(lambda: program.is_running, start, lambda: program.log_tail(5), is_silent, end)


def watch(
    parts: Mapping[str, Part],
    say: Callable[[str], None],
    is_over: threading.Event,
    look_seconds: float = _LOOK_SECONDS,
    ask_seconds: float = _ASK_SECONDS,
    stuck_seconds: float = _STUCK_SECONDS,
) -> None:
    """Watch the parts until ``is_over``. A part that ends repeatedly waits longer, a minute at most.

    A running part that is silent at each question for ``stuck_seconds`` is stopped and restarted.
    """
    pauses = dict.fromkeys(parts, 0.0)
    begun = dict.fromkeys(parts, time.monotonic())
    answered, probed = dict(begun), dict(begun)
    while not is_over.wait(look_seconds):
        for name, part in parts.items():
            since_start = time.monotonic() - begun[name]
            pause = 0.0 if since_start >= _WELL_SECONDS else pauses[name]
            if part.is_running():
                if time.monotonic() - probed[name] < ask_seconds:
                    continue
                probed[name] = time.monotonic()
                if not part.is_silent():
                    answered[name] = probed[name]
                if probed[name] - max(answered[name], begun[name]) < stuck_seconds:
                    continue
                say(f"{name} has not reported for {stuck_seconds:.0f} s and is ended")
                part.end()
            elif since_start < pause:
                continue
            say(f"{name} ended and is started again; its last words: {part.log_tail() or 'none'}")
            try:
                part.start()
            except Exception as error:  # noqa: BLE001 (the others are watched all the same)
                say(f"{name} could not be started: {error}")
            begun[name] = time.monotonic()
            pauses[name] = min(2 * pause + look_seconds, _LONGEST_PAUSE_SECONDS)


def _say(message: str) -> None:
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {message}", flush=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
