"""Results of both leader searches on tiny clusters, as text for the pinned answers."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.leaders import (
    CountFlow,
    LeaderState,
    choose_leaders,
    count_band,
    count_flow,
    even_leaders,
    even_out,
    first_leaders,
    leader_columns,
    leader_state_of,
    least_leader_changes,
    search_leaders,
    set_distances,
)
from kafka_rebalance.planner.params import LeaderParams
from kafka_rebalance.planner.scales import candidates
from kafka_rebalance.planner.state import WorkingBands, working_bands
from tests.unit.planner.pinned_text import digits, numbers

# Few chains, so that the limit is reached.
PARAMS = LeaderParams(least_chains=60, chains_per_replica=2)


def start(problem: Problem) -> LeaderState:
    """Today's replicas and leaders; exact bands, so that loads can meet their ends."""
    may_lead = candidates(problem, problem.replicas)
    first = first_leaders(problem, problem.replicas, may_lead)
    bands = WorkingBands(problem.band_low, problem.band_high)
    return leader_state_of(problem, problem.replicas, first, may_lead, bands, PARAMS)


def led(state: LeaderState) -> dict[str, object]:
    """Leaders, and the state that the search keeps up."""
    lists = [
        sorted(state.items[state.start[b] : state.start[b] + state.filled[b]].tolist())
        for b in range(state.load.shape[0])
    ]
    return {
        "leads": digits(state.replica_index), "load": numbers(state.load), "led": lists,
        "pairs left": int(state.pairs_left[0]),
    }  # fmt: skip


def searched(problem: Problem) -> dict[str, object]:
    """After one round, and after all; permitted and first leaders."""
    may_lead = candidates(problem, problem.replicas)
    lines: dict[str, object] = {
        "may lead": digits(may_lead),
        "first": digits(first_leaders(problem, problem.replicas, may_lead)),
        "first where the preferred is elected": digits(
            first_leaders(replace(problem, elects_preferred=True), problem.replicas, may_lead)
        ),
    }
    if leader_columns(problem):
        for rounds in (1, 50):
            state = start(problem)
            made, undone = search_leaders(state, rounds)
            lines[f"{rounds} rounds"] = {"made": int(made), "undone": int(undone), **led(state)}
    return lines


def chosen(problem: Problem) -> dict[str, object]:
    """Leaders alone: even counts found exactly, then adjusted for rates."""
    alone = replace(problem, moves_replicas=False)
    bands = working_bands(alone, alone.band_low, alone.band_high)
    answer = choose_leaders(alone, alone.replicas, bands)
    done = answer.statistics
    lines: dict[str, object] = {
        "leads": digits(answer.replica_index), "made": done.leaders_changed, "undone": done.leaders_undone,
    }  # fmt: skip
    least = least_leader_changes(alone)
    lines["least"] = "none" if least is None else f"{least.changes}; {digits(least.leader)}; {digits(least.prices)}"
    return lines


def flowed(problem: Problem) -> dict[str, object]:
    """Counts into random bands, as far as they go; then as equal as possible."""
    draw = Random(problem.partition_count * 100 + problem.broker_count)
    mean = problem.partition_count / problem.broker_count
    low = np.array([draw.randrange(int(mean) + 1) for _ in range(problem.broker_count)])
    high = low + np.array([draw.randrange(3) for _ in range(problem.broker_count)])
    lines: dict[str, object] = {}
    for pull in (0, problem.partition_count + 1):
        state = start(problem)
        flow = count_flow(state, low, high, pull)
        lines[f"pull {pull}"] = {
            "excess": digits(flow.excess), "reached": bool(set_distances(state, flow, False)),
            "far": _distances(flow), "left": int(even_out(state, flow)), "through": digits(flow.through),
            "excess at last": digits(flow.excess), "far at last": _distances(flow), "level": digits(flow.level),
            **led(state),
        }  # fmt: skip
    for squares in (False, True):
        result = even_leaders(problem.replicas, problem.leader, low, high, squares=squares)
        lines[f"even, squares {squares}"] = (
            f"{result.changes}, {result.left} left; {digits(result.leader)}; {digits(result.stuck)}; "
            f"{digits(result.prices)}"
        )
    band = count_band(low - 0.5, np.where(high > 2, np.inf, high + 0.75))
    return {**lines, "whole counts": f"{digits(band[0])}; {digits(band[1])}"}


def _distances(flow: CountFlow) -> str:
    return " ".join("-" if far >= 1 << 60 else str(far) for far in flow.far.tolist())
