"""franz-go's sticky strategies: optimally even, then as sticky as that allows; which of equals moves is chance.

Promises, in this order: no two members that could exchange a partition, directly or through others, differ by more than
one · nothing moves that need not, so that the number of partitions kept is the highest possible. Racks only with the
option BalanceRacks, which is not modelled.

Topics are numbered in the order of a Go map, which is another from run to run. With one topic the answer is always the
same. With more this asks several orders. Where they do not agree the answer says that it varies
(``Assignment.varies``), and the sizes and the number of partitions kept are what is foretold. The answer itself is that
of the topics in their order in the request, the likeliest one if the map was filled so (Go begins a walk of up to eight
keys at a random one of eight places, and goes on in the order of filling).

Example: a has t-0 to t-3, b joins: a keeps t-0 and t-1, b gets t-3 and t-2.

Cooperative: what is planned for a member that did not own it, and given up by another, waits for the next round.

Source: ``pkg/kgo/internal/sticky`` of franz-go 1.22. Complexity of one order: equal subscriptions O(P log P);
others O(steals · members · topics), and the exchanges O(classes of topics · members) a sweep.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, permutations
from math import factorial

import numpy as np

from kafka_rebalance.arrays import NOBODY, Ints, Longs
from kafka_rebalance.assignors.assignment import Assignment, Withheld
from kafka_rebalance.assignors.other_clients.franz_go.claims import claimed_plan
from kafka_rebalance.assignors.other_clients.franz_go.equal import balance_equal
from kafka_rebalance.assignors.other_clients.franz_go.group_input import Group, Numbering
from kafka_rebalance.assignors.other_clients.franz_go.repair import repair
from kafka_rebalance.assignors.other_clients.franz_go.steals import balance_unequal
from kafka_rebalance.assignors.other_clients.member_orders import by_code_points
from kafka_rebalance.assignors.owned_lists import lists_by_owner
from kafka_rebalance.assignors.request import NO_GENERATION, AssignmentRequest

ORDERS = 12  # of a Go map, asked before an answer is said not to vary
FEW_TOPICS = 3  # have fewer orders than that


@dataclass(frozen=True, slots=True)
class FranzGoSticky:
    """Eager: what a member owned, and when, is in its user data."""

    name: str = "sticky@franz-go"
    versions: str = "franz-go 1.22.2"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """One answer; ``varies`` where the order of topics makes another."""
        group = Group.of(request, request.members.data_generations.tolist())
        plans = _plans(group, request.seed)
        first = next(plans)
        varies = any(not np.array_equal(first, other) for other in plans)
        return _assignment(request, first, first, is_varying=varies)


@dataclass(frozen=True, slots=True)
class FranzGoCooperativeSticky:
    """Cooperative: what a member owns, and since when, is in its Subscription, or in its user data before that."""

    name: str = "cooperative-sticky@franz-go"
    versions: str = "franz-go 1.22.2"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """One answer without what waits for its old owner; ``varies`` where the order of topics makes another."""
        own, data = request.members.generations, request.members.data_generations
        group = Group.of(request, np.where(own > NO_GENERATION, own, data).tolist())
        owners = _owners(group)
        plans = _plans(group, request.seed)
        first = next(plans)
        given = _without_waiting(first, owners)
        varies = any(not np.array_equal(given, _without_waiting(other, owners)) for other in plans)
        return _assignment(request, first, given, is_varying=varies)


def _plans(group: Group, seed: int) -> Iterator[Ints]:
    """Owner of each partition, int32[P], for each order of topics, that of the request first."""
    random = np.random.default_rng(seed)
    count = len(group.topics)
    all_orders = factorial(count) if count <= FEW_TOPICS else ORDERS + 1
    if all_orders <= ORDERS and not group.has_rivals:
        orders: Iterable[tuple[int, ...]] = permutations(group.topics)
    else:
        drawn = (tuple(random.permutation(group.topics).tolist()) for _ in range(ORDERS - 1))
        orders = chain((group.topics,), drawn)
    for order in orders:
        yield _plan(group, order, random)


def _plan(group: Group, topics: tuple[int, ...], random: np.random.Generator) -> Ints:
    owner = np.full(group.request.topics.partition_total, NOBODY, dtype=np.int32)
    numbering = Numbering(group, topics)
    if not numbering.topic_of:  # nobody reads anything
        return owner
    plan = claimed_plan(group, numbering, lambda parts: random.permutation(parts).tolist())
    if all(len(readers) == len(group.members) for readers in numbering.readers):
        balance_equal(plan, numbering)
    else:
        balance_unequal(plan, numbering)
        repair(plan, numbering)
    members: Longs = np.array(group.members, dtype=np.int64)
    owner[numbering.rows] = members[plan.holder]
    return owner


def _owners(group: Group) -> dict[int, set[int]]:
    """Row → members that own it; an older claim is no ownership beside a newer one."""
    newest: dict[int, int] = {}
    for claim in group.claims:
        newest[claim.row] = max(newest.get(claim.row, 0), claim.generation)
    owners: dict[int, set[int]] = {}
    for claim in group.claims:
        if claim.generation == newest[claim.row]:
            owners.setdefault(claim.row, set()).add(group.members[claim.member])
    return owners


def _without_waiting(plan: Ints, owners: dict[int, set[int]]) -> Ints:
    """Nobody has what is new for its member and owned by another."""
    waiting = [row for row, holders in owners.items() if plan[row] != NOBODY and plan[row] not in holders]
    given = plan.copy()
    given[waiting] = NOBODY
    return given


def _assignment(request: AssignmentRequest, plan: Ints, given: Ints, *, is_varying: bool) -> Assignment:
    topics, walk = request.topics, by_code_points(request.topics.names)
    waiting = np.flatnonzero((plan != NOBODY) & (given == NOBODY))
    of_topic = np.repeat(np.arange(len(topics)), np.diff(topics.first_row))[waiting]
    withheld = Withheld(
        of_topic.astype(np.int32), (waiting - topics.first_row[of_topic]).astype(np.int32), plan[waiting]
    )
    lists = lists_by_owner(given, topics.first_row, walk, len(request.members))
    return Assignment(*lists, withheld=withheld, varies=is_varying)
