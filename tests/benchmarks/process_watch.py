"""CPU seconds and memory of families of processes, while they run: /proc, four times a second.

What a process used in its last quarter of a second is lost, and so is one that lives no longer than that.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import psutil

_STEP_S = 0.25


@dataclass(frozen=True, slots=True)
class Sample:
    """``cpu_s_of``: of all that were seen so far, by kind; ``held_bytes``: what those alive hold, pages shared once."""

    at_s: float
    cpu_s_of: Mapping[str, float]
    held_bytes: int


@dataclass(slots=True)
class ProcessWatch:
    """``with`` it: samples of ``roots`` and all that they started. ``at_s`` is the clock of ``time.time``."""

    roots: Sequence[int]
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

    def peak_bytes(self, from_s: float = 0.0, until_s: float = math.inf) -> int:
        """The most that all together held."""
        return max((sample.held_bytes for sample in self._inside(from_s, until_s)), default=0)

    def _inside(self, from_s: float, until_s: float) -> list[Sample]:
        return [sample for sample in self.samples if from_s - _STEP_S <= sample.at_s <= until_s + _STEP_S]

    def _run(self) -> None:
        while not self._over.wait(_STEP_S):
            self.samples.append(self._sample())

    def _sample(self) -> Sample:
        held_bytes = 0
        for process, kind in _family(self.roots):
            try:
                with process.oneshot():
                    times = process.cpu_times()
                    self._spent[process.pid, process.create_time()] = kind, times.user + times.system
                held_bytes += process.memory_full_info().pss
            except (psutil.NoSuchProcess, psutil.ZombieProcess):
                continue
        cpu_s_of: defaultdict[str, float] = defaultdict(float)
        for kind, cpu_s in self._spent.values():
            cpu_s_of[kind] += cpu_s
        return Sample(time.time(), dict(cpu_s_of), held_bytes)


def _family(roots: Sequence[int]) -> Iterator[tuple[psutil.Process, str]]:
    """The roots and all below them, each with its kind."""
    children_of: defaultdict[int, list[psutil.Process]] = defaultdict(list)
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.NoSuchProcess):
            children_of[process.ppid()].append(process)
    waiting = [(psutil.Process(root), "airflow") for root in roots if psutil.pid_exists(root)]
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
    return "workers" if parent == "driver" else parent
