"""What a query costs the server itself: a busy machine makes it wait, and no more expensive."""

from __future__ import annotations

import os
from pathlib import Path

from rebalance_advisor import store

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def cpu_seconds(connection: store.Connection) -> float:
    """CPU seconds that this connection's process has taken so far, on this machine; helpers are not counted, so that
    whoever measures sets max_parallel_workers_per_gather to 0.
    """
    fields = Path(f"/proc/{connection.info.backend_pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_A_SECOND
