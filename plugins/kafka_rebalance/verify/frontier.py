"""The frontier: from nothing to as even as it gets, in order of cost, named, one recommended, and that one the plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kafka_rebalance.verify.faults import FaultList

LEAST_POINTS = 4
NAMES = ["cheap", "knee", "even"]
COSTS = ("bytes", "replica_moves", "leader_changes")
# Bounds are sums of a million numbers.
ROUNDING = 1e-7


def check_frontier(document: dict[str, Any], faults: FaultList) -> None:
    """All points together; a plan may leave its frontier out."""
    points = document["frontier"]
    if not points:
        return
    if len(points) < LEAST_POINTS:
        faults.add("frontier", "plan.frontier", f"{len(points)} points, {LEAST_POINTS} are the least")
    if document["verdict"] == "infeasible":
        faults.add("frontier", "plan.frontier", "nothing can be planned, yet points are told")
    for number, point in enumerate(points):
        _check_point(f"frontier[{number}]", point, points[number - 1] if number else None, document, faults)
    names = [point["name"] for point in points if point["name"] is not None]
    if names != NAMES:
        faults.add("frontier", "plan.frontier", f"named points are {names}, {NAMES} are wanted in that order")
    if points[-1]["name"] != "even":
        faults.add("frontier", f"frontier[{len(points) - 1}]", "the last point is the most even one, and not named so")
    _check_recommended(document, faults)
    _check_gains(document, faults)


def _check_point(
    place: str, point: dict[str, Any], previous: dict[str, Any] | None, document: dict[str, Any], faults: FaultList
) -> None:
    bound, amount = point["lower_bound_bytes"], point["bytes"]
    if (bound is None) is not (amount is None):
        faults.add("frontier", place, "bytes and their bound are known together or not at all")
    elif amount is None and point["replica_moves"] == 0:
        faults.add("frontier", place, "copies nothing, and yet its bytes are unknown")
    elif bound is not None and not 0 <= bound <= amount * (1 + ROUNDING) + 1:
        faults.add("frontier", place, f"{amount} bytes are below their bound {bound:g}")
    _check_price(place, point, previous, document, faults)
    _check_skew(place, point, document, faults)
    if point["name"] is not None and not point["reasons"]:
        faults.add("frontier", place, "is named without a reason")


def _check_gains(document: dict[str, Any], faults: FaultList) -> None:
    """Every point but the plan's own is more even in some resource than all that cost less."""
    points = document["frontier"]
    is_known = all(point["bytes"] is not None for point in points)
    costs = COSTS if is_known else COSTS[1:]
    for number, point in enumerate(points):
        for other in points if not point["is_recommended"] else ():
            is_dearer = any(point[name] > other[name] for name in costs)
            is_dearer &= all(point[name] >= other[name] for name in costs)
            skews = [(skew, other["skew"].get(name, math.inf)) for name, skew in point["skew"].items()]
            if is_dearer and all(its <= skew * (1 + ROUNDING) for skew, its in skews):
                faults.add("frontier", f"frontier[{number}]", "costs more than another point, and is more even nowhere")
                break


def _price(point: dict[str, Any], document: dict[str, Any]) -> float:
    """What points are ordered by: bytes, or replicas where the bytes of some point are unknown."""
    is_known = all(other["bytes"] is not None for other in document["frontier"])
    return float(point["bytes"] if is_known else point["replica_moves"])


def _check_skew(place: str, point: dict[str, Any], document: dict[str, Any], faults: FaultList) -> None:
    resources = {outcome["resource"]: outcome for outcome in document["resources"]}
    if set(point["skew"]) != set(resources) or min(point["skew"].values(), default=0) < 0:
        faults.add("frontier", place, f"tells the skew of {sorted(point['skew'])}")
    elif any(0 < skew < 1 - ROUNDING for skew in point["skew"].values()):
        faults.add("frontier", place, "a skew is below 1: no highest level is below the mean")
    elif not any(point[name] for name in COSTS) and not _drops_for_nothing(document["parameters"]):
        for name, outcome in resources.items():
            faults.require_close("frontier", f"{place}.skew.{name}", point["skew"][name], outcome["skew_before"])


def _check_price(
    place: str,
    point: dict[str, Any],
    previous: dict[str, Any] | None,
    document: dict[str, Any],
    faults: FaultList,
) -> None:
    amount, tolerance = point["bytes"] or 0, point["tolerance"] or 0
    if previous is not None and _price(previous, document) > _price(point, document):
        faults.add("frontier", place, "costs less than the point before it")
    if amount > 0 and point["replica_moves"] == 0:
        faults.add("frontier", place, f"copies {amount} bytes without a replica that moves")
    if min(point["replica_moves"], point["leader_changes"], amount, tolerance) < 0:
        faults.add("frontier", place, "a cost or a band is negative")


def _drops_for_nothing(parameters: Mapping[str, Any]) -> bool:
    """A lower replication factor drops replicas: that costs nothing, and changes who carries what."""
    return parameters.get("replication_factor") is not None


def _check_recommended(document: dict[str, Any], faults: FaultList) -> None:
    """One point, with its reason: it is the plan."""
    chosen = [(i, point) for i, point in enumerate(document["frontier"]) if point["is_recommended"]]
    if len(chosen) != 1 or not chosen[0][1]["reasons"]:
        faults.add("frontier", "plan.frontier", f"{len(chosen)} points are recommended, one with a reason is needed")
        return
    number, point = chosen[0]
    place = f"frontier[{number}]"
    parameters = document["parameters"]
    has_band = bool(document["moves"]) and not parameters["targets"]
    tolerance = parameters["balance_within"] if has_band else None
    faults.require_close("frontier", f"{place}.tolerance", point["tolerance"], tolerance)
    for name in COSTS:
        faults.require_equal("frontier", f"{place}.{name}", point[name], document["cost"][name])
    for outcome in document["resources"]:
        reported = point["skew"].get(outcome["resource"])
        faults.require_close("frontier", f"{place}.skew.{outcome['resource']}", reported, outcome["skew_after"])
    stated = next((claim["value"] for claim in document["lower_bound"] if claim["cost"] == "bytes"), None)
    faults.require_close("frontier", f"{place}.lower_bound_bytes", point["lower_bound_bytes"], stated)
