"""The most even levels that fractions of replicas can meet, by linear programs: one after another, the lowest first."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from kafka_assignors.arrays import Floats, Longs


class EvenLevels:
    """x[p, b] in 0..1 is how much of a replica of partition p broker b holds; racks hold 1 more than others at most."""

    def __init__(self, rack: Longs, capacity: Floats, factor: Longs, weight: Floats) -> None:
        self.capacity, self.weight, self.brokers = capacity, weight, len(rack)
        self.size = len(factor) * len(rack) + 1  # and the level to raise
        self.equal: list[tuple[Floats, float]] = []
        self.most: list[tuple[Floats, float]] = []
        for p, wanted in enumerate(factor.tolist()):
            self.equal.append((self._of(p, np.ones(len(rack), dtype=bool)), float(wanted)))
            counts = _even_counts(wanted, np.bincount(rack))
            for k in range(len(counts[0])):
                line = self._of(p, rack == k)
                self.most += [(line, float(counts[1][k])), (-line, -float(counts[0][k]))]

    def shares(self) -> Floats:
        """float64[B]: the loads."""
        fixed: dict[int, float] = {}
        while len(fixed) < self.brokers:
            level = self._raise(fixed)
            stuck = [
                b for b in range(self.brokers) if b not in fixed and self._highest(b, fixed, level) <= level + 1e-6
            ]
            assert stuck
            fixed |= dict.fromkeys(stuck, level)
        return np.array([fixed[b] for b in range(self.brokers)]) * self.capacity

    def _of(self, p: int, brokers: Floats) -> Floats:
        line = np.zeros(self.size)
        line[p * self.brokers : (p + 1) * self.brokers][brokers] = 1
        return line

    def _level(self, b: int) -> Floats:
        line = np.zeros(self.size)
        line[b : self.size - 1 : self.brokers] = self.weight / self.capacity[b]
        return line

    def _raise(self, fixed: dict[int, float]) -> float:
        top = np.zeros(self.size)
        top[-1] = 1
        return self._solved(top, fixed, [(top - self._level(b), 0.0) for b in range(self.brokers) if b not in fixed])

    def _highest(self, b: int, fixed: dict[int, float], level: float) -> float:
        others = [(-self._level(other), 1e-9 - level) for other in range(self.brokers) if other not in fixed]
        return self._solved(self._level(b), fixed, others)

    def _solved(self, gain: Floats, fixed: dict[int, float], more: list[tuple[Floats, float]]) -> float:
        equal = self.equal + [(self._level(b), level) for b, level in fixed.items()]
        most = self.most + more
        answer = linprog(
            -gain, np.array([line for line, _ in most]), np.array([end for _, end in most]),
            np.array([line for line, _ in equal]), np.array([end for _, end in equal]),
            [(0, 1)] * (self.size - 1) + [(0, None)],
        )  # fmt: skip
        assert answer.status == 0, answer.message
        return float(-answer.fun)


def _even_counts(wanted: int, size: Longs) -> tuple[list[int], list[int]]:
    """Fewest and most replicas of one partition in each rack: one a rack in turn, while racks have brokers left."""
    fewest, left = [0] * len(size), wanted
    while left:
        open_racks = [k for k in range(len(size)) if fewest[k] < size[k]]
        if len(open_racks) > left:
            return fewest, [fewest[k] + (k in open_racks) for k in range(len(size))]
        for k in open_racks:
            fewest[k] += 1
        left -= len(open_racks)
    return fewest, fewest
