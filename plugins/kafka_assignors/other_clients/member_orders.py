"""Member orders of other clients' leaders, and inputs that they refuse.

Most clients sort all members. In groups of static and dynamic members the answer of librdkafka and kafka-python 3
depends on JoinGroup's order (``join_order``). Example: x (static, "pod-1"), a and b: by id a, b, x; static first x, a,
b.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, pairwise

import numpy as np

from kafka_assignors.arrays import Ints, Longs
from kafka_assignors.contract import AssignmentRequest, MapOrder, MemberColumns
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, put_order
from kafka_assignors.java.strings import hash_codes, sorted_order
from kafka_assignors.string_column import StringColumn
from kafka_assignors.subscribers import subscribers_by_topic

Readers = tuple[Longs, Ints]  # topic t's: readers[starts[t]:starts[t + 1]]


def join_order(request: AssignmentRequest) -> Longs:
    """int64[M]. Brokers from 4.0 on have a Java HashMap, filled in column order; ``member_order`` is that of older
    brokers, Scala's map. GIVEN: column order.
    """
    ids = request.members.ids
    if request.order is MapOrder.GIVEN:
        return np.arange(len(ids), dtype=np.int64)
    if request.member_order is not None:
        return request.member_order
    listed: Longs = put_order(hash_codes(ids.data, ids.offsets), DEFAULT_CAPACITY)
    return listed


def by_code_points(strings: StringColumn) -> Longs:
    keys = _utf8(strings)
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def by_id(members: MemberColumns) -> Longs:
    """Sarama, aiokafka, kafka-python 2 sort by id, static or not."""
    return by_code_points(members.ids)


def by_utf16_id(members: MemberColumns) -> Longs:
    """KafkaJS sorts by id; JavaScript's order of strings is Java's."""
    return sorted_order(members.ids.data, members.ids.offsets)


def static_first(members: MemberColumns) -> Longs:
    """franz-go: static members by instance id, then the others by member id."""
    ids, instances, is_static = _utf8(members.ids), _utf8(members.instance_ids), members.has_instance_id.tolist()
    return _sort(range(len(ids)), lambda i: (not is_static[i], instances[i] if is_static[i] else b"", ids[i]))


def as_librdkafka_sorts(members: MemberColumns, of: Sequence[int] | None = None) -> Longs:
    """Two static members by instance id, any other two by member id; ``of``: some members, in JoinGroup order.

    With both kinds this need not be transitive: s before t by instance id, t before d and d before s by member id. So
    this is glibc's ``qsort``, a merge sort by halves.
    """
    chosen = list(range(len(members.ids)) if of is None else of)
    ids, instances, is_static = _utf8(members.ids), _utf8(members.instance_ids), members.has_instance_id.tolist()
    kinds = {is_static[i] for i in chosen}
    if len(kinds) < 2:
        return _sort(chosen, (instances if True in kinds else ids).__getitem__)

    def is_in_order(left: int, right: int) -> bool:
        both = is_static[left] and is_static[right]
        return instances[left] <= instances[right] if both else ids[left] <= ids[right]

    return np.array(_merge_sorted(chosen, is_in_order), dtype=np.int64)


def last_runs(members: MemberColumns, of: Sequence[int] | None = None) -> Longs:
    """kafka-python 3: only the last run of static and of dynamic members in JoinGroup order is left.

    It groups an unsorted list by runs (``itertools.groupby``): s1 d1 s2 leaves s2 and d1. Static ones come first; both
    are sorted by (instance id, member id).
    """
    chosen = range(len(members.ids)) if of is None else of
    ids, instances, is_static = _utf8(members.ids), _utf8(members.instance_ids), members.has_instance_id.tolist()
    runs = {kind: list(run) for kind, run in groupby(chosen, key=is_static.__getitem__)}
    kept = [*runs.get(True, ()), *runs.get(False, ())]
    return _sort(kept, lambda i: (not is_static[i], instances[i] if is_static[i] else b"", ids[i]))


def readers_in_one_order(request: AssignmentRequest, order: Longs) -> Readers:
    members = request.members
    columns = (members.subscription_offsets, members.subscription_topics)
    starts, readers = subscribers_by_topic(order, *columns, len(request.topics), True)
    return starts, readers


def readers_sorted_by_topic(
    request: AssignmentRequest, sort: Callable[[MemberColumns, Sequence[int]], Longs]
) -> Readers:
    """``sort``ed topic by topic out of JoinGroup order; it may leave some out."""
    starts, readers = readers_in_one_order(request, join_order(request))
    lists = [sort(request.members, readers[start:end].tolist()) for start, end in pairwise(starts.tolist())]
    sorted_starts = np.zeros(len(starts), dtype=np.int64)
    np.cumsum([len(list_of_topic) for list_of_topic in lists], out=sorted_starts[1:])
    return sorted_starts, np.concatenate([np.zeros(0, dtype=np.int64), *lists]).astype(np.int32)


def has_both_kinds(members: MemberColumns) -> bool:
    return bool(members.has_instance_id.any() and not members.has_instance_id.all())


def _utf8(strings: StringColumn) -> list[bytes]:
    data = strings.data.tobytes()
    return [data[start:end] for start, end in pairwise(strings.offsets.tolist())]


def _sort(chosen: Iterable[int], key: Callable[[int], object]) -> Longs:
    return np.array(sorted(chosen, key=key), dtype=np.int64)  # type: ignore[arg-type]


def _merge_sorted(items: list[int], is_in_order: Callable[[int, int], bool]) -> list[int]:
    if len(items) < 2:
        return items
    half = len(items) // 2
    left, right = _merge_sorted(items[:half], is_in_order), _merge_sorted(items[half:], is_in_order)
    merged: list[int] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if is_in_order(left[i], right[j]):
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


def refuse_unknown_topics(request: AssignmentRequest, error: str = "ErrUnknownTopicOrPartition") -> None:
    subscribed = np.unique(request.members.subscription_topics)
    unknown = subscribed[~request.topics.has_metadata[subscribed]]
    if len(unknown):
        raise AssignorError(error, request.topics.names[int(unknown[0])])
