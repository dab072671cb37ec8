from __future__ import annotations

import random
from dataclasses import replace

import pytest

from kafka_rebalance.advisory.advisory import rollover_steps
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.findings.group_rules import group_advice
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.idle_causes import IdleCause, find_idle_reason
from kafka_rebalance.groups.motion import MotionCode, motion_of
from kafka_rebalance.snapshot.model import CommittedOffset, Group, GroupType, Member
from tests.unit.findings.sample_clusters import cluster, explained, findings_of, replays, striped

ADVICE = (
    "idle_members", "assignor_uneven", "server_assignor_uneven", "uneven_by_rate", "group_hot_partition",
    "mixed_clients", "rollover_half_done", "server_uniform_may_throw", "static_members_partly", "static_membership",
    "cross_rack_reads", "sticky_endless", "shared_offsets", "mixed_static_members", "leader_may_crash",
)  # fmt: skip
MOVING = {
    "PreparingRebalance": MotionCode.REBALANCING,
    "PREPARING_REBALANCE": MotionCode.REBALANCING,
    "CompletingRebalance": MotionCode.REBALANCING,
    "AwaitingSync": MotionCode.REBALANCING,
    "Assigning": MotionCode.ASSIGNING,
    "Reconciling": MotionCode.RECONCILING,
    "Dead": MotionCode.DEAD,
    "Unknown": MotionCode.UNKNOWN_STATE,
    "Odd": MotionCode.UNKNOWN_STATE,
}
ROWS = striped("t", 6)


def reads(*partitions, topic="t"):
    return ((topic, partitions),) if partitions else ()


def group(*members, state="Stable", protocol="range", **changes):
    return Group("g", protocol=protocol, state=state, members=members, **changes)


def codes(*groups, rows=ROWS):
    return {
        code
        for finding in explained(cluster(rows, groups=groups))
        for code in (finding.code, *(symptom.code for symptom in finding.symptoms))
    }


@pytest.mark.parametrize("state", MOVING)
def test_each_state_of_motion_is_named_and_nothing_is_judged(state):
    moving = group(Member("m1", assigned=reads(0, 1, 2, 3, 4, 5)), Member("m2"), Member("m3"), state=state)
    assert {"idle_members", "assignor_uneven"} & codes(replace(moving, state="Stable"))
    assert motion_of(moving).code is MOVING[state]
    (finding,) = findings_of(cluster(ROWS, groups=[moving]), "group_in_motion")
    assert (finding.evidence["state"], finding.evidence["members"]) == (state, 3)
    assert not codes(moving) & set(ADVICE)


def test_a_group_without_state_is_judged_unless_no_member_reads_what_it_committed():
    commits = tuple(CommittedOffset("t", number, 900) for number in range(6))
    still = group(Member("m1", assigned=reads(0, 1, 2)), Member("m2", assigned=reads(3, 4, 5)), state=None,
                  committed=commits)  # fmt: skip
    assert motion_of(still) is None
    unread = replace(still, members=(Member("m1"), Member("m2")), protocol=None)
    (finding,) = findings_of(cluster(ROWS, groups=[unread]), "group_in_motion")
    assert finding.evidence["motion"] == "rebalancing"
    assert (finding.recommendation.code, finding.recommendation.args["state"]) == (FactCode.NOT_JUDGED, None)
    assert motion_of(replace(unread, state="Stable")) is None
    assert motion_of(replace(unread, members=())) is None


def test_members_that_hold_and_that_wait_are_named_and_the_target_tells_subscriptions():
    first = Member("m1", assigned=reads(0, 1, 2, 3, 4, 5), target=reads(0, 1, 2))
    waits = Member("m2", target=reads(3, 4, 5))
    moving = group(first, waits, state="Reconciling", protocol="uniform", type=GroupType.CONSUMER)
    (finding,) = findings_of(cluster(ROWS, groups=[moving]), "group_in_motion")
    assert finding.severity is Severity.MEDIUM
    assert (finding.evidence["members_that_hold"], finding.evidence["members_that_wait"]) == (("m1",), ("m2",))
    (replay,) = replays(cluster(ROWS, groups=[moving]))
    assert (replay.today.skew_count, replay.today.least_skew_count, replay.today.idle_members) == (2.0, 1.0, None)
    assert motion_of(replace(moving, state=None)).code is MotionCode.RECONCILING
    assert motion_of(replace(moving, members=(replace(first, target=None), replace(waits, target=None)), state=None,
                             generation=3, assignment_epoch=2)).code is MotionCode.ASSIGNING  # fmt: skip


def test_between_two_cooperative_rounds_is_proved_by_what_members_owned():
    first = Member("m1", owned=reads(0, 1, 2, 3, 4, 5), assigned=reads(0, 1, 2))
    between = group(first, Member("m2", owned=()), protocol="cooperative-sticky")
    assert motion_of(between).code is MotionCode.BETWEEN_ROUNDS
    assert motion_of(replace(between, protocol="range")) is None
    assert motion_of(replace(between, members=(first, Member("m2", assigned=reads(3, 4, 5))))) is None
    unproved = replace(between, members=(replace(first, owned=None), Member("m2")))
    assert motion_of(unproved) is None


def test_members_known_by_their_numbers_are_not_judged():
    counted = group(Member("m1", partition_count=3), Member("m2", partition_count=3))
    (finding,) = findings_of(cluster(ROWS, groups=[counted]), "group_assignments_unknown")
    assert finding.recommendation.args["partition_counts"] == (3, 3)
    assert not codes(counted) & set(ADVICE)
    (replay,) = replays(cluster(ROWS, groups=[counted]))
    assert (replay.today.members, replay.today.idle_members, replay.today.skew_count) == (2, 0, 1.0)
    assert [member.partitions for member in replay.members] == [3, 3]
    (state_only,) = replays(cluster(ROWS, groups=[group(member_count=5)]))
    assert (state_only.today.members, state_only.today.idle_members, state_only.today.skew_count) == (5, None, None)
    assert group_advice(state_only, group(member_count=5)).args["members"] == 5


def causes(*members, rows=ROWS, **changes):
    findings = findings_of(cluster(rows, groups=[group(*members, **changes)]), "idle_members")
    return [(finding.evidence["cause"], finding.evidence["advised_assignor"]) for finding in findings]


def test_the_cause_of_idle_members_decides_the_advice():
    each = [Member(f"m{number}", assigned=reads(number)) for number in range(6)]
    assert causes(*each, Member("m7")) == [(IdleCause.FEWER_PARTITIONS, None)]
    two = striped("t", 6) + striped("u", 6)
    joined = [Member(f"m{number}", assigned=reads(number) + reads(number, topic="u")) for number in range(6)]
    ((cause, better),) = causes(*joined, Member("m7"), Member("m8"), rows=two)
    assert (cause, better) == (IdleCause.OTHER_ASSIGNOR, "sticky")
    clients = [replace(member, client_id="rdkafka", id=f"rdkafka-{member.id}") for member in (*joined, Member("m7"))]
    assert causes(*clients, rows=two, client="librdkafka") == [(IdleCause.OTHER_ASSIGNOR, "roundrobin")]
    halves = [Member("m1", assigned=reads(0, 1, 2)), Member("m2", assigned=reads(3, 4, 5))]
    assert causes(*halves, Member("m3")) == [(IdleCause.SUBSCRIPTION_UNKNOWN, None)]
    given = [replace(member, subscription=("t",)) for member in halves]
    assert causes(*given, Member("m3", subscription=("typo",))) == [(IdleCause.SUBSCRIPTION_DIFFERS, None)]
    both = [
        Member("m1", subscription=("a",), assigned=reads(0, topic="a")),
        Member("m2", subscription=("a", "t"), assigned=reads(1, topic="a")),
        Member("m3", subscription=("t",)),
    ]
    rows = striped("a", 2) + ROWS
    asked = cluster(rows, groups=[group(*both, client="kafkajs", protocol="RoundRobinAssigner")])
    (replay,), (group_input,) = replays(asked), group_inputs(asked)
    assert find_idle_reason(replay, group_input).cause is IdleCause.CLIENT_IGNORES_TOPICS
    hidden = [replace(member, subscription=None) for member in both]
    deals = {"client": "kafkajs", "protocol": "RoundRobinAssigner"}
    commits = (CommittedOffset("a", 0, 5), CommittedOffset("t", 0, 5))
    assert causes(*hidden, rows=rows, committed=commits, **deals) == [(IdleCause.CLIENT_IGNORES_TOPICS, None)]
    assert causes(*hidden, rows=rows, committed=commits[:1], **deals) == [(IdleCause.FEWER_PARTITIONS, None)]


def test_no_bound_holds_where_a_subscription_is_not_known():
    idle = group(Member("m1", assigned=reads(0, 1, 2)), Member("m2", assigned=reads(3, 4, 5)), Member("m3"))
    (replay,) = replays(cluster(ROWS, groups=[idle]))
    assert (replay.today.idle_members, replay.today.least_skew_count) == (1, None)


def random_group(draw, number):
    topics = [("t", 6), ("u", 3), ("v", 1)]
    members = []
    for index in range(draw.randrange(0, 9)):
        subscription = draw.choice([None, ("t",), ("t", "u"), ("u", "v"), ("nowhere",), ()])
        members.append(
            Member(f"m{index}", subscription=subscription, client_id=draw.choice([None, "rdkafka", "kafkajs"]),
                   instance_id=draw.choice([None, f"pod-{index}"]), is_classic=draw.choice([None, True, False]))
        )  # fmt: skip
    given = {member.id: {} for member in members}
    owned = {member.id: {} for member in members}
    target = {member.id: {} for member in members}
    for topic, count in topics:
        for partition in range(count):
            for held, chance in ((given, 0.9), (owned, 0.8), (target, 0.9)):
                if members and draw.random() < chance:
                    held[draw.choice(members[: draw.randrange(1, len(members) + 1)]).id].setdefault(topic, []).append(
                        partition
                    )

    def runs(held):
        return tuple((topic, tuple(partitions)) for topic, partitions in sorted(held.items()))

    if draw.random() < 0.4 and members:  # one topic, dealt evenly to some of the members
        few = draw.randrange(1, len(members) + 1)
        members = [replace(member, subscription=draw.choice([None, ("t",)])) for member in members]
        shares = [reads(*range(location, 6, few)) if location < few else () for location in range(len(members))]
        dealt = tuple(replace(member, assigned=share) for member, share in zip(members, shares, strict=True))
        return Group(f"g{number}", protocol=draw.choice(["range", "own", "roundrobin"]), state="Stable", members=dealt)
    is_new, is_owned, is_counted = draw.random() < 0.3, draw.random() < 0.7, draw.random() < 0.15
    members = [
        replace(
            member,
            assigned=() if is_counted else runs(given[member.id]),
            partition_count=sum(map(len, given[member.id].values())) if is_counted else None,
            owned=runs(owned[member.id]) if is_owned else None,
            target=draw.choice([runs(target[member.id]), runs(given[member.id])])
            if is_new and not is_counted
            else None,
        )
        for member in members
    ]
    return Group(
        f"g{number}",
        type=GroupType.CONSUMER if is_new else draw.choice([GroupType.CLASSIC, GroupType.UNKNOWN]),
        protocol=draw.choice(["uniform", "range"] if is_new else [None, "range", "cooperative-sticky"]),
        state=draw.choice([None, "Stable", "Stable", "Stable", "Empty", *MOVING]),
        members=tuple(members),
        member_count=draw.choice([None, None, None, len(members), len(members) + 2]),
        committed=tuple(CommittedOffset("t", number, 900) for number in range(draw.choice([0, 6]))),
    )


def test_random_groups_get_no_advice_in_motion_and_fewer_members_only_where_partitions_are_fewer():
    draw = random.Random(34)
    rows = striped("t", 6) + striped("u", 3) + striped("v", 1)
    counts = {"t": 6, "u": 3, "v": 1}
    seen = dict.fromkeys([*MotionCode, *IdleCause], 0)
    for number in range(200):
        asked = random_group(draw, number)
        snapshot = cluster(rows, groups=[asked])
        (replay,) = replays(snapshot)
        findings = [
            result for cause in explained(snapshot) for result in (cause, *cause.symptoms) if result.subject == asked.id
        ]
        motion = motion_of(asked)
        if asked.state in MOVING:
            assert motion.code is MOVING[asked.state]
        if motion is not None:
            seen[motion.code] += 1
            assert not {result.code for result in findings} & set(ADVICE), asked
            assert replay.advised is None
            assert not any(row.is_advised for row in replay.scores)
            assert replay.today.idle_members is None or motion.code is MotionCode.NOT_SHOWN
            assert rollover_steps(replay, asked, None) == ()
            if motion.members:
                assert group_advice(replay, asked, findings).code is FactCode.NOT_JUDGED
                assert {result.code for result in findings} & {"group_in_motion", "group_assignments_unknown"}
            continue
        for finding in findings:
            if finding.code != "idle_members":
                continue
            seen[IdleCause(finding.evidence["cause"])] += 1
            if finding.evidence["cause"] != IdleCause.FEWER_PARTITIONS:
                continue
            told_all = all(member.subscription is not None for member in asked.members)
            read = {topic for member in asked.members for topic, _ in member.assigned}
            read |= {topic for member in asked.members for topic in member.subscription or ()} & counts.keys()
            can = [
                set(member.subscription or ()) & counts.keys() if told_all or member.subscription is not None else read
                for member in asked.members
            ]
            idle = [topics for member, topics in zip(asked.members, can, strict=True) if not member.assigned]
            topics = set().union(*idle)
            assert sum(counts[topic] for topic in topics) < sum(bool(topics & mine) for mine in can), asked
    assert all(seen[code] for code in MotionCode), seen
    assert all(seen[cause] for cause in (IdleCause.FEWER_PARTITIONS, IdleCause.SUBSCRIPTION_UNKNOWN)), seen


def test_a_group_of_which_only_the_name_is_known_is_not_called_empty():
    named = Group("g", type=GroupType.CONSUMER)
    (replay,) = replays(cluster(ROWS, groups=[named]))
    assert replay.today.idle_members is None
    advice = group_advice(replay, named)
    assert (advice.code, advice.args["motion"], advice.args["members"]) == (FactCode.NOT_JUDGED, "not_shown", 0)
    for seen in (replace(named, state="Empty"), replace(named, committed=(CommittedOffset("t", 0, 5),))):
        (replay,) = replays(cluster(ROWS, groups=[seen]))
        assert replay.today.idle_members == 0
        assert group_advice(replay, seen) == fact(FactCode.NO_CHOICE, kind="empty", see=())


def test_another_assignor_for_idle_members_comes_with_its_setting_and_its_cost():
    two = striped("t", 6) + striped("u", 6)
    joined = [Member(f"m{number}", assigned=reads(number) + reads(number, topic="u")) for number in range(6)]
    clients = [replace(item, client_id="rdkafka", id=f"rdkafka-{item.id}") for item in (*joined, Member("m7"))]
    (finding,) = findings_of(cluster(two, groups=[group(*clients, client="librdkafka")]), "idle_members")
    settings = (("partition.assignment.strategy", "roundrobin", "librdkafka", False),)
    assert finding.recommendation.args["why"].args["setting"] == fact(FactCode.SET_STRATEGY, settings=settings)
    assert finding.cost.args["way"] == fact(FactCode.NAME_BOTH_STRATEGIES)


def test_fewer_tasks_of_a_sink_are_asked_by_the_setting_of_its_connector():
    tasks = [
        Member(f"connector-consumer-s-{number}", client_id=f"connector-consumer-s-{number}", assigned=reads(number))
        for number in range(6)
    ]
    idle = Member("connector-consumer-s-6", client_id="connector-consumer-s-6")
    (finding,) = findings_of(cluster(ROWS, groups=[group(*tasks, idle)]), "idle_members")
    assert finding.recommendation.args["why"].args["is_sink"]


def test_where_the_client_has_no_other_assignor_the_cause_is_the_joined_topics_or_the_assignor_itself():
    rows = striped("t", 2) + striped("u", 2)
    client = "app-1f-StreamThread-1-consumer"
    joined = [
        Member(f"m{number}", client_id=client, assigned=reads(number) + reads(number, topic="u")) for number in (0, 1)
    ]
    idle = Member("m2", client_id="consumer-3")
    assert causes(*joined, idle, rows=rows) == [(IdleCause.CO_PARTITIONED, None)]
    given = [replace(member, subscription=("t", "u")) for member in (*joined, idle)]
    assert causes(*given, rows=rows, protocol="their-own") == [(IdleCause.OWN_ASSIGNOR, None)]
