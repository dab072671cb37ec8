"""Assignors and key hashing against Kafka's own Java in the same run: ``python -m tests.benchmarks.bench_assignors``.

    [--cells N] [--rounds N] [--only FAMILY …] [--out docs/internals/beside-java.md]

All cells of Kafka's own grids; ``--cells 24`` takes so many a family, spread fairly over them. Each cell is warmed on
both sides, measured in turns in CPU time of one thread, and must be answered alike.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.benchmarks.assignor_tables import (
    EARLIER_CELLS,
    EARLIER_FAMILIES,
    FAMILIES,
    MORE_FAMILIES,
    FamilyTable,
)
from tests.benchmarks.java_side import VERSION, JavaSide
from tests.benchmarks.key_table import key_lines
from tests.benchmarks.weighted_table import group_lines, join_lines

_HEAD = f"""# Beside Kafka's own Java

Written by `python -m tests.benchmarks.bench_assignors --cells N --out beside-java.md`, figures as measured:
2 shared x86-64 cores, JDK 17 (`-Xmx6g`, serial collector), Python {platform.python_version()}, Kafka {VERSION}.

- Inputs: Kafka's own assignor benchmarks (`jmh-benchmarks`, client and server side), drawn with a fixed seed so that
  each value of an axis stands about as often as any other. The server's strategies read no racks: no such axis there.
- *INCREMENTAL*: all own what FULL gave them and one more member joins. *INCREMENTAL as published*: the client's
  benchmark as it stands upstream, which forgets to hand the new subscriptions on: FULL with one member less.
- Kafka: `assign(cluster, subscriptions)` or `assign(groupSpec, describer)` on objects made beforehand, CPU time of its
  thread (its garbage collector and compiler run on other threads and are *not* counted). Ours: `assign(request)` on
  raw columns, to per-member lists as columns; all sorting, hashing and Java's map orders lie inside; CPU time of the
  whole process. Medians, both sides warmed, in turns.
- Every cell's answer is compared, the order of each list included for the client's strategies.
- From and to dictionaries: the same request as Python dictionaries and lists of strings in, dictionaries out
  (`rebalance-advisor replay`); of the first 24 cells drawn.
"""


_ALL = (*FAMILIES, *MORE_FAMILIES, *EARLIER_FAMILIES)


class _Page:
    """What was measured so far, kept in a file where asked: a run that is stopped leaves what it has."""

    def __init__(self, out: Path | None) -> None:
        self._out = out
        self._first: list[str] = []
        self.tables: list[FamilyTable] = []

    def put(self, lines: Iterable[str]) -> None:
        """Print lines as they come and keep them, with an empty one behind."""
        for line in (*lines, ""):
            print(line, flush=True)
            self._first.append(line)

    def summary(self) -> list[str]:
        """All families beside one another."""
        return [
            "| " + " | ".join(_SUMMARY) + " |",
            "|---" * len(_SUMMARY) + "|",
            *(table.summary() for table in self.tables),
        ]

    def write(self) -> None:
        """Write the page."""
        if self._out is not None:
            lines = [*self._first, "## Assignors", "", *self.summary()]
            for table in self.tables:
                lines += ["", *table.lines()]
            self._out.write_text(_HEAD + "\n" + "\n".join(lines) + "\n", encoding="utf-8")


def run(families: Sequence[str], cells: int | None, rounds: int, page: _Page) -> None:
    """Measure everything."""
    client = JavaSide("ClientBenchmark", ("kafka-clients",))
    server = JavaSide("ServerBenchmark", ("kafka-group-coordinator",))
    try:
        page.put(["## Keys: murmur2, then the partition", "", *key_lines(server)])
        page.put(["## One's own: `weighted`", "", *join_lines(client, server)])
        page.put(group_lines())
        for family in families:
            table = FamilyTable(family, rounds)
            page.tables.append(table)
            if family in EARLIER_FAMILIES:
                earlier = JavaSide("ClientBenchmark", ("kafka-clients",), EARLIER_FAMILIES[family])
                try:
                    _measure(table, earlier, EARLIER_CELLS if cells is None else cells, page)
                finally:
                    earlier.close()
            else:
                _measure(table, server if table.is_server else client, cells, page)
    finally:
        client.close()
        server.close()
    print("\n".join(("", *page.summary())))


def _measure(table: FamilyTable, java: JavaSide, cells: int | None, page: _Page) -> None:
    for line in table.measure(java, cells):
        print(f"  {line}", flush=True)
        page.write()


_SUMMARY = (
    "strategy", "cells", "left out", "ours/Kafka, geometric mean", "worst from 1,000 members", "worst of all",
    "dictionaries cost",
)  # fmt: skip


def main() -> None:
    """Run, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, help="cells a family (all of the grids)")
    parser.add_argument(
        "--rounds", type=int, default=2, help="turns of both sides in a cell whose operation is short (2)"
    )
    parser.add_argument("--only", nargs="+", choices=_ALL, default=_ALL, help="families")
    parser.add_argument("--out", type=Path, help="file for the tables")
    options = parser.parse_args()
    run(options.only, options.cells, options.rounds, _Page(options.out))


if __name__ == "__main__":
    main()
