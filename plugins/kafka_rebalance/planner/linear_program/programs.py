"""The programs that improve a placement, by the size of the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds as Limits
from scipy.optimize import LinearConstraint, milp

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.bands import distinct_racks
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds import (
    cover_row,
    least_price,
    lower_bounds,
    may_stay_on,
    pinned_load,
    raised,
    raised_by_covers,
)
from kafka_rebalance.planner.linear_program.relaxation import (
    Arcs,
    Relaxed,
    Rows,
    Task,
    arcs_of,
    capacity_rows,
    core_arcs,
    has_capacity,
    is_tiny,
    load_rows,
    program_starts,
    rack_rows,
    relax,
    rounded,
    spread_allowed,
    whole_plan,
)
from kafka_rebalance.planner.params import (
    DEFAULTS,
    AnnealParams,
    CoverParams,
    LinearProgramParams,
    NeighbourhoodParams,
    RestrictedParams,
    SolveParams,
)
from kafka_rebalance.planner.placed import Placed, better
from kafka_rebalance.planner.replicas.search import replica_columns
from kafka_rebalance.planner.scales import mean_bytes, resource_scale
from kafka_rebalance.planner.solution import Bounds, Cover, SearchStatistics
from kafka_rebalance.planner.state import ReplicaSets, WorkingBands, topic_limit

# Repeated annealing: at low, rising prices (``BoldAnnealParams``) two steps together pass outside the bands and return.


def annealed_again(task: Task, incumbent: Placed, tries: int, times: int, *, least: float, near: float) -> Placed:
    """Best of ``incumbent`` and ``tries`` seeds with ``times`` the steps, until within the share ``near`` of ``least``,
    or ``BoldAnnealParams.patience`` seeds without a gain.
    """
    best, params, in_vain = incumbent, annealing(task.params, times), 0
    if not params.effort.anneal_steps:
        return best
    for number in range(1, tries + 1):
        if best.is_near(least, near) or in_vain == task.params.linear_program.bold.patience:
            break
        worth = best.worth
        best = task.annealed(best, ReplicaSets(best.replicas, task.sets.original), params, number)
        in_vain = 0 if best.worth < worth else in_vain + 1
    return best


def annealed_large(task: Task, incumbent: Placed) -> Placed:
    """Best of ``incumbent`` and one long run from it."""
    large = task.params.linear_program.large
    if not task.params.effort.anneal_steps or not large.times:
        return incumbent
    params = annealing(task.params, large.times, large.anneal)
    return task.annealed(incumbent, ReplicaSets(incumbent.replicas, task.sets.original), params)


def annealing(params: SolveParams, times: int, anneal: AnnealParams | None = None) -> SolveParams:
    bold = params.linear_program.bold
    kernels = replace(params.replicas.kernels, anneal=anneal or bold.anneal)
    return replace(
        params,
        effort=replace(params.effort, anneal_steps=times * params.effort.anneal_steps),
        replicas=replace(params.replicas, kernels=kernels, narrow_band=bold.narrow_band),
    )


# Linear program of all moves with cover inequalities (``verify/bounds.py``), for few and large replicas. For each
# broker and resource the most violated cover is added, and the program is solved again, two or three times.


def with_covers(
    problem: Problem,
    arcs: Arcs,
    relaxed: Relaxed,
    bands: WorkingBands,
    params: CoverParams = DEFAULTS.linear_program.covers,
) -> Relaxed:
    """Optimum with covers; ``relaxed`` where they promise little."""
    covers: tuple[Cover, ...] = ()
    best, cost = relaxed, float(arcs.cost @ relaxed.share)
    first = cost
    if len(arcs.row) > params.most_arcs:
        return relaxed
    for _ in range(params.rounds):
        broken = broken_covers(problem, arcs, best.share, params)
        if promised(best, broken) < params.least_promise * cost * mean_bytes(problem):
            break
        covers = (*best.covers, *(cover for cover, _ in broken))
        solution = relax(problem, arcs, bands.low, bands.high, covers=covers)
        if solution is None:
            break
        rise = float(arcs.cost @ solution.share) - cost
        best, cost = solution, cost + rise
        if rise < params.least_rise * cost:
            break
    return best if cost >= first * (1 + params.least_worth) else relaxed


def promised(relaxed: Relaxed, broken: list[tuple[Cover, float]]) -> float:
    """Violation at the brokers' prices."""
    return sum(max(0.0, float(relaxed.prices[cover.broker, cover.column])) * lack for cover, lack in broken)


def broken_covers(
    problem: Problem, arcs: Arcs, share: Floats, params: CoverParams = DEFAULTS.linear_program.covers
) -> list[tuple[Cover, float]]:
    """Most violated cover of each broker and resource at ``share``, and its violation."""
    pinned = pinned_load(problem)
    by_broker = np.argsort(arcs.broker, kind="stable")
    begin = np.searchsorted(arcs.broker[by_broker], np.arange(problem.broker_count + 1))
    violated = []
    for b in np.flatnonzero(problem.stays).tolist():
        mine = by_broker[begin[b] : begin[b + 1]]
        share_on_broker = np.zeros(problem.partition_count)
        share_on_broker[arcs.row[mine]] = share[mine]
        sets = _sets(problem, b, share_on_broker, params)
        for column in replica_columns(problem):
            tried = [_broken(problem, Cover(b, column, gone, come), share_on_broker, pinned) for gone, come in sets]
            cover, lack, part = max(tried, key=lambda candidate: candidate[2])
            if part > params.least_broken:
                violated.append((cover, lack))
    return violated


def _sets(problem: Problem, broker: int, share_on_broker: Floats, params: CoverParams) -> list[tuple[Longs, Longs]]:
    is_held = may_stay_on(problem, broker).any(axis=1)
    sets = []
    for least in params.least_shares:
        is_in = share_on_broker > least
        gone, come = np.flatnonzero(is_held & ~is_in), np.flatnonzero(~is_held & is_in)
        if len(gone) + len(come) <= params.most_named:
            sets.append((gone, come))
    return sets or [(np.zeros(0, np.int64), np.zeros(0, np.int64))]


def _broken(problem: Problem, cover: Cover, share_on_broker: Floats, pinned: Floats) -> tuple[Cover, float, float]:
    """In units of the resource and as a share of the surplus."""
    row = cover_row(problem, cover, pinned)
    if row is None:
        return cover, 0.0, 0.0
    lack = row.surplus - float(row.weight @ (1.0 - share_on_broker[row.row]))
    return cover, lack, lack / row.surplus


# Large neighbourhood search (Shaw 1998) guided by the linear program.
#
#     cost(plan) - cost(program) = Σ regret of arcs that differ + Σ price · slack left in rows of loads
#
# After the core (``core_arcs``), each step opens the brokers with most of this gap and their partitions that differ,
# have moved or cost little to move, and an integer program solves what is open.


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    problem: Problem
    arcs: Arcs
    relaxed: Relaxed
    bands: tuple[Floats, Floats]
    params: LinearProgramParams = DEFAULTS.linear_program


@dataclass(frozen=True, slots=True, eq=False)
class _Rules:
    """``matrix`` · x <= ``most``."""

    matrix: Any
    most: Floats
    partition: Any
    line: Longs
    factor: Floats
    cell: Longs
    limit: Floats
    allowed: int


def decided_core(program: Program, replicas: Ints, *, allowed: int, frozen: Flags) -> Floats | None:
    """Core solved again without partitions ``frozen``: 0/1 shares, None if not cheaper."""
    arcs, limits = program.arcs, program.params.neighbourhoods
    share = (replicas[arcs.row] == arcs.broker[:, None]).any(axis=1).astype(np.float64)
    best, cost = float(arcs.cost @ program.relaxed.share), float(arcs.cost @ share)
    rules = _rules(program, allowed)
    if cost - best <= limits.near[0] * best or (rules.partition @ share != rules.factor).any():
        return None
    is_open = core_arcs(program.problem, arcs, program.relaxed, share, program.params) & ~frozen[arcs.row]
    return _decided(arcs, rules, share, is_open, limits.near[0] * best, limits)


def cheaper_plans(program: Program, replicas: Ints, *, allowed: int, steps: int, seed: int) -> Iterator[Floats]:
    """0/1 shares, each cheaper than the last."""
    arcs, limits = program.arcs, program.params.neighbourhoods
    rules = _rules(program, allowed)
    share = (replicas[arcs.row] == arcs.broker[:, None]).any(axis=1).astype(np.float64)
    if (rules.partition @ share != rules.factor).any():
        return
    rng = np.random.default_rng(seed)
    best = float(arcs.cost @ program.relaxed.share)
    gaps = [float(arcs.cost @ share) - best]
    open_arcs = min(limits.most_open, max(limits.least_open, len(arcs.row) // limits.arcs_per_open))
    levels = limits.near if len(arcs.row) > limits.few_arcs else limits.near[:1]
    patience = limits.patience + len(arcs.row) // limits.arcs_per_patience
    level, since, kind = 0, 0, 0
    for step in range(steps):
        closes_little = step - since >= patience and gaps[-1] > (1 - limits.least_closed) * gaps[-1 - patience]
        if closes_little and gaps[-1] <= limits.far * best:
            level, since = level + 1, step
        if level == len(levels) or gaps[-1] <= levels[level] * best:
            return
        brokers = min(program.problem.broker_count, limits.brokers[kind])
        is_open = _open_arcs(program, share, brokers, open_arcs * (2 + level) // 2, rng)
        gap = max(limits.least_gap * best, limits.gap_share * gaps[-1])
        cheaper = _decided(arcs, rules, share, is_open, gap, limits)
        if cheaper is not None:
            share = cheaper
            yield share
        gaps.append(float(arcs.cost @ share) - best)
        if gaps[-1] > (1 - limits.least_closed) * gaps[-2]:
            kind = (kind + 1) % len(limits.brokers)


def _rules(program: Program, allowed: int) -> _Rules:
    problem, arcs, (low, high) = program.problem, program.arcs, program.bands
    count, slack = len(arcs.row), program.params.neighbourhoods.row_slack * resource_scale(problem)
    rows = Rows(count)
    load_rows(problem, arcs, low + slack * (low > 0), high - slack, rows)
    capacity_rows(problem, arcs, rows)
    rack_rows(problem, arcs, rows)
    matrix: Any = sp.vstack(rows.blocks).tocsc()
    free, line = np.unique(arcs.row, return_inverse=True)
    partition: Any = sp.csc_matrix((np.ones(count), (line, np.arange(count))), (len(free), count))
    limit = np.repeat(topic_limit(problem).astype(np.float64), problem.broker_count)
    pinned = problem.replicas[problem.pinned]
    topic = np.repeat(problem.topic[problem.pinned].astype(np.int64), pinned.shape[1])
    is_replica = pinned.ravel() >= 0
    np.subtract.at(limit, topic[is_replica] * problem.broker_count + pinned.ravel()[is_replica], 1.0)
    return _Rules(
        matrix=matrix,
        most=np.concatenate(rows.most),
        partition=partition,
        line=line,
        factor=problem.target_rf[free].astype(np.float64),
        cell=problem.topic[arcs.row].astype(np.int64) * problem.broker_count + arcs.broker,
        limit=limit,
        allowed=allowed,
    )


def _losses(program: Program, share: Floats) -> Floats:
    problem, arcs, relaxed, bands = program.problem, program.arcs, program.relaxed, program.bands
    columns = arcs.columns
    load = arcs.fixed.copy()
    np.add.at(load, arcs.broker, arcs.weight * share[:, None])
    low, high = bands[0][:, columns], np.minimum(bands[1], problem.limit)[:, columns]
    price = relaxed.prices[:, columns] / max(mean_bytes(problem), 1e-300)
    with np.errstate(invalid="ignore"):
        headroom = np.where(price > 0, high - load, load - low)
        lost = np.maximum(np.where(price == 0, 0.0, np.abs(price) * headroom), 0.0).sum(axis=1)
    differs = relaxed.regret * np.abs(share - relaxed.share)
    return np.asarray(lost + np.bincount(arcs.broker, weights=differs, minlength=problem.broker_count) / 2)


def _open_arcs(program: Program, share: Floats, chosen: int, most: int, rng: np.random.Generator) -> Flags:
    problem, arcs, limits = program.problem, program.arcs, program.params.neighbourhoods
    losses = _losses(program, share) + 1e-300
    brokers, count = problem.broker_count, problem.partition_count
    first = rng.choice(brokers, size=min(limits.chosen_first, brokers), replace=False, p=losses / losses.sum())
    odds = losses / losses.sum() + 0.5 / brokers
    others = rng.choice(brokers, size=min(chosen, brokers), replace=False, p=odds / odds.sum())
    is_first, is_chosen = np.zeros((2, brokers), dtype=np.bool_)
    is_first[first] = is_chosen[first] = True
    is_chosen[others[: max(0, chosen - limits.chosen_first * (chosen < brokers))]] = True
    preference = _preferences(program, share, is_first[arcs.broker], is_chosen[arcs.broker], rng)
    unused = program.params.arcs.unused_share
    usable = is_chosen[arcs.broker] | (share > 0.5) | (program.relaxed.share > unused)
    ranked = np.argsort(-preference, kind="stable")
    arcs_of_row = np.bincount(arcs.row[usable], minlength=count)
    is_selected = np.zeros(count, dtype=np.bool_)
    is_selected[ranked[: np.searchsorted(np.cumsum(arcs_of_row[ranked]), most)]] = True
    return np.asarray(is_selected[arcs.row] & usable)


def _preferences(
    program: Program, share: Floats, at_first: Flags, at_chosen: Flags, rng: np.random.Generator
) -> Floats:
    problem, arcs, relaxed = program.problem, program.arcs, program.relaxed
    count, is_in_plan = problem.partition_count, share > 0.5

    def any_arc(of: Flags) -> Flags:
        return np.bincount(arcs.row[of], minlength=count) > 0

    is_here = arcs.is_kept | is_in_plan
    differs = any_arc(np.abs(share - relaxed.share) > program.params.arcs.unused_share)
    size = np.argsort(np.argsort(np.where(differs, problem.move_bytes, -1.0), kind="stable")) / max(1, count - 1)
    size = np.clip(1.0 - (1.0 - size) * count / max(1, int(differs.sum())), 0.0, 1.0)
    least = np.full(count, np.inf)
    has_regret = at_chosen & (relaxed.regret > 0)
    np.minimum.at(least, arcs.row[has_regret], relaxed.regret[has_regret])
    undecided = program.params.neighbourhoods.undecided_partitions
    calm = np.exp(-np.argsort(np.argsort(least, kind="stable")) / undecided)
    draw = rng.random((3, count))
    preference = differs * draw[0] * (0.6 + 0.9 * size)
    preference += calm * draw[1] * np.where(any_arc(at_first & is_here), 2.0, 1.0)
    preference += 1.5 * draw[2] * any_arc(at_first & (arcs.is_kept != is_in_plan))
    preference[~any_arc(at_chosen & is_here)] *= 0.2
    return np.asarray(preference)


def _decided(
    arcs: Arcs, rules: _Rules, share: Floats, is_open: Flags, gap: float, limits: NeighbourhoodParams
) -> Floats | None:
    """None if not cheaper."""
    some = np.flatnonzero(is_open)
    if not len(some):
        return None
    rest = np.where(is_open, 0.0, share)
    paid = float(arcs.cost[some] @ share[some])
    used = np.bincount(rules.cell, weights=rest, minlength=len(rules.limit))
    cells, cell = np.unique(rules.cell[some], return_inverse=True)
    spare = np.maximum(rules.limit[cells] - used[cells], 0.0)
    is_tight = np.bincount(cell) > spare
    column = np.cumsum(is_tight) - 1
    mine = is_tight[cell]
    beyond = int(is_tight.sum())
    tight: Any = sp.csr_matrix((np.ones(mine.sum()), (column[cell[mine]], np.flatnonzero(mine))), (beyond, len(some)))
    excess = max(0.0, rules.allowed - float(np.maximum(used - rules.limit, 0.0).sum()))
    cost, ones = sp.csr_matrix(arcs.cost[some]), sp.csr_matrix(np.ones((1, beyond)))
    matrix: Any = sp.bmat([[rules.matrix[:, some], None], [tight, -sp.eye(beyond)], [cost, None], [None, ones]]).tocsr()
    most = np.concatenate(
        [rules.most - rules.matrix @ rest, spare[is_tight], [paid * (1 - limits.least_saving), excess]]
    )
    bound = np.diff(matrix.indptr) > 0
    lines = np.unique(rules.line[some])
    required = (rules.factor - rules.partition @ rest)[lines]
    counts: Any = sp.hstack([rules.partition.tocsr()[lines][:, some], sp.csr_matrix((len(lines), beyond))]).tocsr()
    answer = milp(
        np.append(arcs.cost[some], np.zeros(beyond)),
        integrality=np.append(np.ones(len(some)), np.zeros(beyond)),
        bounds=Limits(0, np.append(np.ones(len(some)), np.full(beyond, np.inf))),
        constraints=[
            LinearConstraint(matrix[bound], -np.inf, most[bound]),
            LinearConstraint(counts, required, required),
        ],
        options={"mip_rel_gap": gap / max(paid, 1e-300), "node_limit": limits.nodes},
    )
    if answer.x is None:
        return None
    result = share.copy()
    result[some] = np.round(answer.x[: len(some)])
    return result if float(arcs.cost @ result) < float(arcs.cost @ share) else None


def improve_with_lp(
    problem: Problem,
    sets: ReplicaSets,
    bands: WorkingBands,
    incumbent: Placed,
    bounds: Bounds,
    *,
    seed: int,
    params: SolveParams,
) -> tuple[Placed, Bounds]:
    """Best of ``incumbent`` and the programs' plans (nearest to the bands, then fewest bytes), and bounds."""
    allowed = spread_allowed(problem, incumbent, params.linear_program.spread_given_up)
    task = Task(problem, sets, bands, allowed, seed, params)
    is_whole = is_tiny(problem, params.linear_program.whole_plan)
    best = _whole(task, bands, incumbent) if is_whole else incumbent
    arcs = arcs_of(problem, params.linear_program.arcs)
    relaxed = relax(problem, arcs, bands.low, bands.high)
    if relaxed is not None:
        stronger = raised(problem, lower_bounds(problem, prices=relaxed.prices, params=params.bounds), params.bounds)
        bounds = max(bounds, stronger, key=lambda proved: proved.bytes.value)
    was_inside = best.band_violation <= 0
    if not was_inside:
        best = _searched(task, arcs, relaxed, best)
    if best.is_near(least_price(problem, bounds, params.costs), params.gaps.near):
        return best, bounds
    if is_whole:
        if best.band_violation > 0:  # no plan meets the bands: the cheapest that is as near
            best = _whole(task, _reached(problem, bands, best), best)
    elif relaxed is not None and best.band_violation <= 0:  # outside, bands are widened first
        relaxed = with_covers(problem, arcs, relaxed, bands, params.linear_program.covers)
        bounds = raised_by_covers(problem, bounds, relaxed.prices, relaxed.covers, params.bounds)
        if best.is_near(least_price(problem, bounds, params.costs), params.gaps.near):
            return best, bounds
        if was_inside:
            best = _rounded(task, arcs, relaxed, best)
        least = least_price(problem, bounds, params.costs)
        best = annealed_again(task, best, params.linear_program.bold.tries, 1, least=least, near=params.gaps.near)
        if not best.is_near(least, params.gaps.near):
            best = _in_neighbourhoods(task, arcs, relaxed, best)
    return best, bounds


def _searched(task: Task, arcs: Arcs, relaxed: Relaxed | None, incumbent: Placed) -> Placed:
    best, params = incumbent, task.params
    for start in program_starts(
        task.problem, task.sets, arcs, relaxed, task.bands, incumbent.after, params.linear_program
    ):
        for number in range(params.linear_program.starts.searches):
            best = task.searched(best, start, number)
            if best.band_violation <= 0:
                return best
    return best


def _rounded(task: Task, arcs: Arcs, relaxed: Relaxed, incumbent: Placed) -> Placed:
    start = rounded(task.problem, task.sets, arcs, relaxed.share, task.params.linear_program.arcs)
    best = incumbent
    for number in range(task.params.linear_program.starts.searches_inside):
        best = task.searched(best, start, number)
    return best


def _in_neighbourhoods(task: Task, arcs: Arcs, relaxed: Relaxed, incumbent: Placed) -> Placed:
    problem, params = task.problem, task.params.linear_program
    best, limits = incumbent, (task.bands.low, task.bands.high)
    program = Program(problem, arcs, relaxed, limits, params)
    tries = 0
    if relaxed.covers:  # else small replicas make few brokers at a time quicker
        best, tries = _with_core(task, program, best)
    steps = task.params.effort.program_steps - tries
    for share in cheaper_plans(program, best.replicas, allowed=task.allowed, steps=steps, seed=task.seed):
        replicas = rounded(problem, task.sets, arcs, share, params.arcs).replicas
        best = task.better(best, replicas, done=SearchStatistics(neighbourhoods=1))
    return best


def _with_core(task: Task, program: Program, incumbent: Placed) -> tuple[Placed, int]:
    """Leaderships that later break a band are held, and the core is solved again."""
    problem, best, tries = task.problem, incumbent, 0
    frozen = np.zeros(problem.partition_count, dtype=np.bool_)
    while tries < min(task.params.linear_program.neighbourhoods.core_tries, task.params.effort.program_steps):
        share = decided_core(program, incumbent.replicas, allowed=task.allowed, frozen=frozen)
        tries += 1
        if share is None:
            break
        replicas = rounded(problem, task.sets, program.arcs, share, task.params.linear_program.arcs).replicas
        candidate = task.placed(incumbent, replicas, done=SearchStatistics(neighbourhoods=1))
        if candidate.band_violation <= 0 and has_capacity(problem, replicas):
            best = better(best, candidate, task.allowed)
            break
        best = replace(best, statistics=best.statistics + candidate.statistics)
        outside = (candidate.after > task.bands.high) | (candidate.after < task.bands.low)
        frozen |= (outside.any(axis=1) & problem.stays)[incumbent.leader]
    return best, tries


def _whole(task: Task, bands: WorkingBands, incumbent: Placed) -> Placed:
    whole = whole_plan(task.problem, bands, task.params.linear_program)
    return incumbent if whole is None else task.better(incumbent, whole.replicas, replica_index=whole.replica_index)


def _reached(problem: Problem, bands: WorkingBands, placed: Placed) -> WorkingBands:
    stays = problem.stays[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(stays & (bands.high > 0), placed.after / bands.high, 1.0).max(axis=0, initial=1.0)
        below = np.where(stays & (bands.low > 0), placed.after / bands.low, 1.0).min(axis=0, initial=1.0)
    return WorkingBands(bands.low * below, bands.high * above)


# Restricted linear program of large clusters.
#
# Prices that nearly prove a plan select the moves that matter ("sifting", Bixby et al. 1992), by the loss
#
#     loss = (bytes copied + Σ price · load) - min(the cheapest in its rack, the dearest of the racks chosen)
#
# Open are today's replicas, the annealed plan's, and the moves with least loss per byte, of the largest partitions.


def is_middling(problem: Problem, params: RestrictedParams) -> bool:
    return problem.partition_count * problem.broker_count <= params.most_pairs


def improve_with_restricted_lp(task: Task, incumbent: Placed, bounds: Bounds, least: float) -> Placed:
    """Best of annealing and, unless that comes near to ``least``, the program."""
    if bounds.certificate is None:
        return incumbent
    best, params, limits, original = incumbent, task.params, task.params.linear_program.restricted, task.sets.original
    if params.effort.anneal_steps:
        best = task.annealed(best, ReplicaSets(best.replicas, original), annealing(params, 1))
        if best.is_near(least, params.gaps.far):
            return best
    touched, arcs = restricted(task.problem, bounds.certificate.prices, best.replicas, params)
    # Halves the simplex method's time at this size.
    relaxed = relax(touched, arcs, task.bands.low, task.bands.high, solver="highs-ipm")
    if relaxed is None:
        return best
    planned = ReplicaSets(best.replicas, original)
    start = rounded(touched, planned, arcs, relaxed.share, params.linear_program.arcs)
    for number in range(limits.searches):
        best = task.searched(best, start, number)
    if params.effort.anneal_steps and limits.anneal_times:
        best = task.annealed(best, start, annealing(params, limits.anneal_times))
    return annealed_again(task, best, limits.anneal_again, limits.anneal_times, least=least, near=params.gaps.far)


def restricted(problem: Problem, prices: Floats, planned: Ints, params: SolveParams) -> tuple[Problem, Arcs]:
    """Problem with other partitions pinned as in ``planned``, and the open arcs."""
    limits = params.linear_program.restricted
    arcs = arcs_of(problem, params.linear_program.arcs)
    in_plan = (planned[arcs.row] == arcs.broker[:, None]).any(axis=1)
    is_open = in_plan | arcs.is_kept
    others = np.flatnonzero(~is_open)
    loss = losses(problem, arcs, prices)[others] / np.maximum(problem.move_bytes[arcs.row[others]], 1.0)
    is_open[others[np.argsort(loss, kind="stable")[: limits.open_arcs]]] = True
    takes_part = _largest_open(problem, arcs, is_open, limits.most_partitions)
    rest = in_plan & ~takes_part[arcs.row]
    fixed, copied = arcs.fixed.copy(), arcs.copied.copy()
    np.add.at(fixed, arcs.broker[rest], arcs.weight[rest])
    new = rest & ~arcs.is_kept
    np.add.at(copied, arcs.broker[new], problem.move_bytes[arcs.row[new]])
    chosen = replace(arcs.only(is_open & takes_part[arcs.row]), fixed=fixed, copied=copied)
    return replace(problem, pinned=problem.pinned | ~takes_part), chosen


def losses(problem: Problem, arcs: Arcs, prices: Floats) -> Floats:
    cost = np.where(arcs.is_kept, 0.0, problem.move_bytes[arcs.row])
    cost = cost + (arcs.weight * prices[:, arcs.columns][arcs.broker]).sum(axis=1)
    racks = distinct_racks(problem.rack)
    least = np.full((problem.partition_count, int(racks.max(initial=0)) + 1), np.inf)
    np.minimum.at(least, (arcs.row, racks[arcs.broker]), cost)
    last = np.minimum(problem.target_rf, least.shape[1]) - 1
    dearest = np.sort(least, axis=1)[np.arange(len(least)), last]
    return np.asarray(cost - np.minimum(least[arcs.row, racks[arcs.broker]], dearest[arcs.row]))


def _largest_open(problem: Problem, arcs: Arcs, is_open: Flags, most: int) -> Flags:
    has_choice = np.zeros(problem.partition_count, dtype=np.bool_)
    has_choice[arcs.row[is_open & ~arcs.is_kept]] = True
    rows = np.flatnonzero(has_choice)
    taking_part = np.zeros(problem.partition_count, dtype=np.bool_)
    taking_part[rows[np.argsort(-problem.move_bytes[rows], kind="stable")[:most]]] = True
    return taking_part
