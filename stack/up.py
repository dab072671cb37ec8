"""Start Postgres and Airflow on this machine and leave them running: ``python -m stack.up``.

``stack.watch`` restarts parts that end.
"""

from __future__ import annotations

import sys
import time

from stack.demo.pipeline import write_demo
from stack.machine import RUN, Machine


def main() -> int:
    machine, began = Machine(), time.monotonic()
    if not machine.clusters_file.exists():
        write_demo(machine)
    machine.stop_watching()
    machine.start(lambda message: print(f"{time.monotonic() - began:4.0f} s  {message}"))
    machine.watch()
    client = machine.airflow.client
    print(f"Airflow:  {client.address}  (user {client.user}, password {client.password})")
    print(f"clusters: {machine.clusters_file}")
    print(f"restarts: {machine.watcher.log} says what ended and was started again")
    print(f"stop it:  make down   (all data stay in {RUN})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
