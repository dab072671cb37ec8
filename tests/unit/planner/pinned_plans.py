"""Programs of tiny clusters, and plans of short searches, as text for the pinned answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, fields, replace

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.planner.linear_program.programs import Program, cheaper_plans
from kafka_rebalance.planner.linear_program.relaxation import (
    arcs_of,
    has_capacity,
    program_starts,
    relax,
    rounded,
    whole_plan,
)
from kafka_rebalance.planner.params import (
    ArcParams,
    BandParams,
    Effort,
    FetchParams,
    GapParams,
    LinearProgramParams,
    NeighbourhoodParams,
    ReplicaKernelParams,
    ReplicaSearchParams,
    SolveParams,
    WholePlanParams,
)
from kafka_rebalance.planner.placed import place
from kafka_rebalance.planner.replicas.search import anneal_replicas, search_replicas, start_sets
from kafka_rebalance.planner.solution import SearchStatistics
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.state import WorkingBands, topic_excess, working_bands
from tests.unit.planner.pinned_text import digits, number, numbers

BRIEF = Effort(rounds=3, last_rounds=4, swap_tries=40, polish_tries=12, anneal_steps=300, program_steps=0)
SOME_PROGRAMS = replace(BRIEF, rounds=1, last_rounds=0, polish_rounds=0, program_steps=6)
NO_GAP = GapParams(near=0.0, far=0.0)
NEVER_WHOLE = LinearProgramParams(
    whole_plan=WholePlanParams(most_pairs=0),
    neighbourhoods=NeighbourhoodParams(
        brokers=(2, 3, 4),
        chosen_first=1,
        least_open=12,
        most_open=16,
        patience=3,
        near=(0.0, 0.0),
        few_arcs=0,
        undecided_partitions=4.0,
    ),
)
EXACT = BandParams(margin=0.0, count_margin=0.0)
FEW = ReplicaSearchParams(
    kernels=ReplicaKernelParams(fetch=FetchParams(sampled=30)),
    most_polish_tries=20,
    narrow_band=0.5,
    least_pass_saving=0.3,
)
# One search, an annealed one, whole programs, and neighbourhoods.
PARAMS = {
    "search": SolveParams(effort=replace(BRIEF, anneal_steps=0), replicas=FEW),
    "annealed": SolveParams(effort=BRIEF, gaps=NO_GAP, bands=EXACT, replicas=FEW),
    "whole": SolveParams(effort=SOME_PROGRAMS, gaps=NO_GAP, replicas=FEW),
    "neighbourhoods": SolveParams(effort=SOME_PROGRAMS, gaps=NO_GAP, replicas=FEW, linear_program=NEVER_WHOLE),
}


def planned(problem: Problem) -> dict[str, object]:
    """Answer of ``solve`` by each way, and its statistics."""
    return {name: _answer(problem, params) for name, params in PARAMS.items()}


def _answer(problem: Problem, params: SolveParams) -> str:
    try:
        solution = solve(problem, seed=5, params=params)
    except InfeasibleError as error:
        return error.cause.code.value
    cost, bounds = solution.cost, solution.bounds
    least = (bounds.bytes.value, bounds.replica_moves.value, bounds.leader_changes.value)
    reported = (
        f"{number(cost.bytes)} B, {cost.replica_moves} moves, {cost.leader_changes} leaders",
        f"at least {', '.join(map(number, least))}",
        digits(solution.replicas),
        f"led by {digits(solution.leader)}",
        f"spread {solution.topic_excess}",
        _told(solution.statistics),
        numbers(solution.after),
    )
    return "; ".join(reported)


def _told(done: SearchStatistics) -> str:
    names = [field.name for field in fields(SearchStatistics)]
    return ", ".join(f"{name} {count}" for name, count in zip(names, astuple(done), strict=True) if count)


def searched(problem: Problem) -> dict[str, object]:
    """Replica sets by search alone, and annealed from there."""
    sets, bands = start_sets(problem), working_bands(problem, problem.band_low, problem.band_high, EXACT)
    params = SolveParams(effort=BRIEF, replicas=FEW)
    result = search_replicas(problem, sets, bands, seed=2, params=params)
    lines: dict[str, object] = {
        "search": f"{result.stranded} stranded; {_told(result.statistics)}; {digits(result.replicas)}"
    }
    if not result.stranded:
        warm = replace(sets, replicas=result.replicas)
        annealed = anneal_replicas(problem, warm, bands, seed=2, params=params)
        lines["annealed"] = f"{_told(annealed.statistics)}; {digits(annealed.replicas)}"
    return lines


def programmed(problem: Problem) -> dict[str, object]:
    """Arcs, the relaxed program, its roundings, and the integer program; costs and loads alone, for answers of equal
    cost vary.
    """
    sets, bands = start_sets(problem), working_bands(problem, problem.band_low, problem.band_high)
    arcs = arcs_of(problem, ArcParams())
    relaxed = relax(problem, arcs, bands.low, bands.high)
    lines: dict[str, object] = {
        "arcs": digits(np.array([arcs.row, arcs.broker, arcs.is_kept])), "weights": numbers(arcs.weight.sum(axis=0)),
        "costs": numbers(arcs.cost), "fixed": numbers(arcs.fixed),
        "fits": bool(has_capacity(problem, problem.replicas)),
    }  # fmt: skip
    if relaxed is not None:
        lines["relaxed"] = f"{_close(arcs.cost @ relaxed.share)}"
        start = rounded(problem, sets, arcs, relaxed.share)
        lines["rounded"] = digits(start.replicas)
        lines["rounded fits"] = bool(has_capacity(problem, start.replicas))
    reached = broker_loads(problem, problem.replicas, problem.leader)
    lines["starts"] = [digits(start.replicas) for start in program_starts(problem, sets, arcs, relaxed, bands, reached)]
    whole = whole_plan(problem, bands)
    if whole is not None:
        placed = place(problem, whole.replicas, bands, replica_index=whole.replica_index)
        cost = placed.cost
        lines["whole"] = f"{_close(cost.bytes)} B, {cost.replica_moves} moves, {cost.leader_changes} leaders"
        lines["outside"] = _close(placed.band_violation)
    lines["cheaper"] = list(_cheaper(problem, bands))
    return lines


def _cheaper(problem: Problem, bands: WorkingBands) -> Iterator[str]:
    """Costs of successive plans, from an expensive one for bands half as wide."""
    effort = replace(BRIEF, rounds=2, polish_rounds=0)
    high = np.minimum(bands.high, 2 * bands.low + 9.0)
    narrow = WorkingBands((3 * bands.low + high) / 4, (bands.low + 3 * high) / 4)
    params = SolveParams(effort=effort, replicas=FEW)
    result = search_replicas(problem, start_sets(problem), narrow, seed=2, params=params)
    after = broker_loads(problem, result.replicas, result.replicas[:, 0]) if not result.stranded else None
    arcs = arcs_of(problem, ArcParams())
    if after is None:
        return
    low, high = np.minimum(bands.low, after), np.maximum(bands.high, after)
    relaxed = relax(problem, arcs, low, high)
    if relaxed is None:
        return
    program = Program(problem, arcs, relaxed, (low, high), NEVER_WHOLE)
    allowed = topic_excess(problem.topic, result.replicas, problem.stays)
    for share in cheaper_plans(program, result.replicas, allowed=allowed, steps=8, seed=4):
        yield f"{_close(arcs.cost @ share)}: {digits(share)}"


def _close(value: float) -> str:
    """Programs end within a millionth."""
    return f"{float(value) + 0.0:.5g}"
