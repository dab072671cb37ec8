from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.scenarios.changes import (
    BrokersAdded,
    BrokersLost,
    Growth,
    Members,
    PartitionsAdded,
    RackLost,
    TopicAdded,
    TopicRemoved,
    can_change,
    groups_with_members,
    matching,
    require_known,
    require_pattern,
)
from kafka_rebalance.scenarios.scenario import Change, Scenario
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_to_document
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot, Group, Member
from tests.properties.any_cluster import any_case
from tests.sample import for_each

CASES = 25


def any_snapshot(seed: int) -> ClusterSnapshot:
    """A cluster of any kind, with a group that reads it."""
    snapshot = any_case(seed).snapshot
    racks = [broker.rack for broker in snapshot.brokers] or [None]
    members = tuple(
        Member(f"m-{number}", rack=racks[number % len(racks)], subscription=tuple(t.name for t in snapshot.topics))
        for number in range(1 + seed % 7)
    )
    return replace(snapshot, groups=(Group("g", members=members),))


def applied(change: Change, snapshot: ClusterSnapshot, seed: int = 0) -> ClusterSnapshot | None:
    """The resulting snapshot; None where the change does not fit."""
    before = snapshot_to_document(snapshot)
    try:
        changed = Scenario("s", (change,)).applied(snapshot, seed)
    except InvalidInputError:
        return None
    finally:
        assert snapshot_to_document(snapshot) == before
    document = snapshot_to_document(changed)
    assert snapshot_to_document(snapshot_from_document(document)) == document
    assert snapshot_to_document(Scenario("s", (change,)).applied(snapshot, seed)) == document
    return changed


def total(snapshot: ClusterSnapshot, kind: LoadKind) -> float:
    return float(np.nansum(snapshot.load(kind)))


def partitions_of(document: dict[str, Any]) -> list[Any]:
    return [topic["partitions"] for topic in document["topics"]]


@for_each("seed", range(CASES))
def test_promises_of_brokers(seed: int) -> None:
    """Nothing is led where brokers are lost, and leaders elsewhere stay; new brokers hold nothing."""
    snapshot = any_snapshot(seed)
    draw = np.random.default_rng(seed)
    for broker in snapshot.brokers:
        changed = applied(BrokersLost((broker.id,)), snapshot)
        assert changed is not None
        table, before = changed.partitions, snapshot.partitions
        assert not (table.leader == broker.id).any()
        stays = before.leader != broker.id
        assert (table.leader[stays] == before.leader[stays]).all()
        assert (table.replicas == before.replicas).all()
        for number in np.flatnonzero(~stays).tolist():
            was, now = snapshot.partition(number), changed.partition(number)
            able = [other for other in was.isr or () if other != broker.id and other not in was.observers]
            assert now.leader == (able[0] if able else None)
            assert now.isr == (tuple(other for other in was.isr or () if other != broker.id) or (broker.id,))
    for rack in {broker.rack for broker in snapshot.brokers if broker.rack is not None}:
        changed = applied(RackLost(rack), snapshot)
        assert changed is not None
        lost = [broker.id for broker in snapshot.brokers if broker.rack == rack]
        assert not np.isin(changed.partitions.leader, lost).any()
        assert all(member.rack != rack for member in changed.groups[0].members)
    count = int(draw.integers(1, 4))
    added = applied(BrokersAdded(count=count), snapshot)
    if added is None:
        assert not any(broker.state.is_responsive for broker in snapshot.brokers)
        return
    new = [broker.id for broker in added.brokers if broker.id not in {known.id for known in snapshot.brokers}]
    assert len(new) == count
    assert not np.isin(added.partitions.replicas, new).any()
    assert {broker.state for broker in added.brokers if broker.id in new} == {BrokerState.NEW}
    assert partitions_of(snapshot_to_document(added)) == partitions_of(snapshot_to_document(snapshot))


@for_each("seed", range(CASES))
def test_promises_of_loads_and_topics(seed: int) -> None:
    """Growth by 1 changes nothing; more partitions carry as much; a topic that comes and goes leaves nothing."""
    snapshot = any_snapshot(seed)
    if not snapshot.topics:
        assert applied(Growth(), snapshot) is None
        return
    same, document = applied(Growth(), snapshot), snapshot_to_document(snapshot)
    assert same is not None
    assert snapshot_to_document(same) == document
    topic = snapshot.topics[seed % len(snapshot.topics)].name
    more = applied(PartitionsAdded(topic, 1 + seed % 5), snapshot)
    if more is not None:
        assert len(more.partitions) == len(snapshot.partitions) + 1 + seed % 5
        if not any(np.isnan(column.values).any() for column in snapshot.loads.columns.values()):
            for kind in snapshot.loads.columns:
                assert total(more, kind) == pytest.approx(total(snapshot, kind), rel=1e-12)
        known = snapshot.partitions.replica_log_bytes.clip(0).sum()
        assert more.partitions.replica_log_bytes.clip(0).sum() == known
        rows = [more.partition(number) for number in range(len(more.partitions))]
        assert [row for row in rows if row in list(snapshot.each_partition())] == list(snapshot.each_partition())
    added = applied(TopicAdded("brand-new", 3, 1, in_bytes_per_s=3.0, groups="g"), snapshot, seed)
    if added is not None:
        gone = applied(TopicRemoved("brand-new"), added)
        assert gone is not None
        assert snapshot_to_document(gone) | {"groups": []} == document | {"groups": []}
    removed = applied(TopicRemoved(".*"), snapshot)
    assert removed is not None
    assert len(removed.partitions) == 0


@for_each("seed", range(CASES))
def test_promises_of_members(seed: int) -> None:
    """The requested number; remaining members are unchanged, and newcomers have new ids."""
    snapshot = any_snapshot(seed)
    today = snapshot.groups[0].members
    for wanted in (1, len(today), 3 * len(today) + 1):
        changed = applied(Members("g", count=wanted), snapshot, seed)
        assert changed is not None
        members = changed.groups[0].members
        assert len({member.id for member in members}) == wanted
        assert [member for member in members if member in today] == list(members[: min(wanted, len(today))])
    assert can_change(snapshot.groups[0])
    assert groups_with_members(snapshot, "g") == {"g"}


def test_names_that_are_there() -> None:
    assert matching("topic", "a.", ["ab", "abc", "ac"]) == {"ab", "ac"}
    require_pattern("here", "a|b")
    require_known("broker", (1, 2), (2, 1))
    with pytest.raises(InvalidInputError, match=r"here: '[*]' is no regular expression"):
        require_pattern("here", "*")
