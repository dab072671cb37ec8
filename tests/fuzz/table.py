"""Runs damaged inputs in a process that is watched, and counts: kind by read, refused, crash and hang."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fuzz.readers import KINDS

OUTCOMES = ("read", "refused", "crash", "hang")
HANG_S = 10.0  # of CPU for one input
WAITING_S = 60.0  # without CPU: it waits for something that does not come
START_S = 900.0  # until a process is ready: kernels are loaded, or compiled
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Outcomes:
    """``counts`` by kind and outcome; ``failures``: each crash and hang in words."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, number: int, outcome: str, text: str) -> None:
        """Count one input."""
        names = list(KINDS)
        kind = names[number % len(names)]
        self.counts[kind, outcome] += 1
        if outcome in ("crash", "hang"):
            self.failures.append(f"input {number} ({kind}, seed {number // len(names)}): {outcome}: {text}")

    def table(self) -> str:
        """Fixed-width columns, a total last."""
        rows = [(kind, *(self.counts[kind, outcome] for outcome in OUTCOMES)) for kind in KINDS]
        rows.append(("all", *(sum(self.counts[kind, outcome] for kind in KINDS) for outcome in OUTCOMES)))
        head = f"{'kind':<18}" + "".join(f"{name:>9}" for name in ("inputs", *OUTCOMES))
        lines = [f"{row[0]:<18}" + "".join(f"{count:>9}" for count in (sum(row[1:]), *row[1:])) for row in rows]
        return "\n".join([head, *lines])


def run_inputs(first: int, last: int, progress: Callable[[int], None] = lambda _: None) -> Outcomes:
    """Inputs ``first`` to ``last`` - 1. A process that dies or hangs is ended, and another goes on behind it."""
    outcomes = Outcomes()
    while first < last:
        first = _run_process(first, last, outcomes, progress)
    return outcomes


def _run_process(first: int, last: int, outcomes: Outcomes, progress: Callable[[int], None]) -> int:
    """Returns the first input that is still to be run."""
    line = [sys.executable, "-m", "tests.fuzz.worker", str(first), str(last)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        watch = _Watch(process)
        running, is_ready = first, False
        while (reported := watch.next_line(HANG_S if is_ready else START_S)) is not None:
            if reported == b"":
                break
            message = json.loads(reported)
            is_ready = True
            if "end" in message:
                outcomes.add(message["end"], message["outcome"], message["words"])
                running = message["end"] + 1
                progress(running)
        else:
            process.kill()
            outcomes.add(running, "hang", f"more than {HANG_S:.0f} s")
            return running + 1
    if running < last:
        outcomes.add(running, "crash", f"the process ended with {process.returncode}")
        return running + 1
    return last


class _Watch:
    """Lines of a process, and how much CPU it took since the last one."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.rest = b""

    def next_line(self, limit_s: float) -> bytes | None:
        """The next line, b"" at the end, None where it takes too long."""
        assert self.process.stdout is not None
        cpu, wall = self._cpu_s(), time.monotonic()
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], 1.0)
            if ready:
                piece = os.read(self.process.stdout.fileno(), 65_536)
                if not piece:
                    return b""
                self.rest += piece
            elif self._cpu_s() - cpu > limit_s or (
                time.monotonic() - wall > max(WAITING_S, limit_s) and self._cpu_s() - cpu < 1
            ):
                return None
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def _cpu_s(self) -> float:
        try:
            with open(f"/proc/{self.process.pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / _TICK
