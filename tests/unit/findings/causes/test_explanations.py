"""Each pair of cause and symptom: explained where the symptom goes with the cause, and only there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.findings.causes.explanations import EXPLANATIONS
from kafka_rebalance.findings.causes.without_cause import WithoutCause, over_share
from kafka_rebalance.findings.context import FindingContext
from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import BrokerState, CommittedOffset, Group, Member, Partition
from tests.unit.findings.sample_clusters import brokers, cluster, explained, striped

TWELVE = striped("t", 12)


def lines(snapshot, *codes):
    """Code and subject of each line → those of what it explains."""
    return {
        (finding.code, finding.subject): {(symptom.code, symptom.subject) for symptom in finding.symptoms}
        for finding in explained(snapshot)
        if not codes or finding.code in codes
    }


def restarted(rows, acting=1):
    """Broker 0 came back and leads nothing; ``acting`` leads what it is preferred for."""
    return [replace(row, leader=acting) if row.replicas[0] == 0 else row for row in rows]


def test_a_restart_explains_piled_up_leaders_and_what_they_carry():
    """Of 12 partitions each of 6 brokers is preferred for 2. Broker 1 leads 4: twice its share, and reads go there."""
    loads = {"in_bytes_per_s": [10.0] * 12, "out_bytes_per_s": [100.0] * 12}
    told = lines(cluster(restarted(TWELVE), **loads))
    symptoms = told["preferred_leaders_off", "c"]
    assert {("leaders_piled_up", "1"), ("broker_rate_over_share", "1")} <= symptoms
    assert not [key for key in told if key[0] in ("leaders_piled_up", "broker_rate_over_share")]
    (cause,) = [finding for finding in explained(cluster(restarted(TWELVE), **loads)) if finding.symptoms]
    assert cause.severity is Severity.HIGH  # twice the share, though two of twelve that are off alone are medium


def test_a_broker_that_is_preferred_for_too_much_is_its_own_trouble():
    """Broker 1 is preferred for 5 of 12 by placement, and took one over: electing leaves it with 5 of a share of 2."""
    rows = [
        replace(row, replicas=(1, *(broker for broker in row.replicas if broker != 1)), leader=1)
        if 1 in row.replicas and row.partition in (0, 1, 5, 6, 7)
        else row
        for row in TWELVE
    ]
    rows[4] = replace(rows[4], leader=5)  # one of twelve is off, and 1 took over one more
    rows[11] = Partition("t", 11, (5, 1, 0), 1, (5, 0, 1), (100,) * 3, 0, 1000)
    told = lines(cluster(rows))
    assert ("leaders_piled_up", "1") in told
    assert ("leaders_piled_up", "1") not in told.get(("preferred_leaders_off", "c"), set())


def test_a_hot_partition_explains_its_broker_and_the_group_that_reads_it():
    """One of 12 carries 30 times the others: 410 in all; six members read two each, 68 at the mean."""
    members = tuple(Member(f"m{number}", assigned=(("t", (2 * number, 2 * number + 1)),)) for number in range(6))
    group = Group("g", protocol="range", state="Stable", members=members)
    told = lines(cluster(TWELVE, groups=[group], in_bytes_per_s=[300.0] + [10.0] * 11))
    symptoms = told["hot_partition", "t-0"]
    assert ("group_hot_partition", "g") in symptoms
    assert {("broker_rate_over_share", str(broker)) for broker in (0, 1, 2)} <= symptoms
    # Without it each broker has 10 for each of its six replicas: exactly its share.
    known = WithoutCause(FindingContext(cluster(TWELVE, in_bytes_per_s=[300.0] + [10.0] * 11), None, []))  # type: ignore[arg-type]
    assert {over_share(known.cooled("t-0"), broker, "in") for broker in range(6)} == {1.0}


def test_leaders_and_a_hot_partition_together_are_told_with_the_one_that_does_more():
    """Broker 1 leads t-0, t-1, t-6 and t-7, of which it took over two; t-1 carries 100, the other eleven 10 each.

    It sends 130 of 210, its share is 35. Elected it sends 110: 3.1 times. With t-1 cooled 40 of 120: twice, so that
    most of it is the hot partition's. Both ways it sends 20 of 120: its share.
    """
    rates = [10.0, 100.0] + [10.0] * 10
    snapshot = cluster(restarted(TWELVE), in_bytes_per_s=rates, out_bytes_per_s=rates)
    known = WithoutCause(FindingContext(snapshot, score_cluster(snapshot), []))
    over = [over_share(scores, 1, "out") for scores in (known.context.scores, known.elected, known.cooled("t-1"))]
    assert over == [pytest.approx(130 / 35), pytest.approx(110 / 35), pytest.approx(2.0)]
    told = lines(snapshot)
    assert ("broker_rate_over_share", "1") in told["hot_partition", "t-1"]
    assert ("broker_rate_over_share", "1") not in told["preferred_leaders_off", "c"]


def test_a_disk_is_full_by_its_excess_or_by_the_cluster():
    full, share = ("broker_disk_full", "9"), ("broker_disk_over_share", "9")
    by_pair = {(rule.cause, rule.symptom): rule.explains for rule in EXPLANATIONS}
    explains = by_pair["broker_disk_over_share", "broker_disk_full"]
    finding = _finding(*share, {"disk_bytes": 90, "fair_share_disk_bytes": 50})
    symptom = _finding(*full, {"used_bytes": 90, "total_bytes": 100})
    assert explains(None, finding, symptom)  # without its excess of 40 half is used
    crowded = _finding(*share, {"disk_bytes": 90, "fair_share_disk_bytes": 86})
    assert not explains(None, crowded, symptom)  # 86 of 100 are nearly full as well
    assert not explains(None, _finding("broker_disk_over_share", "8", finding.evidence), symptom)


def test_a_dead_broker_explains_what_lacks_its_replicas_alone():
    """Broker 2 is dead. ``t`` lacks its replicas; ``u`` lacks one of broker 3, too, which is alive."""
    rows = [replace(row, isr=tuple(broker for broker in row.replicas if broker != 2)) for row in striped("t", 6)]
    rows = [replace(row, leader=row.isr[0]) for row in rows]
    behind = [replace(row, isr=(row.replicas[0],)) for row in striped("u", 6) if row.replicas[0] != 2]
    behind = [replace(row, partition=number) for number, row in enumerate(behind)]
    alone = [Partition("v", 0, (2,), None, (), (100,), 0, 10)]
    told = lines(cluster([*rows, *behind, *alone], of=brokers(state={2: BrokerState.DEAD})))
    assert {("under_replicated", "t"), ("offline_partition", "v")} <= told["dead_broker", "2"]
    assert told["under_replicated", "u"] == set()


def test_coordinators_come_with_the_leaders_of_the_offsets_topic():
    """One offsets partition holds all groups: they came along where broker 1 took it over, else they were there."""
    groups = [
        Group(f"g{number}", state="Empty", coordinator=1, committed=(CommittedOffset("t", 0, 1),))
        for number in range(30)
    ]
    offsets = Partition("__consumer_offsets", 0, (0, 1, 2), 1, (0, 1, 2), (100,) * 3, 0, 1000)
    rows = [offsets, *restarted(TWELVE)]
    assert ("coordinator_piled_up", "1") in lines(cluster(rows, groups=groups))["preferred_leaders_off", "c"]
    settled = [replace(offsets, replicas=(1, 0, 2), isr=(1, 0, 2)), *restarted(TWELVE)]
    assert ("coordinator_piled_up", "1") in lines(cluster(settled, groups=groups))


def _finding(code, subject, evidence):
    from kafka_rebalance.findings.context import Remedy, finding

    return finding(code, Severity.HIGH, subject, dict(evidence), Remedy("do it"))
