"""Small groups, written as people would say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kafka_assignors.contract import NO_METADATA, Assignment, AssignmentRequest, MapOrder, MemberColumns, TopicColumns
from kafka_assignors.string_column import StringColumn

Owned = Mapping[str, Sequence[tuple[str, int]]]


def group(
    counts: Mapping[str, int],
    subscriptions: Mapping[str, Sequence[str]],
    owned: Owned | None = None,
    *,
    order: MapOrder = MapOrder.HASH,
    seed: int = 0,
    static: Mapping[str, str] | None = None,
    is_homogeneous: bool | None = None,
) -> AssignmentRequest:
    """A request: partitions of each topic, topics of each member, what each owns. Topic ids follow the names."""
    owned, static = owned or {}, static or {}
    listed = [topic for topics in subscriptions.values() for topic in topics]
    listed += [topic for pairs in owned.values() for topic, _ in pairs]
    names = list(dict.fromkeys([*counts, *listed]))
    index = {name: i for i, name in enumerate(names)}
    lists = [[index[topic] for topic in topics] for topics in subscriptions.values()]
    pairs = [[(index[topic], partition) for topic, partition in owned.get(member, ())] for member in subscriptions]
    flat = np.array([pair for member_pairs in pairs for pair in member_pairs], np.int32).reshape(-1, 2)
    return AssignmentRequest(
        topics=TopicColumns.of(
            StringColumn.of(names),
            np.array([counts.get(name, NO_METADATA) for name in names], np.int32),
            uuid_msb=np.arange(1, len(names) + 1, dtype=np.int64),
            uuid_lsb=np.zeros(len(names), np.int64),
        ),
        members=MemberColumns.of(
            StringColumn.of(subscriptions),
            offsets_of(lists),
            np.array([topic for topics in lists for topic in topics], np.int32),
            instances=[static.get(member) for member in subscriptions],
            owned=(offsets_of(pairs), flat[:, 0].copy(), flat[:, 1].copy()),
        ),
        order=order,
        seed=seed,
        is_homogeneous=is_homogeneous,
    )


def offsets_of(lists: Sequence[Sequence[object]]) -> np.ndarray:
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(topics) for topics in lists], out=offsets[1:])
    return offsets


def frozen(values: Sequence[object] | np.ndarray, dtype: type[np.generic] = np.int64) -> np.ndarray:
    """A column as a request holds it, read-only: kernels are compiled for it already."""
    column = np.array(values, dtype=dtype)
    column.setflags(write=False)
    return column


def answer(request: AssignmentRequest, assignment: Assignment) -> dict[str, list[tuple[str, int]]]:
    """Partitions of each member that appears, in the order of the answer."""
    names = request.topics.names
    return {
        member: [(names[topic], partition) for topic, partition in assignment.of_member(i)]
        for i, member in enumerate(request.members.ids)
        if assignment.has_entry is None or assignment.has_entry[i]
    }
