from __future__ import annotations

import sys
import time
from collections.abc import Callable

from kafka_rebalance.amounts import format_amount
from kafka_rebalance.plans.plan import TraceStep
from kafka_rebalance.plans.state import Watch, ignore
from rebalance_advisor.terminal import write_lines


class StageTimes:
    """The library has no clock."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._last = clock, clock()

    def __reduce__(self) -> tuple[type[StageTimes], tuple[Callable[[], float]]]:
        """Restart the clock in another process."""
        return StageTimes, (self._clock,)

    def __call__(self, step: TraceStep) -> None:
        now = self._clock()
        seconds, self._last = now - self._last, now
        copied = format_amount(step.bytes, "bytes")
        stage = step.stage.replace("_", " ")
        costs = f"{step.replica_moves:,} replica moves, {copied}, {step.leader_changes:,} leader changes"
        write_lines(sys.stderr, f"{seconds:9.3f} s  {stage}: {costs}")
        sys.stderr.flush()


def watch_of(*, is_verbose: bool) -> Watch:
    return StageTimes() if is_verbose else ignore
