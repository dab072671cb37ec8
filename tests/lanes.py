"""Run the lanes of a tier side by side: ``python -m tests.lanes test`` (or check, test-all, test-live, ci).

A lane is one process that tests one part of the product. Lanes start in the order of ``LANES``, as many at once as keep
the processors busy, and a little more. A lane writes to ``.run/lanes/LANE.log``, which is printed when the lane ends. A
table of lanes, seconds, processor seconds and results comes last. No test runs twice in one tier: where ``fast`` runs,
``fast-rest`` is left out. Exit code 1 when a lane failed.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOGS = ROOT / ".run" / "lanes"
_LOOK_S, _SAY_S = 0.2, 30.0
_PERCENT = re.compile(r"\[ *(\d+)%\]")
_RESULT = re.compile(r"^(?:=+ )?(\d+ (?:passed|failed|error).*?) in [\d.]+s", re.MULTILINE)


@dataclass(frozen=True)
class Lane:
    """One process. ``load`` is how many processors it keeps busy; ``tiers`` are the commands that run it. ``yields``:
    others come first, which wait for Airflow, Spark and Kafka half of the time.
    """

    name: str
    proves: str
    tiers: tuple[str, ...]
    command: tuple[str, ...]
    load: float = 1
    yields: bool = False

    @property
    def log(self) -> Path:
        return LOGS / f"{self.name}.log"


def _pytest(*arguments: str, workers: int = 1) -> tuple[str, ...]:
    """Tests are spread by worksteal: each worker takes neighbours, so that most modules share their fixtures."""
    spread = ("-n", str(workers), "--dist", "worksteal", "-p", "no:anyio") if workers > 1 else ()
    slowest = ("--durations=12", "--durations-min=5")
    return (sys.executable, "-m", "pytest", "-q", "--no-header", *slowest, *spread, *arguments)


_BOTH = min(os.cpu_count() or 1, 8)
_HERE = "not live and not stack and not matrix"
# Fast tests look at plans that are searched for a short time; ``whole`` looks at the same with the search of users.
_FAST = "--brief-search", "-m", f"{_HERE} and not slow"
# Lanes of one process come first, because they take longest; one lane of several takes the time in which they wait.
# Kafka's jars arrive meanwhile.
LANES = (
    Lane("airflow", "Airflow with the page in a browser, kills, the installed wheel", ("test-all", "ci"),
         _pytest("-m", "stack and not live and not matrix", "tests/stack"), 0.5),
    Lane("main-job", "demo dumps through Airflow, Spark, Postgres and Great Expectations; the shell", ("test",),
         _pytest("-m", "main_job", "tests/stack")),
    Lane("stack", "SQL, Spark, Great Expectations, DAGs", ("test-all", "ci"),
         _pytest("-m", "stack and not live and not matrix", "--ignore=tests/stack", "--ignore=tests/live"), 0.6),
    Lane("lint", "format, lint, types, import layers", ("check", "ci"), ("make", "--no-print-directory", "lint")),
    Lane("live", "Kafka brokers, Kafka's own classes, Prometheus", ("test-live", "ci"),
         _pytest("-m", "live and not matrix", "tests/live"), 0.4),
    Lane("whole", "plans with the whole search; larger samples of every property", ("test-all", "ci"),
         _pytest("-m", f"(slow or planned) and {_HERE}", workers=_BOTH), 0.75 * _BOTH, yields=True),
    Lane("fast", "the library, the shell, dumps, pages: everything that takes seconds", ("check", "test", "ci"),
         _pytest(*_FAST, workers=_BOTH), 0.75 * _BOTH, yields=True),
    Lane("fast-rest", "the fast tests that look at no plan", ("test-all",),
         _pytest(*_FAST[:-1], f"{_FAST[-1]} and not planned", workers=_BOTH), 0.75 * _BOTH, yields=True),
)  # fmt: skip
_NEXT = {"test": "make test-all runs everything that needs only this machine.", "check": "make test adds the main job."}


@dataclass
class Run:
    """A lane that was started."""

    lane: Lane
    process: subprocess.Popen[bytes]
    began: float
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    def look(self) -> bool:
        """Return whether it is over; then its seconds are known, those of its children with it."""
        pid, status, used = os.wait4(self.process.pid, os.WNOHANG)
        if not pid:
            return False
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds, self.cpu_seconds = time.monotonic() - self.began, used.ru_utime + used.ru_stime
        return True

    @property
    def text(self) -> str:
        return self.lane.log.read_text("utf-8", "replace")

    @property
    def progress(self) -> str:
        """``fast 38 %``; the name alone where the lane prints no percentage."""
        matches = _PERCENT.findall(self.text)
        return f"{self.lane.name} {matches[-1]} %" if matches else self.lane.name

    @property
    def result(self) -> str:
        """pytest's own words, or whether the command succeeded."""
        matches = _RESULT.findall(self.text)
        verdict = "ok" if self.process.returncode == 0 else f"FAILED (exit {self.process.returncode})"
        return f"{verdict}: {matches[-1]}" if matches else verdict


def run_lanes(lanes: Sequence[Lane], processors: int) -> list[Run]:
    """Run all lanes, at most a load of ``processors + 1`` at once; prints each lane's output when it ends."""
    LOGS.mkdir(parents=True, exist_ok=True)
    waiting, running, over = list(lanes), list[Run](), list[Run]()
    began = said = time.monotonic()
    try:
        while waiting or running:
            for lane in list(waiting):
                load = sum(run.lane.load for run in running)
                if not running or load + lane.load <= processors + 1:
                    waiting.remove(lane)
                    running.append(_start(lane))
            time.sleep(_LOOK_S)
            for run in list(running):
                if not run.look():
                    continue
                running.remove(run)
                over.append(run)
                print(f"\n=== {run.lane.name}: {run.result} after {run.seconds:.0f} s\n{_shown(run)}", flush=True)
            if running and time.monotonic() - said >= _SAY_S:
                said = time.monotonic()
                print(f"{said - began:4.0f} s  {', '.join(run.progress for run in running)}", flush=True)
    finally:
        for run in running:  # Ctrl-C, or a fault of this program
            os.killpg(run.process.pid, signal.SIGTERM)
    return over


def _start(lane: Lane) -> Run:
    """In a process group of its own, with fixed hash seeds and one thread for each numerical library. All groups are of
    one session: Linux weighs processes of several sessions alike, whatever their niceness.
    """
    fixed = {"PYTHONHASHSEED": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | fixed
    environment |= {"PYTHONPATH": f"plugins{os.pathsep}.", "GX_ANALYTICS_ENABLED": "false"}
    with lane.log.open("wb") as log:
        process = subprocess.Popen(
            (*("nice", "-n", "10") * lane.yields, *lane.command), cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=subprocess.STDOUT, process_group=0,
        )  # fmt: skip
    return Run(lane, process, time.monotonic())


def _shown(run: Run) -> str:
    """All of a failed lane's output, the last line of any other; rows of dots are left out."""
    lines = [line for line in run.text.splitlines() if line.strip() and not _PERCENT.search(line)]
    return "\n".join(lines if run.process.returncode else lines[-1:])


def main() -> int:
    """1 where a lane failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.lanes", description=__doc__)
    parser.add_argument("tier", choices=sorted({tier for lane in LANES for tier in lane.tiers}))
    tier = parser.parse_args().tier
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lanes = [lane for lane in LANES if tier in lane.tiers]
    print(f"{tier}: " + "; ".join(f"{lane.name} ({lane.proves})" for lane in lanes), flush=True)
    began = time.monotonic()
    over = run_lanes(lanes, os.cpu_count() or 1)
    print(f"\n{'lane':<10} {'seconds':>7} {'cpu s':>6}  {'result':<44} what it proves")
    for run in over:
        print(f"{run.lane.name:<10} {run.seconds:>7.0f} {run.cpu_seconds:>6.0f}  {run.result:<44} {run.lane.proves}")
    failed = [run.lane.name for run in over if run.process.returncode]
    seconds = time.monotonic() - began
    print(
        f"{tier}: {'FAILED: ' + ', '.join(failed) if failed else 'all green'} in {seconds:.0f} s. {_NEXT.get(tier, '')}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
