from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import orjson
import pytest

from kafka_assignors.releases import Client
from kafka_rebalance.advisory.advisory import group_document, rollover_steps
from kafka_rebalance.facts import Fact, FactCode
from kafka_rebalance.findings.finding import Finding
from kafka_rebalance.findings.group_rules import findings_by_group
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.groups.group_replay import TODAY_ALONE, GroupReplay, ReplayOptions
from kafka_rebalance.groups.kinds import kind_of
from kafka_rebalance.groups.member_clients import SETTINGS
from kafka_rebalance.groups.motion import motion_of
from kafka_rebalance.render import render
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot, CommittedOffset, Group, GroupType, Member, Partition
from kafka_rebalance.snapshot.rates import measure_rates
from rebalance_advisor.cli.group import group_table
from rebalance_advisor.cli.main import main
from tests.facts_said import all_facts, said
from tests.unit.findings.sample_clusters import brokers, cluster
from tests.unit.render.plain_sentences import require_plain

EAGER = {"range", "roundrobin", "sticky"}
EVERY = EAGER | {"cooperative-sticky"}
# Client ids of each library, and the strategies that it has.
CLIENTS: dict[str, set[str]] = {
    "consumer-{group}-1": EVERY, "consumer-1": EAGER, "rdkafka": EVERY - {"sticky"}, "sarama": EVERY, "kgo": EVERY,
    "kafka-python-3.0.1": EVERY, "kafka-python-2.0.2": EAGER, "aiokafka-0.14.0": EAGER, "kafkajs": {"roundrobin"},
    "app@host (github.com/segmentio/kafka-go)": {"range", "roundrobin"}, "connector-consumer-sink-0": EVERY,
    "orders-0": EVERY, "": EVERY,
}  # fmt: skip
NAMED: dict[tuple[Client, str | None], set[str]] = {
    (Client.JAVA, None): EVERY, (Client.JAVA, "2.3.1"): EAGER, (Client.LIBRDKAFKA, "2.6.0"): EVERY - {"sticky"},
    (Client.LIBRDKAFKA, "1.5.0"): {"range", "roundrobin"}, (Client.SARAMA, "1.50.0"): EAGER,
    (Client.SARAMA, "1.61.1"): EVERY, (Client.FRANZ_GO, None): EVERY, (Client.KAFKA_PYTHON, "2.0.2"): EAGER,
    (Client.AIOKAFKA, None): EAGER, (Client.KAFKAJS, None): {"roundrobin"},
    (Client.KAFKA_GO, "0.4.51"): {"range", "roundrobin"},
}  # fmt: skip
# Programs that run Java's client; a thread of Streams has an assignor of its own.
PROGRAMS: dict[str, set[str]] = {
    "app-1f-StreamThread-1-consumer": set(), "console-consumer": EVERY, "connector-consumer-sink-0": EVERY,
}  # fmt: skip
NAMES = (*["{}"] * 16, "_confluent-ksql-{}", "console-consumer-{}", "connect-{}", "_confluent-{}")
STILL = ("Stable", "Stable", "Stable", "STABLE", "stable")
MOVING = (
    "PreparingRebalance", "PREPARING_REBALANCE", "CompletingRebalance", "completing rebalance", "AwaitingSync", "Dead",
    "Assigning", "Reconciling", "NotReady", "NOT_READY", "Unknown", "Unheard", "Empty",
)  # fmt: skip
KINDS = (*[GroupType.CLASSIC] * 8, *[GroupType.CONSUMER] * 4, GroupType.UNKNOWN, GroupType.SHARE, GroupType.STREAMS)
# Advice for a group in motion: the present state, and facts that hold whatever its members do.
OF_MOTION = {"group_in_motion", "group_assignments_unknown", "commit_out_of_range"}
JUDGING = {
    FactCode.IDLE_MEMBERS, FactCode.IDLE_CAUSE, FactCode.ADD_MEMBERS, FactCode.MORE_MEMBERS_WOULD_IDLE,
    FactCode.SHARE_PARTITIONS_EVENLY, FactCode.ASSIGNOR_UNEVEN, FactCode.SERVER_ASSIGNOR_UNEVEN, FactCode.MIXED_CLIENTS,
    FactCode.UNEVEN_BY_RATE, FactCode.UNEVEN_PER_TOPIC, FactCode.KEEP_STRATEGY, FactCode.CHANGE_STRATEGY,
}  # fmt: skip
SETTING = {
    FactCode.SET_STRATEGY, FactCode.USE_RANGE, FactCode.ROLLOVER_STEP, FactCode.NAME_BOTH_STRATEGIES,
    FactCode.STOP_ALL_MEMBERS, FactCode.CHANGE_STRATEGY, FactCode.SERVER_ASSIGNOR_UNEVEN, FactCode.LEARN_STRATEGY,
}  # fmt: skip
SEED, SNAPSHOTS, GROUPS = 34, 64, 10


@dataclass(frozen=True)
class Drawn:
    """``allowed``: strategies that all its members have."""

    group: Group
    before: Group
    allowed: set[str]
    is_moving: bool


def test_no_advice_that_cannot_be_followed() -> None:
    """No strategy that a member lacks, none for a group in motion or without a choice, one answer for both commands."""
    random, seen = Random(SEED), Counter[str]()
    for number in range(SNAPSHOTS):
        snapshot, drawn = draw_snapshot(random)
        replays = TODAY_ALONE.replays(snapshot)
        result = findings_by_group(evaluate_rules(snapshot, score_cluster(snapshot), list(replays)))
        for item, replay in zip(drawn, replays, strict=True):
            about = result.get(item.group.id, [])
            document = group_document(replay, item.group, about, snapshot.kafka_version)
            check(item, replay, about, document, (number, item.group))
            if number % 8 == 0:
                check_restarts(snapshot, item, replay, (number, item.group))
            seen.update(finding.code for finding in about)
            seen["moving" if item.is_moving else "still"] += 1
            seen["advised"] += bool(document["rollover"])
            seen["no choice"] += not kind_of(item.group).has_choice
    least = {"moving": 100, "still": 100, "no choice": 50, "advised": 10, "group_in_motion": 50, "idle_members": 15,
             "group_assignments_unknown": 5, "assignor_uneven": 8, "dead_static_member": 3, "lag_growing": 3,
             "unread_partitions": 10, "server_assignor_uneven": 2, "uneven_per_topic": 1}  # fmt: skip
    assert {name: seen[name] for name, count in least.items() if seen[name] < count} == {}, seen


@pytest.mark.parametrize("seed", [SEED + 1, SEED + 2])
def test_advise_and_group_say_the_same(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot, drawn = draw_snapshot(Random(seed))
    file = tmp_path / "snapshot.json"
    file.write_bytes(orjson.dumps(snapshot_to_document(snapshot)))
    assert main(["advise", str(file), "--out", str(tmp_path / "out")]) in (0, 3, 4)
    document = {group["group"]: group for group in json.loads((tmp_path / "out" / "groups.json").read_text())}
    for item in drawn:
        capsys.readouterr()
        assert main(["group", str(file), item.group.id]) == 0
        lines = capsys.readouterr().out.splitlines()
        wanted = [part["text"] for part in (document[item.group.id]["advice"], *document[item.group.id]["rollover"])]
        assert lines[len(lines) - len(wanted) :] == wanted, item.group


def check(drawn: Drawn, replay: GroupReplay, about: list[Finding], document: dict, case: object) -> None:
    group, kind = drawn.group, kind_of(drawn.group)
    rollover, protocol = document["rollover"], document["consumer_protocol"]
    advice = Fact.from_document(document["advice"])
    strategies = {finding.evidence.get("advised_assignor") for finding in about} - {None}
    ways = [
        step
        for score in replay.scores[1:]
        for step in rollover_steps(replay, group, "4.1", score.assignor)
        if score.error is None
    ]
    reported = [
        advice,
        *map(Fact.from_document, (*rollover, *([] if protocol is None else [protocol]))),
        *(part for finding in about for part in (finding.recommendation, finding.cost) if part is not None),
    ]
    for text in (*group_table(replay, group, "")[:1], *map(render, (*reported, *ways))):
        require_plain(text, case)
    codes = {part.code for part in all_facts(reported)}
    assert {replay.advised} - {None} <= strategies, case
    assert not any(step["code"] == FactCode.CANNOT_CHANGE for step in rollover) or not group.protocol, (rollover, case)
    if group.type is not GroupType.CONSUMER:
        assert strategies <= drawn.allowed, (strategies, case)
        lacking = [by.names[name] for by in SETTINGS.values() for name in set(by.names) - drawn.allowed]
        values = {value for asked in said(reported, FactCode.SET_STRATEGY) for _, value, _, _ in asked["settings"]}
        assert not values & set(lacking), (values, case)
    if drawn.is_moving or motion_of(group) is not None:
        assert (document["advised"], strategies, rollover, protocol) == (None, set(), [], None), case
    if drawn.is_moving and group.members:
        assert {finding.code for finding in about} <= OF_MOTION, (about, case)
        assert not codes & JUDGING, (codes, case)
    if not kind.has_choice:
        assert (document["advised"], strategies, rollover) == (None, set(), []), case
        assert not codes & SETTING, (codes, case)
    check_best(replay, case)


def check_restarts(snapshot: ClusterSnapshot, drawn: Drawn, replay: GroupReplay, case: object) -> None:
    """Scenarios decide between strategies that are alike today, and nothing else."""
    (reported,) = ReplayOptions(scenarios=("rolling_restart",)).replays(replace(snapshot, groups=(drawn.group,)))
    assert (reported.advised is None) == (replay.advised is None), case
    if reported.advised != replay.advised:
        rows = [replay.score(str(name)) for name in (reported.advised, replay.advised)]
        ours, other = ((row.skew_count if row.skew_rate is None else row.skew_rate) for row in rows)
        assert ours == pytest.approx(other, rel=0.1), (rows, case)
        assert reported.advised in drawn.allowed, case


def check_best(replay: GroupReplay, case: object) -> None:
    """The least possible skew is not above what a strategy reaches."""
    for score in replay.scores[0 if replay.is_reproduced else 1 :]:
        for least, reached in ((score.least_skew_count, score.skew_count), (score.least_skew_rate, score.skew_rate)):
            if score.error is None and least is not None and reached is not None:
                assert least <= reached * (1 + 1e-9), (score, case)


def draw_snapshot(random: Random) -> tuple[ClusterSnapshot, list[Drawn]]:
    """A cluster with groups that share its topics."""
    most = random.choice((2, 4, 8))
    counts = {f"t{number}": random.randint(1, most) for number in range(random.randint(1, 6))}
    pairs = [(topic, partition) for topic, count in counts.items() for partition in range(count)]
    ends = {pair: random.choice((0, 1_000, 50_000)) for pair in pairs}
    written = {pair: random.choice((0, 600, 60_000)) for pair in pairs}
    now_ends = {pair: end + written[pair] for pair, end in ends.items()}
    is_table_alone, are_ends_known = random.random() < 0.15, random.random() < 0.85
    has_racks = random.random() < 0.8
    nodes = tuple(broker if has_racks else replace(broker, rack=None) for broker in brokers())

    def reading(at: dict[tuple[str, int], int], groups: list[Group], minute: int) -> ClusterSnapshot:
        rows = []
        for topic, partition in pairs:
            replicas = () if is_table_alone else tuple((partition + step) % 6 for step in range(3))
            sizes = tuple(at[topic, partition] * 100 for _ in replicas)
            end = at[topic, partition] if are_ends_known else None
            leader = replicas[0] if replicas else None
            rows.append(
                Partition(topic, partition, replicas, leader, replicas, sizes, 0 if end is not None else None, end)
            )
        result = cluster(rows, of=() if is_table_alone else nodes, groups=groups)
        return replace(result, captured_at=datetime(2026, 11, 26, 9, minute, tzinfo=UTC))

    drawn = [draw_group(random, f"g{number}", counts, ends, now_ends) for number in range(GROUPS)]
    newer = reading(now_ends, [item.group for item in drawn], 10)
    if random.random() < 0.5:
        newer = measure_rates(reading(ends, [item.before for item in drawn], 0), newer)
        drawn = [replace(item, group=group) for item, group in zip(drawn, newer.groups, strict=True)]
    return newer, drawn


def draw_group(
    random: Random, name: str, counts: dict[str, int], ends: dict[tuple[str, int], int],
    now_ends: dict[tuple[str, int], int],
) -> Drawn:  # fmt: skip
    name = random.choice(NAMES).format(name)
    topics = random.sample(sorted(counts), random.randint(1, len(counts)))
    libraries = random.sample(sorted(CLIENTS), random.choice((1, 1, 1, 1, 1, 2)))
    if random.random() < 0.12:
        libraries = [random.choice(sorted(PROGRAMS)), *random.sample(libraries, random.choice((0, 0, 1)))]
    ids = sorted(
        random.choice(libraries).format(group=name) for _ in range(random.choice((0, 1, *range(2, 7), *range(2, 7))))
    )
    allowed = set(EVERY).intersection(
        *((CLIENTS | PROGRAMS)[client.replace(f"consumer-{name}", "consumer-{group}")] for client in ids)
    )
    client = random.choice(sorted(NAMED, key=str)) if random.random() < 0.1 else None
    kind = random.choice(KINDS)
    members = tuple(draw_members(random, ids, topics, counts, kind))
    protocol = random.choice((*sorted(EVERY), None, "their-own"))
    if kind is GroupType.CONSUMER:
        protocol = random.choice(("uniform", "range"))
    elif "kafkajs" in ids and random.random() < 0.7:
        protocol = "RoundRobinAssigner"
    state = random.choice((*STILL, None) if random.random() < 0.7 else MOVING)
    pairs = [pair for topic in topics for pair in ((topic, number) for number in range(counts[topic]))]
    known = [pair for pair in pairs if random.random() < random.choice((0.0, 0.8, 1.0))]
    dead = {pair for member in members if member.instance_id and random.random() < 0.4 for pair in held(member)}
    before = {pair: max(0, ends[pair] - random.choice((0, 1, 900, 40_000))) for pair in known}
    now = {
        pair: offset if pair in dead or random.random() < 0.1 else random.randint(offset, now_ends[pair])
        for pair, offset in before.items()
    }
    if random.random() < 0.05:
        now = {pair: offset + 10**6 for pair, offset in now.items()}
    group = Group(
        name, kind, state=state, protocol=protocol, members=members,
        member_count=random.choice((None, len(members), len(members), len(members) + 2 * (random.random() < 0.2))),
        protocol_type=random.choice(("consumer",) * 30 + ("connect", "sr", "")),
        generation=random.choice((None, 7)), assignment_epoch=random.choice((None, 7, 7, 7, 6)),
        client=None if client is None else client[0].value, client_version=None if client is None else client[1],
    )  # fmt: skip
    older, newer = (
        replace(group, committed=tuple(CommittedOffset(*pair, offset) for pair, offset in commits.items()))
        for commits in (before, now)
    )
    is_moving = state in MOVING and bool(members or group.member_count)
    return Drawn(newer, older, allowed if client is None else NAMED[client], is_moving)


def draw_members(
    random: Random, ids: list[str], topics: list[str], counts: dict[str, int], kind: GroupType
) -> Iterator[Member]:
    hands = [deal(random, len(ids), topics, counts) for _ in range(2)] if ids else []
    is_given, is_odd, is_counted = random.random() < 0.6, random.random() < 0.3, random.random() < 0.08
    for number, client in enumerate(ids):
        subscription = tuple(sorted(topics)) if is_given else None
        if is_odd and random.random() < 0.3:
            subscription = random.choice((None, ("typo",), (topics[0],), ()))
        assigned, target = (tuple((topic, tuple(result)) for topic, result in hand[number].items()) for hand in hands)
        has_target = kind is GroupType.CONSUMER and is_odd
        member = Member(
            f"m{number}", client_id=client or None, subscription=subscription, assigned=assigned,
            instance_id=f"pod-{number}" if random.random() < 0.25 else None,
            subscribed_regex="t.*" if is_odd and random.random() < 0.1 else None,
            rack=random.choice((None, "a", "b")), host=random.choice((None, "/10.0.0.1")),
            target=target if has_target else assigned if kind is GroupType.CONSUMER and random.random() < 0.5 else None,
            owned=target if is_odd else random.choice((None, assigned)),
            is_classic=random.choice((None, None, None, True, False)) if kind is GroupType.CONSUMER else None,
            subscription_version=random.choice((None, 0, 1, 3)) if client in ("", "orders-0") else None,
        )  # fmt: skip
        if is_counted:  # the dump gives the numbers of partitions alone
            member = replace(member, assigned=(), partition_count=len(held(member)), target=None, owned=None)
        yield member


def deal(random: Random, members: int, topics: list[str], counts: dict[str, int]) -> list[dict[str, list[int]]]:
    """In turn, each topic from the first member on as range does, or in blocks; some partitions to no member."""
    hands: list[dict[str, list[int]]] = [{} for _ in range(members)]
    way, share = random.choice(("range", "range", "turns", "blocks")), random.choice((1.0, 1.0, 1.0, 0.9))
    total = sum(counts[topic] for topic in topics)
    location = 0
    for topic in topics:
        quota, more = divmod(counts[topic], members)
        by_range = [number for number in range(members) for _ in range(quota + (number < more))]
        for partition in range(counts[topic]):
            in_turn = location % members if way == "turns" else location * members // total
            number = by_range[partition] if way == "range" else in_turn
            location += 1
            if random.random() < share:
                hands[number].setdefault(topic, []).append(partition)
    return hands


def held(member: Member) -> list[tuple[str, int]]:
    return [(topic, partition) for topic, partitions in member.assigned for partition in partitions]
