"""An earlier plan that was not applied, or only in part: is it still good on today's cluster?

A person who approved yesterday's plan wants to see it again, not another one of the same worth. So what is left of it
is kept as long as nothing contradicts it and it still leads where it should; where the cluster moved on meanwhile it
is continued: its moves stay, some are added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats, Ints
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.facts import BoundProof
from kafka_rebalance.planner.solution import Bounds, CostProof, Cover, LowerBound, PriceCertificate
from kafka_rebalance.plans.request import PlanRequest

# Parameters that say what is wanted; the others (throttle, limits of a wave) only say how it runs.
WANTED = (
    "balance_within", "is_explicit", "is_within_ordered", "targets", "caps", "max_move_bytes", "max_moves",
    "max_leader_changes",
    "remove_brokers", "add_brokers", "demote_brokers", "exclude_brokers", "replication_factor", "leaders_only",
    "preferred_election", "include_topics", "exclude_topics", "remove_racks", "headroom",
    "max_reorders", "topic_brokers", "max_hours", "survive", "also_balance", "min_topic_leaders",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class PreviousPlan:
    """What is left of it, in problem rows: today's placement int32[P', W] and leaders int32[P'] with it applied.

    ``left`` counts moves that are still to be made, ``done`` those that were.
    """

    plan_id: str
    replicas: Ints
    leader: Ints
    left: int
    done: int


def what_is_left(plan_request: PlanRequest, problem: Problem, previous: Mapping[str, Any]) -> PreviousPlan | None:
    """None where it asked for something else, is wholly applied, had no moves, or contradicts today's cluster."""
    wanted = plan_request.options.document()
    asked = previous["parameters"]
    if any(asked.get(name) != wanted[name] for name in WANTED) or not previous["moves"]:
        return None
    row_of = {row: at for at, row in enumerate(plan_request.rows.tolist())}
    in_snapshot, index = plan_request.snapshot.row_of, plan_request.brokers.index_of
    replicas, leader = problem.replicas.copy(), problem.leader.copy()
    left = done = 0
    for move in previous["moves"]:
        at = row_of.get(in_snapshot.get((move["topic"], move["partition"]), -1), -1)
        to = [index.get(broker, NOBODY) for broker in move["to"]]
        if at < 0 or NOBODY in to or len(to) > replicas.shape[1] or problem.pinned[at]:
            return None
        today = [replica for replica in problem.replicas[at].tolist() if replica >= 0]
        leads = index.get(move["leader_to"], NOBODY)
        if today == to and int(problem.leader[at]) == leads:
            done += 1
            continue
        start = [index.get(broker, NOBODY) for broker in move["from"]]
        if today not in (start, to) or not _is_lawful(problem, at, today, to, leads):
            return None
        replicas[at] = NOBODY
        replicas[at, : len(to)] = to
        leader[at] = leads
        left += 1
    return PreviousPlan(previous["plan_id"], replicas, leader, left, done) if left else None


def earlier_prices(plan_request: PlanRequest, problem: Problem, previous: Mapping[str, Any]) -> Bounds:
    """The prices and covers that proved an earlier plan's bound on bytes, by today's rows and brokers, without a value.

    Any prices prove some bound, as today's loads and bands make it: nothing of the earlier value is kept. Raises
    InvalidInputError for prices and covers that no plan has.
    """
    try:
        return _earlier_prices(plan_request, problem, previous)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        hint = "give the plan.json as it was written"
        raise InvalidInputError.at(
            "previous plan", "its certificate or proofs are not those of a plan", hint
        ) from error


def _earlier_prices(plan_request: PlanRequest, problem: Problem, previous: Mapping[str, Any]) -> Bounds:
    nothing, zeros = LowerBound(0.0, BoundProof.NOTHING_MOVES), np.zeros(problem.broker_count)
    proof = previous.get("proofs", {}).get("bytes")
    proofs = {}
    if proof is not None:
        covers = (_cover(plan_request, problem, cover) for cover in proof["covers"])
        kept = tuple(cover for cover in covers if cover is not None)
        proofs["bytes"] = CostProof(_prices(plan_request, problem, proof["prices"]), zeros, zeros, 0.0, kept)
    certificate = PriceCertificate(_prices(plan_request, problem, previous.get("certificate", {})), 0.0)
    return Bounds(nothing, nothing, nothing, certificate=certificate, proofs=proofs)


def _prices(plan_request: PlanRequest, problem: Problem, named: Mapping[str, Mapping[str, float]]) -> Floats:
    """float64[B, D]; what is not in today's problem has none."""
    prices = np.zeros((problem.broker_count, len(problem.resources)))
    for d, name in enumerate(problem.resources):
        for broker, price in named.get(name, {}).items():
            at = plan_request.brokers.index_of.get(int(broker))
            if at is not None:
                prices[at, d] = price
    if not np.isfinite(prices).all():
        raise ValueError("a price is no number")
    return prices


def _cover(plan_request: PlanRequest, problem: Problem, cover: Mapping[str, Any]) -> Cover | None:
    broker = plan_request.brokers.index_of.get(int(cover["broker"]))
    column = problem.column(cover["resource"])
    if broker is None or column is None:
        return None
    row_of, in_snapshot = {row: at for at, row in enumerate(plan_request.rows.tolist())}, plan_request.snapshot.row_of
    gone, come = (
        np.array(
            sorted(
                row_of[in_snapshot[topic, partition]]
                for topic, partitions in cover[side].items()
                for partition in partitions
                if in_snapshot.get((topic, partition), -1) in row_of
            ),
            dtype=np.int64,
        )
        for side in ("gone", "come")
    )
    price = float(cover["price"])
    if not 0 <= price < np.inf:
        raise ValueError("a price of a cover is below 0 or no number")
    return Cover(broker, column, gone, come, price)


def _is_lawful(problem: Problem, row: int, today: list[int], to: list[int], leader: int) -> bool:
    new = [broker for broker in to if broker not in today]
    return (
        bool((problem.takes_replicas & problem.sets.brokers[problem.sets.of_partition[row]])[new].all())
        and bool(problem.stays[to].all())
        and bool(problem.takes_leaders[leader] or problem.keeps_leaders[leader])
    )


def differs(problem: Problem, replicas: Ints, leader: Ints) -> bool:
    """Whether a placement changes anything."""
    return bool((replicas != problem.replicas).any() or (leader != problem.leader).any())


def leaves_nothing_behind(problem: Problem, replicas: Ints) -> bool:
    """No replica on a broker that leaves, the replication factor as wanted."""
    free = ~problem.pinned
    there = replicas >= 0
    on_leaving = there & ~problem.stays[replicas]
    offline = (
        np.zeros_like(there) if problem.must_leave is None else problem.must_leave & (replicas == problem.replicas)
    )
    wrong_rf = there.sum(axis=1) != problem.target_rf
    return not bool(((on_leaving | offline).any(axis=1) | wrong_rf)[free].any())
