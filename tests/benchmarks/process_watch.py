"""CPU seconds and memory of families of processes, while they run: /proc, four times a second if nothing else is said.

What a process used since its last sample is lost, and so is one that lives no longer than that.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

import psutil

_STEP_S = 0.25
SERVICES = "airflow"
SCHEDULER = "scheduler"  # as a root: what its executor starts is of the kind ``tasks``


@dataclass(frozen=True, slots=True)
class Sample:
    """By kind: CPU seconds of all that were seen so far, and what those alive hold, pages shared once."""

    at_s: float
    cpu_s_of: Mapping[str, float]
    held_bytes_of: Mapping[str, int]


@dataclass(slots=True)
class ProcessWatch:
    """``with`` it: samples of ``roots`` (process id -> kind) and what they started. ``at_s``: ``time.time``."""

    roots: Mapping[int, str]
    step_s: float = _STEP_S
    samples: list[Sample] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _spent: dict[tuple[int, float], tuple[str, float]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        assert self._thread is not None
        self._thread.join()

    def cpu_s(self, from_s: float, until_s: float, kind: str | None = None) -> float:
        """Used between two moments, by all or by one kind."""
        inside = self._inside(from_s, until_s)
        spent = [sum(sample.cpu_s_of.values()) if kind is None else sample.cpu_s_of.get(kind, 0.0) for sample in inside]
        return spent[-1] - spent[0] if spent else 0.0

    def peak_bytes(self, from_s: float = 0.0, until_s: float = math.inf, kind: str | None = None) -> int:
        """The most that all together held, or all of one kind."""
        held = [sample.held_bytes_of for sample in self._inside(from_s, until_s)]
        return max((sum(of.values()) if kind is None else of.get(kind, 0) for of in held), default=0)

    def _inside(self, from_s: float, until_s: float) -> list[Sample]:
        return [sample for sample in self.samples if from_s - self.step_s <= sample.at_s <= until_s + self.step_s]

    def _run(self) -> None:
        while not self._over.wait(self.step_s):
            self.samples.append(self._sample())

    def _sample(self) -> Sample:
        held_bytes_of: defaultdict[str, int] = defaultdict(int)
        for process, kind in _family(self.roots):
            try:
                with process.oneshot():
                    times = process.cpu_times()
                    self._spent[process.pid, process.create_time()] = kind, times.user + times.system
                held_bytes_of[kind] += process.memory_full_info().pss
            except (psutil.NoSuchProcess, psutil.ZombieProcess):
                continue
        cpu_s_of: defaultdict[str, float] = defaultdict(float)
        for kind, cpu_s in self._spent.values():
            cpu_s_of[kind] += cpu_s
        return Sample(time.time(), dict(cpu_s_of), dict(held_bytes_of))


def _family(roots: Mapping[int, str]) -> Iterator[tuple[psutil.Process, str]]:
    """The roots and all below them, each with its kind."""
    children_of: defaultdict[int, list[psutil.Process]] = defaultdict(list)
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess):
            children_of[process.ppid()].append(process)
    waiting = [(psutil.Process(root), kind) for root, kind in roots.items() if psutil.pid_exists(root)]
    while waiting:
        process, parent = waiting.pop()
        with contextlib.suppress(psutil.NoSuchProcess):
            kind = _kind(process, parent)
            yield process, kind
            waiting += [(child, kind) for child in children_of[process.pid]]


def _kind(process: psutil.Process, parent: str) -> str:
    name = process.name()
    if name == "java" or "postgres" in name:
        return "jvm" if name == "java" else "postgres"
    if parent == "jvm":
        return "driver" if "spark_jobs" in " ".join(process.cmdline()) else "workers"
    if parent == SCHEDULER:
        return "tasks" if "LocalExecutor" in " ".join(process.cmdline()) else SCHEDULER
    return "workers" if parent == "driver" else parent
