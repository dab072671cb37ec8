"""The views answer DESIGN's ten questions with numbers that can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from kafka_rebalance.facts import FactCode
from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.scoring import GroupScore, ResourceScore
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Capacity, Group, Member
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from rebalance_advisor import store
from rebalance_advisor.dumps import read_input
from rebalance_advisor.run_advice import read_question
from rebalance_advisor.store.load_history import load_disk_forecasts
from stack.demo.cluster import write_demo_cluster
from tests.coverage_gaps import gap_of
from tests.properties.test_findings_and_plans_agree import sized_cluster
from tests.sql.sample_clusters import finding, plain_snapshot, small_plan

pytestmark = pytest.mark.stack

DAY = timedelta(days=1)
DAY_AND_AN_HOUR = pytest.approx(90_674, abs=1)  # worked out in docs/groups.md
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def read(connection, at: datetime, snapshot=None, **changes: Any) -> str:
    snapshot = replace(snapshot or plain_snapshot(**changes), captured_at=at)
    snapshot_id = store.save_snapshot(connection, snapshot)
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return snapshot_id


def advise(connection, run_id: str, snapshot_id: str, at: datetime = NOW, **parts: Any) -> None:
    """A published run; ``parts``: findings, plan, resources, groups, advice of groups."""
    connection.execute("SELECT store.ensure_week(%s)", (at,))
    store.start_run(connection, run_id=run_id, cluster="prod", snapshot_id=snapshot_id)
    connection.execute("UPDATE store.run SET started_at = %s WHERE run_id = %s", (at, run_id))
    store.save_findings(connection, run_id, parts.get("findings", []))
    store.save_scores(connection, run_id, "resource_score", parts.get("resources", []))
    store.save_scores(connection, run_id, "group_score", parts.get("groups", []))
    for group, advice in parts.get("advice", {}).items():
        saved = "UPDATE store.group_score SET advice = %s WHERE group_id = %s AND is_current AND scenario = 'today'"
        connection.execute(saved, (Jsonb(advice.document()), group))
    store.save_plan(connection, run_id, parts.get("plan") or small_plan(snapshot_id))
    store.publish_run(connection, run_id)


def rows(connection, view: str, order: str = "1") -> list[dict[str, Any]]:
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute("SET LOCAL ROLE advisor_reader")
        return cursor.execute(f"SELECT * FROM advisor.{view} ORDER BY {order}").fetchall()


def test_1_the_state_of_each_cluster_in_one_line(connection) -> None:
    gaps = (gap_of("broker", "3", FactCode.LACKS_LOG_DIRS, "timed out"),)
    snapshot_id = read(connection, NOW, replace(plain_snapshot(), coverage=gaps))
    resources = [
        ResourceScore("disk", "bytes", "log_dirs", 1.0, 1200.0, 400.0, 1.25, 1),
        ResourceScore("leaders", "count", None, 1.0, 6.0, 2.0, 1.5, 2),
        ResourceScore("leader_in", "bytes/s", "given", 1.0, 6.0, 2.0, 2.5, 3),  # only measured: no plan is about it
    ]
    plan = small_plan(snapshot_id)
    plan = replace(plan, resources=(*plan.resources, replace(plan.resources[0], resource="leaders", unit="count")))
    results = [finding(severity=Severity.CRITICAL), finding(subject="2"), finding("dead_broker", "3", Severity.INFO)]
    advise(connection, "old", snapshot_id, NOW - DAY)
    advise(connection, "new", snapshot_id, NOW, findings=results, resources=resources, plan=plan)
    (line,) = rows(connection, "cluster_latest")
    expected = {
        "cluster": "prod", "run_id": "new", "verdict": "rebalance", "gap_count": 1, "excluded_resource_count": 1,
        "worst_broker": 2, "worst_resource": "leaders", "worst_skew": 1.5, "critical_count": 1, "high_count": 1,
        "finding_count": 2, "bytes": 100, "replica_moves": 1, "broker_count": 3, "partition_count": 6,
    }  # fmt: skip
    assert {name: line[name] for name in expected} == expected
    assert line["age_seconds"] == pytest.approx((datetime.now(UTC) - NOW).total_seconds(), abs=300)


def test_2_when_disks_are_full_with_and_without_the_plan(connection) -> None:
    """500,000 of 1,000,000 bytes used, 10,000 more each day: 85 % in 30 days after the fifth reading."""
    for day in range(5):
        snapshot_id = read(connection, NOW + day * DAY, grown_bytes=day * 10_000)
    advise(connection, "r", snapshot_id, NOW + 4 * DAY, plan=small_plan(snapshot_id))
    first, second, third = rows(connection, "broker_disk_forecast", "broker")
    assert (first["broker"], first["rack"], first["days_of_history"]) == (1, "a", 5)
    assert first["used_bytes"] == 540_000
    assert first["used_ratio"] == pytest.approx(0.54)
    assert first["growth_bytes_per_day"] == pytest.approx(10_000)
    assert first["reaches_85_percent_at"] == NOW + 4 * DAY + 31 * DAY
    # The plan takes 100 bytes from broker 1, leaves broker 2 and gives 100 to broker 3.
    assert [row["used_bytes_with_plan"] for row in (first, second, third)] == [539_900, 540_000, 540_100]
    assert first["reaches_85_percent_at_with_plan"] - first["reaches_85_percent_at"] == timedelta(days=0.01)


def test_2_what_an_executed_plan_moved_is_no_growth(connection) -> None:
    """The plan ends on the third day, with 90,000 bytes more on each broker."""
    for day in range(6):
        snapshot_id = read(connection, NOW + day * DAY, grown_bytes=day * 10_000 + (90_000 if day > 2 else 0))
        if day == 1:
            advise(connection, "r", snapshot_id, NOW + day * DAY, plan=small_plan(snapshot_id))
            store.ask_application(connection, "by hand", "r")
    for state, days, growth in (("not_applied", 6, 33_143), ("verified", 3, 10_000)):
        ended = {"state": state, "at": NOW + 2.5 * DAY}
        connection.execute("UPDATE store.application SET state = %(state)s, verified_at = %(at)s", ended)
        reported = rows(connection, "broker_disk_forecast")
        assert {(row["days_of_history"], round(row["growth_bytes_per_day"])) for row in reported} == {(days, growth)}


def test_2_a_run_that_is_not_published_yet_is_told_what_its_own_plan_does(connection) -> None:
    """As above; told in words by ``advisory.disk_outlook``. Of an older reading nothing is told."""
    older = read(connection, NOW)
    for day in range(1, 5):
        snapshot_id = read(connection, NOW + day * DAY, grown_bytes=day * 10_000)
    for run_id, read_at in (("r", snapshot_id), ("late", older)):
        store.start_run(connection, run_id=run_id, cluster="prod", snapshot_id=read_at)
        store.save_plan(connection, run_id, small_plan(read_at))
    first, second, third = load_disk_forecasts(connection, "r")
    assert (first.broker, first.days_of_history, first.full_at) == (1, 5, NOW + 35 * DAY)
    moved = [forecast.full_at_with_plan - forecast.full_at for forecast in (first, second, third)]
    assert moved == [timedelta(days=0.01), timedelta(0), timedelta(days=-0.01)]
    assert load_disk_forecasts(connection, "late") == ()
    asked = {run_id: read_question(connection, run_id).request.options.disk_growth for run_id in ("r", "late")}
    assert asked == {"r": {1: 10_000, 2: 10_000, 3: 10_000}, "late": {}}


def test_2_a_full_disk_is_full_now_and_one_that_does_not_grow_never(connection) -> None:
    for day in range(2):
        read(connection, NOW + day * DAY, grown_bytes=0)
    assert {row["reaches_85_percent_at"] for row in rows(connection, "broker_disk_forecast")} == {None}
    read(connection, NOW + 2 * DAY, grown_bytes=400_000)
    assert {row["reaches_85_percent_at"] for row in rows(connection, "broker_disk_forecast")} == {NOW + 2 * DAY}


def test_3_which_topic_drove_a_broker(connection) -> None:
    read(connection, NOW - 9 * DAY, grown_bytes=1)
    read(connection, NOW - 8 * DAY, grown_bytes=5)
    read(connection, NOW - DAY, grown_bytes=50)
    read(connection, NOW, grown_bytes=105)
    first, *_ = rows(connection, "broker_topic_change", "broker")
    # Six partitions, two replicas each, on three brokers: four replicas a broker.
    assert first["earlier_captured_at"] == NOW - 8 * DAY
    assert (first["broker"], first["topic"]) == (1, "orders")
    assert (first["bytes_earlier"], first["bytes_now"], first["bytes_change"]) == (420, 820, 400)
    assert (first["replicas_now"], first["replicas_earlier"], first["basis"]) == (4, 4, "a_week")


def test_3_less_than_a_week_is_said_and_an_unknown_size_is_no_growth(connection) -> None:
    read(connection, NOW - DAY, grown_bytes=50)
    (line, *_) = rows(connection, "broker_topic_change", "broker")
    assert (line["basis"], line["earlier_captured_at"], line["bytes_now"], line["bytes_earlier"]) == (
        "only_reading",
        None,
        600,
        None,
    )
    assert (line["bytes_change"], line["replicas_now"], line["replicas_earlier"]) == (None, 4, None)
    read(connection, NOW, grown_bytes=105)
    connection.execute(
        "UPDATE store.partition SET log_bytes = '{NULL,205}' WHERE partition = 0 AND captured_at = %s", (NOW,)
    )
    by_broker = {line["broker"]: line for line in rows(connection, "broker_topic_change")}
    assert {line["basis"] for line in by_broker.values()} == {"all_that_is_kept"}
    unknown = [number for number, line in by_broker.items() if line["bytes_change"] is None]
    assert len(unknown) == 1, "the broker of the first replica"
    assert {line["bytes_change"] for number, line in by_broker.items() if number not in unknown} == {220}
    assert {line["bytes_earlier"] for line in by_broker.values()} == {600}


def test_4_new_persisting_resolved_and_reopened_findings(connection) -> None:
    snapshot_id = read(connection, NOW)
    codes = {"a": "dead_broker", "b": "broker_disk_full", "c": "leaders_piled_up", "d": "broker_disk_over_share"}
    history = ["ac", "bc", "ad c".replace(" ", "")]
    for day, present in enumerate(history):
        advise(
            connection, f"r-{day}", snapshot_id, NOW + day * DAY, findings=[finding(codes[code]) for code in present]
        )
    changes = {
        row["code"]: (row["change"], row["times_seen"], row["first_seen"]) for row in rows(connection, "finding_change")
    }
    assert changes == {
        "dead_broker": ("reopened", 2, NOW),
        "broker_disk_full": ("resolved", 1, NOW + DAY),
        "leaders_piled_up": ("persisting", 3, NOW),
        "broker_disk_over_share": ("new", 1, NOW + 2 * DAY),
    }


def test_4_what_another_finding_explains_now_is_not_resolved(connection) -> None:
    snapshot_id = read(connection, NOW)
    full, piled = finding("broker_disk_full"), finding("leaders_piled_up")
    advise(connection, "r-0", snapshot_id, NOW, findings=[full, piled])
    advise(connection, "r-1", snapshot_id, NOW + DAY, findings=[replace(finding("dead_broker"), symptoms=(full,))])
    changes = {row["code"]: row["change"] for row in rows(connection, "finding_change")}
    assert changes == {"dead_broker": "new", "leaders_piled_up": "resolved"}


def test_5_how_much_of_the_plan_is_yesterdays_and_what_is_not_applied(connection) -> None:
    snapshot_id = read(connection, NOW)
    plan = small_plan(snapshot_id)
    other = replace(plan, moves=(replace(plan.moves[0], to_replicas=(2, 3), leader_to=2), plan.moves[1])).sealed()
    advise(connection, "r-0", snapshot_id, NOW, plan=plan)
    advise(connection, "r-1", snapshot_id, NOW + DAY, plan=other)
    advise(connection, "r-2", snapshot_id, NOW + 2 * DAY, plan=plan)
    (overlap,) = rows(connection, "plan_overlap_latest")
    assert (overlap["run_id"], overlap["previous_run_id"]) == ("r-2", "r-1")
    assert (overlap["previous_move_count"]) == 2
    assert (overlap["move_count"], overlap["same_move_count"], overlap["same_ratio"]) == (2, 1, 0.5)
    first, second = rows(connection, "move_status_latest", "partition")
    assert (first["recommended_since"], first["advisories"], first["is_applied"]) == (NOW + 2 * DAY, 1, False)
    assert (second["recommended_since"], second["advisories"], second["is_applied"]) == (NOW, 3, False)
    connection.execute("UPDATE store.partition SET replicas = '{3,2}', leader = 3 WHERE partition = 1")
    assert [row["is_applied"] for row in rows(connection, "move_status_latest", "partition")] == [False, True]


def test_5_the_first_plan_has_none_before_and_plans_without_moves_are_alike(connection) -> None:
    snapshot_id = read(connection, NOW)
    empty = replace(small_plan(snapshot_id), moves=(), waves=(), steps=(), rollback=None).sealed()
    seen = []
    for day, plan in enumerate((None, empty, empty, None)):
        advise(connection, f"r-{day}", snapshot_id, NOW + day * DAY, plan=plan)
        (line,) = rows(connection, "plan_overlap_latest")
        seen.append((line["previous_run_id"], line["move_count"], line["same_move_count"], line["same_ratio"]))
    assert seen == [(None, 2, None, None), ("r-0", 0, 0, 0.0), ("r-1", 0, 0, 1.0), ("r-2", 2, 0, 0.0)]


def test_6_a_plan_is_measured_by_the_next_reading_before_the_next_advisory(connection) -> None:
    """And the outcome says in a word how far it came, or that nobody looked since."""
    advise(connection, "r", read(connection, NOW))
    (line,) = rows(connection, "plan_outcome")
    assert (line["outcome"], line["skew_measured"], line["measured_at"]) == ("not_read_since", None, None)
    read(connection, NOW + DAY)
    (skew,) = [row["skew"] for row in rows(connection, "resource_skew_latest") if row["resource"] == "disk"]
    (line,) = rows(connection, "plan_outcome")
    assert (line["outcome"], line["skew_measured"], line["measured_at"]) == ("not_applied", skew, NOW + DAY)
    outcomes = []
    for partition, replicas, leader in ((0, "{1,3}", 1), (0, "{3,2}", 3), (1, "{3,2}", 3)):
        connection.execute(
            "UPDATE store.partition SET replicas = %s, leader = %s WHERE partition = %s AND captured_at > %s",
            (replicas, leader, partition, NOW),
        )
        (line,) = rows(connection, "plan_outcome")
        outcomes.append(line["outcome"])
    assert outcomes == ["moved_by_others", "partly_applied", "applied"]


def test_6_predicted_against_realised(connection) -> None:
    before = read(connection, NOW)
    advise(connection, "r-0", before, NOW)
    (open_,) = rows(connection, "plan_outcome")
    assert (open_["skew_predicted"], open_["skew_measured"], open_["applied_count"]) == (1.05, None, 0)
    after = read(connection, NOW + DAY)
    connection.execute(
        "UPDATE store.partition SET replicas = '{3,2}', leader = 3 WHERE partition = 0 AND captured_at > %s", (NOW,)
    )
    measured = [ResourceScore("disk", "bytes", "log_dirs", 1.0, 1200.0, 400.0, 1.06, 1)]
    advise(connection, "r-1", after, NOW + DAY, resources=measured)
    outcome = next(row for row in rows(connection, "plan_outcome") if row["run_id"] == "r-0")
    assert (outcome["resource"], outcome["skew_before"], outcome["skew_predicted"]) == ("disk", 1.25, 1.05)
    assert (outcome["skew_measured"], outcome["measured_at"]) == (1.06, NOW + DAY)
    assert (outcome["move_count"], outcome["applied_count"]) == (2, 1)


def test_7_groups_by_drain_time_to_gain(connection) -> None:
    snapshot_id = read(connection, NOW)
    groups = [
        GroupScore("g", "range", None, True, 3, 6, 1, 1.5, 2.0, None, drain_seconds=900.0),
        GroupScore("g", "roundrobin", None, False, 3, 6, 0, 1.0, 1.1, None, 4, drain_seconds=300.0, is_advised=True),
        GroupScore("fine", "roundrobin", None, True, 3, 6, 0, 1.0),
        GroupScore("slow", "range", None, True, 3, 6, members_falling_behind=2),
        GroupScore("slow", "sticky", None, False, 3, 6, drain_seconds=9.0, members_falling_behind=0, is_advised=True),
    ]
    advise(connection, "r", snapshot_id, groups=groups)
    fine, uneven, slow = rows(connection, "group_drain_latest", "group_id")
    never, gone = "members_falling_behind", "recommended_members_falling_behind"
    assert (slow["drain_seconds"], slow[never], slow["recommended_drain_seconds"], slow[gone]) == (None, 2, 9.0, 0)
    assert (fine["drain_seconds"], fine[never]) == (None, None)
    assert (fine["recommended_assignor"], fine["gain_seconds"]) == (None, None)
    assert (uneven["current_assignor"], uneven["recommended_assignor"]) == ("range", "roundrobin")
    assert (uneven["gain_seconds"], uneven["skew_rate"], uneven["recommended_skew_rate"]) == (600.0, 2.0, 1.1)
    assert uneven["partitions_moved"] == 4


def test_7_the_demos_drain_times_by_way_of_the_stored_reading(connection, tmp_path) -> None:
    """What each group reads is stored with the reading, bit for bit: what is loaded is replayed."""
    demo = read_input(write_demo_cluster(tmp_path / "demo"), "prod")
    snapshot_id = read(connection, NOW, demo)
    loaded = store.load_snapshot(connection, snapshot_id)
    assert loaded.groups == demo.groups
    assert any(commit.read_messages_per_s for group in loaded.groups for commit in group.committed)
    replays = [replay_group(group_input) for group_input in group_inputs(loaded)]
    advise(connection, "r", snapshot_id, groups=[score for replay in replays for score in replay.scores])
    results = {row["group_id"]: (row["drain_seconds"], row["members_falling_behind"])
             for row in rows(connection, "group_drain_latest")}  # fmt: skip
    assert len(results) == len(demo.groups)
    assert (results.pop("fraud-scoring"), results.pop("telemetry-archiver")) == ((None, 12), (DAY_AND_AN_HOUR, 0))
    unknown = ("nightly-report", "quarterly-backfill", "courier-dispatch")  # two without members, a share group
    assert [results.pop(name) for name in unknown] == [(None, None)] * 3
    assert set(results.values()) == {(0.0, 0)}
    outlooks = {row["group_id"]: row["outlook"] for row in rows(connection, "group_drain_latest")}
    assert (outlooks["fraud-scoring"], outlooks["telemetry-archiver"]) == ("never", "drains")
    assert {outlooks[name] for name in unknown} == {"no_members", "unknown"}
    disks = rows(connection, "broker_disk_forecast")  # the demo's brokers tell no sizes of volumes, capacity.csv does
    assert len(disks) == len(demo.brokers)
    for disk in disks:  # of a single day so far: nothing is known of growth
        assert (disk["basis"], disk["outlook"]) == ("replicas", "full" if disk["used_ratio"] >= 0.85 else "unknown")
        assert (disk["reaches_85_percent_at"] is not None) == (disk["outlook"] == "full")
    lags = {row["group_id"]: row["read_messages_per_s"] for row in rows(connection, "group_lag_latest")}
    assert 0 < lags["fraud-scoring"] < 12 * 30  # the fastest of its twelve members reads 30 a second


def test_8_groups_by_rebalances_and_idle_members(connection) -> None:
    for day, generation in enumerate((4, 9, 2, 3)):
        whole = plain_snapshot()
        read(connection, NOW + day * DAY, replace(whole, groups=(replace(whole.groups[0], generation=generation),)))
    (line,) = rows(connection, "group_rebalance_latest")
    # 5, then a new group, then 1.
    assert (line["group_id"], line["rebalances_7d"], line["generation"]) == ("readers", 6, 3)
    assert (line["members"], line["idle_members"]) == (3, 1)


def test_9_bytes_across_racks_by_topic_and_by_group(connection) -> None:
    read(connection, NOW)
    (topic,) = rows(connection, "rack_traffic_topic_latest")
    # Six partitions at 10 bytes/s, one follower each, always in another rack.
    assert (topic["topic"], topic["replication_bytes_per_s"], topic["cross_rack_bytes_per_s"]) == ("orders", 60, 60)
    (group,) = rows(connection, "rack_traffic_group_latest")
    # Leaders 1, 2, 3, 1, 2, 3 in racks a, b, c; m-1 (rack a) reads 0 to 2, m-2 (rack b) reads 3 to 5.
    assert (group["read_bytes_per_s"], group["cross_rack_bytes_per_s"]) == (60, 40)
    assert group["rack_unknown_bytes_per_s"] == 0


def test_9_a_member_without_a_rack_is_counted_apart(connection) -> None:
    whole = plain_snapshot()
    lone = (Member("m", subscription=("orders",), assigned=(("orders", (0, 1)),)),)
    read(connection, NOW, replace(whole, groups=(Group("g", members=lone),)))
    (group,) = rows(connection, "rack_traffic_group_latest")
    assert (group["read_bytes_per_s"], group["cross_rack_bytes_per_s"], group["rack_unknown_bytes_per_s"]) == (
        20,
        None,
        20,
    )


def test_10_what_advice_rests_on(connection) -> None:
    whole = plain_snapshot()
    half = LoadColumn(np.array([1.0, 1, 1, np.nan, np.nan, np.nan]), LoadSource.ESTIMATED)
    loads = PartitionLoads({**whole.loads.columns, LoadKind.CPU_PERCENT: half})
    gaps = (gap_of("group", "secret", FactCode.LACKS_MEMBERS, "not allowed"),)
    snapshot_id = read(connection, NOW, replace(whole, loads=loads, coverage=gaps))
    connection.execute("INSERT INTO store.quarantine SELECT snapshot_key, 'group', 'odd', 'rule' FROM store.snapshot")
    advise(connection, "r", snapshot_id, findings=[finding()])
    basis = {(row["kind"], row["subject"]): row["reason"] for row in rows(connection, "advice_basis_latest")}
    assert basis == {
        ("finding", "broker_disk_over_share:broker:1"): "confidence: estimated",
        ("resource", "cpu"): "figure_not_measured",
        ("load", "cpu_percent"): "source: estimated, known for 50.0 % of partitions",
        ("gap", "group secret"): "lacks_members: as_reported",
        ("quarantine", "group odd"): "rule",
    }


def test_lag_is_what_is_written_and_not_yet_committed(connection) -> None:
    read(connection, NOW)
    (line,) = rows(connection, "group_lag_latest")
    assert (line["group_id"], line["topic"], line["partitions"]) == ("readers", "orders", 6)
    assert (line["lag_messages"], line["max_lag_messages"]) == (30, 5)
    assert line["read_messages_per_s"] is None
    whole = plain_snapshot()
    (group,) = whole.groups
    for day, rates in enumerate(([0.5] * 6, [0.5] * 5), start=1):  # of six partitions
        commits = (
            *(replace(item, read_messages_per_s=rate) for item, rate in zip(group.committed, rates, strict=False)),
        )
        known = (*commits, *group.committed[len(commits) :])
        read(connection, NOW + day * DAY, replace(whole, groups=(replace(group, committed=known),)))
        (line,) = rows(connection, "group_lag_latest")
        assert line["read_messages_per_s"] == (3.0 if len(rates) == 6 else None)


def test_the_lag_behind_an_end_that_nobody_read_is_unknown_and_not_none(connection) -> None:
    whole = plain_snapshot()
    ends = np.full(len(whole.partitions), -1, dtype=np.int64)
    read(connection, NOW, replace(whole, partitions=replace(whole.partitions, end_offset=ends)))
    (line,) = rows(connection, "group_lag_latest")
    assert (line["partitions"], line["lag_messages"], line["max_lag_messages"]) == (6, None, None)
    assert rows(connection, "group_lag_by_hour") == []
    ends = ends.copy()
    ends[0] = 1_000
    read(connection, NOW + DAY, replace(whole, partitions=replace(whole.partitions, end_offset=ends)))
    (line,) = rows(connection, "group_lag_latest")
    (hour,) = rows(connection, "group_lag_by_hour")
    assert line["lag_messages"] == line["max_lag_messages"] == hour["lag_messages"] > 0


def test_2_a_disk_of_known_size_without_volumes_is_filled_by_its_replicas(connection) -> None:
    """Kafka before 3.3 tells no size of volumes; somebody wrote down how large the disks are."""
    ages = (13, 6, 0)
    for age in ages:
        whole = plain_snapshot(grown_bytes=100 * (13 - age))
        brokers = tuple(
            replace(broker, log_dirs=(), capacity=Capacity(disk_bytes=10_000.0)) for broker in whole.brokers
        )
        read(connection, NOW - age * DAY, replace(whole, brokers=brokers))
    first, *others = rows(connection, "broker_disk_forecast", "broker")
    # Four replicas a broker, each 100 bytes and 100 more a day: 5,600 now, 8,500 in 7.25 days.
    assert (first["basis"], first["used_bytes"], first["total_bytes"]) == ("replicas", 5600.0, 10_000.0)
    assert first["growth_bytes_per_day"] == pytest.approx(400)
    assert first["days_of_history"] == 3
    assert first["reaches_85_percent_at"] - NOW == pytest.approx(7.25 * DAY, abs=timedelta(seconds=1))
    assert [item["outlook"] for item in (first, *others)] == ["filling"] * 3
    read(connection, NOW + DAY, plain_snapshot())  # volumes are read again: they say more
    assert {row["basis"] for row in rows(connection, "broker_disk_forecast")} == {"volumes"}
    assert {row["outlook"] for row in rows(connection, "broker_disk_forecast")} == {"unknown"}


@pytest.mark.parametrize("seed", range(6))
def test_lists_measure_disks_as_findings_do(connection, seed: int) -> None:
    """A given capacity outranks the volumes, and holds replicas and stray logs."""
    whole, given = sized_cluster(seed)
    whole = whole.with_capacities(given)
    strays = replace(whole.brokers[0].log_dirs[0], stray_logs=1, stray_bytes=10**9)
    whole = replace(whole, cluster="prod", brokers=(replace(whole.brokers[0], log_dirs=(strays,)), *whole.brokers[1:]))
    read(connection, NOW, whole)
    found = {int(item.subject): item.evidence for item in evaluate_rules(whole, score_cluster(whole), [])
             if item.code == "broker_disk_full"}  # fmt: skip
    overview, forecast = (
        {row["broker"]: row for row in rows(connection, view, "broker")}
        for view in ("broker_overview_latest", "broker_disk_forecast")
    )
    assert overview.keys() == forecast.keys() == {broker.id for broker in whole.brokers}
    for broker, row in overview.items():
        names = ("used_bytes", "total_bytes", "used_ratio")
        assert [row[name] for name in names] == pytest.approx([forecast[broker][name] for name in names])
        assert (row["used_ratio"] >= 0.85) == (broker in found)
        if broker in found:
            assert [row[name] for name in names] == pytest.approx([found[broker][name] for name in names])
