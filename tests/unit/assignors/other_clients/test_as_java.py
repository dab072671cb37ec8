from __future__ import annotations

import numpy as np
import pytest

from kafka_assignors.contract import AssignmentRequest, MapOrder
from kafka_assignors.registry import by_name
from tests.unit.assignors.groups import answer, group

# Whatever the members are; only where all are static or none is.
ALWAYS = (
    ("range@sarama", "range@2.1"),
    ("range@aiokafka", "range@2.1"),
    ("range@kafka-python-2", "range@2.1"),
    ("range@franz-go", "range@2.4"),
    ("roundrobin@aiokafka", "roundrobin@2.0"),
    ("roundrobin@kafka-python-2", "roundrobin@2.0"),
    ("roundrobin@sarama", "roundrobin@2.0"),  # topics below ten partitions without a common prefix
    ("roundrobin@franz-go", "roundrobin"),
)
OF_ONE_KIND = (
    ("range@librdkafka", "range"),
    ("roundrobin@librdkafka", "roundrobin"),
    ("range@kafka-python-3", "range@2.4"),
)
GROUPS = 12


def drawn(random: np.random.Generator, static_share: float) -> AssignmentRequest:
    counts = {f"t{i}": int(random.integers(1, 10)) for i in range(int(random.integers(1, 5)))}
    members = [f"m-{i}" for i in random.permutation(30)[: int(random.integers(1, 8))]]
    topics = list(counts)
    reads = {m: [t for t in topics if random.random() < 0.7] or topics[:1] for m in members}
    pods = random.permutation(30)
    static = {m: f"pod-{pods[i]}" for i, m in enumerate(members) if random.random() < static_share}
    return group(counts, reads, static=static, order=MapOrder.GIVEN)


def read(name: str, request: AssignmentRequest) -> dict[str, list[tuple[str, int]]]:
    return {member: sorted(pairs) for member, pairs in answer(request, by_name(name).assign(request)).items()}


@pytest.mark.parametrize(("name", "java"), ALWAYS + OF_ONE_KIND)
def test_it_answers_as_java_does(name: str, java: str) -> None:
    random = np.random.default_rng(15)
    shares = (0.0, 1.0) if (name, java) in OF_ONE_KIND else (0.0, 0.5, 1.0)
    for share in shares:
        for _ in range(GROUPS):
            request = drawn(random, share)
            assert read(name, request) == read(java, request)


def test_groups_of_both_kinds_tell_them_apart() -> None:
    """Otherwise the groups above would prove nothing of the others."""
    random = np.random.default_rng(15)
    requests = [drawn(random, 0.5) for _ in range(GROUPS)]
    for name, java in OF_ONE_KIND:
        assert any(read(name, request) != read(java, request) for request in requests)
