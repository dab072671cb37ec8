"""What each strategy promises, one check a promise, declared by name: also what it does not is said.

Not even: ``range`` over several topics, ``random``, ``metaq-*``, ``broadcast``. Even only where all subscribe alike:
``roundrobin``, ``server-uniform``; ``weighted`` from above alone: nobody has too much. Not sticky: ``range``,
``roundrobin``, ``server-range``, ``random``, ``metaq-default``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.registry import by_name
from tests.properties.groups_of_members import (
    Kind,
    Pair,
    held,
    owned,
    owning,
    partitions_read,
    reads,
    without_member,
)

ANY, EQUAL, FRESH = Kind(), Kind(is_equal=True), Kind(is_fresh=True)
RACKS, EQUAL_RACKS = Kind(has_racks=True), Kind(is_equal=True, has_racks=True)


@dataclass(frozen=True, slots=True)
class Promise:
    """``check`` holds for strategy ``name`` in every group of ``kind``."""

    name: str
    check: Callable[[str, AssignmentRequest], None]
    kind: Kind

    def __str__(self) -> str:
        traits = [
            word
            for word, has in (
                ("equal", self.kind.is_equal),
                ("fresh", self.kind.is_fresh),
                ("racks", self.kind.has_racks),
            )
            if has
        ]
        return "-".join((self.name, self.check.__name__, *traits))


def _asked(name: str, request: AssignmentRequest) -> Assignment:
    return by_name(name).assign(request)


def gives_each_partition_one_reader(name: str, request: AssignmentRequest) -> None:
    """Complete and disjoint, and who reads a partition subscribes to its topic."""
    lists = held(request, _asked(name, request))
    assert sorted(pair for pairs in lists for pair in pairs) == sorted(partitions_read(request))
    for pairs, topics in zip(lists, reads(request), strict=True):
        assert {topic for topic, _ in pairs} <= set(topics)


def gives_all_to_each(name: str, request: AssignmentRequest) -> None:
    """Every member reads every partition of its topics, once."""
    every = partitions_read(request)
    for pairs, topics in zip(held(request, _asked(name, request)), reads(request), strict=True):
        assert sorted(pairs) == sorted(pair for pair in every if pair[0] in topics)


def answers_the_same_again(name: str, request: AssignmentRequest) -> None:
    """Deterministic to the order of every list."""
    once, again = _asked(name, request), _asked(name, request)
    assert held(request, once) == held(request, again)
    assert len(once.withheld) == len(again.withheld)


def is_even(name: str, request: AssignmentRequest) -> None:
    """Counts differ by one at most."""
    counts = [len(pairs) for pairs in held(request, _asked(name, request))]
    assert max(counts) - min(counts) <= 1


def is_even_by_topic(name: str, request: AssignmentRequest) -> None:
    """Of each topic its subscribers' counts differ by one at most."""
    lists = held(request, _asked(name, request))
    for topic in {pair[0] for pair in partitions_read(request)}:
        readers = [i for i, topics in enumerate(reads(request)) if topic in topics]
        counts = [sum(pair[0] == topic for pair in lists[i]) for i in readers]
        assert max(counts) - min(counts) <= 1


def is_as_even_as_subscriptions_allow(name: str, request: AssignmentRequest) -> None:
    """No partition could go to a subscriber that has at least two fewer (KIP-54)."""
    lists, topics = held(request, _asked(name, request)), reads(request)
    for pairs in lists:
        for topic, _ in pairs:
            assert all(len(pairs) - len(lists[i]) <= 1 for i in range(len(lists)) if topic in topics[i])


def keeps_the_most_that_evenness_allows(name: str, request: AssignmentRequest) -> None:
    """Movement is the minimum of any even assignment: kept = Σ min(owned, ⌊N/k⌋), and one more for up to N mod k."""
    had, lists = owned(request), held(request, _asked(name, request))
    quota, extras = divmod(len(partitions_read(request)), len(had))
    most = sum(min(len(partitions), quota) for partitions in had) + min(
        extras, sum(len(partitions) > quota for partitions in had)
    )
    assert sum(len(mine & set(now)) for mine, now in zip(had, lists, strict=True)) == most


def has_the_least_highest_count(name: str, request: AssignmentRequest) -> None:
    """Nobody has more than ⌈N/k⌉; who has least is not promised."""
    lists = held(request, _asked(name, request))
    assert max(map(len, lists)) == -(-len(partitions_read(request)) // len(lists))


def moves_the_minimum_for_its_highest_count(name: str, request: AssignmentRequest) -> None:
    """Everybody keeps what it had, up to ⌈N/k⌉."""
    had, lists = owned(request), held(request, _asked(name, request))
    highest = -(-len(partitions_read(request)) // len(had))
    for mine, now in zip(had, lists, strict=True):
        assert len(mine & set(now)) == min(len(mine), highest)


def takes_only_from_the_full(name: str, request: AssignmentRequest) -> None:
    """Who keeps less than it had is left with nothing else: nothing was taken for nothing."""
    for mine, now in zip(owned(request), held(request, _asked(name, request)), strict=True):
        assert mine <= set(now) or set(now) <= mine


def moves_nothing_when_settled(name: str, request: AssignmentRequest) -> None:
    """Asked again with its own answer in hand it gives the same."""
    first = held(request, _asked(name, request))
    again = held(request, _asked(name, owning(request, first)))
    assert [sorted(pairs) for pairs in again] == [sorted(pairs) for pairs in first]


def does_not_look_at_what_members_own(name: str, request: AssignmentRequest) -> None:
    """Not sticky: another history, the same answer."""
    nobody: list[list[Pair]] = [[] for _ in range(len(request.members))]
    assert held(request, _asked(name, request)) == held(request, _asked(name, owning(request, nobody)))


def gives_nothing_that_another_still_owns(name: str, request: AssignmentRequest) -> None:
    """Cooperative: in the first round nobody gets what is somebody else's; the second round gives out the rest."""
    had, first = owned(request), _asked(name, request)
    names = request.topics.names
    given = [[(names[t], p) for t, p in first.of_member(i)] for i in range(len(had))]
    for i, pairs in enumerate(given):
        assert not set(pairs) & set[Pair]().union(*(mine for j, mine in enumerate(had) if j != i))
    second_asked = owning(request, given)
    second = _asked(name, second_asked)
    assert len(second.withheld) == 0
    assert sorted(pair for pairs in held(second_asked, second) for pair in pairs) == sorted(partitions_read(request))


def leaves_the_others_alone_when_one_leaves(name: str, request: AssignmentRequest) -> None:
    """Consistent hashing: only what the leaver read changes hands."""
    if len(request.members) == 1:
        return
    before, smaller = held(request, _asked(name, request)), without_member(request, 0)
    after = held(smaller, _asked(name, smaller))
    for pairs, now in zip(before[1:], after, strict=True):
        assert set(pairs) <= set(now)


def shares_as_little_as_it_can(name: str, request: AssignmentRequest) -> None:
    """Share group: nobody reads a partition twice, and a partition has at most ⌈M/N⌉ readers, at least one."""
    every = partitions_read(request)
    lists = held(request, _asked(name, request))
    assert all(len(set(pairs)) == len(pairs) for pairs in lists)
    readers = Counter(pair for pairs in lists for pair in pairs)
    assert set(readers) == set(every)
    assert max(readers.values()) <= int(np.ceil(len(lists) / len(every)))


_ONE = gives_each_partition_one_reader
_SAME = answers_the_same_again
_STICKY: tuple[tuple[Callable[[str, AssignmentRequest], None], Kind], ...] = (
    (_ONE, ANY),
    (_SAME, ANY),
    (is_even, EQUAL),
    (is_as_even_as_subscriptions_allow, FRESH),
    (moves_nothing_when_settled, ANY),
    (takes_only_from_the_full, EQUAL),
)
_RANGE = ((_ONE, ANY), (_SAME, ANY), (is_even_by_topic, ANY), (does_not_look_at_what_members_own, ANY))
_ROUNDROBIN = ((_ONE, ANY), (_SAME, ANY), (is_even, EQUAL), (does_not_look_at_what_members_own, ANY))
_CURRENT_STICKY = (*_STICKY, (keeps_the_most_that_evenness_allows, EQUAL), (_ONE, RACKS), (is_even, EQUAL_RACKS))
_EARLIER_STICKY = (*_STICKY, (keeps_the_most_that_evenness_allows, EQUAL))
_COOPERATIVE = ((gives_nothing_that_another_still_owns, EQUAL),)
# With unequal subscriptions 2.5.1 to 2.8.2 forget what some own: asked again they answer otherwise.
_FORGETFUL_STICKY = tuple((check, EQUAL if check is moves_nothing_when_settled else kind) for check, kind in _STICKY)
_FRANZ_GO = (*_STICKY, (keeps_the_most_that_evenness_allows, EQUAL), (is_as_even_as_subscriptions_allow, ANY))
_UNIFORM = ((_ONE, ANY), (_SAME, ANY), (is_even, EQUAL), (takes_only_from_the_full, EQUAL))

_PLAIN_RANGES = ("sarama", "franz-go", "kafka-python-3", "kafka-python-2", "aiokafka", "kafka-go")
_DEALERS = ("librdkafka", "sarama", "franz-go", "kafka-python-2", "aiokafka")

DECLARED: dict[str, tuple[tuple[Callable[[str, AssignmentRequest], None], Kind], ...]] = {
    "range": (*_RANGE, (_ONE, RACKS), (is_even_by_topic, RACKS)),
    "range@2.4": _RANGE,
    "range@2.1": _RANGE,
    "range@2.0": _RANGE,
    "roundrobin": _ROUNDROBIN,
    "roundrobin@2.0": _ROUNDROBIN,
    "range@librdkafka": (*_RANGE, (_ONE, RACKS), (is_even_by_topic, RACKS)),
    **{f"range@{client}": _RANGE for client in _PLAIN_RANGES},
    **{f"roundrobin@{client}": _ROUNDROBIN for client in _DEALERS},
    # Each topic begins anew.
    "roundrobin@kafka-go": _RANGE,
    "rack-affinity@kafka-go": (*_RANGE, (_ONE, RACKS), (is_even_by_topic, RACKS)),
    # It fails where the next member does not subscribe.
    "roundrobin@kafka-python-3": tuple((check, EQUAL) for check, _ in _ROUNDROBIN),
    # Deals to everybody, subscribed or not.
    "roundrobin@kafkajs": ((_ONE, EQUAL), (_SAME, ANY), (is_even, ANY), (does_not_look_at_what_members_own, ANY)),
    "sticky@franz-go": _FRANZ_GO,
    "cooperative-sticky@franz-go": (*_FRANZ_GO, *_COOPERATIVE),
    "sticky": _CURRENT_STICKY,
    "sticky@3.5.2": _EARLIER_STICKY,
    "sticky@3.5": _EARLIER_STICKY,
    "sticky@3.4.1": _EARLIER_STICKY,
    "sticky@3.0": _EARLIER_STICKY,
    "cooperative-sticky": (*_CURRENT_STICKY, *_COOPERATIVE),
    "cooperative-sticky@3.5.2": (*_EARLIER_STICKY, *_COOPERATIVE),
    "cooperative-sticky@3.5": (*_EARLIER_STICKY, *_COOPERATIVE),
    "cooperative-sticky@3.4.1": (*_EARLIER_STICKY, *_COOPERATIVE),
    "cooperative-sticky@3.4.0": (*_EARLIER_STICKY, *_COOPERATIVE),
    "cooperative-sticky@3.0": (*_EARLIER_STICKY, *_COOPERATIVE),
    "sticky@2.8.1": _FORGETFUL_STICKY,
    "sticky@2.5.1": _FORGETFUL_STICKY,
    "sticky@2.4": _STICKY,
    "sticky@2.3": _STICKY,
    "sticky@2.0": _STICKY,
    "cooperative-sticky@2.8.1": (*_STICKY, *_COOPERATIVE),
    "cooperative-sticky@2.5.1": (*_STICKY, *_COOPERATIVE),
    "cooperative-sticky@2.4": (*_STICKY, *_COOPERATIVE),
    **{f"sticky@{client}": _STICKY for client in ("sarama", "kafka-python-3", "kafka-python-2", "aiokafka")},
    **{
        f"cooperative-sticky@{client}": (*_STICKY, *_COOPERATIVE)
        for client in ("librdkafka", "sarama", "kafka-python-3")
    },
    "server-range": _RANGE,
    # It keeps what members own where that is as even.
    "server-range@3.8": tuple(
        (check, kind) for check, kind in _RANGE if check is not does_not_look_at_what_members_own
    ),
    "server-uniform": (*_UNIFORM, (keeps_the_most_that_evenness_allows, EQUAL), (moves_nothing_when_settled, ANY)),
    "server-uniform@4.0.0": (*_UNIFORM, (moves_nothing_when_settled, EQUAL)),
    "server-uniform@3.8": (*_UNIFORM, (moves_nothing_when_settled, EQUAL)),
    "share-simple": ((_SAME, ANY), (shares_as_little_as_it_can, EQUAL)),
    "share-simple@4.0": ((_SAME, ANY), (gives_all_to_each, ANY)),
    "metaq-default": (*_RANGE,),
    "metaq-consistent": (
        (_ONE, ANY),
        (_SAME, ANY),
        (does_not_look_at_what_members_own, ANY),
        (leaves_the_others_alone_when_one_leaves, EQUAL),
    ),
    "random": ((_ONE, ANY), (_SAME, ANY), (does_not_look_at_what_members_own, ANY)),
    "broadcast": ((gives_all_to_each, ANY), (_SAME, ANY)),
    "weighted": (
        (_ONE, ANY),
        (_SAME, ANY),
        (has_the_least_highest_count, EQUAL),
        (moves_the_minimum_for_its_highest_count, EQUAL),
        (moves_nothing_when_settled, EQUAL),
    ),
}
PROMISES = tuple(Promise(name, check, kind) for name, checks in DECLARED.items() for check, kind in checks)
