"""A stored snapshot comes back equal, once, whole or not at all, and fast."""

from __future__ import annotations

import random
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from kafka_assignors.connect_work import Work
from kafka_rebalance.errors import InvalidSnapshotError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot import codec
from kafka_rebalance.snapshot.group import ConnectWorker, Subtopology, Tasks
from kafka_rebalance.snapshot.model import (
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    Member,
    Partition,
    Topic,
    partition_table,
)
from rebalance_advisor import store
from rebalance_advisor.store import snapshot_save
from rebalance_advisor.store.snapshot_load import load_snapshot
from tests.coverage_gaps import gap_of
from tests.sql.sample_clusters import plain_snapshot, rich_snapshot

pytestmark = pytest.mark.stack


@pytest.mark.parametrize("captured_at", ["2026-11-20T10:00:00.123Z", "2019-01-01T00:00:00+05:30", None])
def test_a_snapshot_comes_back_equal_in_every_field(connection, captured_at) -> None:
    snapshot = rich_snapshot(captured_at)
    loaded = load_snapshot(connection, store.save_snapshot(connection, snapshot))
    assert codec.snapshot_to_document(loaded) == codec.snapshot_to_document(snapshot)
    assert codec.snapshot_id(loaded) == codec.snapshot_id(snapshot)


def test_random_groups_come_back_equal_whatever_is_unknown_of_them(connection) -> None:
    draw = random.Random(34)
    drawn: dict[type, set[str]] = {Group: set(), Member: set()}
    for case in range(25):
        groups = tuple(_drawn_group(draw, f"g-{number}") for number in range(draw.randint(1, 6)))
        if case % 2:
            snapshot = replace(plain_snapshot(), source=f"case {case}", groups=groups)
        else:  # a group table alone: partitions without a replica, and no broker
            rows = [Partition("orders", number, (), None, end_offset=draw.choice((None, 7))) for number in range(4)]
            snapshot = ClusterSnapshot(
                f"alone-{case}", (), (Topic("orders"),), partition_table(rows, {"orders": 0}), groups, source="dumps",
                coverage=(gap_of("cluster", "alone", FactCode.LACKS_PLACEMENT, "no kafka-topics dump"),),
            )  # fmt: skip
        loaded = load_snapshot(connection, store.save_snapshot(connection, snapshot))
        assert loaded.groups == snapshot.groups, case
        assert codec.snapshot_id(loaded) == codec.snapshot_id(snapshot), case
        for item in (*groups, *(member for group in groups for member in group.members)):
            drawn[type(item)] |= {part.name for part in fields(item) if getattr(item, part.name) not in (None, (), {})}
        counts = connection.execute(
            "SELECT member.assigned IS NULL, member.assigned_count FROM store.member JOIN store.snapshot "
            "USING (snapshot_key) WHERE snapshot_id = %s ORDER BY group_id, position",
            [codec.snapshot_id(snapshot)],
        ).fetchall()
        members = [member for group in groups for member in group.members]
        shown = [sum(len(numbers) for _, numbers in member.assigned) for member in members]
        reported = [member.partition_count for member in members]
        assert counts == [
            (not count and bool(stated), count if stated is None else stated)
            for count, stated in zip(shown, reported, strict=True)
        ], case
    assert drawn == {kind: {part.name for part in fields(kind)} for kind in drawn}  # a new field is drawn here, too


def _drawn_group(draw: random.Random, name: str) -> Group:
    members = tuple(_drawn_member(draw, f"m-{number}") for number in range(draw.randint(0, 4)))
    return Group(
        name, draw.choice(list(GroupType)), draw.choice(("consumer", "connect", "")),
        *(_or_none(draw, word) for word in ("range", "Stable")), _or_none(draw, draw.randint(0, 9)),
        _or_none(draw, draw.randint(1, 3)), members,
        tuple(CommittedOffset("orders", n, draw.randint(0, 50)) for n in range(draw.randint(0, 3))),
        _or_none(draw, 3), draw.choice(((), (Subtopology("0", ("orders",)),))), draw.choice(({}, {"a": "b"})),
        _or_none(draw, "java"), _or_none(draw, "3.7.0"),
        _or_none(draw, len(members) + draw.randint(0, 3)),
    )  # fmt: skip


def _drawn_member(draw: random.Random, name: str) -> Member:
    runs = draw.choice(((), (("orders", tuple(range(draw.randint(1, 4)))),)))
    return Member(
        name, *(_or_none(draw, f"{name}-{word}") for word in ("instance", "client", "host", "rack")),
        _or_none(draw, ("orders",)), _or_none(draw, "ord.*"), _or_none(draw, runs), runs, _or_none(draw, runs),
        _or_none(draw, 4), _or_none(draw, b"\x00"), _or_none(draw, "odd"), draw.choice((None, False, True)),
        _or_none(draw, "p"), _or_none(draw, Tasks((("0", (1,)),))), _or_none(draw, Tasks()), _or_none(draw, 3),
        _or_none(draw, draw.randint(0, 5)), *(_or_none(draw, (("0", ((1, draw.getrandbits(40)),)),)) for _ in range(2)),
        _or_none(draw, ConnectWorker(version=2, url="u", joined_with=Work(("c",)))),
    )  # fmt: skip


def _or_none(draw: random.Random, value: object) -> Any:
    return value if draw.random() < 0.5 else None


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
    (moment,) = connection.execute("SELECT DISTINCT captured_at FROM store.partition").fetchone()
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
