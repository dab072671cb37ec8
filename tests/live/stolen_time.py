"""Time in which a busy machine keeps threads from working. Limits on the pauses of live groups grow by it."""

from __future__ import annotations

import threading
import time
from typing import Self

_NAP_S, _WORK_S = 0.08, 0.02
# The probe works a fifth of the time. A chain of brokers and clients that always works loses about five times as much;
# one more is for what does not run at the same moment.
_LOST_BY_A_CHAIN = 6


class StolenTime:
    """``with`` it: a thread sleeps and works in turns, and notes by how much each turn took too long."""

    def __init__(self) -> None:
        self._turns: list[tuple[int, int, int]] = []  # from and to on the machine's clock, and the loss, in ms
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def allowance_ms(self, from_ms: int, to_ms: int) -> int:
        """How much longer something may take on this machine than on an idle one; both moments as ``now_ms``."""
        return _LOST_BY_A_CHAIN * sum(lost for begin, end, lost in self._turns if begin <= to_ms and end >= from_ms)

    def _measure(self) -> None:
        while not self._is_over.is_set():
            at_ms, began, cpu = now_ms(), time.monotonic(), time.thread_time()
            time.sleep(_NAP_S)
            while (worked := time.thread_time() - cpu) < _WORK_S:
                pass
            lost = time.monotonic() - began - _NAP_S - worked
            self._turns.append((at_ms, now_ms(), round(1000 * max(0.0, lost))))


def now_ms() -> int:
    """The machine's clock, which Java's members tell too."""
    return time.time_ns() // 1_000_000
