"""A frontier's points put in order and named: cheap, knee, even."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.plan import FrontierPoint

LEAST_POINTS = 8


@dataclass(frozen=True, slots=True)
class RatedPoint:
    """``unevenness``: how far the fullest brokers stand above their fair shares, summed over resources."""

    point: FrontierPoint
    unevenness: float

    @property
    def price(self) -> tuple[int, int, int]:
        """Bytes, replica moves, leader changes."""
        return self.point.bytes or 0, self.point.replica_moves, self.point.leader_changes


def in_order(points: Sequence[RatedPoint]) -> list[RatedPoint]:
    """By price; a point that is dearer than a more even one is replaced by that one, with its own band."""
    result: list[RatedPoint] = []
    best: RatedPoint | None = None
    for each in sorted(points, key=lambda rated: (rated.unevenness, rated.price)):
        if best is None or each.price <= best.price or each.point.is_recommended:
            result.append(each)
        else:
            point = replace(best.point, tolerance=each.point.tolerance, is_recommended=False, reason="")
            result.append(RatedPoint(point, best.unevenness))
        if best is None or each.price < best.price:
            best = each
    return sorted(result, key=lambda rated: (rated.price, -rated.unevenness, -(rated.point.tolerance or 9.9)))


def named(points: Sequence[RatedPoint]) -> tuple[FrontierPoint, ...]:
    """With names and their reasons; none where not even the last point moves anything, or too few were found.

    The knee lies farthest below the straight line from the first point to the last; ``cheap`` is before it.
    """
    if len(points) < LEAST_POINTS or points[-1].price == (0, 0, 0):
        return ()
    axis = next(k for k in range(3) if points[-1].price[k])
    cost = np.array([each.price[axis] for each in points], dtype=np.float64)
    rest = np.array([each.unevenness for each in points])
    span, fall = max(cost[-1] - cost[0], 1e-12), max(rest[0] - rest[-1], 1e-12)
    below = (rest[0] - rest) / fall - (cost - cost[0]) / span
    knee = 2 + int(below[2:-1].argmax())
    gain = (rest[0] - rest[1:knee]) / np.maximum(cost[1:knee] - cost[0], 1e-9 * span)
    unit = ("byte that is copied", "replica that moves", "leader that changes")[axis]
    names = {
        1 + int(gain.argmax()): ("cheap", f"the most evenness for each {unit}"),
        knee: ("knee", "beyond it each further step costs more than it evens out"),
        len(points) - 1: ("even", "the most even one that was found"),
    }
    return tuple(_with_name(each.point, *names.get(i, (None, ""))) for i, each in enumerate(points))


def _with_name(point: FrontierPoint, name: str | None, words: str) -> FrontierPoint:
    reason = "; ".join(each for each in (point.reason, words) if each)
    return replace(point, name=name, reason=reason)
