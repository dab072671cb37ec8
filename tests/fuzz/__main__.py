"""Damaged inputs of every kind, put to everything that reads: prints the table, and ends with 1 for a crash or a hang.

    python -m tests.fuzz [--inputs 20000] [--first 0] [--processes 2]

Input N is the same on every machine; ``python -m tests.fuzz --first N --inputs 1`` runs it alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.fuzz.table import Outcomes, run_inputs

_SHOWN = 2000  # characters of what was found
_BATCH = 1000


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args(argv)
    last, started = arguments.first + arguments.inputs, time.monotonic()
    bounds = [(begin, min(begin + _BATCH, last)) for begin in range(arguments.first, last, _BATCH)]
    everything = Outcomes()
    with ThreadPoolExecutor(arguments.processes) as pool:
        for outcomes in pool.map(lambda bound: run_inputs(*bound), bounds):
            everything.counts.update(outcomes.counts)
            for text in outcomes.failures:
                sys.stdout.write(text[:_SHOWN] + "\n")
            everything.failures += outcomes.failures
            sys.stderr.write(f"{sum(everything.counts.values()):,} inputs, {len(everything.failures)} found\n")
            sys.stdout.flush()
    sys.stdout.write(f"{everything.table()}\n{time.monotonic() - started:.0f} s\n")
    return 1 if everything.failures else 0


if __name__ == "__main__":
    sys.exit(main())
