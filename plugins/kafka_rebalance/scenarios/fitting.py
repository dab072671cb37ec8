"""What a change names must be there: a scenario that does not fit its cluster is refused whole."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group
from kafka_rebalance.visible_text import excerpt


def require_pattern(place: str, pattern: str) -> None:
    """Raises InvalidInputError for what is no regular expression."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidInputError.at(place, f"{excerpt(pattern)} is no regular expression ({error})") from error


def matching(kind: str, pattern: str, names: Iterable[str]) -> frozenset[str]:
    """Names that the pattern covers whole. Raises InvalidInputError where none is."""
    found = frozenset(name for name in names if re.fullmatch(pattern, name))
    if not found:
        raise InvalidInputError.at(f"{kind} {excerpt(pattern)}", f"no {kind} of the cluster has such a name")
    return found


def groups_with_members(snapshot: ClusterSnapshot, pattern: str) -> frozenset[str]:
    """Groups of that name whose partitions a strategy divides among members. Raises InvalidInputError for none."""
    able = [group.id for group in snapshot.groups if can_change(group)]
    return matching("group", pattern, able)


def can_change(group: Group) -> bool:
    """It has members, and a strategy that would answer to a change of them."""
    return bool(group.members) and group.type.has_strategy


def require_known(kind: str, names: Iterable[str] | Iterable[int], known: Iterable[str] | Iterable[int]) -> None:
    """Raises InvalidInputError for the first that the cluster does not have."""
    there = set(known)
    for name in names:
        if name not in there:
            listed = ", ".join(str(one) for one in sorted(there, key=str)[:_MOST_LISTED]) or "none"
            raise InvalidInputError.at(
                f"{kind} {excerpt(name)}", f"no {kind} of the cluster has it", f"known: {listed}"
            )


_MOST_LISTED = 20
