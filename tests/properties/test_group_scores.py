"""Every score of random groups, today and in every scenario, is what a slow and obvious implementation finds."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.findings.group_rules import group_advice
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.scenarios import SCENARIOS
from kafka_rebalance.groups.strategies import candidates
from kafka_rebalance.scoring.assignment_scores import PartitionRates
from kafka_rebalance.scoring.scores import GroupScore
from kafka_rebalance.snapshot.model import Group, GroupType, Member
from tests.properties.plain_group_scores import Row, as_row, asked, plain_group, plain_rows
from tests.sample import for_each

RACKS = ("r1", "r2", "r3", None)
_COLUMNS = {field.name for field in fields(GroupScore)} - {"version", "is_advised", "group_id", "is_current"}


def random_group(seed: int) -> GroupInput:
    """Up to 12 members (seldom up to 30, of whom 20 are picked), 6 topics, 36 partitions; half of the groups read what
    their own strategy gives them.
    """
    random = np.random.default_rng(seed)
    topics = tuple(f"t{number}" for number in range(int(random.integers(0, 7))))
    counts = np.array([random.choice([-1, 0, 1, 1, 2, 5, 6]) for _ in topics], np.int32)
    is_consumer, is_equal, has_racks = random.random() < 0.3, random.random() < 0.5, random.random() < 0.5
    common = _some(random, topics)
    members = []
    for number in range(int(random.integers(1, 13) if seed % 10 != 5 else random.integers(21, 31))):
        instance = f"pod-{number}" if random.random() < 0.4 else None
        members.append(
            Member(
                f"{instance or 'app'}-{random.integers(10**9):09}",
                instance,
                "app" if random.random() < 0.7 else None,
                rack=str(random.choice(["r1", "r2"])) if has_racks and random.random() < 0.8 else None,
                subscription=common if is_equal else _some(random, topics),
            )
        )
    protocol = str(random.choice(["uniform", "range"] if is_consumer else ["range", "roundrobin", "sticky",
                                                                           "cooperative-sticky"]))  # fmt: skip
    rows = int(np.maximum(counts, 0).sum())
    widths = random.integers(0, 3, rows)
    offsets = np.concatenate(([0], np.cumsum(widths))).astype(np.int64)
    kind = GroupType.CONSUMER if is_consumer else GroupType.CLASSIC
    given = GroupInput(
        Group("g", type=kind, protocol=protocol, protocol_type="consumer", state="Stable", members=tuple(members)),
        topics, counts, _rates(random, rows),
        offsets if has_racks else None,
        tuple(RACKS[i] for i in random.integers(0, 4, int(offsets[-1]))) if has_racks else (),
        kafka_version=str(random.choice(["3.9.1", "4.1.0"])),
        leader_racks=tuple(RACKS[i] for i in random.integers(0, 4, rows)) if has_racks and seed % 2 else (),
    )  # fmt: skip
    given = _read_by(given, random, is_own=random.random() < 0.5)
    if random.random() < 0.2:
        reported = tuple(replace(member, subscription=None) for member in given.group.members)
        given = replace(given, group=replace(given.group, members=reported))
    return given


def _some(random: np.random.Generator, topics: tuple[str, ...]) -> tuple[str, ...]:
    """In any order; seldom none."""
    return tuple(topics[i] for i in random.permutation(len(topics)) if random.random() < 0.6)


def _rates(random: np.random.Generator, rows: int) -> PartitionRates:
    columns = [np.round(random.exponential(50, rows), 1) for _ in range(4)]
    columns[2] = np.round(random.exponential(400, rows))
    for column in columns:
        if random.random() < 0.3:
            column[random.random(rows) < 0.2] = np.nan
        if random.random() < 0.1:
            column[:] = 0
    return PartitionRates(*columns)


def _read_by(given: GroupInput, random: np.random.Generator, *, is_own: bool) -> GroupInput:
    """Anybody who subscribes reads it, or nobody; or as the group's strategy says."""
    group = given.group
    index = {topic: number for number, topic in enumerate(given.topics)}
    plain = plain_group(given, [[index[topic] for topic in member.subscription or ()] for member in group.members])
    readers = {}
    for pair in plain.pairs:
        able = [member for member, topics in plain.reads.items() if pair[0] in topics]
        if able and random.random() < 0.9:
            readers[pair] = able[int(random.integers(len(able)))]
    if is_own:
        own = next(
            candidate
            for candidate in candidates(group.type, group.protocol_type, given.kafka_version)
            if candidate.name == group.protocol
        )
        readers = asked(own.releases[0], plain, {}, is_server=own.is_server)
    members = []
    for member in group.members:
        mine = {
            topic: tuple(p for t, p in sorted(readers) if t == topic and readers[t, p] == member.id)
            for topic in given.topics
        }
        members.append(replace(member, assigned=tuple((topic, runs) for topic, runs in mine.items() if runs)))
    return replace(given, group=replace(group, members=tuple(members)))


def assert_same(group_score: GroupScore, expected: Row, seed: int) -> None:
    """Every column; what the plain one does not name is not known."""
    row = as_row(group_score)
    for name in _COLUMNS:
        wanted = expected.get(name)
        if isinstance(wanted, float):
            wanted = pytest.approx(wanted, rel=1e-9, abs=1e-9)
        assert row[name] == wanted, (seed, group_score.scenario, group_score.assignor, group_score.subject, name)


def assert_as_recomputed(seed: int, strategies: tuple[str, ...] | None = None) -> None:
    given = random_group(seed)
    replay = replay_group(given, strategies, scenarios=SCENARIOS, seed=seed)
    today, scenarios = plain_rows(given, strategies, SCENARIOS, seed)
    assert len(replay.scores) == len(today)
    assert [(row.scenario, row.assignor) for row in replay.scenarios] == [
        (row["scenario"], row["assignor"]) for row in scenarios
    ]
    for result, expected in zip((*replay.scores, *replay.scenarios), (*today, *scenarios), strict=True):
        assert_same(result, expected, seed)


# Their own strategy not reproduced, cooperative rounds, racks lost, lag that drains, one member, assumed subscriptions.
TELLING = (8, 9, 10, 14, 17, 20, 32, 39)


@for_each("seed", TELLING)
def test_scores_are_those_of_a_slow_and_obvious_implementation(seed: int) -> None:
    assert_as_recomputed(seed, ("cooperative-sticky", "consumer/uniform", "uniform"))


def test_rows_members_and_advice_name_the_same_strategy() -> None:
    """A client's strategy for a classic group, the coordinator's other one for a KIP-848 group, or none."""
    advised = {GroupType.CLASSIC: set[str](), GroupType.CONSUMER: set[str]()}
    for seed in range(200, 320):
        given = random_group(seed)
        replay = replay_group(given)
        names = [row.assignor for row in replay.scores if row.is_advised]
        assert names == ([] if replay.advised is None else [replay.advised]), seed
        assert {member.assignor for member in replay.members if member.is_advised} == set(names), seed
        advice = group_advice(replay, given.group)
        assert (advice.code is FactCode.CHANGE_STRATEGY) == bool(names), seed
        if names:
            is_server = given.group.type is GroupType.CONSUMER
            assert (advice.args["advised"], advice.args["is_server"]) == (replay.advised, is_server), seed
            advised[given.group.type] |= set(names)
    assert "uniform" in advised[GroupType.CONSUMER]
    assert len(advised[GroupType.CLASSIC]) > 1


@pytest.mark.slow
@for_each("seed", range(100, 125))
def test_scores_of_more_groups_under_every_strategy(seed: int) -> None:
    assert_as_recomputed(seed)
