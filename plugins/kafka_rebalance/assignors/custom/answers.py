"""What one's own strategy answered, in plain types, or why it is no answer. Light to import, as ``views`` is.

An answer is a mapping of members to sequences of (topic, partition) pairs; partitions are whole numbers, of any type
that is one (numpy's are, 2.0 and True are not).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_rebalance.errors import AssignorError
from kafka_rebalance.visible_text import excerpt
from kafka_rebalance.whole_number import whole_number

Answer = dict[str, list[tuple[str, int]]]


def plain_answer(answer: object) -> Answer:
    """Names and pairs alone. Raises AssignorError for anything else, with the first thing that is wrong."""
    if not isinstance(answer, Mapping):
        raise AssignorError("NoAnswer", f"answers {excerpt(answer)}, which is no mapping of members to partitions")
    plain: Answer = {}
    for member, pairs in answer.items():
        if not isinstance(member, str):
            raise AssignorError("UnknownMember", f"names {excerpt(member)}, which is no member's id")
        if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
            raise AssignorError("NoAnswer", f"gives {member!r} {excerpt(pairs)}, which is no list of pairs")
        plain[member] = [_pair(member, pair) for pair in pairs]
    return plain


def plain_partition(answer: object) -> int:
    """A partitioner's answer. Raises AssignorError where it is no whole number."""
    partition = whole_number(answer)
    if partition is None:
        raise AssignorError("UnknownPartition", f"answers {excerpt(answer)}, which is no whole number")
    return partition


def _pair(member: str, pair: Any) -> tuple[str, int]:
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], str):
        raise AssignorError("NoAnswer", f"gives {member!r} {excerpt(pair)}, which is no pair of topic and partition")
    partition = whole_number(pair[1])
    if partition is None:
        raise AssignorError("UnknownPartition", f"gives {member!r} {excerpt(pair)}: partitions are whole numbers")
    return str(pair[0]), partition
