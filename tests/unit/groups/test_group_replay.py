from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.registry import registered
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.snapshot.model import Group, GroupType, Member
from rebalance_advisor.run_advice import SCORE_COLUMNS, score_rows


def group_input(members, counts, *, protocol="range", kind=GroupType.CLASSIC, rates=None, lag=None):
    """``counts``: topic → partitions; by default all rates are 1, without lag."""
    total = sum(max(count, 0) for count in counts.values())
    return GroupInput(
        Group("g", type=kind, protocol=protocol, state="Stable", members=tuple(members)),
        tuple(sorted(counts)),
        np.array([counts[topic] for topic in sorted(counts)], dtype=np.int32),
        PartitionRates(
            np.ones(total) if rates is None else np.array(rates, dtype=np.float64),
            np.ones(total),
            np.zeros(total) if lag is None else np.array(lag, dtype=np.float64),
        ),
    )


SINGLES = {f"t{number}": 1 for number in range(6)}
ALL = tuple((topic, (0,)) for topic in SINGLES)


def one_reads_all(**changes):
    return group_input([Member("m1", assigned=ALL), Member("m2"), Member("m3")], SINGLES, **changes)


def assumed(first, last, *differing):
    spans = (("Kafka", first, last),)
    return fact(FactCode.ANSWER_OF_RELEASES, releases=spans, basis=None, differing=differing)


def releases(replay):
    """Return the releases of today's own strategy."""
    return replay.today.version.args["releases"]


def test_range_on_single_partition_topics_gives_all_to_the_first_and_round_robin_is_advised():
    replay = replay_group(one_reads_all())
    assert replay.basis is SubscriptionBasis.ALL_ALIKE
    assert replay.is_reproduced
    assert (replay.today.skew_count, replay.today.idle_members, replay.today.is_current) == (3.0, 2, True)
    robin = replay.score("roundrobin")
    assert (robin.skew_count, robin.idle_members, robin.partitions_moved) == (1.0, 0, 4)
    assert robin.moved_rate_ratio == 4 / 6
    assert replay.advised == "roundrobin"
    assert [score.assignor for score in replay.scores if score.is_advised] == ["roundrobin"]


def test_the_own_strategy_is_one_row_that_says_which_version_gives_todays_assignment():
    replay = replay_group(one_reads_all())
    assert [score.assignor for score in replay.scores] == [
        "range", "roundrobin", "sticky", "cooperative-sticky", "weighted", "consumer/uniform", "consumer/range",
    ]  # fmt: skip
    assert replay.today.version == fact(
        FactCode.GIVES_TODAY,
        releases=(("Kafka", "3.5", "4.4"),),
        differing=(),
        alike=(),
        keeps_even=False,
        basis=None,
        is_rackless=False,
    )
    assert replay.score("roundrobin").version == assumed("2.4", "4.4")


def test_an_old_version_is_recognised_by_its_answer():
    # Before 2.4 range ordered members by id; since then static ones come first.
    static = Member("z", instance_id="pod", assigned=(("t", (2,)),))
    dynamic = Member("a", assigned=(("t", (0, 1)),))
    replay = replay_group(group_input([static, dynamic], {"t": 3}))
    assert releases(replay) == (("Kafka", "0.9", "2.3"),)
    swapped = [Member("z", instance_id="pod", assigned=(("t", (0, 1)),)), Member("a", assigned=(("t", (2,)),))]
    assert releases(replay_group(group_input(swapped, {"t": 3}))) == (("Kafka", "3.5", "4.4"),)


def test_members_of_today_and_of_the_advised_assignment_are_told():
    replay = replay_group(one_reads_all(rates=[1, 2, 3, 4, 5, 6], lag=[0, 0, 0, 0, 0, 9]))
    today = [member for member in replay.members if member.is_current]
    advised = [member for member in replay.members if member.is_advised]
    assert [(m.member_id, m.partitions, m.in_bytes_per_s, m.lag_messages) for m in today] == [
        ("m1", 6, 21.0, 9), ("m2", 0, 0.0, 0), ("m3", 0, 0.0, 0),
    ]  # fmt: skip
    assert [(m.partitions, m.in_bytes_per_s) for m in advised] == [(2, 1.0 + 4), (2, 2.0 + 5), (2, 3.0 + 6)]
    assert replay.lag_seconds == 9 / 6  # each partition is written to once a second
    assert replay_group(group_input([], {"t": 2}, lag=[3, 1])).lag_seconds == 2.0


def test_the_seconds_behind_are_stored_with_todays_row_alone():
    replay = replay_group(one_reads_all(lag=[0, 0, 0, 0, 0, 9]), scenarios=("rolling_restart",))
    stored = [row[SCORE_COLUMNS.index("lag_seconds")] for row in score_rows(replay)]
    assert stored == [9 / 6] + [None] * (len(replay.scores) + len(replay.scenarios) - 1)


def test_two_services_under_one_group_id_are_seen_by_what_they_read():
    members = [
        Member("a1", assigned=(("orders", (0, 1)),)), Member("a2", assigned=(("orders", (2, 3)),)),
        Member("b1", assigned=(("audit", (0,)),)), Member("b2", assigned=(("audit", (1,)),)),
    ]  # fmt: skip
    replay = replay_group(group_input(members, {"orders": 4, "audit": 2}))
    assert replay.basis is SubscriptionBasis.AS_READ
    assert replay.is_reproduced
    assert replay.advised is None


def test_given_subscriptions_count_and_are_not_guessed():
    members = [
        Member("a", subscription=("t0", "t1"), assigned=(("t0", (0,)), ("t1", (0,)))),
        Member("b", subscription=("t1",), assigned=(("t1", (1,)),)),
    ]
    replay = replay_group(group_input(members, {"t0": 1, "t1": 2}))
    assert replay.basis is SubscriptionBasis.GIVEN
    assert replay.is_reproduced
    assert replay.score("roundrobin").skew_count == pytest.approx(2 / 1.5)


def test_an_assignment_that_its_strategy_would_not_give_is_said_and_nothing_is_advised():
    odd = group_input([Member("m1", assigned=ALL[:5]), Member("m2", assigned=ALL[5:]), Member("m3")], SINGLES)
    replay = replay_group(odd)
    assert replay.is_reproduced is False
    assert replay.today.version is None
    assert replay.score("range").skew_count == 3.0
    assert replay.advised is None


def test_a_strategy_that_is_less_even_by_count_is_never_advised_for_its_rates():
    # Sticky shares by count; round robin's order would by luck even out the rates, range's too, but not their counts.
    members = [Member("m1", assigned=(("t", (0, 1)), ("u", (0,)))), Member("m2", assigned=(("t", (2,)), ("u", (1, 2))))]
    replay = replay_group(group_input(members, {"t": 3, "u": 3}, protocol="sticky", rates=[9, 9, 1, 1, 1, 1]))
    assert replay.is_reproduced
    assert replay.score("range").skew_count > replay.today.skew_count
    assert replay.advised != "range"


def test_a_group_whose_coordinator_assigns_is_advised_the_coordinators_other_strategy():
    replay = replay_group(one_reads_all(kind=GroupType.CONSUMER))
    assert [score.assignor for score in replay.scores] == ["range", "uniform", "weighted"]
    assert replay.score("uniform").skew_count == 1.0
    assert replay.advised == "uniform"
    assert [score.assignor for score in replay.scores if score.is_advised] == ["uniform"]
    assert {member.assignor for member in replay.members if member.is_advised} == {"uniform"}


def consumer_group(version, protocol="uniform", **assigned):
    members = [Member(name, subscription=("t", "u"), assigned=runs) for name, runs in assigned.items()]
    asked = group_input(members, {"t": 3, "u": 2}, protocol=protocol, kind=GroupType.CONSUMER)
    return replace(asked, kafka_version=version)


def test_the_coordinators_uniform_is_that_of_the_brokers_version():
    first_has_more = {"a": (("t", (0, 1, 2)),), "b": (("u", (0, 1)),)}
    assert releases(replay_group(consumer_group("4.3", **first_has_more))) == (("Kafka", "4.0.1", "4.4"),)
    # A fresh group of 3.9 looks like 4.0.0's answer; members keep permitted partitions.
    assert releases(replay_group(consumer_group("3.9", **first_has_more))) == (("Kafka", "3.8", "3.9"),)
    unknown = replay_group(consumer_group(None, a=(("t", (0, 1, 2)), ("u", (0, 1))), b=()))
    assert unknown.score("uniform").version == assumed("4.0.1", "4.4")


@pytest.mark.parametrize("version", ["4.5.0", "4.5-IV0", "5.0"])
def test_brokers_newer_than_all_that_were_tried_are_answered_as_the_newest_which_is_assumed(version):
    """b had everything, and a joined: the newest gives it half, wherever it is."""
    given = {"a": (), "b": (("t", (0, 1, 2)), ("u", (0, 1)))}
    newer, newest = (replay_group(consumer_group(asked, **given)) for asked in (version, "4.4.0"))
    basis = fact(FactCode.ASSUMED, basis=fact(FactCode.RELEASE_OF_BROKERS, release=version))
    for strategy, first in (("uniform", "4.0.1"), ("range", "3.9")):
        row, tried = newer.score(strategy), newest.score(strategy)
        spans = (("Kafka", first, "4.4"),)
        assert row.version == fact(FactCode.ANSWER_OF_RELEASES, releases=spans, basis=basis, differing=())
        assert tried.version.args["basis"] == fact(FactCode.RELEASE_OF_BROKERS, release="4.4.0")
        assert replace(row, version=tried.version) == tried


def test_the_previews_uniform_answers_members_that_subscribe_to_different_topics():
    asked = consumer_group("3.9", a=(("t", (0, 1, 2)),), b=(("u", (0, 1)),))
    first, second = asked.group.members
    members = (replace(first, subscription=("t",)), second)
    replay = replay_group(replace(asked, group=replace(asked.group, members=members)))
    assert (replay.today.version.code, releases(replay)) == (FactCode.GIVES_TODAY, (("Kafka", "3.8", "3.9"),))
    assert replay.is_reproduced


def test_what_is_not_modelled_is_said_and_not_answered():
    old = replay_group(consumer_group("3.7", a=(), b=()))
    assert [score.error for score in old.scores[1:3]] == [
        fact(FactCode.STRATEGY_NOT_MODELLED, strategy=strategy, modelled_since="3.8")
        for strategy in ("uniform", "range")
    ]


def test_topics_that_do_not_exist_are_hidden_from_the_coordinators_strategies():
    members = [
        Member("a", subscription=("t", "gone"), assigned=(("t", (0, 1)),)),
        Member("b", subscription=("t", "gone")),
    ]
    replay = replay_group(group_input(members, {"t": 2, "gone": -1}, protocol="range", kind=GroupType.CONSUMER))
    assert {row.assignor: row.error for row in replay.scores} == {"range": None, "uniform": None, "weighted": None}
    assert replay.score("uniform").idle_members == 0


def test_a_sticky_group_keeps_what_it_has_and_a_member_without_work_gets_some():
    settled = [Member("a", assigned=(("t", (0, 3)),)), Member("b", assigned=(("t", (1, 2)),))]
    for protocol in ("sticky", "cooperative-sticky"):
        assert replay_group(group_input(settled, {"t": 4}, protocol=protocol)).is_reproduced
    joined = replay_group(group_input([*settled, Member("c")], {"t": 4}, protocol="roundrobin"))
    assert joined.score("sticky").partitions_moved == joined.score("cooperative-sticky").partitions_moved == 1


def test_where_releases_answer_otherwise_that_is_said():
    members = [Member("z", instance_id="pod", assigned=(("t", (0,)),)), Member("a", assigned=(("t", (1, 2)),))]
    replay = replay_group(group_input(members, {"t": 3}, protocol="sticky"))
    assert replay.score("range").version == assumed("3.5", "4.4", ("Kafka", "0.9", "2.3"))


def test_weighted_levels_rates_and_is_nothing_that_a_client_could_be_told_to_set():
    heavy = [Member("a", assigned=(("t", (0, 1)),)), Member("b", assigned=(("t", (2, 3)),))]
    replay = replay_group(group_input(heavy, {"t": 4}, rates=[8, 8, 1, 1]))
    assert replay.score("weighted").skew_rate == 1.0
    assert replay.advised != "weighted"


@pytest.mark.parametrize("kind", [GroupType.SHARE, GroupType.STREAMS])
def test_groups_whose_assignment_cannot_be_replayed_have_todays_row_alone(kind):
    assert [score.is_current for score in replay_group(one_reads_all(kind=kind)).scores] == [True]


def test_a_regular_expression_is_no_empty_subscription():
    members = [
        Member("a", subscription=(), subscribed_regex="t.*", assigned=(("t", (0, 1)),)),
        Member("b", assigned=()),
    ]
    replay = replay_group(group_input(members, {"t": 2}, kind=GroupType.CONSUMER, protocol="uniform"))
    assert replay.basis is SubscriptionBasis.ALL_ALIKE
    assert replay.score("uniform").skew_count == 1.0


def test_unknown_rates_leave_the_count_to_decide():
    replay = replay_group(one_reads_all(rates=[1, 2, float("nan"), 4, 5, 6]))
    assert replay.today.skew_rate is None
    assert replay.today.moved_rate_ratio is None
    assert replay.advised == "roundrobin"


def test_an_empty_group_has_todays_row_and_nothing_else():
    replay = replay_group(group_input([], {}, protocol=None))
    assert (replay.today.members, replay.today.partitions, replay.today.assignor) == (0, 0, "unknown")
    assert (replay.members, replay.advised, len(replay.scores)) == ((), None, 1)


def test_a_topic_that_is_not_in_the_cluster_is_left_out_of_shares():
    members = [Member("a", assigned=(("t", (0, 1)),)), Member("b", assigned=(("gone", (0, 1)), ("t", (2,))))]
    replay = replay_group(group_input(members, {"t": 3, "gone": -1}))
    assert replay.today.partitions == 3
    assert replay.today.skew_count == 2 / 1.5


def in_racks(members, racks):
    """Topic t: partition i has one replica, in ``racks[i]``."""
    plain = group_input(members, {"t": len(racks)})
    starts = np.arange(len(racks) + 1)
    return GroupInput(plain.group, plain.topics, plain.partition_counts, plain.rates, starts, racks)


def test_racks_of_members_and_replicas_reach_range():
    members = [Member("a", rack="r1", assigned=(("t", (1,)),)), Member("b", rack="r0", assigned=(("t", (0,)),))]
    assert releases(replay_group(in_racks(members, ("r0", "r1")))) == (("Kafka", "3.5", "4.4"),), "only it swaps them"


def test_a_group_whose_replicas_changed_racks_is_not_taken_for_an_old_release():
    """t-0 was in r1 and t-1 in r0 when 3.5 assigned by rack; range before 3.5 gives the same by chance."""
    members = [Member("a", rack="r1", assigned=(("t", (0,)),)), Member("b", rack="r0", assigned=(("t", (1,)),))]
    then, now = (replay_group(in_racks(members, racks)) for racks in (("r1", "r0"), ("r0", "r1")))
    assert [(releases(item), item.is_reproduced) for item in (then, now)] == [((("Kafka", "3.5", "4.4"),), True)] * 2
    assert [item.today.version.args["is_rackless"] for item in (then, now)] == [False, True]
    assert now.today.version.args["differing"] == ()
    # An answer of no class, with racks or without, stays unexplained; members without racks show their release.
    both = [Member("a", rack="r1", assigned=(("t", (0, 1)),)), Member("b", rack="r0")]
    assert not replay_group(in_racks(both, ("r0", "r1"))).is_reproduced
    old = [Member("a", rack="r1", instance_id="z", assigned=(("t", (0,)),)),
           Member("b", rack="r0", instance_id="y", assigned=(("t", (1,)),))]  # fmt: skip
    assert releases(replay_group(in_racks(old, ("r0", "r1")))) == (("Kafka", "0.9", "2.3"),)


def test_the_same_question_gives_the_same_answer():
    first, second = (replay_group(one_reads_all()) for _ in range(2))
    assert (first.scores, first.members) == (second.scores, second.members)


class InTurn:
    """Custom: partitions in turn, as round robin."""

    name = "in-turn"

    def assign_members(self, members, topics):
        pairs = [(topic.name, p) for topic in topics for p in range(topic.partitions)]
        return {member.id: pairs[i :: len(members)] for i, member in enumerate(members)}


class HalfRead(InTurn):
    """It leaves every second partition unassigned."""

    name = "half-read"

    def assign_members(self, members, topics):
        return {member: pairs[::2] for member, pairs in super().assign_members(members, topics).items()}


def test_what_is_registered_is_a_row_of_every_group_that_a_strategy_divides():
    with registered(InTurn(), HalfRead()):
        plain, server = replay_group(one_reads_all()), replay_group(one_reads_all(kind=GroupType.CONSUMER))
        share, held = replay_group(one_reads_all(kind=GroupType.SHARE)), replay_group(one_reads_all(), ())
    for replay in (plain, server):
        row, half = replay.score("in-turn"), replay.score("half-read")
        version = fact(FactCode.ANSWER_OF_ASSIGNOR, versions="", gives_today=False)
        assert (row.error, row.version, row.skew_count, row.partitions_moved) == (None, version, 1.0, 4)
        assert (half.error.args["error"], half.skew_count) == ("Unread", None)
        assert "t3-0, t4-0, t5-0" in half.error.args["message"]
    assert [replay.score("in-turn") for replay in (share, held)] == [None, None]
    assert replay_group(one_reads_all()).score("in-turn") is None


def test_a_group_that_runs_ones_own_strategy_is_recognised_by_its_answer_and_may_be_told_another():
    dealt = [Member("a", assigned=(("t", (0, 2)),)), Member("b", assigned=(("t", (1,)),))]
    with registered(InTurn(), HalfRead()):
        today = replay_group(group_input(dealt, {"t": 3}, protocol="in-turn")).today
        assert today.version == fact(FactCode.ANSWER_OF_ASSIGNOR, versions="", gives_today=True)
        advised = replay_group(one_reads_all(), ("in-turn", "range"))
        assert (advised.advised, advised.score("in-turn").is_advised) == ("in-turn", True)
        broken = replay_group(group_input(dealt, {"t": 3}, protocol="half-read"))
    assert (broken.is_reproduced, broken.advised) == (False, None)
    assert broken.score("half-read").error.args["error"] == "Unread"
