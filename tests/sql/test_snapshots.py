"""A stored snapshot comes back equal, once, whole or not at all, and fast."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from kafka_rebalance.errors import InvalidSnapshotError
from kafka_rebalance.snapshot import codec
from kafka_rebalance.snapshot.model import Group, Member
from rebalance_advisor import store
from rebalance_advisor.store import snapshot_save
from rebalance_advisor.store.snapshot_load import load_snapshot
from tests.sql.sample_clusters import plain_snapshot, rich_snapshot

pytestmark = pytest.mark.stack


@pytest.mark.parametrize("captured_at", ["2026-11-20T10:00:00.123Z", "2019-01-01T00:00:00+05:30", None])
def test_a_snapshot_comes_back_equal_in_every_field(connection, captured_at) -> None:
    snapshot = rich_snapshot(captured_at)
    loaded = load_snapshot(connection, store.save_snapshot(connection, snapshot))
    assert codec.snapshot_to_document(loaded) == codec.snapshot_to_document(snapshot)
    assert codec.snapshot_id(loaded) == codec.snapshot_id(snapshot)


def test_a_snapshot_without_isr_loads_and_groups_comes_back_equal(connection) -> None:
    snapshot = plain_snapshot()
    bare = replace(
        snapshot, partitions=replace(snapshot.partitions, in_sync=None), groups=(), loads=type(snapshot.loads)()
    )
    loaded = load_snapshot(connection, store.save_snapshot(connection, bare))
    assert codec.snapshot_to_document(loaded) == codec.snapshot_to_document(bare)
    assert loaded.partitions.in_sync is None


def test_saving_the_same_reading_twice_keeps_one(connection) -> None:
    first = store.save_snapshot(connection, rich_snapshot())
    assert store.save_snapshot(connection, rich_snapshot()) == first
    assert connection.execute("SELECT count(*) FROM store.partition").fetchone() == (5,)
    assert connection.execute("SELECT count(*) FROM store.snapshot").fetchone() == (1,)


def test_readings_of_one_moment_are_told_apart_by_their_ids(connection) -> None:
    """Only a reading of a new moment is taken for new before its id is known."""
    first = store.save_snapshot(connection, plain_snapshot())
    second = store.save_snapshot(connection, replace(plain_snapshot(), source="another"))
    third = store.save_snapshot(connection, plain_snapshot(cluster="other"))
    assert len({first, second, third}) == 3
    assert store.save_snapshot(connection, plain_snapshot()) == first
    for snapshot_id in (first, second, third):
        assert codec.snapshot_id(load_snapshot(connection, snapshot_id)) == snapshot_id


def test_whoever_saves_the_same_reading_a_moment_later_waits_and_leaves_nothing_behind(
    connection, dsn, monkeypatch
) -> None:
    """Both take it for new; the second one's rows go when the id turns out to be there."""
    snapshot = plain_snapshot()
    others: list[Future[str]] = []

    def save_elsewhere() -> str:
        with store.connect(dsn) as other:
            return store.save_snapshot(other, snapshot)

    def while_another_one_saves(connection, table, columns) -> int:
        if not others:
            others.append(pool.submit(save_elsewhere))
            others[0].result()  # it has begun after us and is done before us
        return original(connection, table, columns)

    original = snapshot_save.copy_columns
    with ThreadPoolExecutor(1) as pool:
        monkeypatch.setattr(snapshot_save, "copy_columns", while_another_one_saves)
        saved = store.save_snapshot(connection, snapshot)
    assert saved == others[0].result() == codec.snapshot_id(snapshot)
    keys = connection.execute("SELECT snapshot_key FROM store.snapshot").fetchall()
    assert len(keys) == 1
    for table in ("partition", "load_source", "broker_level", "group_lag"):
        assert connection.execute(f"SELECT DISTINCT snapshot_key FROM store.{table}").fetchall() == keys
    assert codec.snapshot_id(load_snapshot(connection, saved)) == saved


def test_rows_carry_the_time_of_the_reading_and_lie_in_its_week(connection) -> None:
    store.save_snapshot(connection, rich_snapshot("2026-11-20T10:00:00.123Z"))
    (moment,) = connection.execute("SELECT DISTINCT time FROM store.partition").fetchone()
    assert moment == datetime(2026, 11, 20, 10, 0, 0, 123000, UTC)
    assert connection.execute("SELECT count(*) FROM store.partition_2026w47").fetchone() == (5,)
    weeks = connection.execute("SELECT DISTINCT week_start FROM store.weeks()").fetchall()
    assert weeks == [(datetime(2026, 11, 16, tzinfo=UTC),)]


def test_a_crash_while_saving_leaves_nothing(connection, monkeypatch) -> None:
    written = []

    def crash_at_the_third_table(connection, table, columns) -> None:
        written.append(table)
        if len(written) == 3:
            raise KeyboardInterrupt
        original(connection, table, columns)

    original = snapshot_save.copy_columns
    monkeypatch.setattr(snapshot_save, "copy_columns", crash_at_the_third_table)
    with pytest.raises(KeyboardInterrupt):
        store.save_snapshot(connection, rich_snapshot())
    assert connection.execute("SELECT count(*) FROM store.snapshot").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM store.broker").fetchone() == (0,)
    monkeypatch.undo()
    load_snapshot(connection, store.save_snapshot(connection, rich_snapshot()))


@pytest.mark.parametrize("bad", ["nul \x00 byte", "lone surrogate \ud800"])
def test_text_that_postgres_cannot_hold_is_refused_with_its_table(connection, bad) -> None:
    snapshot = replace(plain_snapshot(), groups=(Group("g", members=(Member("m", client_id=bad),)),))
    with pytest.raises(store.StoreError, match="member: PostgreSQL cannot hold"):
        store.save_snapshot(connection, snapshot)
    assert connection.execute("SELECT count(*) FROM store.snapshot").fetchone() == (0,)


def test_a_time_that_is_none_is_refused(connection) -> None:
    """Whoever makes a snapshot is refused; the store never sees one."""
    with pytest.raises(InvalidSnapshotError, match="'yesterday-ish' is no time with a zone"):
        store.save_snapshot(connection, replace(plain_snapshot(), captured_at="yesterday-ish"))
    assert connection.execute("SELECT count(*) FROM store.snapshot").fetchone() == (0,)


def test_the_latest_snapshot_is_the_newest_that_the_gate_let_pass(connection) -> None:
    assert store.latest_snapshot_id(connection, "prod") is None
    old = store.save_snapshot(connection, plain_snapshot(captured_at="2026-11-20T11:00:00Z"))
    new = store.save_snapshot(connection, plain_snapshot(captured_at="2026-11-20T12:00:00Z"))
    store.save_snapshot(connection, plain_snapshot(captured_at="2026-11-20T13:00:00Z", cluster="other"))
    assert store.latest_snapshot_id(connection, "prod") == new
    store.mark_snapshot(connection, new, is_blocked=True)
    assert store.latest_snapshot_id(connection, "prod") == old
    store.mark_snapshot(connection, old, is_blocked=False)
    assert store.latest_snapshot_id(connection, "prod") == old


def test_an_unknown_snapshot_is_named(connection) -> None:
    with pytest.raises(store.StoreError, match="no snapshot nothing is stored"):
        load_snapshot(connection, "nothing")
    with pytest.raises(store.StoreError, match="no snapshot nothing is stored"):
        store.mark_snapshot(connection, "nothing", is_blocked=True)


def test_a_partition_whose_topic_is_gone_is_a_fault_of_the_store_and_is_said(connection) -> None:
    snapshot_id = store.save_snapshot(connection, rich_snapshot())
    connection.execute("DELETE FROM store.topic WHERE topic IN ('orders', 'no-partitions')")
    with pytest.raises(store.StoreError, match="a partition's topic is not among the topics of its snapshot"):
        load_snapshot(connection, snapshot_id)


def test_twenty_thousand_partitions_are_saved_and_loaded(connection) -> None:
    snapshot = plain_snapshot(20_000)
    loaded = load_snapshot(connection, store.save_snapshot(connection, snapshot))
    assert np.array_equal(loaded.partitions.replicas, snapshot.partitions.replicas)
