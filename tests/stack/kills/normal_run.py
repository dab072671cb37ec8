"""How long a run takes when nobody kills anything, and when in it each of the job's processes lives."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from stack.machine import Machine
from tests.stack.kills.followed_run import FollowedRun
from tests.stack.kills.kinds import KINDS
from tests.stack.kills.supervision import PATIENCE_SECONDS


@dataclass(frozen=True, slots=True)
class NormalRun:
    """``life_s``: of the kinds that live in the job alone."""

    run_s: float
    life_s: dict[str, float]


def measure(machine: Machine, run_id: str) -> NormalRun:
    """One run, looked at until it ends. Raises AssertionError where it does not succeed."""
    began, seen = time.monotonic(), {}
    run = FollowedRun.start(machine, run_id, 1)
    is_over = threading.Event()

    def look() -> None:
        while not is_over.wait(0.2):
            for kind in KINDS.values():
                if kind.lives_in_job and kind.find(machine):
                    now = time.monotonic()
                    seen.setdefault(kind.name, [now, now])[1] = now

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    state = run.end()
    took_s = time.monotonic() - began
    is_over.set()
    watcher.join(PATIENCE_SECONDS)
    assert state == "success", f"{run_id} is {state}"
    return NormalRun(took_s, {name: last - first for name, (first, last) in seen.items()})
