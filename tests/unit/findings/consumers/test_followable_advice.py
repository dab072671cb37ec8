"""Advice that can be followed: random groups of each client in each state, with each kind of missing knowledge."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from kafka_rebalance.advisory.rollover_words import rollover_lines
from kafka_rebalance.findings.consumers.advice_words import advice_words, findings_by_group
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.replay_options import TODAY_ALONE, ReplayOptions
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group, GroupType, Member
from tests.unit.findings.sample_clusters import cluster, striped

EAGER = {"range", "roundrobin", "sticky"}
EVERY = EAGER | {"cooperative-sticky"}
# Client ids of each library, and the strategies that it has.
CLIENTS: dict[str, set[str]] = {
    "consumer-g-1": EVERY, "consumer-1": EAGER, "rdkafka": EVERY - {"sticky"}, "sarama": EVERY, "kgo": EVERY,
    "kafka-python-3.0.1": EVERY, "kafka-python-2.0.2": EAGER, "aiokafka-0.14.0": EAGER, "kafkajs": {"roundrobin"},
    "app@host (github.com/segmentio/kafka-go)": set(), "connector-consumer-sink-0": EVERY, "orders-0": EVERY,
    "": EVERY,
}  # fmt: skip
NO_CHOICE = ("app-1f-StreamThread-1-consumer", "console-consumer")
MOVING = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "Dead")
KINDS = (GroupType.CLASSIC, GroupType.CLASSIC, GroupType.UNKNOWN, GroupType.CONSUMER)


def test_no_advice_that_cannot_be_followed():
    """No strategy that a member lacks, none for a group in motion or without a choice, one answer for both commands."""
    random, advised = Random(34), 0
    for number in range(500):
        snapshot, allowed, is_moving = _draw(random)
        alone = TODAY_ALONE.replays(snapshot)
        scenarios = ("rolling_restart",) if number % 10 == 0 else ()
        (told,) = ReplayOptions(scenarios=scenarios).replays(snapshot)
        (group,), (replay,) = snapshot.groups, alone
        findings = findings_by_group(evaluate_rules(snapshot, score_cluster(snapshot), list(alone))).get("g", [])
        lines = rollover_lines(replay, group, snapshot.kafka_version)
        words = advice_words(replay, group, findings)
        case = (number, group, words, lines)
        strategies = {finding.evidence.get("advised_assignor") for finding in findings} - {None}
        assert (told.advised, advice_words(told, group, findings)) == (replay.advised, words), case
        assert {replay.advised} - {None} <= strategies, case
        assert not any("cannot be changed" in line for line in lines) or not group.protocol, case
        assert not any("  " in line or "None" in line for line in [words, *lines]), case
        if is_moving or not allowed:
            assert (replay.advised, strategies, lines) == (None, set(), []), case
        if group.type is not GroupType.CONSUMER:
            assert strategies <= allowed, case
        _check_best(replay)
        advised += bool(strategies)
    assert advised > 20, "the groups leave something to advise"


def _check_best(replay: GroupReplay) -> None:
    """The least possible skew is not above what a strategy reaches."""
    for score in replay.scores[1:]:
        if score.error is None and score.skew_count is not None and score.least_skew_count is not None:
            assert score.least_skew_count <= score.skew_count + 1e-9, replay


def _draw(random: Random) -> tuple[ClusterSnapshot, set[str], bool]:
    """A cluster with one group, the strategies that all its members have, and whether the group is in motion."""
    topics = [f"t{number}" for number in range(random.randint(1, 6))]
    counts = {topic: random.randint(1, 4) for topic in topics}
    libraries = random.sample(sorted(CLIENTS), random.choice((1, 1, 1, 2)))
    if random.random() < 0.1:
        libraries = [random.choice(NO_CHOICE)]
    ids = sorted(random.choice(libraries) for _ in range(random.randint(1, 6)))
    hands: list[dict[str, list[int]]] = [{} for _ in ids]
    for topic in topics:
        first = random.randrange(len(ids)) if random.random() < 0.3 else 0
        for partition in range(counts[topic]):
            if random.random() < 0.95:
                hands[(first + partition) % len(ids)].setdefault(topic, []).append(partition)
    subscription = frozenset(topics) if random.random() < 0.5 else None
    members = tuple(
        Member(
            f"m{number}", client_id=client or None, subscription=tuple(sorted(subscription)) if subscription else None,
            instance_id=f"pod-{number}" if random.random() < 0.2 else None,
            assigned=tuple((topic, tuple(partitions)) for topic, partitions in hand.items()),
        )
        for number, (client, hand) in enumerate(zip(ids, hands, strict=True))
    )  # fmt: skip
    if random.random() < 0.1:  # the dump gives the members' numbers of partitions alone
        members = tuple(
            replace(member, assigned=(), partition_count=sum(len(partitions) for _, partitions in member.assigned))
            for member in members
        )
    if random.random() < 0.05:
        members = members[:-1]
    kind = random.choice(KINDS)
    protocol = (
        random.choice(("uniform", "range")) if kind is GroupType.CONSUMER else random.choice((*sorted(EVERY), None))
    )
    state = random.choice(("Stable", "Stable", "Stable", None, "Unheard", *MOVING))
    group = Group("g", kind, state=state, protocol=protocol, members=members, member_count=len(ids))
    allowed = set.intersection(*({*CLIENTS.get(client, ())} for client in ids))
    if kind is GroupType.CONSUMER and ids[0] not in NO_CHOICE:
        allowed = {"uniform", "range"}
    rows = [row for topic in topics for row in striped(topic, counts[topic])]
    return cluster(rows, groups=[group]), allowed, state in (*MOVING, "Unheard")
