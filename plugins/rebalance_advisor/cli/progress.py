from __future__ import annotations

import sys
import time

from rebalance_advisor.terminal import write_lines

_QUIET_SECONDS = 1.0


class Progress:
    """Call it at each step; a repeated name is the same step."""

    def __init__(self) -> None:
        self._started, self._step = time.monotonic(), ""

    def __call__(self, step: str) -> None:
        passed = time.monotonic() - self._started
        if passed > _QUIET_SECONDS and step != self._step:
            self._step = step
            write_lines(sys.stderr, f"{passed:5.0f} s  {step}")
            sys.stderr.flush()
