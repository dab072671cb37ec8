"""Packed rows hold what the snapshot holds, one subject a row."""

from __future__ import annotations

import json
import math

import pytest

from kafka_rebalance.snapshot.codec import read_group
from rebalance_advisor import store
from rebalance_advisor.spark.rows.arrow import (
    pack_groups,
    pack_topics,
    read_groups_packed,
    read_topics_packed,
)
from tests.sql.sample_clusters import NASTY, plain_snapshot, rich_snapshot

pytestmark = pytest.mark.stack


def known(values: list[float]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values]


def test_a_topic_is_one_row_with_its_partitions_replicas_and_loads() -> None:
    orders, offsets, nothing = pack_topics(rich_snapshot()).to_pylist()
    assert orders["topic"] == "orders"
    assert orders["partition"] == [0, 1, 5]
    assert orders["replica_count"] == [2, 2, 1]
    assert orders["replicas"] == [3, 1, 1, 2, 2]
    assert orders["leader"] == [3, 1, -1]
    assert orders["replica_log_bytes"] == [10, -1, 5, 6, -1]
    assert known(orders["log_bytes"]) == [10.0, 5.0, None]
    assert known(orders["in_bytes_per_s"]) == [0.1, 1 / 3, None]
    assert known(orders["out_bytes_per_s"]) == [None, None, None]
    assert offsets["replicas"] == [1, 3, 2, 1]
    assert nothing["partition"] == nothing["replicas"] == []


def test_a_group_is_one_row_with_its_topics_rates_and_lag() -> None:
    snapshot = rich_snapshot()
    readers, nasty, _, _, empty = pack_groups(snapshot).to_pylist()
    assert readers["group_id"] == "readers"
    assert readers["topics"] == sorted(["orders", NASTY])
    assert dict(zip(readers["topics"], readers["partition_count"], strict=True)) == {"orders": 3, NASTY: -1}
    # End offsets 2**40, 9, unknown; committed 2**40 - 5, 3, 0.
    assert known(readers["lag_messages"]) == [5, 6, None]
    assert known(readers["in_bytes_per_s"]) == [0.1, 1 / 3, None]
    # Partitions 0, 1 and 5 on brokers (3, 1), (1, 2) and (2).
    assert readers["rack_offsets"] == [0, 2, 4, 5]
    rack_of = {broker.id: broker.rack for broker in snapshot.brokers}
    assert readers["racks"] == [rack_of[broker] for broker in (3, 1, 1, 2, 2)]
    assert nasty["topics"] == empty["topics"] == []
    assert nasty["rack_offsets"] is None
    assert read_group(json.loads(readers["group"]), "readers") == snapshot.groups[0]


def test_offsets_of_one_group_do_not_leak_into_the_next() -> None:
    snapshot = plain_snapshot()
    twin = type(snapshot.groups[0])("twin", members=snapshot.groups[0].members)
    both = type(snapshot)(
        cluster="prod", brokers=snapshot.brokers, topics=snapshot.topics, partitions=snapshot.partitions,
        groups=(*snapshot.groups, twin),
    )  # fmt: skip
    readers, packed_twin = pack_groups(both).to_pylist()
    assert readers["lag_messages"] == [5] * 6
    assert known(packed_twin["lag_messages"]) == [None] * 6


def test_what_is_read_from_the_store_equals_what_is_packed_at_once(connection) -> None:
    snapshot = rich_snapshot()
    snapshot_id = store.save_snapshot(connection, snapshot)
    for read, pack in ((read_topics_packed, pack_topics), (read_groups_packed, pack_groups)):
        assert repr(read(connection, snapshot_id).to_pylist()) == repr(pack(snapshot).to_pylist())
