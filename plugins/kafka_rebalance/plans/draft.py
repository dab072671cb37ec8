"""The moves of a solution as arrays over the snapshot's partitions: the raw material of waves, texts and costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints, Longs
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.wave_filling import LeaderShifts, ReplicaCells, Transfers, transfers_of


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Draft:
    """M moves. ``row`` int64[M] in the snapshot, ``problem_row`` in the problem; ``start``, ``end`` int32[M, W] broker
    indices, padded with -1, preferred leader first; ``is_new`` marks copies in ``end``, ``is_dropped`` what goes from
    ``start``; ``size``, ``rate`` float64[M] (nan: unknown), ``own_size`` float64[M, W] along ``start``.
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
        """int64[M]: new replicas."""
        return np.asarray(self.is_new.sum(axis=1))

    @property
    def dropped(self) -> Longs:
        """int64[M]: replicas that go."""
        return np.asarray(self.is_dropped.sum(axis=1))

    @property
    def changes_replicas(self) -> Flags:
        """bool[M]: not the leader alone."""
        return np.asarray((self.copies > 0) | (self.dropped > 0))

    @property
    def changes_leader(self) -> Flags:
        """bool[M]."""
        return np.asarray(self.leader_from != self.leader_to)

    @property
    def is_election(self) -> Flags:
        """bool[M]: the list stays as it is, and its first replica leads again."""
        is_same = (self.start == self.end).all(axis=1)
        return np.asarray(is_same & self.changes_leader & (self.leader_to == self.start[:, 0]))

    @property
    def is_reorder(self) -> Flags:
        """bool[M]: the same replicas under the same leader, who stays the preferred one; followers in another order."""
        return np.asarray(~self.changes_replicas & ~self.changes_leader & (self.start[:, 0] == self.end[:, 0]))

    def bytes_forward(self) -> list[int | None]:
        """What each move copies, None where the size is unknown."""
        return _whole(self.copies, self.size)

    def bytes_back(self) -> list[int | None]:
        """What undoing each move copies."""
        return _whole(self.dropped, self.size)

    def without(self, members: Longs) -> Draft:
        """The other moves."""
        keep = np.delete(np.arange(len(self)), members)
        return Draft(**{name: getattr(self, name)[keep] for name in self.__slots__})

    def forward(self) -> Transfers:
        """Copies as the plan makes them, read from today's leader."""
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
        """Copies as the rollback makes them, read from the new leader."""
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
        return LeaderShifts(np.where(changes, before, NOBODY), np.where(changes, after, NOBODY))

    def _own(self) -> Floats:
        return np.where(np.isnan(self.own_size), self.size[:, None], self.own_size)


def draft_of(plan_request: PlanRequest, replicas: Ints, leader: Ints) -> Draft:
    """Moves from today's placement to ``replicas`` int32[P', W'] led by ``leader`` int32[P'], in problem rows."""
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
    """The whole cluster afterwards, in snapshot rows: replicas int32[P, W], leaders int32[P], own sizes float64[P, W]
    (nan: the leader's).

    Today's is the same with an empty draft.
    """
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
    """``replicas`` and ``leader`` of the problem's today (int32[P', W]) with the draft's moves done."""
    width = max(replicas.shape[1], draft.end.shape[1])
    replicas, leader = _padded(replicas, width).copy(), leader.copy()
    replicas[draft.problem_row], leader[draft.problem_row] = draft.end, draft.leader_to
    return replicas, leader


def empty_draft(plan_request: PlanRequest) -> Draft:
    """No moves."""
    whole = plan_request.partitions.placement
    return draft_of(replace(plan_request, rows=plan_request.rows[:0]), whole.replicas[:0], whole.leader[:0])


def total_bytes(amounts: list[int | None]) -> int | None:
    """The sum, None where one of them is unknown."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None


def _padded(replicas: Ints, width: int) -> Ints:
    return np.pad(replicas, ((0, 0), (0, width - replicas.shape[1])), constant_values=NOBODY)


def _holds(held: Ints, wanted: Ints) -> Flags:
    """bool[M, W]: whether row m of ``held`` holds ``wanted[m, j]``."""
    found = np.zeros(wanted.shape, dtype=np.bool_)
    for j in range(held.shape[1]):
        found |= wanted == held[:, j : j + 1]
    return found


def _whole(count: Longs, size: Floats) -> list[int | None]:
    amounts = np.where(count == 0, 0.0, count * size)
    return [None if amount != amount else round(amount) for amount in amounts.tolist()]  # noqa: PLR0124
