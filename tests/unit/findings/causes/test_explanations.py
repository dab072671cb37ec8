from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from kafka_rebalance.findings.causes import EXPLANATIONS, WithoutCause, over_share
from kafka_rebalance.findings.context import FindingContext, threshold
from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.groups.group_replay import LEAST_GAIN
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
    reported = lines(cluster(restarted(TWELVE), **loads))
    symptoms = reported["preferred_leaders_off", "c"]
    assert {("leaders_piled_up", "1"), ("broker_rate_over_share", "1")} <= symptoms
    assert not [key for key in reported if key[0] in ("leaders_piled_up", "broker_rate_over_share")]
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
    reported = lines(cluster(rows))
    assert ("leaders_piled_up", "1") in reported
    assert ("leaders_piled_up", "1") not in reported.get(("preferred_leaders_off", "c"), set())


def test_a_hot_partition_explains_its_broker_and_the_group_that_reads_it():
    """One of 12 carries 30 times the others: 410 in all; six members read two each, 68 at the mean."""
    members = tuple(Member(f"m{number}", assigned=(("t", (2 * number, 2 * number + 1)),)) for number in range(6))
    group = Group("g", protocol="range", state="Stable", members=members)
    reported = lines(cluster(TWELVE, groups=[group], in_bytes_per_s=[300.0] + [10.0] * 11))
    symptoms = reported["hot_partition", "t-0"]
    assert ("group_hot_partition", "g") in symptoms
    assert {("broker_rate_over_share", str(broker)) for broker in (0, 1, 2)} <= symptoms
    # Without it each broker has 10 for each of its six replicas: exactly its share.
    known = WithoutCause(FindingContext(cluster(TWELVE, in_bytes_per_s=[300.0] + [10.0] * 11), None, []))  # type: ignore[arg-type]
    assert {over_share(known.cooled("t-0"), broker, "in") for broker in range(6)} == {1.0}


def test_leaders_and_a_hot_partition_together_are_told_with_the_one_that_does_more():
    """Broker 1 sends 130 of 210, share 35. Elected: 110, 3.1 ×. With t-1 cooled: 40 of 120, 2 ×. Both: its share."""
    rates = [10.0, 100.0] + [10.0] * 10
    snapshot = cluster(restarted(TWELVE), in_bytes_per_s=rates, out_bytes_per_s=rates)
    known = WithoutCause(FindingContext(snapshot, score_cluster(snapshot), []))
    over = [over_share(scores, 1, "out") for scores in (known.context.scores, known.elected, known.cooled("t-1"))]
    assert over == [pytest.approx(130 / 35), pytest.approx(110 / 35), pytest.approx(2.0)]
    reported = lines(snapshot)
    assert ("broker_rate_over_share", "1") in reported["hot_partition", "t-1"]
    assert ("broker_rate_over_share", "1") not in reported["preferred_leaders_off", "c"]


def test_a_disk_is_full_by_its_excess_or_by_the_cluster():
    full, share = ("broker_disk_full", "9"), ("broker_disk_over_share", "9")
    by_pair = {(rule.cause, rule.symptom): rule.explains for rule in EXPLANATIONS}
    explains = by_pair["broker_disk_full", "broker_disk_over_share"]
    finding = _finding(*full, {"used_bytes": 90, "total_bytes": 100})
    symptom = _finding(*share, {"disk_bytes": 90, "fair_share_disk_bytes": 50})
    assert explains(None, finding, symptom)  # without its excess of 40 half is used
    crowded = _finding(*share, {"disk_bytes": 90, "fair_share_disk_bytes": 86})
    assert not explains(None, finding, crowded)  # 86 of 100 are nearly full as well
    assert not explains(None, finding, _finding("broker_disk_over_share", "8", symptom.evidence))


def test_a_cause_explains_its_own_group_up_to_its_threshold():
    """Evidence of a cause and of the symptom that it just explains, then a value of the latter beyond that."""
    by_pair = {(rule.cause, rule.symptom): rule.explains for rule in EXPLANATIONS}
    late = {"concentrated_at": "members", "partitions": 8, "members": 2, "members_behind": 2}
    for pair, cause, symptom, beyond in (
        (("assignor_uneven", "lag_growing"), {}, {"members_needed": 4, "members": 4}, {"members_needed": 5}),
        (
            ("group_hot_partition", "lag_growing"),
            {"partition": "t-0"},
            {"hot_partition": "t-0"},
            {"hot_partition": "u"},
        ),
        (
            ("group_hot_partition", "lag_concentrated"),
            {"partition": "t-0"},
            {"partition_names": ("t-0",)},
            {"partition_names": ("t-0", "t-1")},
        ),
        (
            ("partition_not_read", "lag_growing"),
            {"in_messages_per_s": 60.0},
            {"in_messages_per_s": 100.0, "read_messages_per_s": 40.0 * threshold("lag_growing", "read_ratio")},
            {"in_messages_per_s": 100.1},
        ),
        (
            ("partition_not_read", "lag_concentrated"),
            {"partition_names": ("t-0", "t-1")},
            {"partition_names": ("t-0", "t-1")},
            {"partition_names": ("t-0", "t-2")},
        ),
        (
            ("assignor_uneven", "lag_concentrated"),
            {},
            {**late, "partitions_behind": 8 * LEAST_GAIN},
            {"partitions_behind": 8 * LEAST_GAIN - 0.1},
        ),
    ):
        explains, own = by_pair[pair], _finding(pair[0], "g", cause)
        assert explains(None, own, _finding(pair[1], "g", symptom)), pair
        assert not explains(None, own, _finding(pair[1], "other", symptom)), pair
        assert not explains(None, own, _finding(pair[1], "g", {**symptom, **beyond})), pair


def test_a_dead_broker_explains_what_lacks_its_replicas_alone():
    """Broker 2 is dead. ``t`` lacks its replicas; ``u`` lacks one of broker 3, too, which is alive."""
    rows = [replace(row, isr=tuple(broker for broker in row.replicas if broker != 2)) for row in striped("t", 6)]
    rows = [replace(row, leader=row.isr[0]) for row in rows]
    behind = [replace(row, isr=(row.replicas[0],)) for row in striped("u", 6) if row.replicas[0] != 2]
    behind = [replace(row, partition=number) for number, row in enumerate(behind)]
    alone = [Partition("v", 0, (2,), None, (), (100,), 0, 10)]
    reported = lines(cluster([*rows, *behind, *alone], of=brokers(state={2: BrokerState.DEAD})))
    assert {("under_replicated", "t"), ("offline_partition", "v")} <= reported["dead_broker", "2"]
    assert reported["under_replicated", "u"] == set()


# Group ids and their partition of 50, as GroupMetadataManager.partitionFor of Kafka answered; hashes of both signs.
ANSWERED = {
    "polygenelubricants": 0, "group-10": 25, "group-106": 5, "group-108": 3, "group-130": 18, "group-144": 33,
    "group-46": 24, "group-50": 49, "group-158": 48, "console-consumer-75038": 44, "console-consumer-85": 14,
    "3100db36-e880-9260-f611-5da1ba59ecbb": 19, "98cbbaba-b173-17ef-6665-47544a3e311c": 20,
    "0590c632-f18a-0572-d12f-b74d6d70e86f": 10, "bd9db9a8-c210-e052-09f8-d313cd8220b3": 29, "\u5ef4": 8,
    "I\u73a2\u8770\U0001f5e4\U0001f543": 48, "j\U0001f484\U0001f51d\u5ecemWB\u5da9\u938f1": 46,
}  # fmt: skip


def java_hash(text):
    """``String.hashCode`` by the formula of its documentation: the sum of unit · 31 ^ (units after it), 32 bits."""
    units = text.encode("utf-16-be")
    each = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    value = sum(unit * 31 ** (len(each) - 1 - index) for index, unit in enumerate(each)) % 2**32
    return value - 2**32 if value >= 2**31 else value


def kafka_partition(group_id, partitions):
    """``Utils.abs(groupId.hashCode) % partitions``; ``Utils.abs`` of the least int is 0."""
    value = java_hash(group_id)
    return (0 if value == -(2**31) else abs(value)) % partitions


def offsets_rows(preferred, leaders=None):
    """``__consumer_offsets`` with a preferred leader and a leader by partition."""
    rows = []
    for number, (first, leader) in enumerate(zip(preferred, leaders or preferred, strict=True)):
        replicas = tuple((first + step) % 6 for step in range(3))
        isr = replicas if leader in replicas else (leader, *replicas)
        rows.append(Partition("__consumer_offsets", number, replicas, leader, isr[:3], (100,) * 3, 0, 1000))
    return rows


def read_groups(ids, coordinator=None):
    """Empty groups; the coordinator from ``coordinator(id)``, else broker 0."""
    return [
        Group(name, state="Empty", coordinator=coordinator(name) if coordinator else 0,
              committed=(CommittedOffset("t", 0, 1),))
        for name in ids
    ]  # fmt: skip


def once_elected(preferred, ids):
    snapshot = cluster([*offsets_rows(preferred), *TWELVE], groups=read_groups(ids))
    return dict(WithoutCause(FindingContext(snapshot, None, [])).coordinated_once_elected)  # type: ignore[arg-type]


def random_ids(draw, count):
    letters = [*"abcdefghijklmnopqrstuvwxyz-_.0123456789", "\u5ef4", "\u00e9", "\U0001f543"]
    return {"".join(draw.choices(letters, k=draw.randint(1, 40))) for _ in range(count)}


def test_each_group_goes_with_the_leader_of_its_own_partition_of_fifty():
    """One broker is preferred for one partition after the other, so that a wrong partition is a wrong broker."""
    assert all(kafka_partition(name, 50) == partition for name, partition in ANSWERED.items())
    assert sum(java_hash(name) < 0 for name in ANSWERED) >= 5
    for name, partition in ANSWERED.items():
        assert once_elected([int(number == partition) for number in range(50)], [name]) == {1: 1}, name


def test_random_groups_are_counted_by_the_preferred_leaders_of_any_number_of_offsets_partitions():
    draw = random.Random(41)
    for partitions in (1, 2, 7, 50, 50, 50, 64, 100):
        ids = sorted({*ANSWERED, *random_ids(draw, 60)})
        preferred = [draw.randrange(6) for _ in range(partitions)]
        assert sum(java_hash(name) < 0 for name in ids) > 20
        assert once_elected(preferred, ids) == Counter(preferred[kafka_partition(name, partitions)] for name in ids)


def test_coordinators_come_with_the_leaders_of_the_offsets_topic():
    """Broker 1 leads what broker 0 is preferred for: after an election its groups (all negative hash codes) leave."""
    draw = random.Random(32)
    ids = sorted(random_ids(draw, 1000))
    piled = [name for name in ids if java_hash(name) < 0 and kafka_partition(name, 50) % 6 == 0]
    others = [name for name in ids if kafka_partition(name, 50) % 6][:80]
    assert len(piled) > 40
    preferred = [number % 6 for number in range(50)]
    by_itself = [{0: 1, 1: 0}.get(broker, broker) for broker in preferred]

    def explained_lines(preferred, leaders):
        groups = read_groups([*piled, *others], lambda name: leaders[kafka_partition(name, 50)])
        return lines(cluster([*offsets_rows(preferred, leaders), *restarted(striped("t", 120))], groups=groups))

    taken_over = explained_lines(preferred, [broker or 1 for broker in preferred])
    assert ("coordinator_piled_up", "1") in taken_over["preferred_leaders_off", "c"]
    settled = explained_lines(by_itself, by_itself)
    assert ("coordinator_piled_up", "1") in settled
    assert ("coordinator_piled_up", "1") not in settled["preferred_leaders_off", "c"]


def _finding(code, subject, evidence):
    from kafka_rebalance.findings.context import Remedy, finding

    return finding(code, Severity.HIGH, subject, dict(evidence), Remedy("do it"))
