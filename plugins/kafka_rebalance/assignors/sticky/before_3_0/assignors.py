"""``sticky`` and ``cooperative-sticky`` of Kafka's Java client 2.3 to 2.8.2, release line by release line.

===============  ===================  ==========================================================
releases         equal subscriptions  all others
===============  ===================  ==========================================================
2.3              ``one_way``          ``one_way``; one walk, not two
2.4 – 2.5.0      ``one_way``          ``one_way``
2.5.1 – 2.8.0    ``swap``             ``one_way``, where those met before the first who reads
                                      something else have lost what they own
2.8.1 – 2.8.2    ``swap``, where what two claim belongs to neither; others as before
===============  ===================  ==========================================================

The loss: to compare subscriptions Kafka reads each member's user data to its end, in the order of its map, until one
differs; the unequal way then reads the same buffers and finds them empty. ``sticky`` has its owned partitions in there,
``cooperative-sticky`` 2.8.1 to 2.8.2 only the generation. Mended in 3.0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Flags, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.request import NO_GENERATION, AssignmentRequest
from kafka_rebalance.assignors.sticky.before_3_0.claims import claims_of
from kafka_rebalance.assignors.sticky.before_3_0.one_way import OneWay, assign_one_way
from kafka_rebalance.assignors.sticky.before_3_0.swap import assign_swap
from kafka_rebalance.assignors.sticky.sticky_input import StickyInput, no_racks, sticky_input_of
from kafka_rebalance.kernels.decorators import kernel


@dataclass(frozen=True, slots=True)
class StickyOf23:
    """``sticky`` as of Kafka 2.3, the first that knows generations."""

    name: str = "sticky@2.3"
    versions: str = "Kafka 2.3"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
        return _one_way(request, OneWay(takes_in_turn=True, walks_given_first=False))


@dataclass(frozen=True, slots=True)
class StickyOf24:
    """``sticky`` as of Kafka 2.4 to 2.5.0."""

    name: str = "sticky@2.4"
    versions: str = "Kafka 2.4 – 2.5.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
        return _one_way(request, OneWay(takes_in_turn=True, walks_given_first=True))


@dataclass(frozen=True, slots=True)
class CooperativeOf24:
    """``cooperative-sticky`` as of Kafka 2.4 to 2.5.0, its first releases."""

    name: str = "cooperative-sticky@2.4"
    versions: str = "Kafka 2.4 – 2.5.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
        way = OneWay(takes_in_turn=True, walks_given_first=True, is_cooperative=True)
        return _one_way(request, way)


@dataclass(frozen=True, slots=True)
class StickyOf251:
    """``sticky`` as of Kafka 2.5.1 to 2.8.0."""

    name: str = "sticky@2.5.1"
    versions: str = "Kafka 2.5.1 – 2.8.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
        return _two_ways(request, *_said(request), voids_doubles=False, is_cooperative=False)


@dataclass(frozen=True, slots=True)
class CooperativeOf251:
    """``cooperative-sticky`` as of Kafka 2.5.1 to 2.8.0: members say no generation."""

    name: str = "cooperative-sticky@2.5.1"
    versions: str = "Kafka 2.5.1 – 2.8.0"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
        return _two_ways(request, *_unsaid(request), voids_doubles=False, is_cooperative=True)


@dataclass(frozen=True, slots=True)
class StickyOf281:
    """``sticky`` as of Kafka 2.8.1 to 2.8.2."""

    name: str = "sticky@2.8.1"
    versions: str = "Kafka 2.8.1 – 2.8.2"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
        return _two_ways(request, *_said(request), voids_doubles=True, is_cooperative=False)


@dataclass(frozen=True, slots=True)
class CooperativeOf281:
    """``cooperative-sticky`` as of Kafka 2.8.1 to 2.8.2: the generation is in the user data."""

    name: str = "cooperative-sticky@2.8.1"
    versions: str = "Kafka 2.8.1 – 2.8.2"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
        return _two_ways(request, *_said(request), voids_doubles=True, is_cooperative=True)


def _one_way(request: AssignmentRequest, way: OneWay) -> Assignment:
    inputs = _input(request)
    said = _unsaid(request) if way.is_cooperative else _said(request)
    return assign_one_way(request, inputs, claims_of(request, inputs, inputs.subscription_order, said), way)


def _two_ways(
    request: AssignmentRequest, generations: Ints, overwrites: Flags, *, voids_doubles: bool, is_cooperative: bool
) -> Assignment:
    members, inputs = request.members, _input(request)
    if inputs.is_equal:
        return assign_swap(request, inputs, generations, voids_doubles=voids_doubles, is_cooperative=is_cooperative)
    walk = inputs.subscription_order
    read = first_that_differs(walk, members.subscription_offsets, members.subscription_topics, len(request.topics))
    if is_cooperative:
        generations = generations.copy()
        generations[walk[:read]] = NO_GENERATION
        generations.setflags(write=False)
    else:
        walk = walk[read:]
    claims = claims_of(request, inputs, walk, (generations, overwrites))
    way = OneWay(takes_in_turn=False, walks_given_first=True, is_cooperative=is_cooperative)
    return assign_one_way(request, inputs, claims, way)


def _input(request: AssignmentRequest) -> StickyInput:
    """The common input; racks were not known yet."""
    inputs = sticky_input_of(request, request.members.data_generations)
    return replace(inputs, racks=no_racks(len(request.members))) if inputs.racks.is_active else inputs


def _said(request: AssignmentRequest) -> tuple[Ints, Flags]:
    """Generations that members sent in their user data; who sent none, replaces whom it meets."""
    members = request.members
    overwrites = ~members.has_data_generation
    overwrites.setflags(write=False)  # as columns of a request are: one variant of each kernel serves all
    return members.data_generations, overwrites


def _unsaid(request: AssignmentRequest) -> tuple[Ints, Flags]:
    """As if nobody had sent a generation: cooperative members did so from 2.8.1 on."""
    generations = np.full(len(request.members), NO_GENERATION, dtype=np.int32)
    overwrites = np.ones(len(request.members), dtype=np.bool_)
    generations.setflags(write=False)
    overwrites.setflags(write=False)
    return generations, overwrites


@kernel
def first_that_differs(walk: Longs, offsets: Longs, topics: Ints, topic_count: int) -> int:
    """Place in ``walk`` of the first member with other topics than those before it, as ``all_equal`` compares them."""
    is_expected = np.zeros(topic_count, np.bool_)
    expected = 0
    for place in range(len(walk)):
        start, end = offsets[walk[place]], offsets[walk[place] + 1]
        is_first = expected == 0
        differs = not is_first and end - start != expected
        for at in range(start, end):
            if is_first:
                expected += not is_expected[topics[at]]
                is_expected[topics[at]] = True
            elif not is_expected[topics[at]]:
                differs = True
        if differs:
            return place
    return len(walk)
