"""What the plan costs, summed over its moves, and whether the budget allows it."""

from __future__ import annotations

import math
from typing import Any

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster.arrays import ClusterArrays
from kafka_rebalance.verify.cluster.claimed_moves import ClaimedMoves
from kafka_rebalance.verify.faults import FaultList

# Seconds are sums of quotients, added up in another order.
_SECONDS_ROUNDING = 1e-9


def check_costs(
    document: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    """Bytes of each move, totals, budget."""
    moves, cost = document["moves"], document["cost"]
    is_exact = cluster.has_whole_sizes
    for number, (move, found) in enumerate(zip(moves, claimed.bytes.tolist(), strict=True)):
        if not is_whole(move["bytes"], found, is_exact=is_exact):
            faults.add("move_bytes", f"moves[{number}]", f"says {move['bytes']}, {found} are copied")
    faults.require_equal("cost", "cost.replica_moves", cost["replica_moves"], int(claimed.copies.sum()))
    changes = int((claimed.leader_from != claimed.leader_to).sum())
    faults.require_equal("cost", "cost.leader_changes", cost["leader_changes"], changes)
    faults.require_equal("cost", "cost.bytes", cost["bytes"], total([move["bytes"] for move in moves]))
    _check_budget(cost, parameters, faults)


def check_trace(document: dict[str, Any], faults: FaultList) -> None:
    """Add a fault where the last step of the trace is not at the plan's own cost."""
    for name in ("replica_moves", "bytes", "leader_changes") if document["trace"] else ():
        faults.require_equal("trace", f"trace[-1].{name}", document["trace"][-1][name], document["cost"][name])


def is_whole(claimed: int | None, found: float, *, is_exact: bool) -> bool:
    """A whole number of bytes next to what was found; None where that is unknown."""
    if claimed is None or math.isnan(found):
        return claimed is None and math.isnan(found)
    return claimed == found if is_exact else abs(claimed - found) <= 1 + 1e-9 * found


def total(values: list[int | None]) -> int | None:
    """The sum, None where one of them is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _check_budget(cost: dict[str, Any], parameters: PlanOptions, faults: FaultList) -> None:
    limits = {
        "bytes": parameters.max_move_bytes,
        "replica_moves": parameters.max_moves,
        "leader_changes": parameters.max_leader_changes,
    }
    for name, limit in limits.items():
        if limit is not None and cost[name] is not None and cost[name] > limit:
            faults.add("budget", f"cost.{name}", f"{cost[name]} is above the limit {limit}")
    hours, seconds = parameters.max_hours, cost["seconds"]
    if hours is None:
        return
    if seconds is None and cost["replica_moves"]:
        faults.add("budget", "cost.seconds", f"unknown, and the limit is {hours} h")
    if seconds is not None and seconds > 3600 * hours * (1 + _SECONDS_ROUNDING):
        faults.add("budget", "cost.seconds", f"{seconds} s is above the limit of {hours} h")
