"""Change a placement until no loss puts a broker above its capacity, then undo needless changes.

Promises, in order: the budget and all hard rules hold; no broker is above its capacity after a loss, where found;
follower orders first (no copies), then leaders, then replicas; within the bands if that suffices; no single change left
is needless.

Relieve the worst broker by the best change; if none helps, allow the next kind, then leaving bands, then an integer
program over several changes. Example: brokers 0, 1, 2 of 60 MB/s send 40 each; all lists of 0 go on with 1, which would
send 80. Half of them as [0, 2, 1]: 60 each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import combinations
from math import comb

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.problem import BrokerSets
from kafka_rebalance.planner.params import (
    DEFAULTS,
    GAIN_TOLERANCE,
    LOSS_MARGIN,
    PROGRAM_MARGIN,
    PROGRAM_WHOLE,
    PROVED_ABOVE,
    SurviveParams,
)

# A loss takes a group: one broker, or a rack. Its leaderships go to the first serving replica outside it; follower
# loads stay. Broker b then carries ``load[b] + takeover_load[g, b]``. R of D resources are guarded: known capacity, and
# leading uses it.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LossArrays:
    """Constants of the search.

    group       int32[B], ABSENT: never lost
    serves      responsive, may take over
    rack        own number for a broker without one
    guarded     int64[R] columns; ``capacity`` float64[B, R]
    today       lists with ``today_leader``
    may_change  bool[P]; ``sets``: allowed brokers, None: any
    size        bytes of a copy
    """

    group: Ints
    groups: int
    serves: Flags
    rack: Ints
    guarded: Longs
    capacity: Floats
    follower: Floats
    extra: Floats
    low: Floats
    high: Floats
    limit: Floats
    scale: Floats
    stays: Flags
    takes_replicas: Flags
    takes_leaders: Flags
    keeps_leaders: Flags
    today: Ints
    today_leader: Ints
    may_change: Flags
    sets: BrokerSets | None
    size: Floats

    @property
    def survives(self) -> Flags:
        return np.asarray(self.serves[None, :] & (self.group[None, :] != np.arange(self.groups)[:, None]))

    def heirs(self, lists: Ints, leader: Ints) -> tuple[Longs, Longs]:
        """Lost group and successor of each list; ABSENT if none."""
        group = np.where(leader >= 0, self.group[leader], ABSENT).astype(np.int64)
        able = (lists >= 0) & self.serves[lists] & (self.group[lists] != group[:, None])
        heir = np.where(able.any(axis=1), lists[np.arange(len(lists)), able.argmax(axis=1)], ABSENT)
        return group, np.where(group == ABSENT, ABSENT, heir).astype(np.int64)

    def may_lead(self, rows: Longs, leaders: Ints) -> Flags:
        keeps = (leaders == self.today_leader[rows]) & self.keeps_leaders[leaders]
        return np.asarray((leaders >= 0) & (self.takes_leaders[leaders] | keeps))

    def copies(self, rows: Longs, lists: Ints) -> Longs:
        today = self.today[rows]
        is_new = (lists[:, :, None] != today[:, None, :]).all(axis=2) & (lists >= 0)
        return np.asarray(is_new.sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """K independent changes: ``rows`` get ``lists`` int32[K, W] led by ``leaders``."""

    rows: Longs
    lists: Ints
    leaders: Ints

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, at: Longs | Flags | slice) -> Change:
        return Change(self.rows[at], self.lists[at], self.leaders[at])


# Excess of a broker: (load - capacity) / capacity, summed over guarded resources and losses.


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """Added ``excess``, added distance from bands (``outside``), no broker above a limit."""

    excess: Floats
    outside: Floats
    is_lawful: Flags


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """``load`` of U pairs of change and broker; ``cell`` also gets ``amount`` after the loss of ``lost``."""

    change: Longs
    broker: Longs
    load: Floats
    cell: Longs
    lost: Longs
    amount: Floats


@dataclass(slots=True, eq=False)
class LossState:
    """``load`` float64[B, D]; ``takeover_load`` float64[G, B, R]; ``group`` lost with each leader and its ``heir``."""

    arrays: LossArrays
    lists: Ints
    leader: Ints
    load: Floats
    takeover_load: Floats
    group: Longs
    heir: Longs
    excess: Floats

    @classmethod
    def of(cls, arrays: LossArrays, placed: tuple[Ints, Ints], load: Floats, takeover_load: Floats) -> LossState:
        """``takeover_load`` counts replicas out of sync today as no heirs: their partitions must not change."""
        lists, leader = placed[0].copy(), placed[1].copy()
        group, heir = arrays.heirs(lists, leader)
        everyone = np.arange(len(load))
        state = cls(arrays, lists, leader, load.copy(), takeover_load.copy(), group, heir, np.zeros(len(load)))
        state.excess = state._over(everyone, state._columns(everyone))
        return state

    @property
    def total(self) -> float:
        """Exactly 0 where all brokers survive every loss."""
        return float(self.excess.sum())

    def copy(self) -> LossState:
        return LossState(
            self.arrays, self.lists.copy(), self.leader.copy(), self.load.copy(), self.takeover_load.copy(),
            self.group.copy(), self.heir.copy(), self.excess.copy(),
        )  # fmt: skip

    def take_over(self, other: LossState) -> None:
        """Become ``other``, which must not be used again."""
        self.lists, self.leader, self.load, self.takeover_load = (
            other.lists,
            other.leader,
            other.load,
            other.takeover_load,
        )
        self.group, self.heir, self.excess = other.group, other.heir, other.excess

    def ratios(self, broker: int) -> Floats:
        """Load over capacity, -1 where ``broker`` is lost itself."""
        ratio = self._columns(np.array([broker]))[0] / self.arrays.capacity[broker]
        return np.where(self.arrays.survives[:, broker, None], ratio, -1.0)

    def effect(self, change: Change) -> Effect:
        touched = self.touched(change)
        before = self.load[touched.broker]
        after = before + touched.load
        columns = self._columns(touched.broker) + touched.load[:, self.arrays.guarded][:, None, :]
        np.add.at(columns, (touched.cell, touched.lost), touched.amount)
        excess = self._over(touched.broker, columns) - self.excess[touched.broker]
        limit = np.maximum(self.arrays.limit[touched.broker], before)
        over = (after > limit * (1 + LOSS_MARGIN)).any(axis=1) & self.arrays.stays[touched.broker]
        count = len(change)
        outside = self._outside(touched.broker, after) - self._outside(touched.broker, before)
        of_change = [
            np.bincount(touched.change, weights=values, minlength=count).astype(np.float64)
            for values in (excess, outside, over)
        ]
        return Effect(of_change[0], of_change[1], of_change[2] == 0)

    def apply(self, change: Change) -> None:
        touched = self.touched(change)
        row = int(change.rows[0])
        np.add.at(self.load, touched.broker, touched.load)
        np.add.at(self.takeover_load, (touched.lost, touched.broker[touched.cell]), touched.amount)
        self.lists[row], self.leader[row] = change.lists[0], change.leaders[0]
        group, heir = self.arrays.heirs(change.lists, change.leaders)
        self.group[row], self.heir[row] = group[0], heir[0]
        self.excess[touched.broker] = self._over(touched.broker, self._columns(touched.broker))

    def _columns(self, brokers: Longs) -> Floats:
        load = self.load[brokers][:, self.arrays.guarded]
        return np.asarray(load[:, None, :] + self.takeover_load[:, brokers, :].transpose(1, 0, 2))

    def _over(self, brokers: Longs, columns: Floats) -> Floats:
        over = np.maximum(columns / self.arrays.capacity[brokers][:, None, :] - (1 + LOSS_MARGIN), 0.0)
        return np.asarray((over.sum(axis=2) * self.arrays.survives[:, brokers].T).sum(axis=1))

    def _outside(self, brokers: Longs, load: Floats) -> Floats:
        arrays = self.arrays
        off = np.maximum(load - arrays.high[brokers], 0.0) + np.maximum(arrays.low[brokers] - load, 0.0)
        return np.asarray((off / arrays.scale).sum(axis=1) * arrays.stays[brokers])

    def touched(self, change: Change) -> Touched:
        arrays, rows = self.arrays, change.rows
        now, lead = self.lists[rows], self.leader[rows]
        group, heir = arrays.heirs(change.lists, change.leaders)
        is_same = (change.leaders == lead)[:, None]
        goes = (now >= 0) & (now[:, :, None] != change.lists[:, None, :]).all(axis=2)
        comes = (change.lists >= 0) & (change.lists[:, :, None] != now[:, None, :]).all(axis=2)
        stays_heir = (heir == self.heir[rows]) & (group == self.group[rows])
        brokers = np.concatenate(
            [
                np.where(goes, now, ABSENT),
                np.where(comes, change.lists, ABSENT),
                np.where(is_same, ABSENT, np.stack([lead, change.leaders], axis=1)),
                np.where(stays_heir[:, None], ABSENT, np.stack([self.heir[rows], heir], axis=1)),
            ],
            axis=1,
        )  # fmt: skip
        width = now.shape[1]
        sign = np.array([-1.0] * width + [1.0] * width + [-1.0, 1.0, 0.0, 0.0])
        at, column = np.nonzero(brokers >= 0)
        leads = (column >= 2 * width)[:, None]
        load = np.where(leads, arrays.extra[rows[at]], arrays.follower[rows[at]]) * sign[column][:, None]
        keys, cell = np.unique(at * len(arrays.group) + brokers[at, column], return_inverse=True)
        sums = np.zeros((len(keys), load.shape[1]))
        np.add.at(sums, cell, load)
        is_heir = column >= 2 * width + 2
        of, side = at[is_heir], column[is_heir] - 2 * width - 2
        lost = np.where(side == 0, self.group[rows[of]], group[of])
        amount = arrays.extra[rows[of]][:, arrays.guarded] * np.where(side == 0, -1.0, 1.0)[:, None]
        who, broker = np.divmod(keys, len(arrays.group))
        return Touched(who, broker, sums, cell[is_heir], lost, amount)


# Racks get no worse; a new follower order only where the first replica leads. The heaviest partitions come first, then
# a sample.


class Means(IntEnum):
    """Cheapest first; each includes those before it."""

    ORDERS = 0
    LEADERS = 1
    REPLICAS = 2


def changes_for(state: LossState, broker: int, means: Means, params: SurviveParams) -> Change:
    """Changes for its worst loss. O(P)."""
    ratios = state.ratios(broker)
    lost, r = divmod(int(ratios.argmax()), ratios.shape[1])
    d, arrays = int(state.arrays.guarded[r]), state.arrays
    takes_over = (state.group == lost) & (state.heir == broker)
    leads = state.leader == broker
    weight = np.where(takes_over | (leads & (means >= Means.LEADERS)), arrays.extra[:, d], 0.0)
    rows = _picked(np.where(arrays.may_change, weight, 0.0), params.partitions)
    changes = [allowed(arranged(rows, state.lists[rows]), state, means)]
    if means is Means.REPLICAS:
        weight = np.where(takes_over | leads, arrays.extra[:, d], 0.0) + np.where(
            (state.lists == broker).any(axis=1), arrays.follower[:, d], 0.0
        )
        holds = arrays.may_change & (state.lists == broker).any(axis=1)
        rows = _picked(np.where(holds, weight, 0.0), params.moved_partitions)
        others = receivers(state, broker, params.receivers)
        changes += [allowed(_moved(state, rows, broker, other), state, means) for other in others]
    return joined(changes)


def arranged(rows: Longs, lists: Ints) -> Change:
    """Every choice of leader and second, the rest in order. O(K·W²)."""
    width = lists.shape[1]
    changes = [Change(rows, lists, lists[:, 0])] if width == 1 else []
    for first in range(width):
        for second in range(width):
            if first != second:
                others = [column for column in range(width) if column not in (first, second)]
                is_there = (lists[:, first] >= 0) & ((lists[:, second] >= 0) | (second == 1) & (lists[:, 1] < 0))
                at = np.flatnonzero(is_there)
                other = lists[at][:, [first, second, *others]]
                changes.append(Change(rows[at], other, other[:, 0]))
    return joined(changes)


def joined(changes: Sequence[Change]) -> Change:
    return Change(
        np.concatenate([change.rows for change in changes]),
        np.concatenate([change.lists for change in changes]),
        np.concatenate([change.leaders for change in changes]),
    )


def receivers(state: LossState, broker: int, most: int) -> list[int]:
    """Brokers lowest after their worst loss, of all and of ``broker``'s rack."""
    arrays = state.arrays
    load = state.load[:, arrays.guarded] + state.takeover_load.max(axis=0, initial=0.0)
    level = (load / arrays.capacity).max(axis=1)
    open_to = np.flatnonzero(arrays.takes_replicas & (np.arange(len(level)) != broker))
    order = open_to[np.argsort(level[open_to], kind="stable")]
    same = order[arrays.rack[order] == arrays.rack[broker]]
    return list(dict.fromkeys([*order[:most].tolist(), *same[:most].tolist()]))


def _moved(state: LossState, rows: Longs, broker: int, other: int) -> Change:
    arrays = state.arrays
    lists = state.lists[rows]
    is_there = lists == broker
    rest = np.where(is_there | (lists < 0), ABSENT, lists)
    shares = (rest >= 0) & (arrays.rack[rest] == arrays.rack[other])
    fits = ~(lists == other).any(axis=1) & ((arrays.rack[other] == arrays.rack[broker]) | ~shares.any(axis=1))
    if arrays.sets is not None:
        fits &= arrays.sets.brokers[arrays.sets.of_partition[rows], other]
    return arranged(rows[fits], np.where(is_there, other, lists)[fits].astype(np.int32))


def allowed(change: Change, state: LossState, means: Means) -> Change:
    """Changes that differ from the state and are lawful by ``means``."""
    arrays = state.arrays
    rows, today, led_today = change.rows, arrays.today[change.rows], arrays.today_leader[change.rows]
    keeps_leader = change.leaders == state.leader[rows]
    differs = (change.lists != state.lists[rows]).any(axis=1) | ~keeps_leader
    # A list whose first replica does not lead awaits its preferred leader: no present leader goes first.
    is_off = (today[:, 0] != led_today) & (change.leaders == led_today) & (arrays.copies(rows, change.lists) == 0)
    may = differs & arrays.may_lead(rows, change.leaders) & ~is_off
    if means is Means.ORDERS:
        may &= keeps_leader & (state.lists[rows, 0] == change.leaders)
    return change.take(may)


def _picked(weight: Floats, most: int) -> Longs:
    """The heaviest for half of ``most``, then an even sample of the rest."""
    rows: Longs = np.flatnonzero(weight > 0)
    order = rows[np.argsort(-weight[rows], kind="stable")]
    if len(order) <= most:
        return order
    half = most // 2
    others = np.linspace(half, len(order) - 1, most - half).astype(np.int64)
    return np.concatenate([order[:half], order[others]])


# Several changes at once by an integer program, where no single one helps:
#
#     minimise what is above capacities over all brokers and losses, then copies, then leader changes, then orders
#     over x (a change is made) in 0 or 1, at most one a partition; hard limits and the budget hold
#
# Changes add up exactly. Over ``all_changes`` a positive minimum proves that nothing helps.


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    copies: Longs
    copied_bytes: Floats
    leader_changes: Longs
    left: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Chosen:
    """``least_above``: lower bound on shares above capacities, summed."""

    changes: tuple[int, ...]
    least_above: float


def best_choice(state: LossState, options: Change, costs: Costs, params: SurviveParams) -> Chosen | None:
    """None if too large, or nothing was found within the nodes."""
    arrays, count = state.arrays, len(options)
    if not count or count * params.touched_brokers * arrays.groups * len(arrays.guarded) > params.program_cells:
        return None
    blocks, most = _loss_rows(state, options)
    above = len(most)
    limit_rows, limit_most = _limit_rows(state, options)
    budget = sp.csr_array(np.stack([costs.copies, costs.copied_bytes, costs.leader_changes]).astype(np.float64))
    is_limited = np.isfinite(costs.left)
    _, of_row = np.unique(options.rows, return_inverse=True)
    one_each = sp.csr_array((np.ones(count), (of_row, np.arange(count))))
    plain = sp.vstack([limit_rows, budget[is_limited], one_each])
    rows = sp.vstack([
        sp.hstack([blocks, -sp.identity(above)]), sp.hstack([plain, sp.csr_array((plain.shape[0], above))]),
    ])  # fmt: skip
    values = np.concatenate([most, limit_most, np.array(costs.left)[is_limited], np.ones(one_each.shape[0])])
    price = np.maximum(costs.copies, 0) * params.copy_worth + params.order_worth
    price += np.maximum(costs.leader_changes, 0) * params.leader_worth
    answer = milp(
        np.concatenate([price / count, np.full(above, params.above_worth)]),
        integrality=np.concatenate([np.ones(count, dtype=np.int64), np.zeros(above, dtype=np.int64)]),
        bounds=Bounds(0.0, np.concatenate([np.ones(count), np.full(above, np.inf)])),
        constraints=[LinearConstraint(sp.csr_array(rows), -np.inf, values)],
        options={"mip_rel_gap": params.program_gap, "node_limit": params.program_nodes},
    )
    if answer.x is None:
        return None
    least = 0.0 if answer.mip_dual_bound is None else float(answer.mip_dual_bound) / params.above_worth
    return Chosen(tuple(np.flatnonzero(answer.x[:count] > PROGRAM_WHOLE).tolist()), least)


def all_changes(state: LossState, means: Means, most: int) -> Change | None:
    """Every other lawful placement; None if more than ``most``."""
    arrays = state.arrays
    rows = np.flatnonzero(arrays.may_change)
    if means is not Means.REPLICAS:
        change = allowed(arranged(rows, state.lists[rows]), state, means) if len(rows) * 12 <= most else None
        return change if change is not None and len(change) else None
    open_to = np.flatnonzero(arrays.takes_replicas)
    width = state.lists.shape[1]
    factors = (state.lists[rows] >= 0).sum(axis=1)
    if sum(comb(len(open_to), factor) * factor * max(factor - 1, 1) for factor in factors.tolist()) > most:
        return None
    changes = []
    for factor in np.unique(factors).tolist():
        mine = rows[factors == factor]
        for members in combinations(open_to.tolist(), factor):
            lists = np.full((len(mine), width), ABSENT, dtype=np.int32)
            lists[:, :factor] = members
            fits = _is_spread(arrays, state, mine, members) & _may_be_on(arrays, mine, members)
            changes.append(arranged(mine[fits], _in_own_order(state, mine, lists)[fits]))
    return allowed(joined(changes), state, means) if changes else None


def _in_own_order(state: LossState, rows: Longs, lists: np.ndarray) -> np.ndarray:
    now = state.lists[rows]
    is_same = (np.sort(now, axis=1) == np.sort(lists, axis=1)).all(axis=1)
    return np.where(is_same[:, None], now, lists)


def _is_spread(arrays: LossArrays, state: LossState, rows: Longs, members: tuple[int, ...]) -> Flags:
    lists = state.lists[rows]
    racks = np.sort(np.where(lists >= 0, arrays.rack[lists], ABSENT), axis=1)
    now = 1 + ((racks[:, 1:] != racks[:, :-1]) & (racks[:, :-1] >= 0)).sum(axis=1)
    return np.asarray(len({int(arrays.rack[broker]) for broker in members}) >= now)


def _may_be_on(arrays: LossArrays, rows: Longs, members: tuple[int, ...]) -> Flags:
    if arrays.sets is None:
        return np.ones(len(rows), dtype=np.bool_)
    return np.asarray(arrays.sets.brokers[arrays.sets.of_partition[rows]][:, list(members)].all(axis=1))


def _loss_rows(state: LossState, options: Change) -> tuple[sp.csr_array, Floats]:
    arrays, touched, count = state.arrays, state.touched(options), len(options)
    brokers = np.unique(touched.broker)
    at = np.searchsorted(brokers, touched.broker)
    resources, groups = len(arrays.guarded), arrays.groups
    share = touched.load[:, arrays.guarded] / arrays.capacity[touched.broker]
    pair, r = np.nonzero(share)
    cell = (at[pair] * resources + r)[:, None] * groups + np.arange(groups)[None, :]
    amount = touched.amount / arrays.capacity[touched.broker[touched.cell]]
    event, er = np.nonzero(amount)
    moved = (at[touched.cell[event]] * resources + er) * groups + touched.lost[event]
    matrix = sp.csr_array(
        (
            np.concatenate([np.repeat(share[pair, r], groups), amount[event, er]]),
            (
                np.concatenate([cell.ravel(), moved]),
                np.concatenate([np.repeat(touched.change[pair], groups), touched.change[touched.cell[event]]]),
            ),
        ),
        shape=(len(brokers) * resources * groups, count),
    )
    ratios = np.stack([state.ratios(int(broker)).T for broker in brokers])
    spare = np.where(ratios >= 0, 1 - PROGRAM_MARGIN - ratios, np.inf).reshape(-1)
    at_most = np.asarray(matrix.maximum(0).sum(axis=1)).reshape(-1)
    needed = np.flatnonzero(at_most > spare)
    return matrix[needed], spare[needed]


def _limit_rows(state: LossState, options: Change) -> tuple[sp.csr_array, Floats]:
    arrays, touched = state.arrays, state.touched(options)
    resources = state.load.shape[1]
    scaled = touched.load / arrays.scale
    pair, d = np.nonzero(scaled)
    matrix = sp.csr_array(
        (scaled[pair, d], (touched.broker[pair] * resources + d, touched.change[pair])),
        shape=(len(state.load) * resources, len(options)),
    )
    limit = np.where(arrays.stays[:, None], np.maximum(arrays.limit, state.load), np.inf)
    spare = ((limit - state.load) / arrays.scale).reshape(-1)
    needed = np.flatnonzero(np.asarray(matrix.maximum(0).sum(axis=1)).reshape(-1) > spare)
    return matrix[needed], spare[needed]


@dataclass(frozen=True, slots=True)
class Allowance:
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
    """``is_proved``: no placement within the allowance has excess 0."""

    state: LossState
    is_proved: bool


def survive(state: LossState, allowance: Allowance, params: SurviveParams = DEFAULTS.survive) -> Survived:
    search, start = _Search(state, allowance, params), state.copy()
    search.run()
    is_proved = bool(state.total) and search.decide_all()
    if state.total and not is_proved:
        search.decide_parts()
    if not state.total:
        search.undo_needless(start)
    return Survived(state, is_proved)


class _Search:
    def __init__(self, state: LossState, allowance: Allowance, params: SurviveParams) -> None:
        self.state, self.allowance, self.params = state, allowance, params
        self.spent = self.spent_so_far()

    def spent_so_far(self) -> _Spent:
        arrays, state = self.state.arrays, self.state
        rows = np.arange(len(state.lists))
        copies = arrays.copies(rows, state.lists)
        changed = int((state.leader != arrays.today_leader).sum())
        return _Spent(int(copies.sum()), float((copies * arrays.size).sum()), changed)

    def run(self) -> None:
        for leaves_bands in (False, True):
            for means in Means:
                if means is Means.REPLICAS and not self.allowance.moves_replicas:
                    continue
                while self.state.total and self._step(means, leaves_bands=leaves_bands):
                    pass

    def _step(self, means: Means, *, leaves_bands: bool) -> bool:
        worst = np.argsort(-self.state.excess, kind="stable")[: self.params.brokers]
        for broker in worst[self.state.excess[worst] > 0].tolist():
            change = changes_for(self.state, broker, means, self.params)
            best = self._best(change, leaves_bands=leaves_bands)
            if best is not None:
                self._make(change.take(best))
                return True
        return False

    def _best(self, change: Change, *, leaves_bands: bool) -> Longs | None:
        change = change.take(slice(0, self.params.changes_at_once(self._cells)))
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
        return self.state.arrays.groups * len(self.state.arrays.guarded)

    def _cost(self, change: Change) -> tuple[Longs, Longs]:
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
        others = [broker for overloaded in worst for broker in receivers(self.state, overloaded, 2)]
        brokers = list(dict.fromkeys([*worst, *others]))
        options = joined([changes_for(self.state, broker, means, self.params) for broker in brokers])
        return options.take(slice(0, self.params.program_cells // max(self.params.touched_brokers * self._cells, 1)))

    def _take(self, options: Change, chosen: Chosen) -> None:
        before, spent = self.state.copy(), self.spent
        self.spent = replace(spent)
        for at in chosen.changes:
            self._make(options.take(slice(at, at + 1)))
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
        """Dearest first; bands are left no further."""
        state = self.state
        changed = (state.lists != start.lists).any(axis=1) | (state.leader != start.leader)
        rows = np.flatnonzero(changed)
        back = Change(rows, start.lists[rows], start.leader[rows])
        copies, leaders = self._cost(back)
        for at in np.lexsort((rows, leaders, copies)).tolist():
            change = back.take(slice(at, at + 1))
            effect = state.effect(change)
            is_needless = effect.is_lawful & (effect.excess <= 0) & (effect.outside <= GAIN_TOLERANCE)
            if (is_needless & self._is_affordable(change))[0]:
                self._make(change)


def _left(most: float | None, had: float) -> float:
    return np.inf if most is None else max(most - had, 0.0)
