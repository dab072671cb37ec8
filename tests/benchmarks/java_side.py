"""Kafka's own classes in a warmed process that is asked cell by cell, and CPU time on our side."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from stack.jvm.maven import find_java
from tests.live.kafka_classes import classpath, compile_java

VERSION = "4.3.1"
_JAVA = Path(__file__).parent / "java"
_SHARED = ("Questions.java", "Timing.java")


@dataclass(frozen=True, slots=True)
class Told:
    """Kafka's milliseconds an operation (CPU of its thread) and the checksum of its answer, or why there is neither."""

    cpu_ms: float
    checksum: int
    reason: str = ""


class JavaSide:
    """One program of ours around Kafka's classes; a process that ends over a cell is started again for the next."""

    def __init__(self, main: str, artifacts: Sequence[str], version: str = VERSION) -> None:
        path = compile_java([f"{main}.java", *_SHARED], classpath(version, artifacts), _JAVA)
        self._command = [str(find_java()), "-Xmx6g", "-XX:+UseSerialGC", "-cp", path, main]
        self._process: subprocess.Popen[str] | None = None

    def ask(self, question: dict[str, object]) -> Told:
        """Warm the cell up and measure it."""
        if self._process is None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            self.close()
            raise RuntimeError(f"Kafka's side ended over {question}")
        document = json.loads(line)
        if "reason" in document:
            self.close()
            return Told(float("nan"), 0, document["reason"])
        return Told(document["ns"] / 1e6, int(document.get("checksum", 0)))

    def again(self) -> float:
        """Milliseconds of the last cell, measured once more."""
        return self.ask({"again": True}).cpu_ms

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.close()
            self._process.wait()
            self._process.stdout.close()
            self._process = None


def cpu_ms(work: Callable[[], object], budget_s: float = 0.3) -> float:
    """Median CPU milliseconds of one call, warmed by one."""
    work()
    times: list[float] = []
    until = time.process_time() + budget_s
    while len(times) < 3 or (time.process_time() < until and len(times) < 4000):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return float(np.median(times)) * 1e3


def side_by_side(
    java: JavaSide, question: dict[str, object], work: Callable[[], object], rounds: int
) -> tuple[Told, float]:
    """Kafka's milliseconds and ours, in turns: the median of ``rounds`` medians where an operation is short."""
    reported = java.ask(question)
    if reported.reason:
        return reported, float("nan")
    theirs, ours = [reported.cpu_ms], [cpu_ms(work)]
    for _ in range(rounds - 1 if reported.cpu_ms < 100 else 0):
        theirs.append(java.again())
        ours.append(cpu_ms(work))
    return Told(float(np.median(theirs)), reported.checksum), float(np.median(ours))
