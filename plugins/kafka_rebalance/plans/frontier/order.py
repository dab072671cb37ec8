"""A frontier's points put in order and named: cheap, knee, even."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.plans.params import DEFAULTS, FrontierParams
from kafka_rebalance.plans.plan import FrontierPoint

Price = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class RatedPoint:
    """``unevenness``: how far the fullest brokers stand above their fair shares, summed over resources."""

    point: FrontierPoint
    unevenness: float

    def price(self, *, by_bytes: bool) -> Price:
        """Bytes (0 where they do not count), replica moves, leader changes."""
        point = self.point
        return (point.bytes or 0) if by_bytes else 0, point.replica_moves, point.leader_changes


def are_bytes_known(points: Sequence[RatedPoint]) -> bool:
    """Else replicas are what a point costs first: where a size is unknown bytes cannot be compared."""
    return all(rated.point.bytes is not None for rated in points)


def in_order(points: Sequence[RatedPoint]) -> list[RatedPoint]:
    """By price; a point that is dearer than a more even one is replaced by that one, with its own band."""
    by_bytes = are_bytes_known(points)
    result: list[RatedPoint] = []
    best: RatedPoint | None = None
    for rated in sorted(points, key=lambda rated: (rated.unevenness, rated.price(by_bytes=by_bytes))):
        price = rated.price(by_bytes=by_bytes)
        if best is None or price <= best.price(by_bytes=by_bytes) or rated.point.is_recommended:
            result.append(rated)
        else:
            point = replace(best.point, tolerance=rated.point.tolerance, is_recommended=False, reasons=())
            result.append(RatedPoint(point, best.unevenness))
        if best is None or price < best.price(by_bytes=by_bytes):
            best = rated

    def place(rated: RatedPoint) -> tuple[Price, float, float]:
        return rated.price(by_bytes=by_bytes), -rated.unevenness, -(rated.point.tolerance or 9.9)

    return sorted(result, key=place)


def without_vain(points: Sequence[RatedPoint], params: FrontierParams = DEFAULTS.frontier) -> list[RatedPoint]:
    """Without points that cost more than another one and are more even in no resource; the plan's own stays."""
    by_bytes = are_bytes_known(points)

    def is_vain(rated: RatedPoint, other: RatedPoint) -> bool:
        price, cheaper = rated.price(by_bytes=by_bytes), other.price(by_bytes=by_bytes)
        if price == cheaper or any(mine < its for mine, its in zip(price, cheaper, strict=True)):
            return False
        skews = other.point.skew
        return all(skews[name] <= skew * (1 + params.same_skew_ratio) for name, skew in rated.point.skew.items())

    return [one for one in points if one.point.is_recommended or not any(is_vain(one, other) for other in points)]


def named(points: Sequence[RatedPoint], params: FrontierParams = DEFAULTS.frontier) -> tuple[FrontierPoint, ...]:
    """With names and their reasons; none where not even the last point moves anything, or too few were found.

    The knee lies farthest below the straight line from the first point to the last; ``cheap`` is before it.
    """
    prices = [rated.price(by_bytes=are_bytes_known(points)) for rated in points]
    if len(points) < params.least_points or prices[-1] == (0, 0, 0):
        return ()
    axis = next(k for k in range(3) if prices[-1][k])
    cost = np.array([price[axis] for price in prices], dtype=np.float64)
    rest = np.array([point.unevenness for point in points])
    span, fall = max(cost[-1] - cost[0], 1e-12), max(rest[0] - rest[-1], 1e-12)
    below = (rest[0] - rest) / fall - (cost - cost[0]) / span
    knee = 2 + int(below[2:-1].argmax())
    paid = cost[1:knee] - cost[0]
    gain = (rest[0] - rest[1:knee]) / np.maximum(paid, 1e-9 * span)
    if (paid > 0).any():  # what is free is no bargain for each byte
        gain[paid <= 0] = -1.0
    unit = ("bytes", "replica_moves", "leader_changes")[axis]
    names = {
        1 + int(gain.argmax()): ("cheap", _bargain(float(paid[gain.argmax()]), float(cost[0]), unit)),
        knee: ("knee", fact(FactCode.POINT_KNEE)),
        len(points) - 1: ("even", fact(FactCode.POINT_EVEN)),
    }
    return tuple(_with_name(point.point, *names.get(i, (None, None))) for i, point in enumerate(points))


def _bargain(paid: float, first: float, unit: str) -> Fact:
    return fact(FactCode.POINT_CHEAP, unit=unit, is_free=paid <= 0, is_beside_forced=first > 0)


def _with_name(point: FrontierPoint, name: str | None, why: Fact | None) -> FrontierPoint:
    return replace(point, name=name, reasons=point.reasons if why is None else (*point.reasons, why))
