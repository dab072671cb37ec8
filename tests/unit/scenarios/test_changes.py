from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.scenarios.changes import (
    BrokersAdded,
    BrokersLost,
    Growth,
    Members,
    MembersLost,
    Newcomers,
    NewPartitions,
    PartitionsAdded,
    RackLost,
    TopicAdded,
    TopicRemoved,
    free_name,
    lots_of,
    spread_over_all,
    with_partitions,
    without_topics,
)
from kafka_rebalance.scenarios.scenario import Change, Scenario
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import (
    BrokerState,
    Capacity,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    LogDir,
    Member,
    Topic,
)
from tests.unit.planner.sample_clusters import brokers, cluster, row

# Racks: brokers 0 and 3 in rack-0, 1 in rack-1, 2 in rack-2.
ROWS = [
    row("orders", 0, (0, 1, 2)), row("orders", 1, (1, 2, 0), isr=(1, 0)), row("orders", 2, (0, 2, 1), isr=(0,)),
    row("trades", 0, (3, 0), size=None), row("trades", 1, (2, 3), observers=(3,)),
]  # fmt: skip
IN, MESSAGES = LoadKind.IN_BYTES_PER_S, LoadKind.IN_MESSAGES_PER_S


def today(**changes: object) -> ClusterSnapshot:
    members = (
        Member("a-1", rack="rack-0", subscription=("orders",), assigned=(("orders", (0, 1)),)),
        Member("a-2", rack="rack-1", subscription=("orders",), assigned=(("orders", (2,)),)),
    )
    group = Group("billing", members=members, coordinator=0, committed=(CommittedOffset("orders", 0, 5),))
    read = Group("audit", members=(Member("b-1", assigned=(("trades", (0, 1)),)),), coordinator=2)
    share = Group("work", type=GroupType.SHARE, members=(Member("s-1"),))
    snapshot = cluster(ROWS, brokers(4, racks=3), rates={IN: [6, 12, 12, 4, np.nan], MESSAGES: [1, 2, 3, 4, 5]})
    snapshot = replace(snapshot, groups=(group, read, Group("empty"), share))
    return replace(snapshot, **changes)


def after(*changes: Change, of: ClusterSnapshot | None = None, seed: int = 0) -> ClusterSnapshot:
    return Scenario("what if", changes).applied(today() if of is None else of, seed)


def leaders_and_isr(snapshot: ClusterSnapshot) -> list[tuple[int | None, tuple[int, ...] | None]]:
    return [(partition.leader, partition.isr) for partition in snapshot.each_partition()]


def test_a_lost_rack_leaves_leaders_to_the_next_in_sync() -> None:
    """orders-0: 1 follows 0. orders-2: only 0 was in sync: no leader. trades-0: both in the rack; trades-1:
    unchanged.
    """
    changed = after(RackLost("rack-0"))
    assert leaders_and_isr(changed) == [(1, (1, 2)), (1, (1,)), (None, (0,)), (None, (3,)), (2, (2,))]
    assert [broker.state for broker in changed.brokers] == [
        BrokerState.DEAD, BrokerState.ALIVE, BrokerState.ALIVE, BrokerState.DEAD,
    ]  # fmt: skip
    assert [[member.id for member in group.members] for group in changed.groups] == [["a-2"], ["b-1"], [], ["s-1"]]
    assert [group.coordinator for group in changed.groups] == [None, 2, None, None]
    assert [row.replicas for row in changed.each_partition()] == [row.replicas for row in ROWS]


def test_an_observer_leads_nothing_and_members_outlive_brokers() -> None:
    changed = after(BrokersLost((2, 1)))
    assert leaders_and_isr(changed) == [(0, (0,)), (0, (0,)), (0, (0,)), (3, (3, 0)), (None, (3,))]
    assert [len(group.members) for group in changed.groups] == [2, 1, 0, 1]
    # With unknown ISR the next broker in service leads.
    unknown = cluster([row("t", 0, (0, 1, 2), isr=None)], brokers(3, b1=BrokerState.FENCED))
    assert leaders_and_isr(after(BrokersLost((0,)), of=unknown)) == [(2, None)]


def test_added_brokers_are_empty_and_go_where_the_fewest_are() -> None:
    """rack-0 has two brokers, the others one: rack-1, rack-2, then rack-0 again, all having two."""
    disks = LogDir("/d", 100, 40, is_cordoned=True)
    like = replace(today().brokers[1], capacity=Capacity(disk_bytes=100), log_dirs=(disks,))
    snapshot = today(brokers=tuple(like if broker.id == 1 else broker for broker in today().brokers))
    added = after(BrokersAdded(count=3, like=1), of=snapshot).brokers[4:]
    assert [(broker.id, broker.rack, broker.state) for broker in added] == [
        (4, "rack-1", BrokerState.NEW), (5, "rack-2", BrokerState.NEW), (6, "rack-0", BrokerState.NEW),
    ]  # fmt: skip
    assert {broker.capacity for broker in added} == {like.capacity}
    assert {broker.log_dirs for broker in added} == {(LogDir("/d", 100, 100),)}
    named = after(BrokersAdded(ids=(9, 7), racks=("x",)), of=snapshot).brokers[4:]
    assert [(broker.id, broker.rack, broker.capacity) for broker in named] == [
        (9, "x", Capacity()),
        (7, "x", Capacity()),
    ]


def test_growth_is_of_topics_that_match() -> None:
    changed = after(Growth(topics="ord.*", rates=1.5, sizes=2.0))
    assert changed.load(IN).tolist()[:4] == [9.0, 18.0, 18.0, 4.0]
    assert np.isnan(changed.load(IN)[4])
    sizes = [partition.log_bytes for partition in changed.each_partition()]
    assert sizes == [(2 * 10**9,) * 3] * 3 + [(None, None), (10**9, 10**9)]


def test_new_partitions_take_their_share_of_what_is_written() -> None:
    """30 bytes/s over 3 partitions, two more: 6 each; what is stored stays. The group has read nothing of them yet."""
    changed = after(PartitionsAdded("orders", 2))
    assert changed.load(IN).tolist()[:6] == [6.0] * 5 + [4.0]
    assert changed.load(MESSAGES).tolist() == [1.2] * 5 + [4.0, 5.0]
    new = [changed.partition(number) for number in (3, 4)]
    assert [(one.partition, one.leader, one.end_offset, one.log_bytes) for one in new] == [
        (number, one.replicas[0], 0, (0, 0, 0)) for number, one in zip((3, 4), new, strict=True)
    ]
    assert all(len({changed.brokers[broker].rack for broker in one.replicas}) == 3 for one in new)  # Kafka's placement
    assert changed.partition(6).observers == (3,)  # trades-1 was in row 4
    assert [commit.partition for commit in changed.groups[0].committed] == [0, 3, 4]
    assert changed.groups[1].committed == ()


def test_a_new_topic_is_read_by_whom_it_is_for() -> None:
    """10 bytes/s and 2 GB over 4 partitions: 2.5 bytes/s and 500 MB each; message rates are unknown."""
    new = TopicAdded("alerts", 4, 2, in_bytes_per_s=10, log_bytes=2 * 10**9, groups="billing|audit")
    changed = after(new)
    assert [topic.name for topic in changed.topics] == ["orders", "trades", "alerts"]
    assert changed.load(IN).tolist()[5:] == [2.5] * 4
    assert np.isnan(changed.load(MESSAGES)[5:]).all()
    assert changed.load(LoadKind.LOG_BYTES).tolist()[5:] == [5e8] * 4
    assert [member.subscription for group in changed.groups[:2] for member in group.members] == [
        ("alerts", "orders"), ("alerts", "orders"), ("alerts", "trades"),
    ]  # fmt: skip
    assert after(TopicAdded("alerts", 1, 1)).groups == today().groups
    ids = tuple(replace(topic, topic_id="A" * 22) for topic in today().topics)
    drawn = after(new, of=today(topics=ids)).topics[2].topic_id
    assert drawn is not None
    assert len(drawn) == 22


def test_a_removed_topic_takes_its_loads_and_commits_along() -> None:
    changed = after(TopicRemoved("ord.*"))
    assert [changed.name_of(number) for number in range(len(changed.partitions))] == ["trades-0", "trades-1"]
    assert changed.load(MESSAGES).tolist() == [4.0, 5.0]
    assert changed.partition(1).observers == (3,)
    billing = changed.groups[0]
    assert billing.committed == ()
    assert [(member.subscription, member.assigned) for member in billing.members] == [(("orders",), ())] * 2


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (Members("billing", count=5), 5),
        (Members("billing", times=0.5), 1),
        (Members("billing", times=1.25), 3),  # 2.5: half a member up
        (Members("billing", times=0.0), 1),  # never none
        (Members("billing", join=3), 5),
        (Members("billing", leave=("a-1",)), 1),
        (MembersLost("billing", "rack-1"), 1),
    ],
)
def test_members_come_and_go(change: Change, wanted: int) -> None:
    members = after(change).groups[0].members
    assert len(members) == wanted
    assert after(change).groups[1:] == today().groups[1:]
    newcomers = members[2:]
    assert all(member.assigned == () and member.subscription == ("orders",) for member in newcomers)
    assert {member.rack for member in newcomers} <= {"rack-0", "rack-1"}
    assert after(change, seed=1).groups[0].members[2:] != newcomers or not newcomers


def test_changes_follow_each_other_and_say_whether_members_die() -> None:
    """A topic that one change adds grows by the next; three brokers more, one of them lost again."""
    changed = after(
        TopicAdded("alerts", 1, 1, in_bytes_per_s=4),
        Growth("alerts", rates=3),
        BrokersAdded(count=3),
        BrokersLost((5,)),
    )
    assert changed.load(IN)[-1] == 12.0
    assert [broker.state for broker in changed.brokers[4:]] == [BrokerState.NEW, BrokerState.DEAD, BrokerState.NEW]
    assert Scenario("s", (Growth(), RackLost("r"))).is_failure
    assert Scenario("s", (MembersLost(".*", "r"),)).is_failure
    assert not Scenario("s", (BrokersLost((1,)), Members(".*", join=1))).is_failure


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (RackLost("rack-9"), r"rack 'rack-9': no rack of the cluster has it; known: rack-0, rack-1, rack-2"),
        (BrokersLost((0, 8)), r"broker 8: no broker"),
        (BrokersAdded(ids=(7, 2)), r"broker 2: is in the cluster already"),
        (BrokersAdded(count=1, like=9), r"broker 9: no broker"),
        (Growth("nothing"), r"topic 'nothing': no topic of the cluster has such a name"),
        (Growth(sizes=1e6), r"bytes are no size"),
        (PartitionsAdded("nothing", 1), r"topic 'nothing'"),
        (TopicAdded("orders", 1, 1), r"topic orders: is in the cluster already"),
        (TopicAdded("alerts", 1, 5), r"topic alerts: .*InvalidReplicationFactor"),
        (TopicAdded("alerts", 1, 1, groups="empty"), r"group 'empty'"),
        (TopicRemoved("none"), r"topic 'none'"),
        (Members("empty", join=1), r"group 'empty'"),
        (Members("work", join=1), r"group 'work'"),  # a share group has no strategy
        (Members("billing", leave=("a-1", "a-2")), r"group billing: no member would be left"),
        (Members("billing", leave=("b-1",)), r"member 'b-1': no member"),
        (Members("billing", times=1e6), r"2,000,000 members are too many"),
        (MembersLost("audit", "rack-0"), r"rack 'rack-0': .*known: none"),
    ],
)
def test_a_change_that_does_not_fit_names_itself(change: Change, words: str) -> None:
    with pytest.raises(InvalidInputError, match=r"scenario what if, changes\[1\]: .*" + words):
        after(Growth(sizes=1e3), change)


def test_a_cluster_without_a_broker_has_none_to_be_like() -> None:
    dead = cluster([row("t", 0, (0,), leader=None, isr=())], brokers(1, b0=BrokerState.DEAD))
    with pytest.raises(InvalidInputError, match="no broker is in service"):
        after(BrokersAdded(count=1), of=dead)
    with pytest.raises(InvalidInputError, match="topic u: none of its partitions was seen"):
        after(PartitionsAdded("u", 1), of=replace(dead, topics=(*dead.topics, Topic("u"))))


def test_steps_that_changes_share() -> None:
    rates = np.array([6.0, 2.0, np.nan, np.nan])
    spread_over_all(rates, 2)
    assert rates.tolist() == [2.0] * 4
    assert free_name(("t", "t.new"), "t") == "t.new.new"
    members = (Member("app-1-x", instance_id="app-1", client_id="app"),)
    drawn = Newcomers(members, lots_of("g", "s", 0)).draw(2)
    assert [(like, member.instance_id) for like, member in drawn] == [(0, "app-2"), (0, "app-3")]


def test_rows_that_come_or_go_keep_what_few_others_have() -> None:
    """A row before the one that is reassigned, then its topic taken away."""
    moving = row("u", 0, (0, 1), adding=(1,), log_dirs=(0, 1), local_start_offset=7)
    snapshot = cluster([row("t", 0, (0,), log_dirs=(0,)), moving], brokers(2))
    more = with_partitions(snapshot, snapshot.topics, NewPartitions([row("t", 1, (1,))], {}))
    assert [partition.log_dirs for partition in more.each_partition()] == [(0,), (None,), (0, 1)]
    assert more.partition(2) == snapshot.partition(1)
    left = without_topics(snapshot, frozenset({"t"}))
    assert left.partition(0) == moving
    assert [topic.name for topic in left.topics] == ["u"]
