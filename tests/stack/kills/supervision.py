"""What systemd, or ``restart`` in a compose file, does: whatever of the stack ends is started again."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from stack.airflow.server import AirflowError
from stack.machine import Machine, MachineError
from stack.postgres.server import PostgresError

PATIENCE_SECONDS = 420
# Longer than most components need to notice that their Postgres is gone.
_SETTLED_SECONDS = 20
_NOT_YET = (AirflowError, MachineError, PostgresError, OSError)


def wait_for(what: str, condition: Callable[[], Any]) -> Any:
    """What ``condition`` returns once it is true."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for: {what}"
        time.sleep(0.1)
    return found


def start_again(machine: Machine) -> None:
    """Start whatever does not run, until all has run for a while."""
    deadline, well_since = time.monotonic() + PATIENCE_SECONDS, None
    while well_since is None or time.monotonic() - well_since < _SETTLED_SECONDS:
        assert time.monotonic() < deadline, f"never all at once: {machine.airflow.status}"
        if not all_run(machine):
            well_since = None
            with contextlib.suppress(*_NOT_YET):
                machine.start()
        else:
            well_since = well_since or time.monotonic()
            time.sleep(0.5)


@contextlib.contextmanager
def supervised(machine: Machine) -> Iterator[None]:
    """While the block runs, whatever ends is started again.

    A scheduler that lost Postgres looks alive until its tasks have ended, a minute later on a busy machine.
    """
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.wait(1):
            with contextlib.suppress(*_NOT_YET):
                if not all_run(machine):
                    machine.start()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join(PATIENCE_SECONDS)


def all_run(machine: Machine) -> bool:
    """Postgres and every component of Airflow."""
    return machine.server.is_running and machine.is_running
