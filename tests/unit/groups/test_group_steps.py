from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.groups.group_input import GroupInput, group_inputs, known_ids, lag_and_reads, topics_of
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.member_clients import strategies_of
from kafka_rebalance.groups.strategies import candidates
from kafka_rebalance.groups.subscriptions import SubscriptionBasis, hypotheses, request_of
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import ClusterSnapshot, CommittedOffset, Group, GroupType, Member, Topic
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from tests.unit.planner.sample_clusters import brokers, cluster, row


def asked(
    members: list[Member], counts: dict[str, int], *, protocol: str = "range", rates: list[float] | None = None
) -> GroupInput:
    """``counts``: topic → partitions; all rates 1 by default."""
    total = sum(max(count, 0) for count in counts.values())
    in_bytes = np.ones(total) if rates is None else np.array(rates, dtype=np.float64)
    return GroupInput(
        Group("g", protocol=protocol, state="Stable", members=tuple(members)), tuple(sorted(counts)),
        np.array([counts[topic] for topic in sorted(counts)], dtype=np.int32),
        PartitionRates(in_bytes, np.ones(total), np.zeros(total)),
    )  # fmt: skip


def test_columns_have_a_value_for_each_partition_that_there_is() -> None:
    with pytest.raises(InvalidInputError, match=r"group g, in_bytes_per_s.*3 values for 2 partitions"):
        asked([], {"t": 2, "gone": -1}, rates=[1, 1, 1])
    assert asked([], {"t": 2, "a": -1, "u": 3}).first_row.tolist() == [0, 0, 2, 5]


def test_who_reads_what_the_cluster_has() -> None:
    """Partitions that do not exist have no reader; of two readers the last one counts."""
    members = [
        Member("a", assigned=(("t", (0, 1)), ("gone", (0,)))),
        Member("b", assigned=(("t", (1, 2)), ("u", (0,)))),
    ]
    assert asked(members, {"t": 2, "u": 2}).reader.tolist() == [0, 1, 1, -1]
    assert topics_of(Group("g", members=(*members, Member("c", subscription=("z",), owned=(("y", (0,)),))))) == (
        "gone", "t", "u", "y", "z",
    )  # fmt: skip


ROWS = [
    row("t", 0, (0, 1), start_offset=0, end_offset=100), row("t", 1, (1, 2), end_offset=0),
    row("u", 0, (2, 0)), row("v", 0, (0, 2), end_offset=50),
]  # fmt: skip


def with_group(group: Group, ids: tuple[str | None, ...] = (None, None, None)) -> ClusterSnapshot:
    snapshot = replace(cluster(ROWS, brokers(3, racks=3)), groups=(group,), kafka_version="4.1.0")
    topics = tuple(Topic(topic.name, topic_id=known) for topic, known in zip(snapshot.topics, ids, strict=True))
    rates = LoadColumn(np.array([1.0, 2.0, 3.0, 4.0]), LoadSource.GIVEN)
    return replace(snapshot, topics=topics, loads=PartitionLoads({LoadKind.IN_BYTES_PER_S: rates}))


def test_a_groups_input_is_what_the_snapshot_holds_of_its_topics() -> None:
    """t and v are read; u is not. Committed 90 of 100, 5 of 0 (nothing is behind), nothing of v."""
    members = (Member("a", rack="r", assigned=(("v", (0,)),)), Member("b", assigned=(("t", (0, 1)),)))
    commits = (CommittedOffset("t", 0, 90), CommittedOffset("t", 1, 5), CommittedOffset("u", 0, 1))
    group = Group("g", protocol="range", state="Stable", members=members, committed=commits)
    (group_input,) = group_inputs(with_group(group, ("A" * 22, None, "B" * 22)))
    assert (group_input.topics, group_input.partition_counts.tolist(), group_input.kafka_version) == (
        ("t", "v"),
        [2, 1],
        "4.1.0",
    )
    assert group_input.rates.in_bytes_per_s.tolist() == [1, 2, 4]
    assert np.array_equal(group_input.rates.lag_messages, [10, 0, np.nan], equal_nan=True)
    assert np.isnan(group_input.rates.in_messages_per_s).all()
    assert group_input.topic_ids == ("A" * 22, "B" * 22)
    assert group_input.rack_offsets is not None
    assert (group_input.rack_offsets.tolist(), group_input.racks) == (
        [0, 2, 4, 6], ("rack-0", "rack-1", "rack-1", "rack-2", "rack-0", "rack-2"),
    )  # fmt: skip
    (bare,) = group_inputs(with_group(replace(group, members=(members[1], Member("c", subscription=("nowhere",))))))
    assert (bare.topics, bare.partition_counts.tolist()) == (("nowhere", "t"), [-1, 2])
    assert (bare.rack_offsets, bare.racks, bare.topic_ids) == (None, (), ())
    assert known_ids(["a", None]) == ()
    assert known_ids(["a", "b"]) == ("a", "b")
    unknown_end = lag_and_reads(with_group(replace(group, committed=(CommittedOffset("u", 0, 1),))), replace(
        group, committed=(CommittedOffset("u", 0, 1),)), np.array([2, 3]))  # fmt: skip
    assert np.isnan(unknown_end).all()


RELEASES: dict[str | None, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "3.7.9": ((), ()),
    "3.8.0": (("server-uniform@3.8",), ("server-range@3.8",)),
    "3.9": (("server-uniform@3.8",), ("server-range",)),
    "4.0.0": (("server-uniform@4.0.0",), ("server-range",)),
    "4.0": (("server-uniform", "server-uniform@4.0.0"), ("server-range",)),
    "4.0.1": (("server-uniform",), ("server-range",)),
    "4.1.0-rc1": (("server-uniform",), ("server-range",)),
    "4.1.0": (("server-uniform",), ("server-range",)),
    "5.0": (("server-uniform",), ("server-range",)),
    None: (("server-uniform", "server-uniform@4.0.0"), ("server-range",)),
    "3.9-IV0": (("server-uniform@3.8",), ("server-range",)),
    "7.6.0-ccs": (("server-uniform", "server-uniform@4.0.0"), ("server-range",)),
    "trunk": (("server-uniform", "server-uniform@4.0.0"), ("server-range",)),
}


@pytest.mark.parametrize("version", RELEASES)
def test_the_coordinators_strategies_are_those_of_its_release(version: str | None) -> None:
    uniform, server_range, own = candidates(GroupType.CONSUMER, "consumer", version)
    assert (uniform.releases, server_range.releases) == RELEASES[version]
    assert (uniform.is_server, server_range.is_server, own.is_server) == (True, True, True)
    assert bool(uniform.modelled_since) is (version == "3.7.9")
    assert bool(server_range.modelled_since) is (not server_range.releases)


def test_a_clients_strategies_run_in_the_client() -> None:
    classic = candidates(GroupType.CLASSIC, "consumer", "4.1.0")
    assert [item.name for item in classic if item.is_server] == ["consumer/uniform", "consumer/range"]
    older = candidates(GroupType.CLASSIC, "consumer", "3.9.1")  # brokers before 4.0 take no classic group over
    assert not any(item.is_server for item in older)
    range_, robin, sticky, cooperative, own = classic[:5]
    assert (range_.releases[0], range_.compared) == ("range", range_.releases[1:])
    assert (robin.compared, own.releases) == (("roundrobin@2.0",), ("weighted",))
    # Some of sticky's many lines are tried, those of 2.x only for a group that runs it.
    assert sticky.releases[:2] == ("sticky", "sticky@3.0")
    assert "sticky@2.0" in sticky.releases
    assert (sticky.compared, cooperative.compared) == (("sticky@3.0",), ("cooperative-sticky@3.0",))
    assert candidates(GroupType.UNKNOWN, "consumer", "4.1.0") == classic
    assert candidates(GroupType.STREAMS, "consumer", None) == candidates(GroupType.CLASSIC, "", None) == ()


def test_two_services_are_a_hypothesis_only_where_two_members_read_a_topic() -> None:
    alone = asked([Member("a", assigned=(("t", (0, 1)),)), Member("b", assigned=(("u", (0,)),))], {"t": 2, "u": 1})
    assert hypotheses(alone) == [(SubscriptionBasis.ALL_ALIKE, ((0, 1), (0, 1)))]
    two = [
        Member("a", assigned=(("t", (0,)),)),
        Member("b", assigned=(("t", (1,)),)),
        Member("c", assigned=(("u", (0,)),)),
    ]
    assert hypotheses(asked(two, {"t": 2, "u": 1})) == [
        (SubscriptionBasis.ALL_ALIKE, ((0, 1), (0, 1), (0, 1))), (SubscriptionBasis.AS_READ, ((0,), (0,), (1,))),
    ]  # fmt: skip
    changed_members = [replace(member, subscription=("u", "t")) for member in two]
    assert hypotheses(asked(changed_members, {"t": 2, "u": 1})) == [(SubscriptionBasis.GIVEN, ((1, 0), (1, 0), (1, 0)))]
    half = asked([changed_members[0], *two[1:]], {"t": 2, "u": 1})
    assert hypotheses(half)[0] == (SubscriptionBasis.ALL_ALIKE, ((1, 0), (0, 1), (0, 1)))


def test_a_strategy_hears_of_subscribed_topics_and_of_what_members_hold() -> None:
    """Topic b is not subscribed, c is not in the cluster: its partitions are hidden, and so are the rates of b."""
    members = [Member("m", subscription=("a", "c"), assigned=(("a", (1, 5)), ("b", (0,))))]
    given = asked(members, {"a": 2, "b": 3, "c": -1}, rates=[7, 8, 1, 1, 1])
    request = request_of(given, ((0, 2),))
    assert request.topics.partition_counts.tolist() == [2, -1, -1]
    assert request.members.subscription_offsets.tolist() == [0, 2]
    server = request_of(given, ((0, 2),), is_server=True)
    assert server.members.subscription_offsets.tolist() == [0, 1]
    bare = asked([Member("m", subscription=("a", "z"))], {"a": 2, "z": 0})  # z is there, and has no partition
    assert request_of(bare, ((0, 1),), is_server=True).members.subscription_offsets.tolist() == [0, 2]


SINGLES = {f"t{number}": 1 for number in range(4)}


def first_reads(*topics: str) -> list[Member]:
    """The first of two members reads these, the second the rest."""
    rest = tuple((topic, (0,)) for topic in SINGLES if topic not in topics)
    return [Member("m1", assigned=tuple((topic, (0,)) for topic in topics)), Member("m2", assigned=rest)]


def test_another_strategy_is_advised_from_a_quarter_less_on() -> None:
    """All four topics at the first member: 2.0 times the mean, and 1.0 with any other strategy."""
    all_at_first = asked(first_reads(*SINGLES), SINGLES)
    assert replay_group(all_at_first).advised == "roundrobin"
    assert replay_group(all_at_first, least_gain=2.0).advised == "roundrobin"
    assert replay_group(all_at_first, least_gain=2.0 + 1e-9).advised is None
    assert {score.assignor for score in replay_group(all_at_first, ["sticky"]).scores} == {"range", "sticky"}
    assert replay_group(all_at_first, ["sticky"]).advised == "sticky"
    ours = replay_group(all_at_first).score("weighted")
    assert ours is not None
    assert ours.version is not None
    assert ours.version.code is FactCode.ANSWER_OF_ASSIGNOR


def test_of_strategies_that_are_alike_the_one_that_moves_least_is_advised() -> None:
    """Rates 1, 1, 1, 1.05: all level within a twentieth; sticky moves two partitions, as round robin does."""
    almost = asked(first_reads(*SINGLES), SINGLES, rates=[1, 1, 1, 1.05])
    replay = replay_group(almost)
    moved = {score.assignor: score.partitions_moved for score in replay.scores[1:] if score.skew_count == 1.0}
    assert replay.advised is not None
    assert moved[replay.advised] == min(count for name, count in moved.items() if name != "weighted")


def test_rates_decide_where_all_are_known_and_nothing_is_read_without_them() -> None:
    silent = replay_group(asked(first_reads(*SINGLES), SINGLES, rates=[0, 0, 0, 0]))
    assert (silent.today.skew_rate, silent.today.skew_count, silent.advised) == (0.0, 2.0, None)
    heavy = replay_group(asked(first_reads(*SINGLES), SINGLES, rates=[9, 1, 1, 1]))
    assert heavy.today.skew_rate == 2.0
    assert heavy.advised is None or heavy.score(heavy.advised).skew_rate <= 2.0 / 1.25


def test_a_strategy_of_ones_own_is_one_more_row() -> None:
    replay = replay_group(asked(first_reads(*SINGLES), SINGLES), ["metaq-default", "range"])
    assert [score.assignor for score in replay.scores] == ["range", "metaq-default"]  # today's row is of range


def test_rates_of_another_number_of_partitions_are_refused() -> None:
    given = asked(first_reads(*SINGLES), SINGLES)
    few = np.ones(len(given.rates.in_bytes_per_s) - 1)
    for name in ("in_bytes_per_s", "in_messages_per_s", "lag_messages"):
        with pytest.raises(InvalidInputError, match=name):
            replace(given, rates=replace(given.rates, **{name: few}))


def test_threads_of_kafka_streams_take_no_assignor_but_their_own() -> None:
    java = Member("m0", client_id="consumer-g-1", assigned=(("t", (0,)),))
    streams = Member("m1", client_id="app-8a-StreamThread-1-consumer", assigned=(("t", (1,)),))
    assert "range" in strategies_of(Group("g", members=(java,)))
    assert strategies_of(Group("g", members=(streams,))) == frozenset()
    assert strategies_of(Group("g", members=(java, streams))) == frozenset()
