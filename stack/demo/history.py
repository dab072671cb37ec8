"""Three weeks of the small clusters, in the store: ``python -m stack.demo.history FOLDER``.

A snapshot and an advisory a day, made and saved by the product's own functions. A cluster with an advisory stays as it
is. Times are written back, nothing else is. The demo's own cluster has no past: its plan is then the shell's.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from kafka_rebalance.plans.applied import compare
from kafka_rebalance.plans.apply_state import ApplyState
from kafka_rebalance.plans.check import PlanStatus, check_plan
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor import store
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.run_advice import RunQuestion, advise_run, save_advice
from rebalance_advisor.version import advisor_version
from stack.demo.cluster import SEED
from stack.demo.small_clusters import BLIND, HEALTHY, blind_cluster, healthy_cluster, snapshot_file
from stack.demo.warm_kernels import kernel_warmer
from stack.machine import Machine
from stack.waiting import wait_for

DAYS = 21
CARRIED_OUT, BLIND_SINCE = 12, 3  # ages in days
_ADVISED_AFTER, _PUBLISHED_AFTER = timedelta(minutes=5), timedelta(minutes=7)
_COPIED_AFTER = timedelta(hours=2)
_BRIEF = {"scenarios": "today", "no_frontier": True}


def fill(dsn: str, dumps: Path, today: datetime) -> int:
    """Return the number of advisories that were added; ``today`` is the time of the last one's snapshot."""
    with store.connect(dsn) as connection:
        return sum(
            made(connection, dumps, today)
            for cluster, made in ((HEALTHY, _fill_healthy), (BLIND, _fill_blind))
            if store.newest_published(connection, cluster) is None
        )


@dataclass(frozen=True, slots=True)
class _Past:
    """Runs of one cluster, written back to their days."""

    connection: store.Connection
    cluster: str

    def save(self, snapshot: ClusterSnapshot) -> str:
        snapshot_id = store.save_snapshot(self.connection, snapshot)
        store.mark_snapshot(self.connection, snapshot_id, is_blocked=False)
        return snapshot_id

    def advise(self, snapshot: ClusterSnapshot, options: dict[str, Any], *, is_past: bool = True) -> tuple[str, Plan]:
        """Run id and plan of the published advisory."""
        captured_at = snapshot.captured_at
        assert captured_at is not None
        started_at, run_id = captured_at + _ADVISED_AFTER, f"history {captured_at:%Y-%m-%d}.{self.cluster}"
        request = RunRequest.from_mapping({"cluster": self.cluster, **options})
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


def _fill_healthy(connection: store.Connection, dumps: Path, today: datetime) -> int:
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


def _fill_blind(connection: store.Connection, dumps: Path, today: datetime) -> int:
    past = _Past(connection, BLIND)
    with connection.transaction():
        for age, captured_at in _days(today):
            snapshot = blind_cluster(captured_at, age, SEED, may_describe=age > BLIND_SINCE)
            past.advise(snapshot, _BRIEF, is_past=age > 0)
        _write_snapshot(snapshot, dumps)
    return DAYS


def _days(today: datetime) -> Iterator[tuple[int, datetime]]:
    for age in range(DAYS - 1, -1, -1):
        yield age, today - timedelta(days=age)


def _write_snapshot(snapshot: ClusterSnapshot, dumps: Path) -> None:
    snapshot_file(dumps, snapshot.cluster).write_bytes(orjson.dumps(snapshot_to_document(snapshot)))


def main(dumps: Path) -> None:
    """Wait for the kernels, which this needs too."""
    wait_for("the kernels", lambda: not kernel_warmer(Machine(run=dumps.parent)).is_running)
    began = time.monotonic()
    advisories = fill(store.dsn_from_environment(), dumps, datetime.now(UTC).replace(microsecond=0))
    print(f"history: {advisories} advisories of {DAYS} days in {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    os.nice(10)  # lower priority than what the user waits for
    main(Path(sys.argv[1]))
