"""Our assignors in two checkouts, cell by cell in turns: what became slower since another commit?

    python -m tests.benchmarks.bench_beside OTHER [--cells 60] [--rounds 7] [--only FAMILY …]

OTHER is a checkout of that commit. Each side is a process of its own that imports its own library and makes the same
inputs (those of ``bench_assignors``). Prints by family the geometric mean of ours/other's, and the cells above 1.05.
A side's figure is the least CPU milliseconds of its turns: whatever else runs on a machine only adds to them.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import assignor_inputs, server_inputs
from tests.benchmarks.spread import spread

ROOT = Path(__file__).parents[2]
FAMILIES = ("range", "cooperative-sticky", "uniform", "server-range")
SLOWER = 1.05
_TURN_S = 0.05


@dataclass(frozen=True, slots=True)
class Compared:
    """One cell: least CPU milliseconds of both sides."""

    cell: str
    ours: float
    other: float

    @property
    def ratio(self) -> float:
        return self.ours / self.other


class Side:
    """A process that measures with the library of one checkout."""

    def __init__(self, checkout: Path) -> None:
        paths = os.pathsep.join((str(checkout / "plugins"), str(ROOT)))
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, "--serve"], env={**os.environ, "PYTHONPATH": paths},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, **question: object) -> float:
        """Milliseconds of the last turn. Raises RuntimeError when the process has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"a side ended with {self._process.wait()} at {question}")
        return float(answer)

    def close(self) -> None:
        """Let it end."""
        self._process.communicate()


def compare(other: Path, families: Sequence[str], cells: int, rounds: int) -> Iterator[tuple[str, list[Compared]]]:
    """Each family with its cells."""
    sides = Side(ROOT), Side(other)
    try:
        for family in families:
            chosen = list(spread(grid_of(family), cells))
            yield family, [_compared(sides, family, cell, rounds) for cell in chosen[:cells]]
    finally:
        for side in sides:
            side.close()


def _compared(sides: tuple[Side, Side], family: str, cell: assignor_inputs.Cell, rounds: int) -> Compared:
    number = grid_of(family).index(cell)
    for side in sides:  # the inputs are made, and the kernels loaded
        side.ask(family=family, cell=number)
    turns = [[side.ask() for side in sides] for _ in range(rounds)]
    ours, other = (min(turn[i] for turn in turns) for i in range(2))
    return Compared(str(cell), ours, other)


def grid_of(family: str) -> list[assignor_inputs.Cell]:
    """All cells of a family."""
    if family in ("uniform", "server-range"):
        return list(server_inputs.grid(family.removeprefix("server-")))  # type: ignore[arg-type]
    return list(assignor_inputs.grid(family))


def serve() -> None:
    """Answer questions on stdin: a family and a cell make the inputs, an empty one takes a turn at them."""
    from kafka_assignors.registry import by_name

    for line in sys.stdin:
        question = json.loads(line)
        if question:
            cell = grid_of(question["family"])[question["cell"]]
            inputs = server_inputs if question["family"] in ("uniform", "server-range") else assignor_inputs
            assignor = by_name(cell.strategy)
            request = inputs.request_of(cell, assignor)
            assignor.assign(request)
        count, began, ended = 0, time.process_time(), time.process_time()
        while ended - began < _TURN_S:
            assignor.assign(request)
            count, ended = count + 1, time.process_time()
        print((ended - began) / count * 1000, flush=True)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?", help="a checkout of the other commit")
    parser.add_argument("--cells", type=int, default=60, help="cells a family (60)")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each side in a cell (7)")
    parser.add_argument("--only", nargs="+", choices=FAMILIES, default=FAMILIES, help="families")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve()
    if options.other is None or not (options.other / "plugins" / "kafka_rebalance").is_dir():
        parser.error("OTHER is no checkout")
    print("| strategy | cells | ours/other, geometric mean | worst | above 1.05 |\n|---|---|---|---|---|", flush=True)
    slower = []
    for family, result in compare(options.other.resolve(), options.only, options.cells, options.rounds):
        mean = math.exp(sum(math.log(cell.ratio) for cell in result) / len(result))
        above = [cell for cell in result if cell.ratio > SLOWER]
        slower += above
        worst = max(cell.ratio for cell in result)
        print(f"| {family} | {len(result)} | {mean:.3f} | {worst:.3f} | {len(above)} |", flush=True)
    for cell in sorted(slower, key=lambda cell: -cell.ratio):
        print(f"{cell.cell}: {cell.ours:.3f} ms, other {cell.other:.3f} ms, {cell.ratio:.3f}")
    return None


if __name__ == "__main__":
    main()
