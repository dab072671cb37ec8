"""Bounds of tiny clusters, and the search's start, as text for the pinned answers."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.planner.bounds import (
    covering_prices,
    drop_costs,
    holdings_of,
    least_copies,
    least_leader_stops,
    lower_bounds,
    proven_by,
)
from kafka_rebalance.planner.linear_program.proofs import widened_bounds
from kafka_rebalance.planner.params import BoundParams, SolveParams
from kafka_rebalance.planner.placed import place
from kafka_rebalance.planner.replicas.search import replica_columns, start_sets
from kafka_rebalance.planner.scales import move_costs, resource_scale
from kafka_rebalance.planner.solution import Bounds
from kafka_rebalance.planner.state import make_state, topic_excess, working_bands
from tests.unit.planner.pinned_text import digits, number, numbers


def bounded(problem: Problem) -> dict[str, object]:
    """Every part of the bounds, at the requested bands and at wider ones."""
    load = broker_loads(problem, problem.replicas, problem.leader)
    holdings, columns = holdings_of(problem), replica_columns(problem)
    result = lower_bounds(problem)
    wider = (np.minimum(problem.band_low, load + 0.5), np.maximum(problem.band_high, load - 0.5))
    return {
        "bounds": _shown(result),
        "copies": number(least_copies(problem, holdings, load, columns)),
        "stops": number(least_leader_stops(problem, load)),
        "stops where the preferred is elected": number(
            least_leader_stops(replace(problem, elects_preferred=True), load)
        ),
        "holdings": f"{digits(holdings.start)}; {digits(holdings.row)}; {digits(holdings.is_forced)}",
        "drop costs": numbers(drop_costs(problem, problem.move_bytes)),
        "prices": numbers(covering_prices(problem, holdings, load, columns)),
        "drawn prices": _drawn(problem),
        "wider": _shown(widened_bounds(problem, result, *wider, 1e9)),
        "wider, from nothing": _shown(widened_bounds(problem, None, *wider, result.bytes.value)),
    }


def _drawn(problem: Problem) -> str:
    """Proofs by prices of any sign, a few partitions at a time; infinite band ends have no price."""
    draw, proofs = Random(problem.partition_count), []
    for _ in range(6):
        prices = np.array(
            [[draw.choice((0.0, 0.0, 1.0, 0.5, -0.5, 0.25)) for _ in problem.resources] for _ in problem.rack]
        )
        prices[~np.isfinite(problem.band_high)] = 0.0
        proofs.append(number(proven_by(problem, prices, problem.move_bytes, BoundParams(partitions_per_slice=3))))
    return " ".join(proofs)


def _shown(bounds: Bounds) -> str:
    parts = ", ".join(f"{name} {number(value)}" for name, value in bounds.parts.items())
    prices = "" if bounds.certificate is None else numbers(bounds.certificate.prices)
    copies, changes = bounds.replica_moves.value, bounds.leader_changes.value
    return f"{number(bounds.bytes.value)}, {number(copies)}, {number(changes)}; {parts}; {prices}"


def started(problem: Problem) -> dict[str, object]:
    params = SolveParams(replicas=replace(SolveParams().replicas, small_topic=5))
    bands = working_bands(problem, problem.band_low, problem.band_high)
    sets = start_sets(problem)
    today = place(problem, problem.replicas, bands)
    leader_index = np.where(problem.target_rf > 1, -1, 0).astype(np.int32)
    state = make_state(problem, sets, leader_index, replica_columns(problem), bands, seed=3, params=params)
    return {
        "scale": numbers(resource_scale(problem)), "costs": numbers(move_costs(problem, 0.005)),
        "working low": numbers(bands.low), "working high": numbers(bands.high),
        "sets": digits(sets.replicas), "original": digits(sets.original),
        "load": numbers(state.load), "low": numbers(state.low), "high": numbers(state.high),
        "limit": numbers(state.limit), "peak": numbers(state.peak), "own": numbers(state.own),
        "flags": digits(np.array([state.rack, state.takes, state.leads, state.leaves])),
        "receivers in rack": digits(state.receivers_in_rack),
        "has limit": bool(state.has_limit), "disk column": int(state.disk_column),
        "lists": f"{digits(state.start)}; {digits(state.filled)}; {digits(state.position)}",
        "topics": f"{digits(state.topics.row)}; {digits(state.topics.limit)}; {digits(state.topics.table)}",
        "members": f"{digits(state.topics.start)}; {digits(state.topics.members)}",
        "topic excess": topic_excess(problem.topic, problem.replicas, problem.stays),
        "random": int(state.random[0]),
        "today": (
            f"{number(today.cost.bytes)} B, {today.cost.replica_moves} moves, {today.cost.leader_changes} leaders; "
            f"outside {number(today.band_violation)}, {today.topic_excess} too many; {digits(today.replicas)}"
        ),
    }  # fmt: skip
