"""One placement under all losses: how far brokers are above their capacity, and what each change would make of it.

Excess of a broker: what it carries above its capacity over that capacity, summed over guarded resources and losses.
Example: capacity 60, load 50; two losses bring 20 and 5: an excess of 10 / 60.

Complexity: a change touches at most the brokers of both lists, O(G·R) each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Floats, Ints, Longs
from kafka_rebalance.planner.survive.loss_arrays import Change, LossArrays
from kafka_rebalance.planner.tolerances import LOSS_MARGIN


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """Of each of K changes: what it adds to the ``excess`` and to the distance from bands (``outside``), and whether it
    lifts nobody above a limit.
    """

    excess: Floats
    outside: Floats
    is_lawful: Flags


@dataclass(frozen=True, slots=True, eq=False)
class Touched:
    """U pairs of a change and a broker: ``load`` float64[U, D] is added to it; of the pair ``cell`` the ``amount``
    float64[E, R] comes on top after the loss of group ``lost``.
    """

    change: Longs
    broker: Longs
    load: Floats
    cell: Longs
    lost: Longs
    amount: Floats


@dataclass(slots=True, eq=False)
class LossState:
    """``lists`` int32[P, W] led by ``leader`` int32[P]; ``load`` float64[B, D]; ``taken`` float64[G, B, R]; ``group``
    and ``heir`` int64[P]: what is lost with each leader, and who takes over; ``excess`` float64[B].
    """

    arrays: LossArrays
    lists: Ints
    leader: Ints
    load: Floats
    taken: Floats
    group: Longs
    heir: Longs
    excess: Floats

    @classmethod
    def of(cls, arrays: LossArrays, placed: tuple[Ints, Ints], load: Floats, taken: Floats) -> LossState:
        """``placed``: lists and leaders. ``taken`` counts replicas that are behind today as no heirs: partitions with
        one are not to be changed.
        """
        lists, leader = placed[0].copy(), placed[1].copy()
        group, heir = arrays.heirs(lists, leader)
        everyone = np.arange(len(load))
        state = cls(arrays, lists, leader, load.copy(), taken.copy(), group, heir, np.zeros(len(load)))
        state.excess = state._over(everyone, state._columns(everyone))
        return state

    @property
    def total(self) -> float:
        """Excess of all brokers, exactly 0 where everybody survives everything."""
        return float(self.excess.sum())

    def copy(self) -> LossState:
        """Another one that may change apart."""
        return LossState(
            self.arrays, self.lists.copy(), self.leader.copy(), self.load.copy(), self.taken.copy(),
            self.group.copy(), self.heir.copy(), self.excess.copy(),
        )  # fmt: skip

    def take_over(self, other: LossState) -> None:
        """Become the other one, which is not used any more."""
        self.lists, self.leader, self.load, self.taken = other.lists, other.leader, other.load, other.taken
        self.group, self.heir, self.excess = other.group, other.heir, other.excess

    def ratios(self, broker: int) -> Floats:
        """float64[G, R]: load over capacity of one broker after each loss, -1 where it is lost itself."""
        ratio = self._columns(np.array([broker]))[0] / self.arrays.capacity[broker]
        return np.where(self.arrays.survives[:, broker, None], ratio, -1.0)

    def effect(self, change: Change) -> Effect:
        """What each change would do by itself."""
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
        """Make one change."""
        touched = self.touched(change)
        row = int(change.rows[0])
        np.add.at(self.load, touched.broker, touched.load)
        np.add.at(self.taken, (touched.lost, touched.broker[touched.cell]), touched.amount)
        self.lists[row], self.leader[row] = change.lists[0], change.leaders[0]
        group, heir = self.arrays.heirs(change.lists, change.leaders)
        self.group[row], self.heir[row] = group[0], heir[0]
        self.excess[touched.broker] = self._over(touched.broker, self._columns(touched.broker))

    def _columns(self, brokers: Longs) -> Floats:
        """float64[U, G, R]: what each of the brokers carries after each loss."""
        load = self.load[brokers][:, self.arrays.guarded]
        return np.asarray(load[:, None, :] + self.taken[:, brokers, :].transpose(1, 0, 2))

    def _over(self, brokers: Longs, columns: Floats) -> Floats:
        """float64[U]: excess of the brokers if they carried ``columns``."""
        over = np.maximum(columns / self.arrays.capacity[brokers][:, None, :] - (1 + LOSS_MARGIN), 0.0)
        return np.asarray((over.sum(axis=2) * self.arrays.survives[:, brokers].T).sum(axis=1))

    def _outside(self, brokers: Longs, load: Floats) -> Floats:
        arrays = self.arrays
        off = np.maximum(load - arrays.high[brokers], 0.0) + np.maximum(arrays.low[brokers] - load, 0.0)
        return np.asarray((off / arrays.scale).sum(axis=1) * arrays.stays[brokers])

    def touched(self, change: Change) -> Touched:
        """What the changes add to whom."""
        arrays, rows = self.arrays, change.rows
        now, lead = self.lists[rows], self.leader[rows]
        group, heir = arrays.heirs(change.lists, change.leaders)
        is_same = (change.leaders == lead)[:, None]
        goes = (now >= 0) & (now[:, :, None] != change.lists[:, None, :]).all(axis=2)
        comes = (change.lists >= 0) & (change.lists[:, :, None] != now[:, None, :]).all(axis=2)
        stays_heir = (heir == self.heir[rows]) & (group == self.group[rows])
        brokers = np.concatenate(
            [
                np.where(goes, now, NOBODY),
                np.where(comes, change.lists, NOBODY),
                np.where(is_same, NOBODY, np.stack([lead, change.leaders], axis=1)),
                np.where(stays_heir[:, None], NOBODY, np.stack([self.heir[rows], heir], axis=1)),
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
