"""SIGKILL at 40 random moments of a run, to any process of the stack, four times each kind; prints the table.

``python -m tests.stack.kills.random_kills [--seed N] [--results FILE] [--minutes N] [--only N ...]``. Rows are kept in
the file as they come: started again, it goes on with the moments that are missing or did not hold; no moment begins
after that many minutes. Exit code 1 where one did not hold or is missing.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from stack.installed_code import CHECKOUT
from stack.machine import Machine
from tests.stack.conftest import remove
from tests.stack.kills.drawn_moments import DrawnMoment, draw
from tests.stack.kills.kill_rows import KeptRows, table
from tests.stack.kills.kinds import KINDS
from tests.stack.kills.normal_run import measure
from tests.stack.kills.random_kill import live_through
from tests.stack.kills.small_cluster import write_cluster
from tests.stack.kills.supervision import supervised

_SETTINGS = {
    "ADVISOR_SCHEDULES": "off",  # whose tasks are killed is not left to the hour
    # A task whose process is gone without a word is noticed by this: waited for, it would be most of each moment.
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "30",
}


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="random_kills", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, default=CHECKOUT / ".run" / "random-kills.jsonl")
    parser.add_argument("--minutes", type=float, default=75)
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER")
    asked = parser.parse_args(arguments)
    kept, moments = KeptRows(asked.results, asked.seed), draw(tuple(KINDS), asked.seed)
    wanted = [moment for moment in moments if not asked.only or moment.number in asked.only]
    missing = [moment for moment in wanted if moment.number not in kept.done()]
    if missing:
        _live_through_all(missing, kept, time.monotonic() + 60 * asked.minutes)
    rows, numbers = kept.newest(), {moment.number for moment in wanted}
    print(table(rows[number] for number in sorted(rows)))
    print(f"{len(kept.done() & numbers)} of {len(wanted)} held; seed {asked.seed}, rows in {asked.results}")
    return 0 if numbers <= kept.done() else 1


def _live_through_all(moments: list[DrawnMoment], kept: KeptRows, until: float) -> None:
    """One stack for all of them."""
    machine = Machine(CHECKOUT / ".run" / "random-kills", settings=_SETTINGS)
    remove(machine)
    machine.run.mkdir(parents=True)
    try:
        machine.start()
        write_cluster(machine, 0)
        normal = measure(machine, "normal")  # and the first advisory
        lives = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in normal.life_s.items())
        print(f"a normal run: {normal.run_s:.0f} s; {lives}", flush=True)
        with supervised(machine):
            for moment in moments:
                if time.monotonic() > until:
                    break
                kept.add(outcome := live_through(machine, moment, normal))
                print(outcome, flush=True)
    finally:
        remove(machine)


if __name__ == "__main__":
    sys.exit(main())
