"""Every reading tells how uneven it is; hours and days add readings up, once each, and outlive them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from psycopg.rows import dict_row

from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import CommittedOffset
from rebalance_advisor import store
from rebalance_advisor.store.snapshot_save import roll_up
from tests.sql.sample_clusters import plain_snapshot, rich_snapshot

pytestmark = pytest.mark.stack

NOW = datetime(2026, 11, 20, 12, 10, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def read(connection, at: datetime, lag: int = 5, *, is_blocked: bool = False, first_broker: int = 0) -> str:
    """A reading whose group is ``lag`` messages behind in each of six partitions. ``first_broker``: bytes there."""
    whole = plain_snapshot(captured_at=at.isoformat())
    (group,) = whole.groups
    committed = tuple(CommittedOffset("orders", n, 50 - lag) for n in range(6))
    snapshot = replace(whole, groups=(replace(group, committed=committed),))
    if first_broker:
        sizes = whole.partitions.replica_log_bytes.copy()
        sizes[whole.partitions.replicas == 1] = first_broker
        snapshot = replace(snapshot, partitions=replace(whole.partitions, replica_log_bytes=sizes))
    snapshot_id = store.save_snapshot(connection, snapshot)
    store.mark_snapshot(connection, snapshot_id, is_blocked=is_blocked)
    return snapshot_id


def rows(connection, view: str, where: str = "true") -> list[dict[str, object]]:
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute("SET LOCAL ROLE advisor_reader")
        return cursor.execute(f"SELECT * FROM advisor.{view} WHERE {where} ORDER BY 1").fetchall()


def test_a_reading_has_the_levels_that_an_advisory_on_it_would_score(connection) -> None:
    snapshot = rich_snapshot()
    store.mark_snapshot(connection, store.save_snapshot(connection, snapshot), is_blocked=False)
    scores = score_cluster(snapshot)
    kept = {(row["broker"], row["resource"]): row for row in rows(connection, "broker_level_latest")}
    assert len(kept) == len(scores.brokers) > 0
    for score in scores.brokers:
        row = kept[score.broker, score.resource]
        assert (row["load"], row["level"], row["level_to_mean_ratio"]) == (score.load, score.level, score.over_mean)
        assert (row["rack"], row["unit"], row["capacity"]) == (score.rack, score.unit, score.capacity)
        assert row["remains_in_cluster"] is score.stays
    skews = {row["resource"]: (row["skew"], row["worst_broker"]) for row in rows(connection, "resource_skew")}
    assert skews == {score.resource: (score.skew, score.worst_broker) for score in scores.resources}


def test_an_hour_is_the_mean_and_the_highest_of_its_readings(connection) -> None:
    for minutes, lag in ((0, 10), (20, 20), (40, 45), (55, 1)):  # the last one is in the next hour
        read(connection, NOW + minutes * MINUTE, lag)
    first, second = rows(connection, "group_lag_by_hour")
    assert (first["period_start"], first["snapshot_count"]) == (NOW - 10 * MINUTE, 3)
    assert (first["lag_messages"], first["highest_lag_messages"]) == (150, 270)
    assert (second["period_start"], second["lag_messages"]) == (NOW + 50 * MINUTE, 6)
    (day,) = rows(connection, "group_lag_by_day")
    assert (day["period_start"], day["snapshot_count"]) == (datetime(2026, 11, 20, tzinfo=UTC), 4)
    assert (day["lag_messages"], day["highest_lag_messages"]) == (114, 270)


def test_skew_by_hour_names_the_broker_of_the_worst_reading(connection) -> None:
    read(connection, NOW)
    read(connection, NOW + 20 * MINUTE, first_broker=200)  # 800, 400, 400 of a mean of 1,600 / 3
    (hour,) = rows(connection, "skew_by_hour", "resource = 'disk'")
    assert (hour["snapshot_count"], hour["highest_skew"], hour["worst_broker"]) == (2, pytest.approx(1.5), 1)
    assert (hour["skew"], hour["total"]) == (pytest.approx(1.25), pytest.approx(1400))
    (day,) = rows(connection, "skew_by_day", "resource = 'disk'")
    assert (day["skew"], day["highest_skew"]) == (hour["skew"], hour["highest_skew"])
    (broker,) = rows(connection, "broker_level_by_day", "resource = 'disk' AND broker = 1")
    assert (broker["load"], broker["level_to_mean_ratio"]) == (pytest.approx(600), pytest.approx(1.25))
    assert (broker["highest_level_to_mean_ratio"], broker["snapshot_count"]) == (pytest.approx(1.5), 2)


def test_a_gate_that_runs_again_counts_nothing_twice_and_a_refused_reading_counts_nothing(connection) -> None:
    snapshot_id = read(connection, NOW, lag=10)
    read(connection, NOW + MINUTE, lag=50, is_blocked=True)
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    roll_up(connection, snapshot_id)
    (hour,) = rows(connection, "group_lag_by_hour")
    assert (hour["snapshot_count"], hour["lag_messages"]) == (1, 60)


def test_another_cluster_and_another_day_are_counted_apart(connection) -> None:
    read(connection, NOW)
    read(connection, NOW - DAY, lag=7)
    other = plain_snapshot(captured_at=NOW.isoformat(), cluster="other")
    store.mark_snapshot(connection, store.save_snapshot(connection, other), is_blocked=False)
    counted = [(row["cluster"], row["snapshot_count"]) for row in rows(connection, "group_lag_by_day")]
    assert sorted(counted) == [("other", 1), ("prod", 1), ("prod", 1)]


def test_pruning_takes_the_levels_of_readings_and_keeps_what_they_add_up_to(connection) -> None:
    for days in (60, 59, 1):
        read(connection, NOW - days * DAY)
    read(connection, NOW - 500 * DAY)
    days = rows(connection, "skew_by_day")
    store.prune(connection, keep_snapshots_days=14, keep_runs_days=28, now=NOW)
    assert {row["captured_at"] for row in rows(connection, "broker_level")} == {NOW - DAY}
    assert rows(connection, "skew_by_day") == days
    assert len({row["period_start"] for row in days}) == 4
    assert (
        len({row["period_start"] for row in rows(connection, "skew_by_hour")}) == 3
    )  # those of last year's spring are gone
    assert len(rows(connection, "group_lag_by_hour")) == 3


def test_an_hour_of_which_readings_were_pruned_keeps_what_it_says(connection) -> None:
    """The same reading saved again after pruning would else stand for the whole hour."""
    late = [read(connection, NOW - 60 * DAY + minutes * MINUTE, lag) for minutes, lag in ((0, 10), (20, 20))]
    store.prune(connection, keep_snapshots_days=14, keep_runs_days=28, now=NOW + DAY)
    assert len(late) == 2
    before = rows(connection, "group_lag_by_hour")
    read(connection, NOW - 60 * DAY, lag=10)
    assert rows(connection, "group_lag_by_hour") == before
    assert before[0]["snapshot_count"] == 2
