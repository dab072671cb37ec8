"""Readers see the last published advisory and nothing else, whatever breaks on the way to the next one."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict, fields, replace

import pytest
from psycopg.rows import dict_row

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.groups.streams_tasks import StreamsScenario
from kafka_rebalance.plans import plan as plan_module
from kafka_rebalance.render.steps import StepFigures, step_figures
from kafka_rebalance.scoring import BrokerScore, GroupScore, MemberScore, RackScore, ResourceScore, TopicPlacementScore
from rebalance_advisor import store
from rebalance_advisor.store.rows import results
from rebalance_advisor.store.rows.finding_evidence import packed
from rebalance_advisor.store.run import RESULT_TABLES
from stack.waiting import PATIENCE_S
from tests.sql.sample_clusters import finding, plain_snapshot, small_plan

pytestmark = pytest.mark.stack

BROKER = BrokerScore(1, "a", "disk", "bytes", 500.0, None, 500.0, 1.25, 1.0, "log_dirs", True)
RACK = RackScore("a", "disk", "bytes", 1, 500.0, None, 500.0, 1.25)
RESOURCE = ResourceScore("disk", "bytes", "log_dirs", 1.0, 1200.0, 400.0, 1.25, 1)
TOPIC = TopicPlacementScore("orders", "striped", 7, 1.0, 1.0, None, 3, 2, None, 0)
VERSION = fact(FactCode.ANSWER_OF_ASSIGNOR, versions="2.4+", gives_today=True)
GROUP = GroupScore("readers", "range", VERSION, True, 3, 6, 1, 1.5, None, None, 0, 0.0)
TASKS = {
    "group_id": "flow", "scenario": StreamsScenario.INSTANCE_DIES, "instances": ("p",), "members": 2, "processes": 2,
    "active_tasks": 4, "standby_tasks": 0, "warmup_tasks": 0, "most_active": 2, "least_active": 2, "idle_members": 0,
    "standbys_missing": None, "active_of_instances": 2, "standbys_of_instances": 0, "active_moved": 2,
    "active_restored": 2, "standbys_restored": 0, "standby_replicas": 0, "unknown_parts": (),
}  # fmt: skip
MEMBER = MemberScore("readers", "range", True, False, "m-1", None, "a", 3, 30.0, None, 15)


@pytest.fixture
def snapshot_id(connection) -> str:
    snapshot_id = store.save_snapshot(connection, plain_snapshot())
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return snapshot_id


def start(connection, snapshot_id: str, run_id: str = "r-1") -> None:
    store.start_run(connection, run_id=run_id, cluster="prod", snapshot_id=snapshot_id, parameters={"x": [1]}, seed=5)


def fill(connection, run_id: str, snapshot_id: str) -> None:
    store.save_scores(connection, run_id, "broker_score", [BROKER])
    store.save_scores(connection, run_id, "rack_score", [RACK])
    store.save_scores(connection, run_id, "resource_score", [RESOURCE])
    store.save_scores(connection, run_id, "topic_score", [TOPIC])
    store.save_scores(connection, run_id, "group_score", [GROUP])
    store.save_scores(connection, run_id, "member_score", [MEMBER])
    store.save_score_values(connection, run_id, "group_streams_scenario", list(TASKS), [tuple(TASKS.values())])
    store.save_findings(connection, run_id, [finding()])
    store.save_plan(connection, run_id, small_plan(snapshot_id))


def publish(connection, run_id: str, snapshot_id: str) -> None:
    start(connection, snapshot_id, run_id)
    fill(connection, run_id, snapshot_id)
    store.publish_run(connection, run_id)


def seen(connection) -> dict[str, list[str]]:
    """What a reader sees: the run ids in every view that has any, but for the one that tells of attempts."""
    views = connection.execute(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'advisor' AND column_name = 'run_id'"
        " AND table_name <> 'run_attempt'"
    ).fetchall()
    with connection.transaction():
        connection.execute("SET LOCAL ROLE advisor_reader")
        return {
            view: sorted(
                {run for (run,) in connection.execute(f"SELECT run_id FROM advisor.{view}") if run is not None}
            )
            for (view,) in views
        }


def test_a_run_is_invisible_until_it_is_published_and_whole_from_then_on(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    fill(connection, "r-1", snapshot_id)
    assert {view for view, runs in seen(connection).items() if runs} == set()
    assert store.newest_published(connection, "prod") is None
    store.publish_run(connection, "r-1")
    assert store.newest_published(connection, "prod") == "r-1"
    silent = {view for view, runs in seen(connection).items() if runs != ["r-1"]}
    assert silent == {"check_result", "plan_application"}


def test_a_crash_after_any_step_leaves_the_last_advisory_standing(connection, snapshot_id, monkeypatch) -> None:
    publish(connection, "yesterday", snapshot_id)
    before = seen(connection)
    start(connection, snapshot_id, "today")
    assert seen(connection) == before
    steps = (
        lambda: store.save_scores(connection, "today", "broker_score", [BROKER]),
        lambda: store.save_scores(connection, "today", "group_score", [GROUP]),
        lambda: store.save_findings(connection, "today", [finding()]),
    )
    for step in steps:
        step()
        assert seen(connection) == before

    def crash(*_: object) -> list[dict[str, object]]:
        raise KeyboardInterrupt

    monkeypatch.setattr(results, "_wave_rows", crash)
    with pytest.raises(KeyboardInterrupt):
        store.save_plan(connection, "today", small_plan(snapshot_id))
    monkeypatch.undo()
    assert seen(connection) == before
    with pytest.raises(store.StoreError, match="holds no plan"):
        store.publish_run(connection, "today")
    assert seen(connection) == before
    publish(connection, "today", snapshot_id)
    assert store.newest_published(connection, "prod") == "today"


def test_a_crash_in_the_middle_of_loading_a_plan_leaves_no_row_of_it(connection, snapshot_id, monkeypatch) -> None:
    start(connection, snapshot_id)
    real = results.replace_rows

    def crash_at_moves(connection, run, table, rows) -> None:
        real(connection, run, table, rows)
        if table == "move":
            raise KeyboardInterrupt

    monkeypatch.setattr(results, "replace_rows", crash_at_moves)
    with pytest.raises(KeyboardInterrupt):
        store.save_plan(connection, "r-1", small_plan(snapshot_id))
    for table in ("plan", "plan_broker", "move"):
        assert connection.execute(f"SELECT count(*) FROM store.{table}").fetchone() == (0,)


def test_a_retry_empties_everything_that_was_half_written(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    fill(connection, "r-1", snapshot_id)
    (first_time,) = connection.execute("SELECT started_at FROM store.run").fetchone()
    start(connection, snapshot_id)
    left = {table: connection.execute(f"SELECT count(*) FROM store.{table}").fetchone()[0] for table in RESULT_TABLES}
    assert set(left.values()) == {0}
    assert connection.execute("SELECT count(*), min(started_at) FROM store.run").fetchone() == (1, first_time)


def test_every_table_with_a_run_key_is_emptied_by_a_retry(connection) -> None:
    listed = connection.execute(
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'store' AND column_name = 'run_key' "
        "AND table_name !~ '_[0-9]{4}w[0-9]{2}$' "
        "AND table_name NOT IN (SELECT table_name FROM information_schema.views WHERE table_schema = 'store')"
    ).fetchall()
    of_published_runs = {"application"}
    assert {name for (name,) in listed} - {"run"} - of_published_runs == set(RESULT_TABLES)


def test_saving_again_replaces(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    fill(connection, "r-1", snapshot_id)
    fill(connection, "r-1", snapshot_id)
    for table in ("broker_score", "move", "finding", "plan"):
        expected = 2 if table == "move" else 1
        assert connection.execute(f"SELECT count(*) FROM store.{table}").fetchone() == (expected,)


def test_nothing_touches_a_published_run(connection, snapshot_id) -> None:
    publish(connection, "r-1", snapshot_id)
    before = connection.execute("SELECT status, published_at FROM store.run").fetchall()
    writes = (
        lambda: start(connection, snapshot_id),
        lambda: store.save_scores(connection, "r-1", "broker_score", []),
        lambda: store.save_findings(connection, "r-1", []),
        lambda: store.save_plan(connection, "r-1", small_plan(snapshot_id)),
        lambda: store.block_run(connection, "r-1"),
    )
    for write in writes:
        with pytest.raises(store.RunPublishedError, match="run r-1 is published and stays as it is"):
            write()
    store.publish_run(connection, "r-1")
    assert connection.execute("SELECT status, published_at FROM store.run").fetchall() == before
    assert connection.execute("SELECT count(*) FROM store.broker_score").fetchone() == (1,)


def test_publishing_waits_for_a_writer_of_the_same_run(dsn, connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    fill(connection, "r-1", snapshot_id)
    with store.connect(dsn) as other:
        publisher = threading.Thread(target=store.publish_run, args=(other, "r-1"))
        with connection.transaction():
            store.save_scores(connection, "r-1", "broker_score", [BROKER])
            publisher.start()
            time.sleep(0.3)
            assert connection.execute("SELECT status FROM store.run").fetchone() == ("running",)
        publisher.join(PATIENCE_S)
    assert store.newest_published(connection, "prod") == "r-1"


def test_a_failed_blocking_rule_keeps_a_run_unpublished(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    fill(connection, "r-1", snapshot_id)
    connection.execute(
        "INSERT INTO store.check_result (gate, run_key, rule, level, failed_rows, sample) "
        "SELECT 'results', run_key, 'plan_adds_up', 'block', 2, '[]' FROM store.run"
    )
    with pytest.raises(store.StoreError, match="rule plan_adds_up blocks it"):
        store.publish_run(connection, "r-1")
    start(connection, snapshot_id)
    fill(connection, "r-1", snapshot_id)
    store.publish_run(connection, "r-1")


def test_a_run_needs_a_snapshot_of_its_cluster_that_is_not_blocked(connection, snapshot_id) -> None:
    with pytest.raises(store.StoreError, match="snapshot nothing of cluster prod is not stored"):
        start(connection, "nothing")
    with pytest.raises(store.StoreError, match="of cluster elsewhere is not stored"):
        store.start_run(connection, run_id="r-1", cluster="elsewhere", snapshot_id=snapshot_id)
    start(connection, snapshot_id)
    other = store.save_snapshot(connection, plain_snapshot(cluster="other"))
    with pytest.raises(store.StoreError, match="run r-1 is one of cluster prod, not of other"):
        store.start_run(connection, run_id="r-1", cluster="other", snapshot_id=other)
    store.mark_snapshot(connection, snapshot_id, is_blocked=True)
    with pytest.raises(store.StoreError, match="or the gate blocked it"):
        start(connection, snapshot_id, "r-2")


def test_a_run_that_was_never_started_is_named(connection) -> None:
    for write in (store.publish_run, store.load_run, store.load_plan):
        with pytest.raises(store.StoreError, match="ghost"):
            write(connection, "ghost")


def test_a_run_is_loaded_as_it_was_started(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    run = store.load_run(connection, "r-1")
    assert (run.cluster, run.snapshot_id, run.parameters, run.seed, run.status) == (
        "prod", snapshot_id, {"x": [1]}, 5, "running",
    )  # fmt: skip


def test_a_plan_comes_back_byte_for_byte(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    plan = small_plan(snapshot_id)
    store.save_plan(connection, "r-1", plan)
    document = store.load_plan(connection, "r-1")
    assert document == plan_module.to_document(plan)
    assert plan_module.plan_id(document) == plan.plan_id
    moves = connection.execute("SELECT topic, partition, from_replicas, to_replicas, wave FROM store.move").fetchall()
    assert moves == [("orders", 0, [1, 2], [3, 2], 1), ("orders", 1, [2, 3], [3, 2], 2)]
    waves = connection.execute("SELECT direction, wave, free_disk_needed FROM store.wave ORDER BY 1, 2").fetchall()
    assert waves == [("forward", 1, {"3": 100}), ("forward", 2, {}), ("rollback", 1, {"3": 100}), ("rollback", 2, {})]


def test_the_steps_of_a_plan_are_rows_that_read_back_as_its_document_says(connection, snapshot_id) -> None:
    publish(connection, "r-1", snapshot_id)
    figures = step_figures(store.load_plan(connection, "r-1"))
    columns = [field.name for field in fields(StepFigures)]
    for view in ("plan_step", "plan_step_latest"):
        asked = f"SELECT {', '.join(columns)} FROM advisor.{view} ORDER BY step"
        rows = connection.execute(asked).fetchall()
        assert [StepFigures(**dict(zip(columns, row, strict=True))) for row in rows] == figures
    assert [(step.kind, step.bytes, step.bytes_so_far) for step in figures] == [
        ("relieve", 100, 100), ("even_out", 0, 100)
    ]  # fmt: skip
    waves = connection.execute("SELECT direction, wave, step FROM advisor.wave ORDER BY 1, 2").fetchall()
    assert waves == [("forward", 1, 1), ("forward", 2, 2), ("rollback", 1, 1), ("rollback", 2, 2)]
    watched = "SELECT watched_broker, watched_load, watched_capacity, is_capacity_assumed FROM advisor.plan_resource"
    assert connection.execute(f"{watched} ORDER BY resource").fetchall() == [
        (None, None, None, None), (1, 500.0, 1000.0, True)
    ]  # fmt: skip


def test_a_plan_without_its_hash_is_refused(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    with pytest.raises(store.StoreError, match="seal it first"):
        store.save_plan(connection, "r-1", plan_module.replace(small_plan(snapshot_id), plan_id=""))


def test_scores_come_as_dataclasses_or_mappings_and_come_back_in_order(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    rows = [
        {"group_id": name, "assignor": "range", "is_current": True, "is_advised": False, "members": 1, "partitions": 2}
        for name in ("b", "a", "c")
    ]
    for given in (rows, [GroupScore(row["group_id"], "range", None, True, 1, 2) for row in rows]):
        store.save_scores(connection, "r-1", "group_score", given)
        loaded = rows_of(connection, "group_score")
        assert [row["group_id"] for row in loaded] == ["b", "a", "c"]
        assert {row["scenario"] for row in loaded} == {"today"}
        assert {row["skew_rate"] for row in loaded} == {None}
    store.save_scores(connection, "r-1", "member_score", [MEMBER])
    (loaded,) = rows_of(connection, "member_score")
    expected = asdict(MEMBER)
    expected["is_recommended"] = expected.pop("is_advised")
    assert {name: loaded[name] for name in expected} == expected


def rows_of(connection, table):
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(f"SELECT * FROM store.{table} ORDER BY position").fetchall()


def test_a_wrong_row_is_refused_with_what_is_wrong(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    with pytest.raises(store.StoreError, match="group_score has no column 'skewness'; its columns: group_id, assignor"):
        store.save_scores(connection, "r-1", "group_score", [{"skewness": 1}])
    with pytest.raises(store.StoreError, match="broker_score: 'unit' is missing in"):
        store.save_scores(connection, "r-1", "broker_score", [{"broker": 1, "resource": "disk"}])
    with pytest.raises(store.StoreError, match="a row is a mapping or a dataclass, not int"):
        store.save_scores(connection, "r-1", "broker_score", [7])


def test_what_a_finding_explains_and_costs_is_part_of_its_evidence(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    symptoms = (finding(subject="2"), finding(subject="3", severity=Severity.HIGH))
    cause = replace(finding(subject="4"), symptoms=symptoms, cost_bytes=1.5e12, cost_changes=7)
    store.save_findings(connection, "r-1", [cause])
    ((saved,),) = connection.execute("SELECT evidence FROM store.finding").fetchall()
    assert saved == json.loads(json.dumps(packed(cause)))
    assert [symptom["subject"] for symptom in saved["symptoms"]] == ["2", "3"]
    assert (saved["cost_bytes"], saved["cost_changes"]) == (1.5e12, 7)


def test_findings_are_ranked_and_one_key_is_said_once(connection, snapshot_id) -> None:
    start(connection, snapshot_id)
    low, critical = finding(subject="2", severity=Severity.LOW), finding(subject="3", severity=Severity.CRITICAL)
    store.save_findings(connection, "r-1", [low, critical])
    ranked = connection.execute("SELECT position, subject, evidence FROM store.finding ORDER BY position").fetchall()
    evidence = {"disk_bytes": 500, "over_share_ratio": 1.25}
    assert ranked == [(1, "3", evidence), (2, "2", evidence)]
    with pytest.raises(store.StoreError, match="finding broker_disk_over_share:broker:2 is given twice"):
        store.save_findings(connection, "r-1", [low, low])
