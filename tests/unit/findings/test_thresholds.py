from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_rebalance.amounts import counted, listed
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.broker_rules import preferred_leaders
from kafka_rebalance.findings.context import (
    NOTHING,
    BrokerEffect,
    FindingContext,
    Remedy,
    effects_of,
    finding,
    outcome_for,
)
from kafka_rebalance.findings.finding import CODES, Confidence, Finding, Severity, SubjectType, rank
from kafka_rebalance.findings.plan_outcome import plan_cost, plan_evidence, plan_outcome
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.plans.plan import Cost, Move, MoveKind, Plan, ResourceOutcome, Verdict
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    CommittedOffset,
    Group,
    LogDir,
    Member,
    Partition,
)
from tests.unit.findings.sample_clusters import brokers, cluster, findings_of, striped

EVEN = striped("t", 12)  # 600 bytes, 6 replicas and 2 leaders on each of six brokers


def changed(number: int, **fields: object) -> list[Partition]:
    return [replace(row, **fields) if row.partition == number else row for row in EVEN]  # type: ignore[arg-type]


def test_the_registry_says_what_each_code_is_about() -> None:
    assert CODES["hot_partition"].subject_type is SubjectType.PARTITION
    assert {code: dict(entry.thresholds) for code, entry in CODES.items() if entry.thresholds} == {
        "broker_disk_over_share": {"over_share_ratio": 1.10},
        "broker_disk_full": {"used_ratio": 0.85, "critical_used_ratio": 0.90},
        "log_dir_full": {"used_ratio": 0.85, "critical_used_ratio": 0.90},
        "broker_rate_over_share": {"over_share_ratio": 1.10},
        "leaders_piled_up": {"over_share_ratio": 1.25},
        "leaders_over_share": {"over_share_ratio": 1.25},
        "preferred_leaders_off": {"off_ratio": 0.05},
        "preferred_order_uneven": {"over_share_ratio": 1.25},
        "topic_on_few_brokers": {
            "least_traffic_ratio": 0.10, "least_partitions": 6, "leader_share_ratio": 0.9,
            "leader_brokers_ratio": 0.34, "replica_brokers_ratio": 0.5, "high_traffic_ratio": 0.25,
        },
        "single_broker_rack": {"over_mean_ratio": 1.25},
        "broker_loss_overloads": {"over_capacity_ratio": 1.0, "high_ratio": 1.25},
        "rack_loss_overloads": {"over_capacity_ratio": 1.0, "high_ratio": 1.25},
        "hot_partition": {"share_of_broker_mean_ratio": 0.25, "times_topic_median_ratio": 3.0},
        "assignor_uneven": {"skew_gain_ratio": 1.25},
        "dead_static_member": {"times_others_lag_ratio": 10.0},
        "coordinator_piled_up": {"over_share_ratio": 2.0, "chance_ratio": 0.01},
        "lag_growing": {"read_ratio": 0.9},
        "lag_concentrated": {
            "times_others_lag_ratio": 10.0, "least_lag_messages": 1000.0, "share_of_lag_ratio": 0.5,
            "behind_seconds": 60.0, "medium_behind_seconds": 600.0,
        },
        "partition_not_read": {"behind_seconds": 300.0, "least_waiting_messages": 20.0},
        "read_without_joining": {"behind_seconds": 300.0},
        "uneven_per_topic": {"times_even_ratio": 2.0, "most_count_ratio": 1.25},
        "idle_members": {"medium_idle_ratio": 0.25},
        "uneven_by_rate": {"skew_gain_ratio": 1.5, "medium_gain_ratio": 2.0},
        "group_hot_partition": {"times_mean_ratio": 2.0, "medium_share_ratio": 0.5},
        "server_assignor_uneven": {"skew_gain_ratio": 1.25},
        "share_group_behind": {"behind_seconds": 600.0},
        "streams_threads_idle": {"medium_idle_ratio": 0.25},
        "streams_no_standby": {"least_state_ratio": 0.001, "medium_state_ratio": 0.01},
        "streams_tasks_uneven": {"least_difference": 2.0, "most_mean_ratio": 1.25, "medium_mean_ratio": 2.0},
        "static_membership": {"unread_seconds": 60.0, "saved_ratio": 0.5},
        "cross_rack_reads": {"same_rack_more_ratio": 0.2, "medium_more_ratio": 0.5},
    }  # fmt: skip


def test_the_worst_stands_first_then_the_greatest_gain_then_the_key() -> None:
    def of(severity: Severity, gain: float, subject: str) -> Finding:
        return finding("dead_broker", severity, subject, {}, Remedy("do", gain=gain))

    order = [
        of(Severity.CRITICAL, 0.1, "9"), of(Severity.HIGH, 0.9, "2"), of(Severity.HIGH, 0.5, "1"),
        of(Severity.HIGH, 0.5, "3"), of(Severity.MEDIUM, 1.0, "1"), of(Severity.LOW, 1.0, "1"),
        of(Severity.INFO, 1.0, "1"), of(Severity.OK, 1.0, "1"),
    ]  # fmt: skip
    assert rank(order[::-1]) == tuple(order)
    assert [of(Severity.LOW, gain, "1").gain for gain in (-0.5, 0.25, 1.5)] == [0.0, 0.25, 1.0]
    assert order[0].finding_key == "dead_broker:broker:9"


def test_of_like_gains_the_cheaper_comes_first_bytes_before_changes() -> None:
    """A gain counts in hundredths: 0.904 and 0.896 are alike, 0.894 is less."""
    plain = Finding("idle_members", Severity.LOW, SubjectType.GROUP, "a", {}, "", gain=0.9)
    order = [
        replace(plain, subject="z", gain=0.896), replace(plain, subject="c", gain=0.904, cost_changes=5),
        replace(plain, subject="b", cost_changes=6), replace(plain, cost_bytes=1.0), replace(plain, gain=0.894),
    ]  # fmt: skip
    assert rank(order[::-1]) == tuple(order)


@pytest.mark.parametrize(
    ("extra", "severity"),
    [(133, None), (134, Severity.LOW), (399, Severity.LOW), (400, Severity.MEDIUM), (1199, Severity.MEDIUM),
     (1200, Severity.HIGH)],
)  # fmt: skip
def test_disk_over_its_share(extra: int, severity: Severity | None) -> None:
    """Broker 0 has 600 + x bytes; each replica counts with its leader's size in the share, so that is 600 + x / 2."""
    findings = findings_of(cluster(changed(0, log_bytes=(100 + extra, 100, 100))), "broker_disk_over_share")
    assert [item.severity for item in findings] == ([] if severity is None else [severity])
    if findings:
        assert findings[0].evidence["fair_share_disk_bytes"] == pytest.approx(600 + extra / 2)


def test_a_share_of_disks_with_a_size_is_told_in_bytes() -> None:
    """As above with 400 bytes more, on disks of 2,000: a share of 800 bytes, 200 above it, a quarter."""
    disks = dict.fromkeys(range(6), Capacity(disk_bytes=2000))
    (result,) = findings_of(
        cluster(changed(0, log_bytes=(500, 100, 100)), of=brokers(capacity=disks)), "broker_disk_over_share"
    )
    assert (result.severity, result.evidence["capacity_disk_bytes"]) == (Severity.MEDIUM, 2000)
    assert result.evidence["fair_share_disk_bytes"] == pytest.approx(800)
    assert result.recommendation.args["outcome"] == fact(FactCode.MOVE_BYTES_AWAY, excess_bytes=pytest.approx(200))
    assert result.cost == fact(FactCode.COPIES_BYTES, copied_bytes=pytest.approx(200), is_least=True)


@pytest.mark.parametrize(
    ("used", "severity"),
    [(849, None), (850, Severity.HIGH), (899, Severity.HIGH), (900, Severity.CRITICAL)],
)
def test_a_disk_that_is_nearly_full(used: int, severity: Severity | None) -> None:
    dirs = {0: (LogDir("/a", 1000, 1000 - used),)} | dict.fromkeys(range(1, 6), (LogDir("/a", 1000, 800),))
    findings = findings_of(cluster(EVEN, of=brokers(log_dirs=dirs)), "broker_disk_full")
    assert [item.severity for item in findings] == ([] if severity is None else [severity])
    if findings:
        mean = (used + 5 * 200) / 6000
        assert findings[0].evidence == {
            "used_bytes": used, "total_bytes": 1000, "used_ratio": used / 1000, "cluster_used_ratio": mean,
            "least_seconds_to_full": None,
        }  # fmt: skip
        assert findings[0].gain == pytest.approx((used / 1000 - mean) / (used / 1000))
        assert findings[0].cost == fact(FactCode.COPIES_BYTES, copied_bytes=pytest.approx(used - 1000 * mean))


def test_a_cluster_that_is_just_nearly_full_has_nowhere_to_move_to() -> None:
    full = dict.fromkeys(range(6), Capacity(disk_bytes=600 / 0.85))
    findings = findings_of(cluster(EVEN, of=brokers(capacity=full)), "broker_disk_full")
    assert {item.recommendation.args["is_cluster_full"] for item in findings} == {True}
    assert {item.cost_bytes for item in findings} == {0.0}


def off(count: int, of: int) -> list[Partition]:
    """``count`` of ``of`` partitions are led by the second of their replicas."""
    return [replace(row, leader=row.replicas[1]) if row.partition < count else row for row in striped("t", of)]


@pytest.mark.parametrize(
    ("count", "of", "severity"),
    [(1, 20, Severity.LOW), (1, 21, None), (2, 20, Severity.MEDIUM), (2, 21, Severity.LOW), (1, 1, Severity.MEDIUM)],
)
def test_leaders_that_are_off(count: int, of: int, severity: Severity | None) -> None:
    findings = findings_of(cluster(off(count, of)), "preferred_leaders_off")
    assert [item.severity for item in findings] == ([] if severity is None else [severity])
    if findings:
        assert (findings[0].evidence["off_partitions"], findings[0].evidence["partitions"]) == (count, of)
        assert findings[0].cost == fact(FactCode.CHANGES_LEADERS, leaders=count)


def test_brokers_that_lead_nothing_though_they_are_preferred_are_named() -> None:
    """Broker 1 is preferred for partitions 1 and 7, and leads none; broker 0 leads two of its own and no more."""
    rows = [replace(row, leader=2) if row.replicas[0] == 1 else row for row in EVEN]
    (result,) = findings_of(cluster(rows), "preferred_leaders_off")
    assert result.evidence["brokers_that_lead_nothing"] == (1,)
    (result,) = findings_of(cluster(rows, of=brokers(7)), "preferred_leaders_off")
    assert result.evidence["brokers_that_lead_nothing"] == (1,)  # 6 holds nothing that it could lead
    assert result.recommendation.args["idle_brokers"] == (1,)
    (one_off,) = findings_of(cluster(off(1, 12)), "preferred_leaders_off")
    assert one_off.evidence["brokers_that_lead_nothing"] is None
    assert "plan_elected_partitions" not in one_off.evidence
    assert (one_off.recommendation.args["way"], one_off.recommendation.args["elected_by_plan"]) == ("elect_all", 0)


def test_leaders_pile_up_at_five_quarters_of_the_share() -> None:
    """Of 24 partitions each of six brokers leads four; broker 0 takes one from broker 5: five."""
    rows = [replace(row, leader=0) if row.partition == 5 else row for row in striped("t", 24)]
    (result,) = findings_of(cluster(rows), "leaders_piled_up")
    assert (result.severity, result.evidence["over_share_ratio"]) == (Severity.MEDIUM, 1.25)
    assert (result.evidence["preferred_leaders"], result.evidence["taken_over_leaders"], result.gain) == (4, 1, 1.0)
    thirty = [replace(row, leader=0) if row.partition == 5 else row for row in striped("t", 30)]
    assert findings_of(cluster(thirty), "leaders_piled_up") == []
    twice = [replace(row, leader=0) if row.replicas[0] in (4, 5) else row for row in EVEN]
    (result,) = findings_of(cluster(twice), "leaders_piled_up")
    assert (result.severity, result.evidence["over_share_ratio"]) == (Severity.HIGH, 3)
    # Two led over the share of two, one of which was taken over and one of its own given away: half of the excess.
    rows = [
        replace(row, leader={5: 0, 4: 0, 0: 1}[row.partition]) if row.partition in (0, 4, 5) else row for row in EVEN
    ]
    (result,) = [item for item in findings_of(cluster(rows), "leaders_piled_up") if item.subject == "0"]
    assert (result.evidence["leaders"], result.evidence["taken_over_leaders"], result.gain) == (3, 2, 1.0)


def test_the_gain_of_an_election_is_the_part_of_the_excess_that_was_taken_over() -> None:
    """Broker 0 leads four where two are its share, one of them for broker 5: the election takes half of the excess."""
    rows = [replace(row, replicas=(0, 1, 2), leader=0) if row.partition == 1 else row for row in EVEN]
    rows = [replace(row, leader=0) if row.partition == 5 else row for row in rows]
    (result,) = findings_of(cluster(rows), "leaders_piled_up")
    assert (result.severity, result.evidence["taken_over_leaders"], result.gain) == (Severity.HIGH, 1, 0.5)


def test_the_preferred_leader_is_the_first_that_remains_and_is_no_observer() -> None:
    rows = [
        Partition("t", 0, (1, 2, 3), 1, (1, 2, 3)), Partition("t", 1, (1, 2, 3), 1, (1, 2, 3), removing=(1,)),
        Partition("t", 2, (1, 2, 3), 2, (2, 3), observers=(1,)), Partition("t", 3, (1, 2), 2, (2,), observers=(1, 2)),
    ]  # fmt: skip
    snapshot = cluster(rows)
    assert preferred_leaders(FindingContext(snapshot, score_cluster(snapshot), [])).tolist() == [1, 2, 2, 1]


@pytest.mark.parametrize(("of_3", "is_told"), [(10, False), (11, True)])
def test_one_coordinator_of_more_groups_than_chance_gives(of_3: int, is_told: bool) -> None:
    """Ten groups elsewhere. Poisson: P(≥ 10 of 20/6) = 0.00236, any of six 0.0141; P(≥ 11 of 21/6), any: 0.0061."""
    elsewhere = [0, 1, 2, 4, 5] * 2
    groups = [
        Group(f"g{number}", protocol="range", state="Stable", coordinator=broker)
        for number, broker in enumerate([3] * of_3 + elsewhere)
    ]
    findings = findings_of(cluster(EVEN, groups=groups), "coordinator_piled_up")
    assert bool(findings) is is_told
    if findings:
        mean = (of_3 + 10) / 6
        assert findings[0].gain == pytest.approx(1 - mean / of_3)
        assert findings[0].evidence["over_share_ratio"] == pytest.approx(of_3 / mean)
        assert (findings[0].severity, findings[0].evidence["fair_share_groups"]) == (Severity.LOW, mean)


def test_less_than_twice_its_share_is_no_pile_however_unlikely() -> None:
    """119 of 360 groups where 60 are expected: beyond all chance, but 1.98 times the share; 120 are twice of it."""
    for of_3, is_told in ((119, False), (120, True)):
        others = [number % 5 if number % 5 != 3 else 5 for number in range(360 - of_3)]
        groups = [
            Group(f"g{number}", protocol="range", state="Stable", coordinator=broker)
            for number, broker in enumerate([3] * of_3 + others)
        ]
        assert bool(findings_of(cluster(EVEN, groups=groups), "coordinator_piled_up")) is is_told


def test_a_hot_partition_is_a_quarter_of_a_mean_broker_and_three_times_its_siblings() -> None:
    """Of twelve partitions one is written at x: a broker's mean is (x + 11 · 10) · 3 / 6."""

    def hot(rate: float, others: float = 10.0) -> list[Finding]:
        return findings_of(cluster(EVEN, in_bytes_per_s=[rate] + [others] * 11), "hot_partition")

    assert (hot(29.0), len(hot(30.0))) == ([], 1)  # 30 of 70 are more than a quarter: the median decides
    assert hot(30.0)[0].severity is Severity.MEDIUM
    assert hot(110.0)[0].severity is Severity.HIGH  # 110 of a mean of 110
    assert hot(109.0)[0].severity is Severity.MEDIUM
    assert hot(30.0)[0].gain == pytest.approx(2 / 3)
    assert len(hot(0.003, 0.001)) == 1  # however little it is
    # 40 partitions, one of 60 bytes: the mean decides where siblings carry nothing.
    rows = striped("u", 40)
    loads = [60.0] + [0.0] * 31 + [60.0] * 8
    findings = findings_of(cluster(rows, in_bytes_per_s=loads), "hot_partition")
    assert findings == []  # 60 of 270
    findings = findings_of(cluster(rows, in_bytes_per_s=[60.0] + [0.0] * 32 + [60.0] * 7), "hot_partition")
    assert len(findings) == 8  # 60 of 240: exactly a quarter
    assert findings[0].evidence["topic_median_in_bytes_per_s"] == 0
    assert findings[0].gain == 1.0


def test_two_racks_are_enough_to_be_violated_and_one_is_not() -> None:
    two = tuple(Broker(number, rack="ab"[number % 2]) for number in range(4))
    rows = [Partition("t", 0, (0, 2), 0, (0, 2)), Partition("t", 1, (0, 1), 0, (0, 1))]
    (result,) = findings_of(cluster(rows, of=two), "rack_violated")
    assert (result.evidence["violating_partitions"], result.evidence["racks"]) == (1, 2)
    assert result.cost == fact(FactCode.MOVES_REPLICAS, replicas=1, copied_bytes=None)
    first = tuple(Broker(number, rack="a") for number in range(4))
    assert findings_of(cluster(rows, of=first), "rack_violated") == []
    watched = [replace(rows[0], observers=(2,)), rows[1]]
    assert findings_of(cluster(watched, of=two), "rack_violated") == []


def static(number: int, *partitions: int) -> Member:
    return Member(f"m{number}", instance_id=f"pod-{number}", assigned=(("t", partitions),) if partitions else ())


def behind(*lags: int) -> Group:
    """Two static members with three partitions each, so far behind."""
    members = (static(0, 0, 1, 2), static(1, 3, 4, 5))
    committed = tuple(CommittedOffset("t", number, 1000 - lag) for number, lag in enumerate(lags))
    return Group("g", protocol="range", state="Stable", members=members, committed=committed)


SIX = striped("t", 6)


@pytest.mark.parametrize(
    ("lags", "dead"),
    [
        ((50, 40, 30, 0, 1, 3), 1),  # 30 are ten times 3
        ((50, 40, 29, 0, 1, 3), 0),
        ((50, 40, 10, 0, 0, 0), 1),  # ten times one, where the others are not behind at all
        ((50, 40, 9, 0, 0, 0), 0),
        ((50, 40, 0, 0, 0, 0), 0),
    ],
)
def test_a_member_ten_times_further_behind_than_all_others(lags: tuple[int, ...], dead: int) -> None:
    findings = findings_of(cluster(SIX, groups=[behind(*lags)]), "dead_static_member")
    assert len(findings) == dead
    if findings:
        assert findings[0].evidence["lag_messages"] == sum(lags[:3])


def test_members_that_nobody_is_beside_cannot_be_further_behind() -> None:
    alone = replace(behind(50, 40, 30, 20, 20, 20), members=(static(0, *range(6)),))
    assert findings_of(cluster(SIX, groups=[alone]), "dead_static_member") == []
    all_but_one = replace(
        behind(50, 40, 30, 20, 20, 1), members=(static(0, *range(5)), Member("m", assigned=(("t", (5,)),)))
    )
    (result,) = findings_of(cluster(SIX, groups=[all_but_one]), "dead_static_member")
    assert (result.evidence["partitions_unread"], result.evidence["lag_messages"]) == (5, 160)


@pytest.mark.parametrize(
    ("messages", "out", "dead"),
    [
        ([1, 1, 1, 1, 1, 1], [0, 0, 0, 5, 5, 5], 1),
        ([0, 0, 1, 1, 1, 1], [5, 5, 0, 5, 5, 5], 1),  # unwritten partitions may have been read
        ([0, 0, 0, 1, 1, 1], [0, 0, 0, 5, 5, 5], 0),  # nothing was written: nothing to read
        ([1, 1, 1, 1, 1, 1], [0, 0, 1, 5, 5, 5], 0),
    ],
)
def test_a_member_whose_written_partitions_nobody_read(messages: list, out: list, dead: int) -> None:
    loads = {"in_messages_per_s": messages, "in_bytes_per_s": [10.0] * 6, "out_bytes_per_s": out}
    findings = findings_of(cluster(SIX, groups=[behind(5, 5, 5, 0, 0, 0)], **loads), "dead_static_member")
    assert len(findings) == dead
    if findings:
        assert findings[0].confidence is Confidence.MEASURED


@pytest.mark.parametrize(("read", "wrote", "is_told"), [(8.99, 10.0, True), (9.0, 10.0, False), (0.01, 0.1, True)])
def test_a_group_that_reads_less_than_nine_tenths(read: float, wrote: float, is_told: bool) -> None:
    members = (Member("a", assigned=(("t", tuple(range(6))),)),)
    commits = tuple(CommittedOffset("t", number, 900) for number in range(6))
    group = Group("g", protocol="range", state="Stable", members=members, committed=commits)
    loads = {"in_messages_per_s": [2.0] * 6, "in_bytes_per_s": [wrote] * 6, "out_bytes_per_s": [read] * 6}
    findings = findings_of(cluster(SIX, groups=[group], **loads), "lag_growing")
    assert bool(findings) is is_told
    if findings:
        assert (findings[0].evidence["lag_seconds"], findings[0].gain) == (50, pytest.approx(1 - read / wrote))
        assert findings[0].confidence is Confidence.GIVEN


@pytest.mark.parametrize(
    ("members", "read", "needed"),
    [
        (2, 5.0, 4),  # half of what is written: twice as many
        (3, 4.0, 8),  # 7.5, and six partitions are all that there are
        (2, 0.0, None),  # no member reads anything: no number helps
    ],
)
def test_how_many_members_would_keep_up(members: int, read: float, needed: int | None) -> None:
    """Read rates of members are unknown: members × produced rate / consumed rate."""
    readers = tuple(Member(f"m{n}", assigned=(("t", tuple(range(n, 6, members))),)) for n in range(members))
    commits = tuple(CommittedOffset("t", number, 900) for number in range(6))
    group = Group("g", protocol="range", state="Stable", members=readers, committed=commits)
    loads = {"in_messages_per_s": [2.0] * 6, "in_bytes_per_s": [10.0] * 6, "out_bytes_per_s": [read] * 6}
    (result,) = findings_of(cluster(SIX, groups=[group], **loads), "lag_growing")
    assert result.evidence["members_needed"] == needed
    assert result.recommendation.args["way"] == fact(
        FactCode.ADD_MEMBERS, kind="consumers", members=members, partitions=6, members_needed=needed
    )


@pytest.mark.parametrize(("topics", "severity"), [(3, Severity.LOW), (4, Severity.MEDIUM)])
def test_twice_as_uneven_is_medium(topics: int, severity: Severity) -> None:
    """All read by the first of two: 2.0 times the mean. Of three topics another strategy leaves 2 to 1: 1.33 times."""
    rows = [row for number in range(topics) for row in striped(f"t{number}", 1)]
    first = Member("m1", assigned=tuple((f"t{number}", (0,)) for number in range(topics)))
    group = Group("g", protocol="range", state="Stable", members=(first, Member("m2")))
    (result,) = findings_of(cluster(rows, groups=[group]), "assignor_uneven")
    assert result.severity is severity
    assert result.gain == pytest.approx(0.5 if topics == 4 else 1 / 3)


def outcome(before: float, after: float) -> ResourceOutcome:
    loads = dict.fromkeys(range(6), 600.0)
    return ResourceOutcome(
        resource="disk", unit="bytes", source="log_dirs", mean_level=700.0, basis="fair_share",
        band_asked=(None, None), widened_to=(None, None), skew_before=1.7, skew_after=1.0,
        before=loads | {0: before}, after=loads | {0: after},
    )  # fmt: skip


def move(partition: int, to: tuple[int, ...], leader: int, came_from: int | None = None) -> Move:
    row = EVEN[partition]
    return Move(
        topic="t", partition=partition, from_replicas=row.replicas, to_replicas=to, leader_from=came_from,
        leader_to=leader, kind=MoveKind.REPLICA, bytes=100, wave=0,
        reason=fact(FactCode.SEPARATES_RACKS), worse_without=fact(FactCode.SHARES_RACK),
    )  # fmt: skip


def planned(*moves: Move, before: float = 1200.0, after: float = 900.0) -> Plan:
    return Plan(
        "c",
        Verdict.REBALANCE,
        (fact(FactCode.ALL_INSIDE_BAND),),
        "s",
        Cost(0, 0, 0),
        resources=(outcome(before, after),),
        moves=moves,
    )


def test_the_plans_effect_on_each_broker_is_summed_over_its_moves() -> None:
    """0: replicas 0, 1, 2 → 3, 1, 2, led by 3 instead of 0; 6: the same without a leader before; 1: a new order."""
    plan = planned(move(0, (3, 1, 2), 3, 0), move(6, (3, 1, 2), 3), move(1, (2, 1, 3), 2, 1))
    effects = effects_of(plan, cluster(EVEN))
    assert effects == {
        0: BrokerEffect(2, 200.0, 0, 0.0, 1, 0), 1: BrokerEffect(leaders_out=1), 2: BrokerEffect(leaders_in=1),
        3: BrokerEffect(0, 0.0, 2, 200.0, 0, 2),
    }  # fmt: skip
    unknown = cluster(changed(6, log_bytes=()))
    assert (effects_of(plan, unknown)[0].bytes_out, effects_of(plan, unknown)[3].bytes_in) == (None, None)
    assert (NOTHING.is_nothing, outcome_for(plan, "disk", 9), outcome_for(plan, "disk", 0)) == (
        True,
        None,
        (1200.0, 900.0),
    )


def disk_of_0(plan: Plan | None) -> tuple[FindingContext, Any]:
    snapshot = cluster(EVEN)
    known = FindingContext(snapshot, score_cluster(snapshot), [], plan)
    (score,) = [item for item in known.scores.of_resource("disk") if item.broker == 0]
    return known, score


def test_a_finding_says_what_becomes_of_its_broker() -> None:
    touched = (move(0, (3, 1, 2), 3, 0),)
    otherwise = fact(FactCode.MOVE_BUSIEST_AWAY)
    for plan, told_of_plan in (
        (None, otherwise),
        (planned(), fact(FactCode.PLAN_MOVES_NOTHING, verdict="rebalance")),
        (planned(move(2, (2, 3, 5), 2, 2)), fact(FactCode.PLAN_LEAVES_BROKER)),
        (planned(*touched), fact(FactCode.PLAN_CHANGES_LOAD, resource="disk", before=1200.0, after=900.0)),
        (replace(planned(*touched), resources=()), fact(FactCode.PLAN_LEAVES_RESOURCE, resource="disk")),
    ):
        known, score = disk_of_0(plan)
        assert plan_outcome(known, score, otherwise) == told_of_plan
    known, score = disk_of_0(planned(*touched))
    names = ("replicas_out", "bytes_out", "replicas_in", "bytes_in", "leader_changes")
    for broker, effect in ((0, (1, 100.0, 0, 0.0, 1)), (3, (0, 0.0, 1, 100.0, 1)), (5, (0, 0.0, 0, 0.0, 0))):
        cost = plan_cost(known, broker, otherwise)
        assert cost == fact(FactCode.PLAN_TOUCHES_BROKER, **dict(zip(names, effect, strict=True)))
    assert plan_evidence(known, [score]) == {
        "plan_replicas_out": 1, "plan_bytes_out": 100.0, "plan_replicas_in": 0, "plan_bytes_in": 0.0,
        "plan_leaders_out": 1, "plan_leaders_in": 0, "plan_after_disk_bytes": 900.0,
    }  # fmt: skip
    assert plan_evidence(known, []) == {}


def test_leaders_that_the_plan_elects_are_counted_among_those_that_are_off() -> None:
    plan = planned(move(0, (0, 1, 2), 0, 1), move(5, (5, 0, 1), 5, 5))
    (result,) = findings_of(cluster(off(2, 12)), "preferred_leaders_off", plan)
    assert result.evidence["plan_elected_partitions"] == 1
    assert result.recommendation.args["elected_by_plan"] == 1


def test_a_plan_that_could_not_tell_is_a_finding_of_its_own() -> None:
    blind = replace(planned(), verdict=Verdict.CANNOT_TELL)
    dead = brokers(state={5: BrokerState.DEAD})
    (result,) = findings_of(cluster(EVEN, of=dead), "cannot_tell", blind)
    assert result.evidence == {"partitions": 12, "gaps": 0, "brokers_alive": 5, "brokers_dead": 1}
    assert findings_of(cluster(EVEN), "cannot_tell", planned()) == []
    assert [item.code for item in evaluate_rules(cluster(EVEN), score_cluster(cluster(EVEN)), [])] == ["load_unknown"]


def test_lists_and_counts_end_where_they_should() -> None:
    assert (listed(range(5)), listed(range(6))) == ("0, 1, 2, 3, 4", "0, 1, 2, 3, 4 and 1 more")
    assert (listed("abc", most=2), listed("abc", most=3), listed([])) == ("a, b and 1 more", "a, b, c", "")
    assert (counted(0, "move"), counted(1, "move"), counted(2, "move")) == ("0 moves", "1 move", "2 moves")
