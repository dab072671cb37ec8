"""A request as people write it, dictionaries and lists of Python strings: what ``rebalance-advisor replay`` reads."""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from kafka_assignors.contract import AssignmentRequest
from kafka_assignors.recorded_cases.cases import answer

_REPLAYED = {
    "range": "client_range",
    "cooperative-sticky": "client_cooperative_sticky",
    "server-uniform": "server_uniform",
    "server-range": "server_range",
}


def dictionary_ms(request: AssignmentRequest, strategy: str) -> float:
    """CPU milliseconds from dictionaries to dictionaries; the best of three where that is short."""
    case = case_of(request, strategy)
    times: list[float] = []
    while len(times) < 3 and sum(times) < 0.5:
        start = time.process_time()
        answer(case)
        times.append(time.process_time() - start)
    return min(times) * 1e3


def case_of(request: AssignmentRequest, strategy: str) -> dict[str, Any]:
    """The request as a case for ``kafka_assignors.recorded_cases.cases``."""
    return {"strategy": _REPLAYED[strategy], "input": _input(request, is_server=strategy.startswith("server-"))}


def _input(request: AssignmentRequest, *, is_server: bool) -> dict[str, Any]:
    topics = request.topics
    names = _uuids(request) if is_server else list(topics.names.strings)
    listed = [
        {"topic": name, "id": name, "n": n} for name, n in zip(names, topics.partition_counts.tolist(), strict=True)
    ]
    if not is_server:
        racks, bounds, starts = topics.racks.tolist(), topics.rack_offsets.tolist(), topics.first_row.tolist()
        rows = [[request.rack_names[r] for r in racks[a:b]] for a, b in pairwise(bounds)]
        for i, topic in enumerate(listed):
            topic["racks"] = rows[starts[i] : starts[i + 1]]
    field = "assignment" if is_server else "owned"
    given: dict[str, Any] = {"order": "leader", "topics": listed, "members": _members(request, names, field)}
    if is_server:
        given |= {"version": "4.3", "subscriptionType": "HOMOGENEOUS" if request.is_homogeneous else "HETEROGENEOUS"}
    return given


def _members(request: AssignmentRequest, names: Sequence[str], field: str) -> list[dict[str, Any]]:
    members = request.members
    subscriptions, bounds = members.subscription_topics, members.subscription_offsets.tolist()
    shared: dict[bytes, list[str]] = {}
    listed = []
    for i, name in enumerate(members.ids.strings):
        own = subscriptions[bounds[i] : bounds[i + 1]]
        topics = shared.setdefault(
            own.tobytes(), [names[t] for t in own.tolist()] if own.tobytes() not in shared else []
        )
        member: dict[str, Any] = {"id": name, "topics": topics}
        if members.racks[i] >= 0:
            member["rack"] = request.rack_names[members.racks[i]]
        start, end = int(members.owned_offsets[i]), int(members.owned_offsets[i + 1])
        if end > start:
            member[field] = _runs(
                names, members.owned_topics[start:end].tolist(), members.owned_partitions[start:end].tolist()
            )
        listed.append(member)
    return listed


def _runs(names: Sequence[str], topics: Sequence[int], partitions: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Neighbouring partitions of one topic together."""
    runs: list[tuple[str, list[int]]] = []
    for topic, partition in zip(topics, partitions, strict=True):
        if not runs or runs[-1][0] != names[topic]:
            runs.append((names[topic], []))
        runs[-1][1].append(partition)
    return runs


def _uuids(request: AssignmentRequest) -> list[str]:
    halves = zip(request.topics.uuid_msb.tolist(), request.topics.uuid_lsb.tolist(), strict=True)
    mask = 2**64 - 1
    return [
        urlsafe_b64encode(((high & mask) << 64 | low & mask).to_bytes(16, "big")).rstrip(b"=").decode()
        for high, low in halves
    ]
