"""Moves of a solution as arrays over the snapshot's partitions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING, plain_mean
from kafka_rebalance.cluster_arrays.problem import Problem, columns_of
from kafka_rebalance.options.values import Target
from kafka_rebalance.planner.state import topic_excess
from kafka_rebalance.plans.plan import PreferredLeaders, ResourceOutcome
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.wave_filling import LeaderShifts, ReplicaCells, Transfers, transfers_of
from kafka_rebalance.resources import UNITS
from kafka_rebalance.scoring import scores


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Draft:
    """M moves.

    ``row`` int64[M] in the snapshot, ``problem_row`` in the problem; ``start``, ``end`` int32[M, W] broker indices,
    padded with -1, preferred leader first; ``is_new`` marks copies in ``end``, ``is_dropped`` removed ones in
    ``start``; ``size``, ``rate``: nan = unknown; ``own_size`` along ``start``.
    """

    row: Longs
    problem_row: Longs
    start: Ints
    end: Ints
    leader_from: Ints
    leader_to: Ints
    is_new: Flags
    is_dropped: Flags
    size: Floats
    rate: Floats
    own_size: Floats

    def __len__(self) -> int:
        return len(self.row)

    @property
    def copies(self) -> Longs:
        return np.asarray(self.is_new.sum(axis=1))

    @property
    def dropped(self) -> Longs:
        return np.asarray(self.is_dropped.sum(axis=1))

    @property
    def changes_replicas(self) -> Flags:
        """Not the leader alone."""
        return np.asarray((self.copies > 0) | (self.dropped > 0))

    @property
    def changes_leader(self) -> Flags:
        return np.asarray(self.leader_from != self.leader_to)

    @property
    def changes_leader_back(self) -> Flags:
        """bool[M]: the rollback changes the leader: it elects the first replica of the old list."""
        return np.asarray(self.changes_leader & (self.leader_to != self.start[:, 0]))

    @property
    def is_election(self) -> Flags:
        """Same list, its first replica leads again."""
        is_same = (self.start == self.end).all(axis=1)
        return np.asarray(is_same & self.changes_leader & (self.leader_to == self.start[:, 0]))

    @property
    def is_reorder(self) -> Flags:
        """Same replicas, leader and preferred leader; other follower order."""
        return np.asarray(~self.changes_replicas & ~self.changes_leader & (self.start[:, 0] == self.end[:, 0]))

    def bytes_forward(self) -> list[int | None]:
        return _whole(self.copies, self.size)

    def bytes_back(self) -> list[int | None]:
        return _whole(self.dropped, self.size)

    def chosen(self, members: Longs) -> Draft:
        return Draft(**{name: getattr(self, name)[members] for name in self.__slots__})

    def without(self, members: Longs) -> Draft:
        return self.chosen(np.delete(np.arange(len(self)), members))

    def forward(self) -> Transfers:
        """Copies from today's leader."""
        return transfers_of(
            source=np.maximum(self.leader_from, 0),
            size=self.size,
            rate=self.rate,
            new=ReplicaCells(self.end, self.is_new),
            dropped=ReplicaCells(self.start, self.is_dropped),
            own_size=self._own(),
            leaders=self._shifts(self.leader_from, self.leader_to),
        )

    def backward(self) -> Transfers:
        """Copies from the new leader."""
        sizes = np.repeat(self.size[:, None], self.end.shape[1], axis=1)
        return transfers_of(
            source=self.leader_to,
            size=self.size,
            rate=self.rate,
            new=ReplicaCells(self.start, self.is_dropped),
            dropped=ReplicaCells(self.end, self.is_new),
            own_size=sizes,
            leaders=self._shifts(self.leader_to, self.leader_from),
        )

    def _shifts(self, before: Ints, after: Ints) -> LeaderShifts:
        changes = self.changes_leader
        return LeaderShifts(np.where(changes, before, ABSENT), np.where(changes, after, ABSENT))

    def _own(self) -> Floats:
        return np.where(np.isnan(self.own_size), self.size[:, None], self.own_size)


def draft_of(plan_request: PlanRequest, replicas: Ints, leader: Ints) -> Draft:
    """Moves from today to ``replicas`` and ``leader`` in problem rows."""
    whole = plan_request.partitions.placement
    width = max(replicas.shape[1], whole.replicas.shape[1])
    before, after = _padded(whole.replicas[plan_request.rows], width), _padded(replicas, width)
    lead_before = whole.leader[plan_request.rows]
    changed = ((before != after).any(axis=1) | (lead_before != leader)) & ~plan_request.partitions.immovable[
        plan_request.rows
    ]
    if plan_request.options.preferred_election:
        changed &= (before == after).all(axis=1)
    rows = np.flatnonzero(changed)
    start, end = before[rows], after[rows]
    own = np.full(start.shape, np.nan)
    own[:, : plan_request.partitions.own_size.shape[1]] = plan_request.partitions.own_size[plan_request.rows[rows]]
    return Draft(
        row=plan_request.rows[rows],
        problem_row=rows,
        start=start,
        end=end,
        leader_from=lead_before[rows],
        leader_to=leader[rows],
        is_new=(end >= 0) & ~_holds(start, end),
        is_dropped=(start >= 0) & ~_holds(end, start),
        size=plan_request.partitions.size[plan_request.rows[rows]],
        rate=plan_request.partitions.rate[plan_request.rows[rows]],
        own_size=own,
    )


def placement_after(plan_request: PlanRequest, draft: Draft) -> tuple[Ints, Ints, Floats]:
    """In snapshot rows: replicas, leaders, own sizes (nan: the leader's)."""
    whole = plan_request.partitions.placement
    width = max(whole.replicas.shape[1], draft.end.shape[1])
    replicas, leader = _padded(whole.replicas, width).copy(), whole.leader.copy()
    own = np.full(replicas.shape, np.nan)
    own[:, : plan_request.partitions.own_size.shape[1]] = plan_request.partitions.own_size
    for j in range(width):
        match = (draft.end[:, j : j + 1] == draft.start) & (draft.end[:, j : j + 1] >= 0)
        stays = match.any(axis=1)
        own[draft.row, j] = np.where(stays, draft.own_size[np.arange(len(draft)), match.argmax(axis=1)], np.nan)
    replicas[draft.row], leader[draft.row] = draft.end, draft.leader_to
    return replicas, leader, own


def in_problem_rows(draft: Draft, replicas: Ints, leader: Ints) -> tuple[Ints, Ints]:
    width = max(replicas.shape[1], draft.end.shape[1])
    replicas, leader = _padded(replicas, width).copy(), leader.copy()
    replicas[draft.problem_row], leader[draft.problem_row] = draft.end, draft.leader_to
    return replicas, leader


def empty_draft(plan_request: PlanRequest) -> Draft:
    whole = plan_request.partitions.placement
    return draft_of(replace(plan_request, rows=plan_request.rows[:0]), whole.replicas[:0], whole.leader[:0])


def total_bytes(amounts: list[int | None]) -> int | None:
    measured = [amount for amount in amounts if amount is not None]
    return sum(measured) if len(measured) == len(amounts) else None


def _padded(replicas: Ints, width: int) -> Ints:
    return np.pad(replicas, ((0, 0), (0, width - replicas.shape[1])), constant_values=ABSENT)


def _holds(lists: Ints, brokers: Ints) -> Flags:
    is_held = np.zeros(brokers.shape, dtype=np.bool_)
    for j in range(lists.shape[1]):
        is_held |= brokers == lists[:, j : j + 1]
    return is_held


def _whole(count: Longs, size: Floats) -> list[int | None]:
    amounts = np.where(count == 0, 0.0, count * size)
    return [None if amount != amount else round(amount) for amount in amounts.tolist()]  # noqa: PLR0124


@dataclass(frozen=True, slots=True, eq=False)
class Bands:
    """``low``, ``high`` float64[B, D] absolute loads, ``mean`` the plain mean level; ``rank`` as in
    ``Problem.band_rank``.
    """

    low: Floats
    high: Floats
    mean: Floats
    rank: Ints | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """Loads along ``resources``, also after the controller's election of preferred leaders."""

    resources: tuple[str, ...]
    before: Floats
    after: Floats
    elected_before: Floats
    elected_after: Floats
    topic_excess: tuple[int, int]

    @property
    def after_by_resource(self) -> dict[str, Floats]:
        return {name: self.after[:, d] for d, name in enumerate(self.resources)}

    @property
    def before_by_resource(self) -> dict[str, Floats]:
        return {name: self.before[:, d] for d, name in enumerate(self.resources)}

    @property
    def states_before(self) -> tuple[Floats, Floats]:
        return self.before, self.elected_before

    @property
    def states_after(self) -> tuple[Floats, Floats]:
        return self.after, self.elected_after

    def column(self, resource: str) -> int:
        return self.resources.index(resource)


def outcome_of(plan_request: PlanRequest, draft: Draft) -> Outcome:
    """Pinned partitions included. O(P·W·D)."""
    placement = plan_request.partitions.placement
    stays = plan_request.brokers.arrays.stays
    replicas, leader, own = placement_after(plan_request, empty_draft(plan_request))
    resources, before = _loads(plan_request, replicas, leader, own)
    after_replicas, after_leader, after_own = placement_after(plan_request, draft)
    _, after = _loads(plan_request, after_replicas, after_leader, after_own)
    elected_before, elected_after, preferred = before, after, placement.preferred
    if preferred is not None and not np.array_equal(preferred, leader):
        _, elected_before = _loads(plan_request, replicas, preferred, own)
        elected = preferred.copy()
        elected[draft.row] = draft.leader_to
        _, elected_after = _loads(plan_request, after_replicas, elected, after_own)
    excess = topic_excess(placement.topic, placement.replicas, stays)
    spread = (excess, topic_excess(placement.topic, after_replicas, stays))
    return Outcome(resources, before, after, elected_before, elected_after, spread)


def resource_outcomes(
    plan_request: PlanRequest, outcome: Outcome, bands: Bands, within: float | None
) -> tuple[ResourceOutcome, ...]:
    arrays = plan_request.brokers.arrays
    ids = arrays.ids.tolist()
    results = []
    for d, name in enumerate(outcome.resources):
        capacity = arrays.capacity.get(name)
        broker_capacity = np.ones(len(ids)) if capacity is None else capacity
        before, after = outcome.before[:, d], outcome.after[:, d]
        staying = broker_capacity[arrays.stays]
        target, watched = plan_request.options.targets.get(name), plan_request.watched.get(name)
        results.append(
            ResourceOutcome(
                resource=name,
                unit=UNITS[name],
                source=plan_request.partitions.sources[name],
                mean_level=scores.plain_mean(after[arrays.stays], staying),
                basis="fair_share" if target is None and watched is None else "plain_mean",
                band_asked=_requested_band(name, target, within, plan_request.balanced)
                if watched is None
                else (None, plan_request.busy_level(name) / float(bands.mean[d])),
                watched=watched,
                widened_to=reached(bands, after, d, broker_capacity, arrays.stays),
                is_ordered=name in plan_request.ordered,
                skew_before=scores.skew(before[arrays.stays], staying),
                skew_after=scores.skew(after[arrays.stays], staying),
                before=dict(zip(ids, before.tolist(), strict=True)),
                after=dict(zip(ids, after.tolist(), strict=True)),
                capacity=None if capacity is None else dict(zip(ids, capacity.tolist(), strict=True)),
            )
        )
    return tuple(results)


def preferred_leaders_of(plan_request: PlanRequest, outcome: Outcome) -> PreferredLeaders:
    ids, d = plan_request.brokers.arrays.ids.tolist(), outcome.column("leaders")
    columns = (outcome.elected_before[:, d], outcome.elected_after[:, d])
    before, after = (dict(zip(ids, np.rint(column).astype(np.int64).tolist(), strict=True)) for column in columns)
    return PreferredLeaders(before, after)


def bands_of(problem: Problem) -> Bands:
    total = (problem.follower_load * problem.target_rf[:, None] + problem.leader_extra).sum(axis=0)
    mean = plain_mean(total, problem.capacity, problem.stays)
    return Bands(problem.band_low, problem.band_high, mean, problem.band_rank)


def met_bands(plan_request: PlanRequest, outcome: Outcome, bands: Bands) -> tuple[Floats, Floats]:
    """Requested bands, widened to the reached loads. Proofs are for these."""
    arrays = plan_request.brokers.arrays
    low, high = bands.low.copy(), bands.high.copy()
    for d, name in enumerate(outcome.resources):
        broker_capacity = arrays.capacity.get(name, np.ones(len(low)))
        lowest, highest = reached(bands, outcome.after[:, d], d, broker_capacity, arrays.stays)
        if lowest is not None:
            low[:, d] = np.minimum(low[:, d], np.where(arrays.stays, lowest * bands.mean[d] * broker_capacity, 0.0))
        if highest is not None:
            high[:, d] = np.where(
                arrays.stays, np.maximum(high[:, d], highest * bands.mean[d] * broker_capacity), high[:, d]
            )
    return low, high


def _loads(plan_request: PlanRequest, replicas: Ints, leader: Ints, own: Floats) -> tuple[tuple[str, ...], Floats]:
    is_replica = replicas >= 0
    columns = columns_of(
        plan_request.partitions.placement.loads, is_replica.sum(axis=1).astype(np.int32), plan_request.resources
    )
    loads = np.zeros((len(plan_request.brokers.brokers), len(columns.resources)))
    led = np.flatnonzero(leader >= 0)
    disk = columns.resources.index("disk") if "disk" in columns.resources else -1
    for d in range(loads.shape[1]):
        for j in range(replicas.shape[1]):
            rows = np.flatnonzero(is_replica[:, j])
            weight = columns.follower_load[rows, d]
            if d == disk:
                weight = np.where(np.isnan(own[rows, j]), weight, own[rows, j])
            loads[:, d] += np.bincount(replicas[rows, j], weights=weight, minlength=len(loads))
        loads[:, d] += np.bincount(leader[led], weights=columns.leader_extra[led, d], minlength=len(loads))
    return columns.resources, loads


def _requested_band(
    name: str, target: Target | None, within: float | None, balanced: frozenset[str]
) -> tuple[float | None, float | None]:
    if target is not None:
        return target.low, target.high
    return (None, None) if within is None or name not in balanced else (1 - within, 1 + within)


def reached(
    bands: Bands, after: Floats, d: int, broker_capacity: Floats, stays: Flags
) -> tuple[float | None, float | None]:
    """Distance of the worst broker, in multiples of the plain mean; None where all are inside."""
    mean = float(bands.mean[d])
    if mean <= 0:
        return None, None
    level = after / (mean * broker_capacity)
    slack = BAND_ROUNDING * mean * float(broker_capacity[stays].max(initial=1.0)) + BAND_ROUNDING
    under = stays & (after < bands.low[:, d] - slack)
    over = stays & (after > bands.high[:, d] + slack)
    return (float(level[under].min()) if under.any() else None), (float(level[over].max()) if over.any() else None)
