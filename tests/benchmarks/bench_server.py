"""Server assignors and murmur2 against Kafka's own Java in the same run: ``python -m tests.benchmarks.bench_server``.

Both sides are warmed and measured in CPU time of one thread, cell by cell, one after the other; answers must be equal.
``--all`` runs all 180 cells of each assignor, else a fair selection of 24; ``--out FILE`` keeps the table.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from kafka_rebalance.assignors.registry import by_name
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.murmur2 import murmur2_partitions
from stack.maven import find_java
from tests.benchmarks.server_inputs import Cell, checksum, grid, mixed, request_of
from tests.live.kafka_classes import classpath, compile_java

_JAVA = Path(__file__).parent / "java"
_VERSION = "4.3.1"
_KEYS = 1_000_000
_KEY_BYTES = (8, 16, 36, -1)


class JavaSide:
    """The warmed Java process, asked cell by cell."""

    def __init__(self) -> None:
        path = compile_java(["ServerBenchmark.java"], classpath(_VERSION, ("kafka-group-coordinator",)), _JAVA)
        self._process = subprocess.Popen(
            [str(find_java()), "-Xmx6g", "-XX:+UseSerialGC", "-cp", path, "ServerBenchmark"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, question: dict[str, object]) -> tuple[float, int]:
        """Milliseconds an operation, and the checksum of its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return answer["ns"] / 1e6, int(answer["checksum"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def cpu_ms(work: Callable[[], object], budget_s: float = 0.4) -> float:
    """Median CPU milliseconds of one call, warmed."""
    work()
    times: list[float] = []
    while len(times) < 5 or (sum(times) < budget_s and len(times) < 2000):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return float(np.median(times)) * 1e3


def compare(java: JavaSide, cell: Cell) -> tuple[float, float]:
    """Milliseconds of Kafka's Java and of ours, for equal answers."""
    assignor = by_name(f"server-{cell.assignor}")
    request = request_of(cell, assignor)
    theirs, expected = java.ask(cell.question())
    found = checksum(request, assignor.assign(request))
    assert found == expected, f"{cell}: the answers differ"
    return theirs, cpu_ms(lambda: assignor.assign(request))


def selection(assignor: str) -> list[Cell]:
    """24 cells: every size, ratio and number of topics, both kinds, both modes."""
    cells = list(grid(assignor))
    step = len(cells) / 24
    return [cells[int(i * step + i % 4)] for i in range(24)]


def table(java: JavaSide, assignor: str, cells: Sequence[Cell]) -> Iterator[str]:
    """Lines of the table of one assignor."""
    ratios = []
    yield f"| {assignor}: members × ratio, topics | subscriptions | mode | Kafka ms | ours ms | ours/Kafka |"
    yield "|---|---|---|---|---|---|"
    worst = 0.0
    for cell in cells:
        theirs, ours = compare(java, cell)
        ratios.append(ours / theirs)
        worst = max(worst, ours / theirs) if cell.members >= 1000 else worst
        kind, mode = "equal" if cell.homogeneous else "5 kinds", "INCREMENTAL" if cell.incremental else "FULL"
        size = f"{cell.members} × {cell.ratio}, {cell.topics}"
        yield f"| {size} | {kind} | {mode} | {theirs:.3f} | {ours:.3f} | {ours / theirs:.3f} |"
    mean = float(np.exp(np.mean(np.log(ratios))))
    yield ""
    yield (
        f"{assignor}: geometric mean {mean:.3f} over {len(ratios)} cells; worst from 1,000 members {worst:.3f},"
        f" worst of all {max(ratios):.3f}."
    )
    yield ""


def key_table(java: JavaSide) -> Iterator[str]:
    """murmur2, toPositive, modulo: Kafka's over byte arrays, ours over one buffer with 32-bit offsets."""
    yield "| keys | Kafka Mkeys/s | ours Mkeys/s | ours × Kafka |"
    yield "|---|---|---|---|"
    for length in _KEY_BYTES:
        keys = _keys(length)
        theirs, expected = java.ask({"keyBytes": length, "keys": _KEYS, "partitions": 100})
        places = murmur2_partitions(keys, 100)
        numbers = (np.arange(_KEYS, dtype=np.int64) << 32) ^ places.astype(np.int64)
        assert int(mixed(numbers.view(np.uint64)).sum().view(np.int64)) == expected, f"{length}: answers differ"
        ours = min(_once(lambda keys=keys: murmur2_partitions(keys, 100)) for _ in range(25))
        name = f"{length} bytes" if length >= 0 else "0 – 40 bytes, mixed"
        yield f"| {name} | {_KEYS / theirs / 1e3:.1f} | {_KEYS / ours / 1e3:.1f} | {theirs / ours:.2f} |"
    yield ""


def _once(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def _keys(length: int) -> KeyColumn:
    rows = np.arange(_KEYS, dtype=np.uint64)
    lengths = mixed(rows) % np.uint64(41) if length < 0 else np.full(_KEYS, length, np.uint64)
    offsets = np.zeros(_KEYS + 1, np.int32)
    np.cumsum(lengths.astype(np.int64), out=offsets[1:])
    within = np.arange(offsets[-1], dtype=np.uint64) - np.repeat(offsets[:-1], lengths.astype(np.int64)).astype(
        np.uint64
    )
    data = mixed(np.repeat(rows, lengths.astype(np.int64)) * np.uint64(1000) + within).astype(np.uint8)
    return KeyColumn(data, offsets)


def main() -> None:
    """Print the tables, and keep them where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="all 180 cells of each assignor")
    parser.add_argument("--out", type=Path, help="file for the tables")
    options = parser.parse_args()
    java, lines = JavaSide(), []
    sections = [key_table(java)]
    chosen = grid if options.all else selection
    sections += [table(java, assignor, list(chosen(assignor))) for assignor in ("uniform", "range")]
    for section in sections:
        for line in section:
            print(line, flush=True)
            lines.append(line)
    java.close()
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
