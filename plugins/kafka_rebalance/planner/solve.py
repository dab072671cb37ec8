"""One problem in, one solution out: replica sets, leaders, cost, bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.planner.bounds.lower_bounds import lower_bounds
from kafka_rebalance.planner.leading.choose import choose_leaders
from kafka_rebalance.planner.loads import broker_loads
from kafka_rebalance.planner.problem import Flags, Floats, Ints, Problem
from kafka_rebalance.planner.replicas.moving import INSIDE
from kafka_rebalance.planner.replicas.replica_search import Effort, anneal_replicas, search_replicas
from kafka_rebalance.planner.replicas.replica_sets import ReplicaSets, start_sets
from kafka_rebalance.planner.small_lp.arcs import is_small
from kafka_rebalance.planner.small_lp.rounding import has_room
from kafka_rebalance.planner.small_lp.starts import program_starts
from kafka_rebalance.planner.small_lp.whole_plan import is_tiny, whole_plan
from kafka_rebalance.planner.solution import Bounds, PlanCost, Solution
from kafka_rebalance.planner.state import resource_scale
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.planner.working_bands import WorkingBands, working_bands

FULL = Effort()
# A plan within this share of its bound is not worth another look.
NEAR = 0.002
# A plan farther from it than this is annealed, as is one outside its bands.
FAR = 0.01
# Searches from each rounding of a linear program, with different seeds.
SEARCHES = 4


def solve(problem: Problem, *, seed: int = 0, effort: Effort = FULL) -> Solution:
    """The cheapest plan found that meets the rules and bands, and what nobody can beat.

    Raises InfeasibleError where hard rules cannot be met, naming the smallest cause and what would help.
    """
    steps: dict[str, int] = {}
    bands = working_bands(problem, problem.band_low, problem.band_high)
    bounds = lower_bounds(problem)
    if not problem.moves_replicas:
        best = _placed(problem, problem.replicas, bands, steps)
    else:
        sets = start_sets(problem)
        replicas, stranded = search_replicas(problem, sets, bands, seed=seed, effort=effort, steps=steps)
        if stranded:
            raise _stranded(problem, replicas)
        best = _placed(problem, replicas, bands, steps)
        if effort.with_small_lp and is_small(problem):
            if not best.is_near(bounds.bytes.value):
                best, bounds = _with_program(problem, sets, bands, best, bounds, seed, effort, steps)
        elif effort.anneal_steps and not best.is_near(bounds.bytes.value, FAR):
            best = _annealed(problem, sets, bands, best, seed, effort, steps)
    return Solution(
        replicas=best.replicas,
        leader=best.leader,
        cost=best.cost,
        bounds=bounds,
        band_low=problem.band_low,
        band_high=problem.band_high,
        before=broker_loads(problem, problem.replicas, problem.leader),
        after=best.after,
        topic_excess=(topic_excess(problem.topic, problem.replicas, problem.stays), best.topic_excess),
        steps=steps,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """One placement: what it costs, where it leaves the brokers, how far (in means) outside their bands."""

    replicas: Ints
    leader: Ints
    cost: PlanCost
    after: Floats
    strays: float
    topic_excess: int

    def is_near(self, bound: float, gap: float = NEAR) -> bool:
        """So near to the bound that nothing is left to look for."""
        return self.strays <= 0 and self.cost.bytes <= bound * (1 + gap)

    @property
    def worth(self) -> tuple[bool, float, float, int, int]:
        """The smaller the better. Where no band is met, a hundredth of a mean is not worth bytes."""
        cost = self.cost
        return self.strays > 0, round(self.strays, 2), cost.bytes, cost.replica_moves, cost.leader_changes


def _placed(
    problem: Problem, replicas: Ints, bands: WorkingBands, steps: dict[str, int], slot: Ints | None = None
) -> _Placed:
    if slot is None:
        slot = choose_leaders(problem, replicas, bands, steps)
    replicas, leader = in_kafka_order(problem, replicas, slot)
    after = broker_loads(problem, replicas, leader)
    outside = np.maximum(after - problem.band_high, 0.0) + np.maximum(problem.band_low - after, 0.0)
    share = outside[problem.stays] / resource_scale(problem)
    return _Placed(
        replicas=replicas,
        leader=leader,
        cost=plan_cost(problem, replicas, leader),
        after=after,
        strays=round(float(share[share > INSIDE].sum()), 6),
        topic_excess=topic_excess(problem.topic, replicas, problem.stays),
    )


def _annealed(
    problem: Problem,
    sets: ReplicaSets,
    bands: WorkingBands,
    found: _Placed,
    seed: int,
    effort: Effort,
    steps: dict[str, int],
) -> _Placed:
    """The better of what was found and what that becomes by annealing."""
    warm = ReplicaSets(found.replicas, sets.home)
    replicas = anneal_replicas(problem, warm, bands, seed=seed, effort=effort, steps=steps)
    other = _placed(problem, replicas, bands, steps)
    allowed = max(found.topic_excess, topic_excess(problem.topic, problem.replicas, problem.stays))
    return _better(found, other, allowed)


def _with_program(
    problem: Problem,
    sets: ReplicaSets,
    bands: WorkingBands,
    found: _Placed,
    bounds: Bounds,
    seed: int,
    effort: Effort,
    steps: dict[str, int],
) -> tuple[_Placed, Bounds]:
    """The best of what was found and what roundings of linear programs, mended by the search, come to."""
    best, allowed = found, max(found.topic_excess, topic_excess(problem.topic, problem.replicas, problem.stays))
    if is_tiny(problem):
        best = _with_whole_plan(problem, bands, best, allowed, steps)
    for start in program_starts(problem, sets, bands, found.after):
        if start.prices is not None:
            bounds = max(bounds, lower_bounds(problem, prices=start.prices), key=lambda each: each.bytes.value)
        for number in range(SEARCHES):
            if best.is_near(bounds.bytes.value):
                return best, bounds
            replicas, stranded = search_replicas(
                problem, start.sets, bands, seed=seed + number, effort=effort, steps=steps
            )
            if stranded or not has_room(problem, replicas):
                continue
            other = _placed(problem, replicas, bands, steps)
            best = _better(best, other, allowed)
    if is_tiny(problem) and best.strays > 0:  # no plan meets the bands: the cheapest that comes as near as this one
        best = _with_whole_plan(problem, _reached_bands(problem, bands, best.after), best, allowed, steps)
    return best, bounds


def _reached_bands(problem: Problem, bands: WorkingBands, after: Floats) -> WorkingBands:
    """``bands`` widened, alike for all brokers, until ``after`` float64[B, D] is inside."""
    stays = problem.stays[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(stays & (bands.high > 0), after / bands.high, 1.0).max(axis=0, initial=1.0)
        below = np.where(stays & (bands.low > 0), after / bands.low, 1.0).min(axis=0, initial=1.0)
    return WorkingBands(bands.low * below, bands.high * above)


def _with_whole_plan(
    problem: Problem, bands: WorkingBands, found: _Placed, allowed: int, steps: dict[str, int]
) -> _Placed:
    """The better of what was found and the program in whole numbers."""
    whole = whole_plan(problem, bands)
    if whole is None or not has_room(problem, whole.replicas):
        return found
    return _better(found, _placed(problem, whole.replicas, bands, steps, whole.slot), allowed)


def _better(found: _Placed, other: _Placed, allowed: int) -> _Placed:
    """The one worth more; topics may be spread worse than ``allowed`` only where nothing inside the bands was found."""
    is_spread = other.topic_excess <= allowed or found.strays > 0
    return other if is_spread and other.worth < found.worth else found


def plan_cost(problem: Problem, replicas: Ints, leader: Ints) -> PlanCost:
    """Cost of going from today's placement to ``replicas`` led by ``leader``."""
    is_copy = replicas >= 0
    for j in range(problem.replicas.shape[1]):
        is_copy &= replicas != problem.replicas[:, j : j + 1]
    copies = is_copy.sum(axis=1)
    changes = int((leader != problem.leader).sum())
    return PlanCost(float((copies * problem.move_bytes).sum()), int(copies.sum()), changes)


def in_kafka_order(problem: Problem, replicas: Ints, slot: Ints) -> tuple[Ints, Ints]:
    """Rows in Kafka's order: leader first, survivors in today's order, new ones; untouched rows stay."""
    rows = np.arange(len(replicas))
    leader = replicas[rows, slot]
    width = replicas.shape[1]
    rank = np.full(replicas.shape, width, dtype=np.int64)
    for j in range(width):
        rank = np.where((replicas == problem.replicas[:, j : j + 1]) & (replicas >= 0), j, rank)
    rank = rank * (2 * width) + np.arange(width)
    rank[replicas < 0] = 1 << 20
    rank[rows, slot] = -1
    ordered = np.take_along_axis(replicas, np.argsort(rank, axis=1), axis=1)
    same_set = (np.sort(replicas, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1)
    untouched = same_set & (leader == problem.leader)
    ordered[untouched] = problem.replicas[untouched]
    return np.ascontiguousarray(ordered), leader


def _stranded(problem: Problem, replicas: Ints) -> InfeasibleError:
    row = int(np.flatnonzero((replicas == problem.broker_count).any(axis=1) | _on_leaving(problem, replicas))[0])
    return InfeasibleError(
        f"a replica of {problem.name_of(row)} finds no broker with room for it",
        "add a broker or disk, or exclude fewer brokers",
    )


def _on_leaving(problem: Problem, replicas: Ints) -> Flags:
    on_broker = (replicas >= 0) & (replicas < problem.broker_count)
    leaving: Flags = on_broker & ~problem.stays[np.where(on_broker, replicas, 0)]
    return np.asarray(leaving.any(axis=1))
