"""``weighted`` keeps what it promises, and its bound is never above the optimum (found by trying everything)."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_assignors.contract import AssignmentRequest, MemberColumns, TopicColumns
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.string_column import StringColumn
from kafka_assignors.weighted import WeightedAssignor


def request(
    counts: list[int], subscriptions: list[list[int]], owned: list[list[tuple[int, int]]], weights: list[float] | None
) -> AssignmentRequest:
    """Topics by their partition counts; members by the topics they read and the (topic, partition) they own."""
    offsets = np.cumsum([0, *map(len, owned)], dtype=np.int64)
    flat = [pair for held in owned for pair in held]
    members = MemberColumns.of(
        StringColumn.of([f"m{i:03d}" for i in range(len(subscriptions))]),
        np.cumsum([0, *map(len, subscriptions)], dtype=np.int64),
        np.array([t for subscription in subscriptions for t in subscription], dtype=np.int32),
        owned=(offsets, np.array([t for t, _ in flat], dtype=np.int32), np.array([p for _, p in flat], dtype=np.int32)),
    )
    topics = TopicColumns.of(StringColumn.of([f"t{i}" for i in range(len(counts))]), np.array(counts, dtype=np.int32))
    return AssignmentRequest(topics=topics, members=members, weights=None if weights is None else np.array(weights))


@st.composite
def small_cases(draw: st.DrawFn) -> AssignmentRequest:
    counts = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    members = draw(st.integers(1, 3))
    topic = st.integers(0, len(counts) - 1)
    subscriptions = [sorted(draw(st.sets(topic, max_size=len(counts)))) for _ in range(members)]
    pairs = [(t, p) for t, n in enumerate(counts) for p in range(n + 1)]  # one of each topic has vanished
    owned = [draw(st.lists(st.sampled_from(pairs), max_size=4)) for _ in range(members)]
    weights = draw(st.none() | st.lists(st.integers(0, 9).map(float), min_size=sum(counts), max_size=sum(counts)))
    return request(counts, subscriptions, owned, weights)


def _optimum(case: AssignmentRequest) -> float:
    """Lowest highest load over every complete assignment."""
    weights = np.ones(case.topics.partition_total) if case.weights is None else case.weights
    topic_of = np.repeat(np.arange(len(case.topics)), case.topics.partition_counts)
    bounds = case.members.subscription_offsets
    reads = [
        set(case.members.subscription_topics[bounds[m] : bounds[m + 1]].tolist()) for m in range(len(case.members))
    ]
    choices = [[m for m, topics in enumerate(reads) if t in topics] for t in topic_of]
    rows = [row for row, readers in enumerate(choices) if readers]
    best = float("inf")
    for picks in product(*(choices[row] for row in rows)):
        loads = [0.0] * len(case.members)
        for member, row in zip(picks, rows, strict=True):
            loads[member] += float(weights[row])
        best = min(best, max(loads))
    return best


@settings(max_examples=100, deadline=None)
@given(small_cases())
def test_the_answer_is_complete_disjoint_and_its_bound_holds(case: AssignmentRequest) -> None:
    answer = WeightedAssignor().solve(case)
    bounds = case.members.subscription_offsets
    given_out = []
    for member in range(len(case.members)):
        reads = set(case.members.subscription_topics[bounds[member] : bounds[member + 1]].tolist())
        pairs = answer.assignment.of_member(member)
        assert all(topic in reads for topic, _ in pairs)
        given_out += pairs
    subscribed = set(case.members.subscription_topics.tolist())
    wanted = [(t, p) for t, n in enumerate(case.topics.partition_counts.tolist()) if t in subscribed for p in range(n)]
    assert sorted(given_out) == wanted
    optimum = _optimum(case)
    assert answer.bound <= optimum + 1e-9
    assert answer.highest_load >= optimum - 1e-9
    assert answer.moved_weight >= answer.moved_weight_bound - 1e-9


def test_the_worked_example_of_the_docstring() -> None:
    answer = WeightedAssignor().solve(request([4], [[0], [0]], [[(0, 0), (0, 1)], [(0, 2), (0, 3)]], [4, 1, 1, 1]))
    assert (answer.highest_load, answer.bound, answer.moved_partitions) == (4.0, 4.0, 1)
    assert answer.loads.tolist() == [4.0, 3.0]


@pytest.mark.parametrize(("partitions", "members"), [(100, 10), (101, 10), (5, 3), (12, 4), (7, 9)])
def test_with_equal_weights_one_that_joins_costs_the_minimum(partitions: int, members: int) -> None:
    """What has to move for a highest count of ⌈P/M⌉ is what members hold above it, and nothing else moves."""
    first = WeightedAssignor().solve(request([partitions], [[0]] * members, [[]] * members, None)).assignment
    assert max(first.counts) - min(first.counts) <= 1
    owned = [first.of_member(m) for m in range(members)]
    answer = WeightedAssignor().solve(request([partitions], [[0]] * (members + 1), [*owned, []], None))
    highest = -(-partitions // (members + 1))
    assert answer.highest_load == highest
    assert answer.moved_partitions == sum(max(0, len(held) - highest) for held in owned)


def test_heavy_tails_end_close_to_the_bound() -> None:
    rng = np.random.default_rng(7)
    ratios = []
    for _ in range(40):
        partitions = int(rng.integers(100, 600))
        members = int(rng.integers(4, partitions // 4))
        weights = rng.lognormal(0, 1, partitions).tolist()
        answer = WeightedAssignor().solve(request([partitions], [[0]] * members, [[]] * members, weights))
        ratios.append(answer.highest_load / answer.bound)
    assert min(ratios) >= 1 - 1e-12
    assert np.quantile(ratios, 0.95) <= 1.003


def test_an_unknown_weight_is_refused_by_its_row() -> None:
    with pytest.raises(InvalidInputError, match="partition row 1"):
        WeightedAssignor().solve(request([2], [[0]], [[]], [1.0, float("nan")]))
