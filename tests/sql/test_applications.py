"""A plan that somebody is asked to carry out, in the store: each end, as readers see it, and the readings between."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.advisory.advisory import advisory_document
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.applied import MoveState, compare
from kafka_rebalance.plans.apply_state import ApplyState
from kafka_rebalance.plans.check import PlanStatus
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot, Partition, partition_table
from rebalance_advisor import store
from rebalance_advisor.publish.folders import replace_folder
from rebalance_advisor.publish.plan_files import plan_folder_files
from stack.airflow.cluster_entries import write_entry
from tests.sql.sample_clusters import plain_snapshot, small_plan
from tests.sql.test_questions import rows

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def uneven(at: datetime) -> ClusterSnapshot:
    """All replicas of six partitions on brokers 1 and 2: broker 3 is to receive some."""
    whole = plain_snapshot()
    moved = [placed(row, (1, 2)) for row in whole.each_partition()]
    return replace(whole, partitions=partition_table(moved, {"orders": 0}), captured_at=at)


def placed(row: Partition, replicas: tuple[int, ...], leader: int | None = None, size: int = 100) -> Partition:
    return replace(
        row, replicas=replicas, leader=leader or replicas[0], isr=replicas, log_bytes=(size,) * len(replicas)
    )


@pytest.fixture
def cluster(tmp_path, dsn, connection, monkeypatch):
    """A published plan for a cluster that lies in a file; ``becomes`` writes what a fresh reading finds."""
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(tmp_path / "clusters.toml"))
    monkeypatch.setenv("ADVISOR_PUBLISH_DIR", str(tmp_path / "published"))
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", dsn)
    write_entry(tmp_path / "clusters.toml", "prod", {"file": str(tmp_path / "prod.json")})
    start = uneven(datetime.now(UTC) - timedelta(minutes=5))
    snapshot_id = store.save_snapshot(connection, start)
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    store.start_run(connection, run_id="r", cluster="prod", snapshot_id=snapshot_id)
    plan = make_plan(start, PlanOptions(within=0.2, with_frontier=False))
    store.save_plan(connection, "r", plan)
    advisory = advisory_document(start, plan, (), ())
    store.save_advisory(connection, "r", advisory)
    folder = tmp_path / "published" / "prod" / "r"
    replace_folder(folder, plan_folder_files(advisory, plan), plan.plan_id, run_id="r")
    store.publish_run(connection, "r")

    def becomes(change: dict[int, Partition], **more: Any) -> None:
        rows_now = [change.get(row.partition, row) for row in start.each_partition()]
        table = partition_table(rows_now, {"orders": 0})
        now = replace(start, partitions=table, captured_at=datetime.now(UTC), **more)
        (tmp_path / "prod.json").write_text(json.dumps(snapshot_to_document(now)))

    becomes({})
    return start, plan, becomes, folder


def done(start: ClusterSnapshot, plan: Any, count: int | None = None) -> dict[int, Partition]:
    """The partitions of the first moves, as the plan has them."""
    before = {row.partition: row for row in start.each_partition()}
    return {m.partition: placed(before[m.partition], m.to_replicas, m.leader_to) for m in plan.moves[:count]}


def test_approved_checked_carried_out_and_verified(cluster, connection, dsn) -> None:
    from rebalance_advisor.airflow.apply_snapshots import (
        check_on_fresh_reading,
        published_plan,
        verify_on_fresh_reading,
    )

    start, plan, becomes, folder = cluster
    published = published_plan(connection, "prod", None)
    assert (published.run_id, published.plan, published.files.address) == ("r", plan, str(folder))
    store.ask_application(connection, "apply_prod.1", "r")
    (asked,) = rows(connection, "plan_application")
    assert (asked["state"], asked["answered_by"], asked["plan_id"]) == ("asked", None, plan.plan_id)
    store.answer_application(connection, "apply_prod.1", ApplyState.APPROVED, answered_by="ada", answered_at=NOW)
    result = check_on_fresh_reading(connection, dsn, published, "apply_prod.1")
    assert (result.status, result.warnings) == (PlanStatus.VALID, ())
    becomes(done(start, plan))
    answer = {"took_seconds": 12, "answered_by": "ada"}
    applied = verify_on_fresh_reading(connection, dsn, published, "apply_prod.1", answer)
    assert applied.state is ApplyState.VERIFIED
    (row,) = rows(connection, "plan_application")
    assert (row["state"], row["check_status"], row["answered_by"]) == ("verified", "valid", "ada")
    assert (row["move_count"], row["applied_count"], row["open_count"]) == (len(plan.moves), len(plan.moves), 0)
    assert row["predicted_bytes"] == row["realised_bytes"] == plan.cost.bytes
    assert (row["realised_seconds"], row["seconds_basis"]) == (12.0, "told")
    assert json.loads((folder / "outcome.json").read_text())["state"] == "verified"
    assert (folder / "outcome.md").read_text().startswith("# Outcome")
    assert (folder / "plan.json").exists()


def test_what_holds_no_more_is_refused_and_what_was_left_is_partly_applied(
    cluster, connection, dsn, monkeypatch
) -> None:
    from rebalance_advisor.airflow import apply_snapshots

    monkeypatch.setattr(apply_snapshots, "BETWEEN_READINGS_S", 0.0)
    start, plan, becomes, _ = cluster
    published = apply_snapshots.published_plan(connection, "prod", "r")
    store.ask_application(connection, "apply_prod.1", "r")
    first = plan.moves[0].partition
    before = {row.partition: row for row in start.each_partition()}
    becomes({first: placed(before[first], (2, 1))})
    result = apply_snapshots.check_on_fresh_reading(connection, dsn, published, "apply_prod.1")
    assert result.status is PlanStatus.STALE
    (row,) = rows(connection, "plan_application")
    assert (row["state"], row["check_status"], row["commands_shown_at"]) == ("refused", "stale", None)
    assert row["failure"] is None
    half = done(start, plan, len(plan.moves) // 2)
    lagging = next(partition for partition in half.values() if len(partition.replicas) == 2)
    becomes(half | {lagging.partition: replace(lagging, isr=lagging.replicas[:1])})
    applied = apply_snapshots.verify_on_fresh_reading(connection, dsn, published, "apply_prod.1", {})
    assert (applied.state, applied.counts[MoveState.APPLIED]) == (ApplyState.PARTLY_APPLIED, len(half))
    (row,) = rows(connection, "plan_application")
    assert (row["state"], row["short_isr"]) == ("partly_applied", [f"orders-{lagging.partition}"])
    assert (row["realised_seconds"], row["seconds_basis"]) == (None, None), "no command was shown: nobody knows"


@pytest.mark.parametrize("state", [ApplyState.REJECTED, ApplyState.TIMED_OUT])
def test_an_answer_that_ends_it_and_asking_again_begins_anew(cluster, connection, state: ApplyState) -> None:
    store.ask_application(connection, "apply_prod.1", "r")
    store.answer_application(connection, "apply_prod.1", state, answered_by=None, answered_at=None)
    assert store.load_application(connection, "apply_prod.1").state is state
    (row,) = rows(connection, "plan_application")
    assert (row["state"], row["failure"]) == (state.value, None)
    store.ask_application(connection, "apply_prod.1", "r")
    assert store.load_application(connection, "apply_prod.1").state is ApplyState.ASKED


def test_what_cannot_be_asked_is_refused_in_words(cluster, connection) -> None:
    from rebalance_advisor.airflow.apply_snapshots import published_plan

    with pytest.raises(store.StoreError, match="no published run, or no application of that name: x, unknown"):
        store.ask_application(connection, "x", "unknown")
    with pytest.raises(store.StoreError, match="no application of that name: nobody"):
        store.load_application(connection, "nobody")
    with pytest.raises(InvalidInputError, match="audit: has no published advisory yet"):
        published_plan(connection, "audit", None)
    with pytest.raises(InvalidInputError, match="r: is no published advisory of audit"):
        published_plan(connection, "audit", "r")
    *_, folder = cluster
    (folder / ".rebalance-advisor").unlink()
    with pytest.raises(InvalidInputError, match=r"run r: the files of plan .* are not where it was published"):
        published_plan(connection, "prod", "r")


def test_loads_that_only_the_plan_s_reading_has_are_taken_over(cluster) -> None:
    from rebalance_advisor.airflow.apply_snapshots import with_loads_of

    start, *_ = cluster
    less = partition_table(list(start.each_partition())[1:], {"orders": 0})
    bare = replace(start, partitions=less, loads=type(start.loads)({}))
    taken = with_loads_of(start, bare)
    assert taken.loads.columns.keys() == start.loads.columns.keys()
    assert all(len(column.values) == 5 for column in taken.loads.columns.values())
    assert with_loads_of(bare, start).loads.columns.keys() == start.loads.columns.keys()


def test_a_pruned_run_takes_its_applications_along(cluster, connection) -> None:
    store.ask_application(connection, "apply_prod.1", "r")
    connection.execute("DELETE FROM store.run WHERE run_id = 'r'")
    assert rows(connection, "plan_application") == []
    assert compare(small_plan("s"), plain_snapshot()).state is ApplyState.NOT_APPLIED


def test_an_application_whose_table_was_removed_is_given_up(cluster, connection, tmp_path) -> None:
    """No question is left: what waits for the approval has ended. What is approved may have been carried out."""
    from rebalance_advisor.airflow.health import fail_runs_of_removed_clusters

    asked, approved, other_airflows = (f"apply_prod.{run}" for run in ("asked", "approved", "elsewhere"))
    for name in (asked, approved, other_airflows):
        store.ask_application(connection, name, "r")
    store.answer_application(connection, approved, ApplyState.APPROVED, answered_by="ann", answered_at=None)
    instance = SimpleNamespace(get_dr_count=lambda dag, run_ids: int((dag, *run_ids) != ("apply_prod", "elsewhere")))
    fail_runs_of_removed_clusters(connection, instance)
    result = lambda name: store.load_application(connection, name)  # noqa: E731
    assert [result(name).state for name in (asked, approved)] == [ApplyState.ASKED, ApplyState.APPROVED]
    (tmp_path / "clusters.toml").write_text("[clusters.other]\nfile = 'a'\n")
    for _ in range(2):
        fail_runs_of_removed_clusters(connection, instance)
    states = [result(name).state for name in (asked, approved, other_airflows)]
    assert states == [ApplyState.TIMED_OUT, ApplyState.APPROVED, ApplyState.ASKED]
    for name in (asked, approved):
        assert result(name).failure.startswith("[clusters.prod] was removed from")
        assert result(name).failure.endswith("airflow dags delete apply_prod")
    failures = connection.execute("SELECT dag, dag_run FROM advisor.task_failure ORDER BY dag_run").fetchall()
    assert failures == [("apply_prod", "approved"), ("apply_prod", "asked")]
