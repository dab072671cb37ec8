"""Families ``client_*`` and ``legacy_*_2_0``, MetaQ, and custom strategies.

Answers become runs (``tests/conformance``). Members of custom ones may have ``host``, ``clientId`` and ``userData``
(base64).
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from typing import Any

import numpy as np

from kafka_assignors import registry
from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.contract import (
    NO_GENERATION,
    NO_METADATA,
    NO_RACK,
    Assignment,
    AssignmentRequest,
    MapOrder,
    MemberColumns,
    TopicColumns,
)
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.java.strings import compare_key, hash_codes
from kafka_assignors.metaq import HASHES, consistent_shares, default_share
from kafka_assignors.orders import member_walk, topic_walk
from kafka_assignors.partitioners import registry as partitioners
from kafka_assignors.partitioners.contract import RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.registry import own_by_name
from kafka_assignors.string_column import StringColumn

Runs = Sequence[tuple[str, Sequence[int]]]


class _Names:
    def __init__(self, names: Iterable[str] = ()) -> None:
        self.index: dict[str, int] = {}
        for name in names:
            if name in self.index:
                raise InvalidInputError.at(f"topic {name!r}", "is listed twice")
            self.index[name] = len(self.index)

    def __getitem__(self, name: str) -> int:
        return self.index.setdefault(name, len(self.index))


class Owned(StrEnum):
    SUBSCRIPTION = "owned"
    DATA = "memberData"
    ENCODED = "encoded"  # ``owned`` topic by topic, in the order of Java's map


def request_of(case: Mapping[str, Any], owned_of: Owned) -> AssignmentRequest:
    listed, members = case["topics"], case["members"]
    topics, racks = _Names(topic["topic"] for topic in listed), _Names()
    subscriptions = [[topics[name] for name in member["topics"]] for member in members]
    owned = [_read_owned(member, owned_of, topics) for member in members]
    member_racks = [racks[member["rack"]] if member.get("rack") else NO_RACK for member in members]
    rack_cells, rack_counts = _partition_racks(listed, racks)
    counts = np.full(len(topics.index), NO_METADATA, dtype=np.int32)
    counts[: len(listed)] = [topic["n"] for topic in listed]
    return AssignmentRequest(
        topics=TopicColumns.of(
            StringColumn.of(topics.index), counts, rack_offsets=_offsets(rack_counts), racks=_ints(rack_cells)
        ),
        members=_members(members, subscriptions, owned, member_racks),
        rack_names=tuple(racks.index),
        order=MapOrder(case.get("order", "given")),
        max_generation_before=case.get("maxGenerationBefore", NO_GENERATION),
        prefer_rack_aware=case.get("preferRackAware", False),
    )


def _members(
    members: Sequence[Mapping[str, Any]],
    subscriptions: list[list[int]],
    owned: list[list[tuple[int, int]] | None],
    racks: list[int],
) -> MemberColumns:
    ids = [member["id"] for member in members]
    if len(set(ids)) != len(ids):
        raise InvalidInputError.at("members", "one is listed twice", "ids are unique in a group")
    columns = MemberColumns.of(
        StringColumn.of(ids),
        _offsets([len(topics) for topics in subscriptions]),
        _ints([topic for topics in subscriptions for topic in topics]),
        instances=[member.get("instanceId") for member in members],
        racks=_ints(racks),
        owned=_owned_columns(owned),
        has_owned=np.array([partitions is not None for partitions in owned], dtype=np.bool_),
    )
    data = [member.get("memberData") or {} for member in members]
    return replace(
        columns,
        generations=_generations(members),
        data_generations=_generations(data),
        sent_generation=np.array([decoded.get("generation") is not None for decoded in data], dtype=np.bool_),
        user_data=tuple(_user_data(member) for member in members),
        hosts=tuple(member.get("host") for member in members),
        client_ids=tuple(member.get("clientId") for member in members),
    )


def _user_data(member: Mapping[str, Any]) -> bytes | None:
    """Base64; Kafka's own strategies read ``memberData`` instead."""
    encoded = member.get("userData")
    return None if encoded is None else b64decode(encoded, validate=True)


def _read_owned(member: Mapping[str, Any], field: Owned, topics: _Names) -> list[tuple[int, int]] | None:
    runs = (member.get("memberData") or {}).get("owned") if field is Owned.DATA else member.get("owned")
    if runs is None:
        return None
    if field is Owned.ENCODED:
        runs = _encode(runs)
    return [(topics[name], partition) for name, partitions in runs for partition in partitions]


def _encode(runs: Runs) -> Runs:
    grouped: dict[str, list[int]] = {}
    for name, partitions in runs:
        grouped.setdefault(name, []).extend(partitions)
    names = StringColumn.of(grouped)
    order = put_order(hash_codes(names.data, names.offsets), DEFAULT_CAPACITY)
    return [(names[i], grouped[names[i]]) for i in order.tolist()]


def _partition_racks(listed: Sequence[Mapping[str, Any]], racks: _Names) -> tuple[list[int], list[int]]:
    """Rack of each replica (an empty name is a rack here, unlike a member's), and replicas of each partition."""
    cells: list[int] = []
    counts: list[int] = []
    for topic in listed:
        if topic["n"] < 0 or topic.get("ids") not in (None, list(range(topic["n"]))):
            raise InvalidInputError.at(f"topic {topic['topic']!r}", "its partitions are not numbered from 0")
        rows = topic.get("racks") or [()] * topic["n"]
        if len(rows) != topic["n"]:
            raise InvalidInputError.at(
                f"topic {topic['topic']!r}", f"racks of {len(rows)} partitions, not {topic['n']}"
            )
        counts += [len(row) for row in rows]
        cells += [NO_RACK if rack is None else racks[rack] for row in rows for rack in row]
    return cells, counts


def _generations(rows: Sequence[Mapping[str, Any]]) -> Ints:
    generations = [row.get("generation") for row in rows]
    return _ints([NO_GENERATION if generation is None else generation for generation in generations])


def _owned_columns(owned: Sequence[list[tuple[int, int]] | None]) -> tuple[Longs, Ints, Ints]:
    """Return offsets, topics and partitions."""
    flat = [pair for pairs in owned for pair in pairs or ()]
    offsets = _offsets([len(pairs or ()) for pairs in owned])
    return offsets, _ints([topic for topic, _ in flat]), _ints([partition for _, partition in flat])


def _offsets(lengths: Sequence[int]) -> Longs:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _ints(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int32)


def render_output(request: AssignmentRequest, assignment: Assignment) -> dict[str, Any]:
    names, ids = request.topics.names.strings, request.members.ids.strings
    output: dict[str, Any] = {}
    if request.order is MapOrder.HASH:
        member_order = member_walk(request)
        output["topicOrder"] = [names[topic] for topic in topic_walk(request, member_order).tolist()]
        output["memberOrder"] = [ids[member] for member in member_order.tolist()]
    output["assignment"] = _lists(ids, names, assignment)
    if assignment.target is not None:
        output["target"] = _lists(ids, names, assignment.target)
    if assignment.varies:
        output["varies"] = True
    return output


def _lists(ids: Sequence[str], names: Sequence[str], assignment: Assignment) -> dict[str, Any]:
    topics, partitions = assignment.topics.tolist(), assignment.partitions.tolist()
    return {
        member: _runs(names, topics[start:end], partitions[start:end])
        for member, (start, end) in zip(ids, pairwise(assignment.offsets.tolist()), strict=True)
    }


def _runs(names: Sequence[str], topics: Sequence[int], partitions: Sequence[int]) -> list[list[Any]]:
    runs: list[list[Any]] = []
    last = -1
    for topic, partition in zip(topics, partitions, strict=True):
        if topic != last:
            runs.append([names[topic], []])
            last = topic
        runs[-1][1].append(partition)
    return runs


Input = Mapping[str, Any]
Output = dict[str, Any]


def answer_plain(name: str, case: Input) -> Output:
    return render_output(*_request_and_answer(name, case))


def answer_rack_affinity(name: str, case: Input) -> Output:
    topics = [{**topic, "racks": [[rack] for rack in topic["leaderRacks"]]} for topic in case["topics"]]
    return render_output(*_request_and_answer(name, {**case, "topics": topics}))


def answer_sticky(name: str, case: Input) -> Output:
    """``isSticky``: of the newest class after the general way, which alone records moves."""
    request, assignment = _request_and_answer(name, case, Owned.DATA)
    output = _with_notes(request, assignment)
    if name == "sticky" and assignment.notes is not None and not assignment.notes.is_constrained:
        output["isSticky"] = assignment.notes.is_sticky
    return output


def answer_cooperative_sticky(name: str, case: Input) -> Output:
    return _with_notes(*_request_and_answer(name, case))


def answer_legacy_sticky(name: str, case: Input) -> Output:
    return render_output(*_request_and_answer(name, case, Owned.ENCODED))


def _request_and_answer(
    name: str, case: Input, owned_of: Owned = Owned.SUBSCRIPTION
) -> tuple[AssignmentRequest, Assignment]:
    request = request_of(case, owned_of)
    return request, registry.by_name(name).assign(request)


def _with_notes(request: AssignmentRequest, assignment: Assignment) -> Output:
    output = render_output(request, assignment)
    if assignment.notes is not None:
        output["constrained"] = assignment.notes.is_constrained
        if assignment.notes.max_generation_after is not None:
            output["maxGenerationAfter"] = assignment.notes.max_generation_after
    return output


def answer_default(case: Input) -> Output:
    consumers, partitions = case["consumers"], case["partitions"]
    asking = (*consumers, *case.get("query", ()))
    return {"assignment": {consumer: default_share(consumer, consumers, partitions) for consumer in asking}}


def answer_consistent(case: Input) -> Output:
    """Lists were recorded sorted, not in the order of MetaQ's set."""
    shares = consistent_shares(case["consumers"], case["partitions"])
    asking = (*case["consumers"], *case.get("query", ()))
    return {"assignment": {consumer: sorted(shares.get(consumer, ()), key=compare_key) for consumer in asking}}


def answer_hash(case: Input) -> Output:
    return {"hash": {name: function(case["key"]) for name, function in HASHES.items()}}


def answer_assignor(name: str, case: Input) -> Output:
    request = request_of(case, Owned.SUBSCRIPTION)
    return render_output(request, own_by_name(name).assign(request))


def answer_partitioner(name: str, case: Input) -> Output:
    key = None if case["keyHex"] is None else bytes.fromhex(case["keyHex"])
    sample, target = RecordSample.of_keys(KeyColumn.of([key])), TopicTarget(int(case["numPartitions"]))
    return {"partition": int(partitioners.own_by_name(name).partition(sample, target)[0])}
