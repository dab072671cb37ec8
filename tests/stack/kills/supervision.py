"""What systemd, or ``restart`` in a compose file, does: whatever of the stack ends is started again."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from stack.machine import Machine
from stack.postgres.server import PostgresError
from stack.waiting import StartError, wait_for
from stack.watch import parts_of, watch

PATIENCE_SECONDS = 1_200
# Longer than most components need to notice that their Postgres is gone.
_SETTLED_SECONDS = 20
_NOT_YET = (StartError, PostgresError, OSError)


def start_again(machine: Machine) -> None:
    """Start whatever does not run, until all has run for a while."""

    def state() -> dict[str, bool]:
        if not all_run(machine):
            with contextlib.suppress(*_NOT_YET):
                machine.start()
            return {"all": False} | machine.airflow.status
        return machine.airflow.status

    wait_for(
        "the whole stack", state, until=lambda seen: all(seen.values()), unchanged_s=_SETTLED_SECONDS,
        seconds=PATIENCE_SECONDS, every_s=0.5,
    )  # fmt: skip


@contextlib.contextmanager
def supervised(machine: Machine) -> Iterator[None]:
    """While the block runs, what ends or is stuck is started again, as ``make up`` has it.

    A scheduler that lost Postgres looks alive until its tasks have ended, a minute later on a busy machine.
    """
    is_over = threading.Event()
    watcher = threading.Thread(target=watch, args=(parts_of(machine), print, is_over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join(PATIENCE_SECONDS)


def all_run(machine: Machine) -> bool:
    """Postgres and every component of Airflow."""
    return machine.server.is_running and machine.is_running
