"""The weeks before the demo, in the store: ``python -m stack.demo.history FOLDER``.

Three clusters, a snapshot a day and an advisory on most days, made and saved by the product's own functions; the demo's
own last day is left to Airflow. A cluster with an advisory stays as it is. Times are written back, nothing else is.
The troubles of the demo begin on different days:

- broker 9 fills all the time; ``fraud-scoring`` falls behind, brokers 7 and 11 are restarted a few days ago
- the hot partition is new today; what a broker did not replicate yesterday is resolved

Until today the demo's advisories were asked for preferred leaders only, so today's plan continues none of them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from kafka_rebalance.plans.applied import compare
from kafka_rebalance.plans.apply_state import ApplyState
from kafka_rebalance.plans.check import PlanStatus, check_plan
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, PartitionLoads
from kafka_rebalance.snapshot.model import ClusterSnapshot, CommittedOffset, Group
from rebalance_advisor import store
from rebalance_advisor.dumps import read_input
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.run_advice import RunQuestion, advise_run, save_advice
from rebalance_advisor.version import advisor_version
from stack.demo.cluster import SEED
from stack.demo.groups import SLOW_GROUP
from stack.demo.small_clusters import BLIND, HEALTHY, blind_cluster, healthy_cluster, snapshot_file
from stack.demo.topics import DAY_S, HAND_PLACED_TOPIC, HOT_PARTITION
from stack.demo.warm_kernels import kernel_warmer
from stack.machine import Machine
from stack.waiting import wait_for

DAYS = 21
CLUSTER = "demo"
ADVISED_AGES = (20, 16, 12, 8, 4, 2, 1)  # of the demo, whose advisories cost most
# Ages in days.
SLOW_SINCE, RESTARTED_SINCE, HOT_SINCE, CARRIED_OUT, BLIND_SINCE = 8, 4, 1, 12, 3
_OUT_OF_SYNC_BROKER, _OUT_OF_SYNC_TOPIC = 5, "orders.enriched"
_GROWTH_A_DAY, _HAND_PLACED_GROWTH_A_DAY = 0.002, 0.03
_SWING = 0.03  # of a topic's rate from day to day
_ADVISED_AFTER, _PUBLISHED_AFTER = timedelta(minutes=5), timedelta(minutes=7)
_COPIED_AFTER = timedelta(hours=2)
_BRIEF = {"scenarios": "today", "no_frontier": True}
_LEADERS_ONLY = {"preferred_election": True, **_BRIEF}


def fill(dsn: str, dumps: Path) -> int:
    """Return the number of advisories that were added."""
    today = read_input(dumps, CLUSTER)
    with store.connect(dsn) as connection:
        return sum(
            made(connection, dumps, today)
            for cluster, made in ((CLUSTER, _fill_demo), (HEALTHY, _fill_healthy), (BLIND, _fill_blind))
            if store.newest_published(connection, cluster) is None
        )


def days_before(today: ClusterSnapshot, age: int) -> ClusterSnapshot:
    """Snapshot of the demo ``age`` days before: smaller disks and offsets, other rates, and fewer troubles."""
    assert today.captured_at is not None
    table, names = today.partitions, np.array([topic.name for topic in today.topics])
    rng = np.random.default_rng((SEED, age))
    by_hand = names[table.topic] == HAND_PLACED_TOPIC
    smaller = 1 - age * np.where(by_hand, _HAND_PLACED_GROWTH_A_DAY, _GROWTH_A_DAY)
    rates = (1 + _SWING * rng.standard_normal(len(names)))[table.topic]
    hot = today.row_of[HOT_PARTITION]
    if age >= HOT_SINCE:
        written = today.load(LoadKind.IN_BYTES_PER_S)
        rates[hot] *= np.median(written[table.topic == table.topic[hot]]) / written[hot]
    written = np.nan_to_num(today.load(LoadKind.IN_MESSAGES_PER_S))
    since = (written * DAY_S * age).astype(np.int64)
    ends = np.maximum(table.end_offset - since, 0)
    led = table.leader if age < RESTARTED_SINCE else table.replicas[table.offsets[:-1]]
    in_sync = table.in_sync
    if in_sync is not None and age == 1:
        missing = (table.replicas == _OUT_OF_SYNC_BROKER) & (table.replicas != led[table.row_of_replica])
        in_sync = in_sync & ~(missing & (names[table.topic] == _OUT_OF_SYNC_TOPIC)[table.row_of_replica])
    columns = {
        kind: LoadColumn(
            column.values * (smaller if kind is LoadKind.LOG_BYTES else rates), column.source, column.window_s
        )
        for kind, column in today.loads.columns.items()
    }
    smaller_table = replace(
        table,
        leader=led,
        in_sync=in_sync,
        start_offset=np.minimum(np.maximum(table.start_offset - since, 0), ends),
        end_offset=ends,
        replica_log_bytes=(table.replica_log_bytes * smaller[table.row_of_replica]).astype(np.int64),
    )
    return replace(
        today,
        captured_at=today.captured_at - timedelta(days=age),
        partitions=smaller_table,
        loads=PartitionLoads(columns),
        groups=tuple(_group_before(group, today, ends, age) for group in today.groups),
    )


def _group_before(group: Group, today: ClusterSnapshot, ends: np.ndarray, age: int) -> Group:
    """The same members with the offsets of that day; the slow group was in time once."""
    late = max(0.0, 1 - age / SLOW_SINCE) if group.id == SLOW_GROUP else 1.0
    written = today.load(LoadKind.IN_MESSAGES_PER_S)

    def before(commit: CommittedOffset) -> CommittedOffset:
        row = today.row_of[commit.topic, commit.partition]
        behind = int(late * (int(today.partitions.end_offset[row]) - commit.offset))
        read = float(written[row]) if late == 0 else commit.read_messages_per_s
        return replace(commit, offset=max(int(ends[row]) - behind, 0), read_messages_per_s=read)

    return replace(group, committed=tuple(map(before, group.committed)))


@dataclass(frozen=True, slots=True)
class _Past:
    """Runs of one cluster, written back to their days."""

    connection: store.Connection
    cluster: str

    def save(self, snapshot: ClusterSnapshot) -> str:
        snapshot_id = store.save_snapshot(self.connection, snapshot)
        store.mark_snapshot(self.connection, snapshot_id, is_blocked=False)
        return snapshot_id

    def advise(self, snapshot: ClusterSnapshot, asked: dict[str, Any], *, is_past: bool = True) -> tuple[str, Plan]:
        """Run id and plan of the published advisory."""
        captured_at = snapshot.captured_at
        assert captured_at is not None
        started_at, run_id = captured_at + _ADVISED_AFTER, f"history {captured_at:%Y-%m-%d}.{self.cluster}"
        request = RunRequest.from_mapping({"cluster": self.cluster, **asked})
        snapshot_id = self.save(snapshot)
        published = store.newest_published(self.connection, self.cluster)
        previous = None if published is None else store.load_plan(self.connection, published)
        store.start_run(
            self.connection, run_id=run_id, cluster=self.cluster, snapshot_id=snapshot_id,
            parameters=request.document(), advisor_version=advisor_version(),
        )  # fmt: skip
        if is_past:
            self.connection.execute("SELECT store.ensure_week(%s)", (started_at,))
            self.connection.execute(
                "UPDATE store.run SET started_at = %(at)s, attempted_at = %(at)s WHERE run_id = %(run_id)s",
                {"at": started_at, "run_id": run_id},
            )
        advice = advise_run(RunQuestion(snapshot, request, previous=previous), started_at)
        save_advice(self.connection, run_id, advice)
        store.publish_run(self.connection, run_id)
        if is_past:
            self.connection.execute(
                "UPDATE store.run SET published_at = %s WHERE run_id = %s", (captured_at + _PUBLISHED_AFTER, run_id)
            )
        return run_id, advice.plan

    def carry_out(self, run_id: str, plan: Plan, before: ClusterSnapshot, after: ClusterSnapshot) -> None:
        """Approved and checked on ``before``, measured on ``after``."""
        assert before.captured_at is not None
        assert after.captured_at is not None
        application, shown_at = f"history {plan.plan_id[:12]}", before.captured_at + _PUBLISHED_AFTER
        checked = check_plan(store.load_plan(self.connection, run_id), before, now=shown_at)
        applied = compare(plan, after)
        if checked.status is not PlanStatus.VALID:
            raise RuntimeError(f"{self.cluster}: the plan is not valid on its own snapshot: {checked.because}")
        store.ask_application(self.connection, application, run_id)
        store.answer_application(
            self.connection, application, ApplyState.APPROVED, answered_by="admin", answered_at=shown_at
        )
        store.check_application(
            self.connection, application, ApplyState.APPROVED, snapshot_id=self.save(before), status="valid", reasons=()
        )
        took = store.Seconds(plan.cost.seconds, (after.captured_at - shown_at).total_seconds(), "at_most")
        store.close_application(self.connection, application, self.save(after), applied, took)
        self.connection.execute(
            "UPDATE store.application SET asked_at = %s, commands_shown_at = %s, verified_at = %s"
            " WHERE application_id = %s",
            (shown_at, shown_at, after.captured_at, application),
        )


def _fill_demo(connection: store.Connection, dumps: Path, today: ClusterSnapshot) -> int:  # noqa: ARG001
    past = _Past(connection, CLUSTER)
    with connection.transaction():
        for age in range(DAYS - 1, 0, -1):
            snapshot = days_before(today, age)
            if age in ADVISED_AGES:
                past.advise(snapshot, _LEADERS_ONLY)
            else:
                past.save(snapshot)
    return len(ADVISED_AGES)


def _fill_healthy(connection: store.Connection, dumps: Path, today: ClusterSnapshot) -> int:
    past, moved = _Past(connection, HEALTHY), dict[tuple[str, int], tuple[int, ...]]()
    with connection.transaction():
        for age, captured_at in _days(today):
            snapshot = healthy_cluster(captured_at, age, moved, SEED)
            run_id, plan = past.advise(snapshot, _BRIEF, is_past=age > 0)
            if age == CARRIED_OUT:
                moved = {(move.topic, move.partition): move.to_replicas for move in plan.moves}
                later = age - _COPIED_AFTER / timedelta(days=1)
                after = healthy_cluster(captured_at + _COPIED_AFTER, later, moved, SEED)
                past.carry_out(run_id, plan, snapshot, after)
        _write_snapshot(snapshot, dumps)
    return DAYS


def _fill_blind(connection: store.Connection, dumps: Path, today: ClusterSnapshot) -> int:
    past = _Past(connection, BLIND)
    with connection.transaction():
        for age, captured_at in _days(today):
            snapshot = blind_cluster(captured_at, age, SEED, may_describe=age > BLIND_SINCE)
            past.advise(snapshot, _BRIEF, is_past=age > 0)
        _write_snapshot(snapshot, dumps)
    return DAYS


def _days(today: ClusterSnapshot) -> Iterator[tuple[int, datetime]]:
    assert today.captured_at is not None
    for age in range(DAYS - 1, -1, -1):
        yield age, today.captured_at - timedelta(days=age)


def _write_snapshot(snapshot: ClusterSnapshot, dumps: Path) -> None:
    snapshot_file(dumps, snapshot.cluster).write_bytes(orjson.dumps(snapshot_to_document(snapshot)))


def main(dumps: Path) -> None:
    """Wait for the kernels, which this needs too."""
    wait_for("the kernels", lambda: not kernel_warmer(Machine(run=dumps.parent)).is_running)
    began = time.monotonic()
    advisories = fill(store.dsn_from_environment(), dumps)
    print(f"history: {advisories} advisories of {DAYS} days in {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    os.nice(10)  # lower priority than what the user waits for
    main(Path(sys.argv[1]))
