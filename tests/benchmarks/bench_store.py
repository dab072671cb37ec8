"""Readings through Postgres: each saved, passed through the input gate and loaded at once, and how long that took.

    python -m tests.benchmarks.bench_store [--partitions 100000] [--groups 1000] [--times 10]

The database's own housekeeping is off (``autovacuum = off``): what is fast here does not depend on when it last came
by. Each reading is another moment of the same cluster. Seconds of wall clock, without the imports of a first gate.
``raw``: the very rows that the save had written, as text that is ready in memory, by nothing but COPY into empty tables
of the same columns, indexes and checks, committed; ``raw/save`` is how near the save comes to it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from psycopg import sql

from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import (
    Broker,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    Member,
    Topic,
)
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads, PartitionTable
from rebalance_advisor import store
from rebalance_advisor.gates import check_input
from stack.postgres.server import EmbeddedPostgres

BROKERS, REPLICAS, PER_TOPIC, MEMBERS = 60, 3, 50, 5
SETTINGS = {"autovacuum": "off"}
BLOCK_BYTES = 256 * 1024
UNTIMED = ("load_source", "coverage_gap")
TABLES = (
    "broker",
    "log_dir",
    "topic",
    "partition",
    "load",
    "consumer_group",
    "member",
    "committed_offset",
    "load_history",
    "broker_level",
    "resource_skew",
    "group_lag",
    "load_source",
    "coverage_gap",
)
FIRST = datetime.fromisoformat("2026-11-20T06:00:00+00:00")


def main(argv: Sequence[str] | None = None) -> int:
    """Print one line a reading, and the slowest of each step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--times", type=int, default=10)
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="advisor-bench-") as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        server = EmbeddedPostgres(folder, SETTINGS)
        server.start()
        try:
            rows = _readings(server.dsn("advisor"), arguments)
        finally:
            server.remove()
    _tell(rows)
    return 0


def _readings(dsn: str, arguments: argparse.Namespace) -> list[tuple[float, ...]]:
    rows = []
    with store.connect(dsn) as connection:
        store.migrate(connection)
        _warm_up(dsn, connection)
        for number in range(arguments.times):
            snapshot = large_snapshot(arguments.partitions, arguments.groups, FIRST + timedelta(hours=number))
            started = time.perf_counter()
            snapshot_id = store.save_snapshot(connection, snapshot)
            saved = time.perf_counter()
            result = check_input(dsn, snapshot_id)
            gated = time.perf_counter()
            loaded = store.load_snapshot(connection, snapshot_id)
            ended = time.perf_counter()
            if result.is_blocked or len(loaded.partitions) != arguments.partitions:
                raise SystemExit(f"reading {number + 1} is not what was saved: {result}")
            raw = _raw_copy_s(connection, snapshot_id)
            save = saved - started
            rows.append((save, raw, raw / save, gated - saved, ended - gated))
            sys.stderr.write(f"reading {number + 1}: {save:.2f} s\n")
    return rows


def _raw_copy_s(connection: store.Connection, snapshot_id: str) -> float:
    """Seconds that COPY alone takes for the rows of a stored reading."""
    rows = connection.execute(
        "SELECT snapshot_key, captured_at FROM store.snapshot WHERE snapshot_id = %s", (snapshot_id,)
    )
    key, moment = rows.fetchone() or (None, None)
    texts = {table: _rows_as_text(connection, table, key, moment) for table in TABLES}
    for table in TABLES:
        name = sql.Identifier(f"raw_{table}")
        connection.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(name))
        like = sql.SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(name, sql.Identifier("store", table))
        connection.execute(like)
    started = time.perf_counter()
    with connection.transaction():
        for table, blocks in texts.items():
            target = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(f"raw_{table}"))
            with connection.cursor().copy(target) as copy:
                for block in blocks:
                    copy.write(block)
    return time.perf_counter() - started


def _rows_as_text(connection: store.Connection, table: str, key: object, moment: object) -> list[bytes]:
    query = sql.SQL("COPY (SELECT * FROM {} WHERE snapshot_key = {}{}) TO STDOUT").format(
        sql.Identifier("store", table),
        sql.Literal(key),
        sql.SQL("") if table in UNTIMED else sql.SQL(" AND captured_at = {}").format(sql.Literal(moment)),
    )
    with connection.cursor().copy(query) as copy:
        whole = b"".join(bytes(part) for part in copy)
    return [whole[first : first + BLOCK_BYTES] for first in range(0, len(whole), BLOCK_BYTES)]


def _warm_up(dsn: str, connection: store.Connection) -> None:
    """The gate's first call imports Great Expectations. And the worst moment for the database's own housekeeping: it
    came by when the week held one small reading, so that it takes every other for next to nothing.
    """
    small = large_snapshot(PER_TOPIC, 1, FIRST - timedelta(hours=1))
    check_input(dsn, store.save_snapshot(connection, small))
    connection.execute("ANALYZE")


def _tell(rows: list[tuple[float, ...]]) -> None:
    sys.stdout.write("reading  save_s   raw_s  raw/save  gate_s  load_s\n")
    for number, row in enumerate(rows, start=1):
        sys.stdout.write(f"{number:7d}  " + "  ".join(f"{figure:6.2f}" for figure in row) + "\n")
    for word, of in (("median", statistics.median), ("slowest", max)):
        sys.stdout.write(f"{word:>7}  " + "  ".join(f"{of(column):6.2f}" for column in zip(*rows, strict=True)) + "\n")


def large_snapshot(partitions: int, groups: int, moment: datetime, seed: int = 0) -> ClusterSnapshot:
    """A cluster of ``partitions`` in topics of 50, three replicas each; every group reads two topics in turn."""
    rng = np.random.default_rng([seed, int(moment.timestamp())])
    first = rng.integers(0, BROKERS, partitions)
    replicas = (first[:, None] + np.array([0, 1, 2])) % BROKERS
    sizes = rng.lognormal(20, 1.5, partitions).astype(np.int64)
    ends = rng.integers(10**6, 10**9, partitions)
    topics = -(-partitions // PER_TOPIC)
    table = PartitionTable(
        topic=(np.arange(partitions) // PER_TOPIC).astype(np.int32),
        partition=(np.arange(partitions) % PER_TOPIC).astype(np.int32),
        offsets=np.arange(partitions + 1, dtype=np.int64) * REPLICAS,
        replicas=replicas.ravel().astype(np.int32),
        leader=first.astype(np.int32),
        replica_log_bytes=np.repeat(sizes, REPLICAS),
        start_offset=np.zeros(partitions, dtype=np.int64),
        end_offset=ends,
        in_sync=np.ones(partitions * REPLICAS, dtype=np.bool_),
    )
    names = [f"topic-{number:05d}" for number in range(topics)]
    counts = np.bincount(table.topic, minlength=topics).tolist()
    rate = LoadColumn(sizes / 86_400.0, LoadSource.GIVEN, 3600.0)
    return ClusterSnapshot(
        cluster="large",
        captured_at=moment,
        brokers=tuple(Broker(broker, f"rack-{broker % 3}", f"host-{broker}", 9092) for broker in range(BROKERS)),
        topics=tuple(Topic(name) for name in names),
        partitions=table,
        groups=tuple(_group(number, names, counts, ends) for number in range(groups)),
        loads=PartitionLoads({LoadKind.IN_BYTES_PER_S: rate, LoadKind.OUT_BYTES_PER_S: rate}),
        source="generated",
    )


def _group(number: int, names: list[str], counts: list[int], ends: np.ndarray) -> Group:
    read = sorted({(2 * number) % len(names), (2 * number + 1) % len(names)})
    subscription = tuple(names[topic] for topic in read)
    members = tuple(
        Member(
            f"member-{number}-{index}",
            client_id=f"client-{index}",
            host=f"/10.0.0.{index}",
            subscription=subscription,
            assigned=tuple((names[topic], tuple(range(index, counts[topic], MEMBERS))) for topic in read),
        )
        for index in range(MEMBERS)
    )
    committed = tuple(
        CommittedOffset(names[topic], partition, int(ends[topic * PER_TOPIC + partition]) - 10)
        for topic in read
        for partition in range(counts[topic])
    )
    return Group(f"group-{number:04d}", protocol="range", state="Stable", members=members, committed=committed)


if __name__ == "__main__":
    sys.exit(main())
