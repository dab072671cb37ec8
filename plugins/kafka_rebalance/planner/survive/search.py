"""Nobody above its capacity after a loss: changes made one by one until everybody survives, then needless ones undone.

Promises, in order: the budget is kept; no hard rule is broken that was kept; where a placement is found nobody is above
its capacity after any loss; orders of followers come first and copy nothing, leaders next, replicas last; within the
bands that were kept as long as that suffices; no single change that is left could be taken back.

How: of the broker that is furthest above its capacity (over all losses), the change that takes off most is made. Where
nothing takes anything off, more means are allowed: orders, leaders, replicas, then leaders and replicas outside bands.
Where that is the end, several changes are decided at once in whole numbers: all that there are on small clusters,
else those of the worst brokers and of some with room.

Example: brokers 0, 1, 2 of 60 MB/s send 40 each, all of 0's lists go on with 1: without 0 broker 1 sends 80. Half of
these lists in the order [0, 2, 1]: 60 each.

Complexity: each change looks at P partitions and evaluates ``SurviveParams.most_cells`` sums at most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.planner.params import DEFAULTS, SurviveParams
from kafka_rebalance.planner.survive.changes import Means, changes_for, joined, receivers
from kafka_rebalance.planner.survive.loss_arrays import Change
from kafka_rebalance.planner.survive.loss_state import LossState
from kafka_rebalance.planner.survive.whole_numbers import Chosen, Costs, all_changes, best_choice
from kafka_rebalance.planner.tolerances import GAIN_TOLERANCE, PROVED_ABOVE


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the whole plan may cost, measured from today; None: anything."""

    replica_moves: int | None = None
    copied_bytes: float | None = None
    leader_changes: int | None = None
    moves_replicas: bool = True


@dataclass(slots=True)
class _Spent:
    replica_moves: int
    copied_bytes: float
    leader_changes: int


@dataclass(frozen=True, slots=True, eq=False)
class Survived:
    """``state`` with the least excess found, 0 where everybody survives; ``is_proved``: no placement within what may be
    spent has none.
    """

    state: LossState
    is_proved: bool


def survive(state: LossState, allowance: Allowance, params: SurviveParams = DEFAULTS.survive) -> Survived:
    """The placement with the least excess that was found from ``state``, which is changed."""
    search, start = _Search(state, allowance, params), state.copy()
    search.run()
    is_proved = bool(state.total) and search.decide_all()
    if state.total and not is_proved:
        search.decide_parts()
    if not state.total:
        search.undo_needless(start)
    return Survived(state, is_proved)


class _Search:
    """The state, what may be spent and what is."""

    def __init__(self, state: LossState, allowance: Allowance, params: SurviveParams) -> None:
        self.state, self.allowance, self.params = state, allowance, params
        self.spent = self.spent_so_far()

    def spent_so_far(self) -> _Spent:
        """From today to the state."""
        arrays, state = self.state.arrays, self.state
        rows = np.arange(len(state.lists))
        copies = arrays.copies(rows, state.lists)
        changed = int((state.leader != arrays.today_leader).sum())
        return _Spent(int(copies.sum()), float((copies * arrays.size).sum()), changed)

    def run(self) -> None:
        """Until nothing takes anything off, whatever is allowed."""
        for leaves_bands in (False, True):
            for means in Means:
                if means is Means.REPLICAS and not self.allowance.moves_replicas:
                    continue
                while self.state.total and self._step(means, leaves_bands=leaves_bands):
                    pass

    def _step(self, means: Means, *, leaves_bands: bool) -> bool:
        """The change that takes off most, of the first of the worst brokers for which there is one."""
        worst = np.argsort(-self.state.excess, kind="stable")[: self.params.brokers]
        for broker in worst[self.state.excess[worst] > 0].tolist():
            change = changes_for(self.state, broker, means, self.params)
            best = self._best(change, leaves_bands=leaves_bands)
            if best is not None:
                self._make(change.taken(best))
                return True
        return False

    def _best(self, change: Change, *, leaves_bands: bool) -> Longs | None:
        """int64[1]: which of the changes, None where none takes anything off."""
        change = change.taken(slice(0, self.params.changes_at_once(self._cells)))
        if not len(change):
            return None
        effect = self.state.effect(change)
        may = effect.is_lawful & (effect.excess < -GAIN_TOLERANCE) & self._is_affordable(change)
        if not leaves_bands:
            may &= effect.outside <= GAIN_TOLERANCE
        if not may.any():
            return None
        return np.array([int(np.where(may, effect.excess, 0.0).argmin())])

    @property
    def _cells(self) -> int:
        """Sums that one broker takes: losses by resources."""
        return self.state.arrays.groups * len(self.state.arrays.guarded)

    def _cost(self, change: Change) -> tuple[Longs, Longs]:
        """int64[K] each: copies, and leaders changed, beyond those of the state."""
        state, arrays, rows = self.state, self.state.arrays, change.rows
        copies = arrays.copies(rows, change.lists) - arrays.copies(rows, state.lists[rows])
        today = arrays.today_leader[rows]
        changed = (change.leaders != today).astype(np.int64) - (state.leader[rows] != today)
        return copies, changed

    def _is_affordable(self, change: Change) -> np.ndarray:
        copies, changed = self._cost(change)
        may = np.ones(len(change), dtype=np.bool_)
        allowance, spent = self.allowance, self.spent
        for more, had, most in (
            (copies, spent.replica_moves, allowance.replica_moves),
            (copies * self.state.arrays.size[change.rows], spent.copied_bytes, allowance.copied_bytes),
            (changed, spent.leader_changes, allowance.leader_changes),
        ):
            if most is not None:
                may &= (had + more <= most) | (more <= 0)
        return may

    def _make(self, change: Change) -> None:
        copies, changed = self._cost(change)
        self.spent.replica_moves += int(copies[0])
        self.spent.copied_bytes += float(copies[0] * self.state.arrays.size[change.rows[0]])
        self.spent.leader_changes += int(changed[0])
        self.state.apply(change)

    def decide_all(self) -> bool:
        """All changes that there are, where these are few. Whether it is proved that none of them survives."""
        means = [Means.LEADERS, Means.REPLICAS] if self.allowance.moves_replicas else [Means.LEADERS]
        for kind in means:
            options = all_changes(self.state, kind, self.params.all_changes)
            chosen = None if options is None else best_choice(self.state, options, self._costs(options), self.params)
            if options is None or chosen is None:
                return False
            self._take(options, chosen)
            if not self.state.total:
                return False
        return chosen is not None and chosen.least_above > PROVED_ABOVE

    def decide_parts(self) -> None:
        """Changes of the worst brokers and of those who have room, several at once, as long as that helps."""
        means = Means.REPLICAS if self.allowance.moves_replicas else Means.LEADERS
        for _ in range(self.params.parts):
            before = self.state.total
            options = self._part(means)
            chosen = best_choice(self.state, options, self._costs(options), self.params) if len(options) else None
            if chosen is not None:
                self._take(options, chosen)
            self.run()
            if not self.state.total or self.state.total >= before - GAIN_TOLERANCE:
                return

    def _part(self, means: Means) -> Change:
        order = np.argsort(-self.state.excess, kind="stable")
        worst = order[: self.params.part_brokers][self.state.excess[order[: self.params.part_brokers]] > 0].tolist()
        others = [broker for one in worst for broker in receivers(self.state, one, 2)]
        brokers = list(dict.fromkeys([*worst, *others]))
        options = joined([changes_for(self.state, broker, means, self.params) for broker in brokers])
        return options.taken(slice(0, self.params.program_cells // max(self.params.touched_brokers * self._cells, 1)))

    def _take(self, options: Change, chosen: Chosen) -> None:
        """Make what was chosen if that takes something off."""
        before, spent = self.state.copy(), self.spent
        self.spent = replace(spent)
        for at in chosen.changes:
            self._make(options.taken(slice(at, at + 1)))
        if self.state.total >= before.total - GAIN_TOLERANCE:
            self.state.take_over(before)
            self.spent = spent

    def _costs(self, options: Change) -> Costs:
        copies, changed = self._cost(options)
        allowance, spent = self.allowance, self.spent
        return Costs(
            copies,
            copies * self.state.arrays.size[options.rows],
            changed,
            (
                _left(allowance.replica_moves, spent.replica_moves),
                _left(allowance.copied_bytes, spent.copied_bytes),
                _left(allowance.leader_changes, spent.leader_changes),
            ),
        )

    def undo_needless(self, start: LossState) -> None:
        """Take back what is not needed, the dearest first; bands are left no further than they are."""
        state = self.state
        changed = (state.lists != start.lists).any(axis=1) | (state.leader != start.leader)
        rows = np.flatnonzero(changed)
        back = Change(rows, start.lists[rows], start.leader[rows])
        copies, leaders = self._cost(back)
        for at in np.lexsort((rows, leaders, copies)).tolist():
            one = back.taken(slice(at, at + 1))
            effect = state.effect(one)
            is_needless = effect.is_lawful & (effect.excess <= 0) & (effect.outside <= GAIN_TOLERANCE)
            if (is_needless & self._is_affordable(one))[0]:
                self._make(one)


def _left(most: float | None, had: float) -> float:
    return np.inf if most is None else max(most - had, 0.0)
