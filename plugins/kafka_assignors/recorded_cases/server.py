from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags
from kafka_assignors.contract import (
    NO_METADATA,
    Assignment,
    AssignmentRequest,
    MapOrder,
    MemberColumns,
    TopicColumns,
)
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.java.keys import uuid_columns, uuid_hash_codes
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.orders import member_walk
from kafka_assignors.registry import by_name
from kafka_assignors.releases import seen_release
from kafka_assignors.string_column import StringColumn

Input = Mapping[str, Any]
Output = dict[str, Any]

_LEAVES_REPLACED_OUT = (4, 4)
_TYPES = {"HOMOGENEOUS": True, "HETEROGENEOUS": False}


def answer(name: str, case: Input) -> Output:
    request = server_request(case)
    orders = _java_orders(case, request) if case.get("order") == MapOrder.HASH else {}
    return {**orders, "assignment": _by_member(request, by_name(name).assign(request))}


def server_request(case: Input) -> AssignmentRequest:
    counts = {topic["id"]: int(topic["n"]) for topic in case["topics"]}
    members = case["members"]
    for member in members:
        for topic in (*member["topics"], *(owned for owned, _ in member.get("assignment") or ())):
            counts.setdefault(topic, NO_METADATA)
    index = {topic: i for i, topic in enumerate(counts)}
    high, low = uuid_columns(counts)
    topics = TopicColumns.of(
        StringColumn.of(counts), np.array(list(counts.values()), np.int32), uuid_msb=high, uuid_lsb=low
    )
    kind = case.get("subscriptionType")
    return AssignmentRequest(
        topics=topics,
        members=_member_columns(members, index),
        order=MapOrder(case.get("order", "given")),
        is_homogeneous=None if kind is None else _TYPES[kind],
        is_assigned=_rows(case.get("inverted"), topics, index),
        is_assignable=_rows(case.get("assignable"), topics, index),
        held_replaced=() < seen_release(case.get("version")) < _LEAVES_REPLACED_OUT and _is_put_first(members),
    )


def _member_columns(members: list[Input], index: Mapping[str, int]) -> MemberColumns:
    subscriptions = [[index[topic] for topic in member["topics"]] for member in members]
    owned = [
        [(index[topic], partition) for topic, partitions in member.get("assignment") or () for partition in partitions]
        for member in members
    ]
    pairs = np.array([pair for partitions in owned for pair in dict.fromkeys(partitions)], np.int32).reshape(-1, 2)
    instances = [member.get("instanceId") for member in members]
    return MemberColumns.of(
        StringColumn.of(member["id"] for member in members),
        _offsets([len(topics) for topics in subscriptions]),
        np.array([topic for topics in subscriptions for topic in topics], np.int32),
        instances=instances,
        owned=(
            _offsets([len(dict.fromkeys(partitions)) for partitions in owned]),
            pairs[:, 0].copy(),
            pairs[:, 1].copy(),
        ),
    )


def _is_put_first(members: list[Input]) -> bool:
    """Return whether a member that ``replaces`` a static one is put into the coordinator's map before that one leaves.

    Both changes are in a HashMap, the new member put first.
    """
    pairs = [(member["id"], member["replaces"]) for member in members if "replaces" in member]
    if not pairs:
        return False
    changed = StringColumn.of(pairs[0])
    return bool(put_order(hash_codes(changed.data, changed.offsets), DEFAULT_CAPACITY)[0] == 0)


def _offsets(lengths: list[int]) -> npt.NDArray[np.int64]:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _rows(listed: list[tuple[str, list[int]]] | None, topics: TopicColumns, index: Mapping[str, int]) -> Flags | None:
    if listed is None:
        return None
    rows = np.zeros(topics.partition_total, np.bool_)
    for topic, partitions in listed:
        if topic in index:
            count = int(topics.partition_counts[index[topic]])
            rows[[int(topics.first_row[index[topic]]) + p for p in partitions if 0 <= p < count]] = True
    return rows


def _by_member(request: AssignmentRequest, assignment: Assignment) -> Output:
    names = request.topics.names.strings
    answer: Output = {}
    for i, member in enumerate(request.members.ids.strings):
        if assignment.has_entry is not None and not assignment.has_entry[i]:
            continue
        lists: dict[str, list[int]] = {}
        for topic, partition in sorted(assignment.of_member(i)):
            lists.setdefault(names[topic], []).append(partition)
        answer[member] = lists
    return answer


def _java_orders(case: Input, request: AssignmentRequest) -> Output:
    members = {member["id"]: member for member in case["members"]}
    order = [request.members.ids[i] for i in member_walk(request)]
    return {
        "memberOrder": order,
        "memberTopicOrder": {member: _uuid_set(members[member]["topics"]) for member in order},
        "memberAssignmentOrder": {
            member: _assignment_walk(dict(members[member]["assignment"]))
            for member in order
            if members[member].get("assignment")
        },
    }


def _uuid_set(topics: list[str]) -> list[str]:
    distinct = list(dict.fromkeys(topics))
    return [distinct[i] for i in put_order(uuid_hash_codes(*uuid_columns(distinct)), 0)]


def _assignment_walk(assignment: Mapping[str, list[int]]) -> list[list[Any]]:
    walk = []
    for topic in _uuid_set(list(assignment)):
        partitions = np.array(list(dict.fromkeys(assignment[topic])), np.int32)
        walk.append([topic, partitions[put_order(partitions, 0)].tolist()])
    return walk
