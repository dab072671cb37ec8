"""``weighted`` beside Kafka's Java where one of 10,000 members joins, and a thousand groups beside their bounds."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from kafka_assignors.contract import Assignment, AssignmentRequest, MemberColumns, TopicColumns
from kafka_assignors.registry import by_name
from kafka_assignors.string_column import StringColumn
from kafka_assignors.weighted import WeightedAssignor
from tests.benchmarks import assignor_inputs, server_inputs
from tests.benchmarks.java_side import JavaSide, cpu_ms

MEMBERS, RATIO, TOPICS = 10_000, 100, 100
GROUPS = 1000
_ROUNDS = 3


def join_lines(client: JavaSide, server: JavaSide) -> Iterator[str]:
    """A million partitions, 10,000 members of which one has just come; each as the strategy itself left them."""
    sticky = assignor_inputs.Cell("cooperative-sticky", MEMBERS, RATIO, TOPICS, False, True, assignor_inputs.INTENDED)
    uniform = server_inputs.Cell("uniform", MEMBERS, RATIO, TOPICS, True, True)
    yield "| one of 10,000 members joins, 1,000,000 partitions | Kafka ms | `weighted` ms | Kafka/`weighted` | goal |"
    yield "|---|---|---|---|---|"
    for java, cell, goal in ((client, sticky, 50), (server, uniform, 3)):
        inputs = assignor_inputs if java is client else server_inputs
        request = inputs.request_of(cell, by_name(cell.strategy))  # type: ignore[arg-type]
        theirs, ours = _in_turns(java, cell.question(), request)
        name = "cooperative-sticky (client)" if java is client else "uniform (server)"
        yield f"| {name} | {theirs:.1f} | {ours:.2f} | {theirs / ours:.1f} | ≥ {goal} |"
        moved, least = _moved(request, WeightedAssignor().assign(request)), MEMBERS * RATIO // MEMBERS
        if moved != least:
            raise AssertionError(f"{moved} partitions moved, {least} would do")
    yield ""
    yield f"`weighted` moves {least} partitions in both, the least that lets the new member have its share."


def _in_turns(java: JavaSide, question: dict[str, object], request: AssignmentRequest) -> tuple[float, float]:
    assign = WeightedAssignor().assign
    theirs, ours = [java.ask(question).cpu_ms], [cpu_ms(lambda: assign(request))]
    for _ in range(_ROUNDS - 1):
        theirs.append(java.again())
        ours.append(cpu_ms(lambda: assign(request)))
    return float(np.median(theirs)), float(np.median(ours))


def group_lines() -> Iterator[str]:
    """Lognormal weights, 100 to 2,000 partitions a group, 4 members to one for every four partitions."""
    requests = [_group(seed) for seed in range(GROUPS)]
    solve = WeightedAssignor().solve
    solve(requests[0])
    start = time.process_time()
    answers = [solve(request) for request in requests]
    seconds = time.process_time() - start
    gaps = np.array([answer.highest_load / answer.bound for answer in answers])
    total = sum(request.topics.partition_total for request in requests)
    yield "| groups | partitions | CPU s | highest load / bound: mean | p95 | most | goal |"
    yield "|---|---|---|---|---|---|---|"
    ends = f"{gaps.mean():.4f} | {np.percentile(gaps, 95):.4f} | {gaps.max():.4f}"
    yield f"| {GROUPS:,} | {total:,} | {seconds:.2f} | {ends} | ≤ 1 s, p95 ≤ 1.003 |"


def _moved(request: AssignmentRequest, after: Assignment) -> int:
    """Partitions that had an owner, and now another."""
    before = request.members
    return int((_owner(request, before.owned_offsets, before.owned_topics, before.owned_partitions)
                != _owner(request, after.offsets, after.topics, after.partitions)).sum())  # fmt: skip


def _owner(request: AssignmentRequest, offsets: np.ndarray, topics: np.ndarray, partitions: np.ndarray) -> np.ndarray:
    owner = np.full(request.topics.partition_total, -1)
    owner[request.topics.first_row[topics] + partitions] = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return owner


def _group(seed: int) -> AssignmentRequest:
    rng = np.random.default_rng(seed)
    partitions = int(rng.integers(100, 2001))
    members = int(rng.integers(4, partitions // 4 + 1))
    return AssignmentRequest(
        topics=TopicColumns.of(StringColumn.of(["t"]), np.array([partitions], np.int32)),
        members=MemberColumns.of(
            StringColumn.of(f"member{i}" for i in range(members)),
            np.arange(members + 1, dtype=np.int64),
            np.zeros(members, np.int32),
        ),
        weights=rng.lognormal(0, 1.0, partitions),
    )
