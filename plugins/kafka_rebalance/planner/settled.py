"""Leaders that stay where the plan put them: Kafka's controller elects preferred replicas by itself.

With ``auto.leader.rebalance.enable`` (the default) the first replica of each list leads again soon after a plan, where
it is in sync. So a plan is judged twice, as it ends and after that election.

Promises, in order
1. Loads above a limit (a capacity or a cap), before or after that election, are the least of these ways: leaders as
   they were found; the same with each list reordered that an election would undo; preferred leaders elected first, and
   only what is then outside its bands given to others; the leaders found, without those that no band asks for; where
   the replicas stay, leaders and lists of today.
2. Bands that others give way to (``Problem.band_rank``) are left least once the plan is done.
3. Of these, no election after the plan leads to less even loads than one today would, where one of them keeps that.
4. The load outside bands, before or after that election, whichever is more, is the least.
5. Of ways alike in that, elections and reordered lists together are the fewest; then reordered lists alone.
6. A list whose first replica may not lead (its broker is demoted) is reordered, so that no election brings it back.

The first replica of a list leads in the end even if it is out of sync today: it will have caught up by then, and
lists that were written for the time of its absence would then be wrong.

Example: 12 partitions whose lists begin 4/4/4, broker 2 was restarted and leads nothing (6/6/0). Giving 2 four leaders
at random reorders up to four lists; electing its own four reorders none. Lists that all begin with broker 0, leaders
4/4/4: eight lists are reordered, and no leader changes.

Complexity: two leader searches, O(P·W) a round; nothing where every leader is the first of its list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.broker_loads import broker_loads
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.leaders import go_on_leading
from kafka_rebalance.planner.may_lead import candidates
from kafka_rebalance.planner.params import DEFAULTS, SolveParams
from kafka_rebalance.planner.placed import in_kafka_order, plan_cost
from kafka_rebalance.planner.scales import resource_scale
from kafka_rebalance.planner.solution import Solution
from kafka_rebalance.planner.tolerances import BAND_TOLERANCE
from kafka_rebalance.planner.topic_spread import topic_excess
from kafka_rebalance.planner.working_bands import working_bands


@dataclass(frozen=True, slots=True, eq=False)
class _Way:
    """Lists int32[P, W] and who leads them, int32[P]."""

    replicas: Ints
    leader: Ints


def elected_leaders(problem: Problem, replicas: Ints, leader: Ints) -> Ints:
    """int32[P]: who leads once preferred replicas are elected: of a list that stays ``problem.preferred``."""
    if problem.preferred is None:
        return leader
    is_untouched = (replicas == problem.replicas).all(axis=1) & (leader == problem.leader)
    return np.where(is_untouched, problem.preferred, leader).astype(np.int32)


def settled(problem: Problem, solution: Solution, params: SolveParams = DEFAULTS) -> Solution:
    """The same sets with lists and leaders that an election leaves as even as they are."""
    preferred = problem.preferred
    if preferred is None or problem.elects_preferred:
        return solution
    if np.array_equal(preferred, problem.leader):
        return solution
    found = _Way(solution.replicas, solution.leader)
    ways = [_reordered(problem, found, _may_not_lead(problem)), _reordered(problem, found, ~problem.pinned)]
    for elects_first in (True, False):
        elected = _elected(problem, found, params, elects_first=elects_first)
        ways += [_reordered(problem, elected, _may_not_lead(problem)), _reordered(problem, elected, ~problem.pinned)]
    ways.append(_reordered(problem, _as_today(problem, found), _may_not_lead(problem)))
    allowed = problem.budget.max_leader_changes
    if allowed is not None:
        within = [plan_cost(problem, way.replicas, way.leader).leader_changes <= allowed for way in ways]
        ways = [way for way, is_within in zip(ways, within, strict=True) if is_within] or ways[:1]
    today = _unevenness(problem, broker_loads(problem, problem.replicas, preferred))
    best = min(ways, key=lambda way: _worth(problem, way, today))
    return replace(
        solution,
        replicas=best.replicas,
        leader=best.leader,
        cost=plan_cost(problem, best.replicas, best.leader),
        after=broker_loads(problem, best.replicas, best.leader),
        topic_excess=(solution.topic_excess[0], topic_excess(problem.topic, best.replicas, problem.stays)),
    )


def away_from_demoted(problem: Problem, replicas: Ints, leader: Ints) -> Ints:
    """Lists int32[P, W] with the leader first where an election would give the lead back to a demoted broker."""
    if problem.preferred is None or problem.elects_preferred:
        return replicas
    return _reordered(problem, _Way(replicas, leader), _may_not_lead(problem)).replicas


def _as_today(problem: Problem, found: _Way) -> _Way:
    """Nothing changes where the replicas stay: an election, or a replica that catches up, will do."""
    stays = (np.sort(found.replicas, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1)
    keeps = stays & problem.keeps_leaders[problem.leader] & (problem.leader != NOBODY)
    lists = np.where(keeps[:, None], problem.replicas, found.replicas)
    return _Way(lists, np.where(keeps, problem.leader, found.leader).astype(np.int32))


def _may_not_lead(problem: Problem) -> Flags:
    """bool[P]: the next election would give the lead to a broker that must not have it."""
    preferred = problem.preferred
    assert preferred is not None
    return np.asarray(~problem.pinned & (preferred != NOBODY) & ~problem.keeps_leaders[preferred])


def _reordered(problem: Problem, way: _Way, which: Flags) -> _Way:
    """Leaders first in lists of ``which`` bool[P] that an election would give to another broker."""
    rows = np.flatnonzero(which & (elected_leaders(problem, way.replicas, way.leader) != way.leader))
    if not len(rows):
        return way
    replicas = way.replicas.copy()
    is_leader = replicas[rows] == way.leader[rows, None]
    order = np.argsort(~is_leader, axis=1, kind="stable")
    replicas[rows] = np.take_along_axis(replicas[rows], order, axis=1)
    return _Way(replicas, way.leader)


def _elected(problem: Problem, found: _Way, params: SolveParams, *, elects_first: bool) -> _Way:
    """Preferred leaders where the list stays, then others as far as bands ask for it; or the leaders that were found,
    but for those that no band asks for.
    """
    assert problem.preferred is not None
    stays = (np.sort(found.replicas, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1) & ~problem.pinned
    may = (candidates(problem, problem.replicas) & (problem.replicas == problem.preferred[:, None])).any(axis=1)
    start = np.where(stays & may & elects_first, problem.preferred, found.leader).astype(np.int32)
    # What the search takes back, it takes back to the preferred leader.
    settled_today = replace(problem, leader=np.where(may, problem.preferred, problem.leader).astype(np.int32))
    lists = np.where(stays[:, None], problem.replicas, found.replicas)
    bands = working_bands(problem, problem.band_low, problem.band_high, params.bands)
    chosen = go_on_leading(settled_today, lists, start, bands, params)
    replicas, leader = in_kafka_order(problem, lists, chosen.replica_index)
    return _Way(replicas, leader)


def _worth(problem: Problem, way: _Way, elected_today: float) -> tuple[float, float, float, float, int, int]:
    """The load above limits in both states, how far outside the first bands the plan ends, by how much less even an
    election is than it would be today, how far outside the worse of both states is, elections and reordered lists,
    reordered lists.
    """
    elected = elected_leaders(problem, way.replicas, way.leader)
    loads = [broker_loads(problem, way.replicas, leader) for leader in (way.leader, elected)]
    above = sum(float(np.maximum(load - problem.limit, 0.0)[problem.stays].sum(axis=0) @ (1 / resource_scale(problem)))
                for load in loads)  # fmt: skip
    outside = max(float(_outside(problem, load).sum()) for load in loads)
    lost = max(_unevenness(problem, loads[1]) - elected_today, 0.0)
    rank = np.zeros(len(problem.resources)) if problem.band_rank is None else problem.band_rank
    first = _outside(problem, loads[0])[:, (rank == rank.min(initial=0)) & (rank != rank.max(initial=0))]
    same_set = (np.sort(way.replicas, axis=1) == np.sort(problem.replicas, axis=1)).all(axis=1)
    reordered = int((same_set & (way.replicas != problem.replicas).any(axis=1)).sum())
    changes = plan_cost(problem, way.replicas, way.leader).leader_changes
    return (
        round(above, 6),
        round(float(first.sum()), 4),
        round(lost, 4),
        round(outside, 4),
        changes + reordered,
        reordered,
    )


def _unevenness(problem: Problem, load: Floats) -> float:
    """Squares of the load outside bands: one broker far out is worse than two that are half as far."""
    return float((_outside(problem, load) ** 2).sum())


def _outside(problem: Problem, load: Floats) -> Floats:
    """How far brokers that stay are outside their bands, in means."""
    outside = np.maximum(load - problem.band_high, 0.0) + np.maximum(problem.band_low - load, 0.0)
    share = outside[problem.stays] / resource_scale(problem)
    return np.where(share > BAND_TOLERANCE, share, 0.0)
