"""What the plan costs, summed over its moves, and whether the budget allows it."""

from __future__ import annotations

import math
from typing import Any

from kafka_rebalance.verify.claimed_moves import ClaimedMoves
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.wishes import Wishes


def check_costs(document: dict[str, Any], claimed: ClaimedMoves, wishes: Wishes, faults: FaultList) -> None:
    """Bytes of each move, totals, texts, budget."""
    moves, cost = document["moves"], document["cost"]
    for number, (move, found) in enumerate(zip(moves, claimed.bytes.tolist(), strict=True)):
        if not is_whole(move["bytes"], found):
            faults.add("move_bytes", f"moves[{number}]", f"says {move['bytes']}, {found} are copied")
        if not move["reason"] or not move["worse_without"]:
            faults.add("explanation", f"moves[{number}]", "no reason, or not said what gets worse without it")
    faults.require_equal("cost", "cost.replica_moves", cost["replica_moves"], int(claimed.copies.sum()))
    changes = int((claimed.leader_from != claimed.leader_to).sum())
    faults.require_equal("cost", "cost.leader_changes", cost["leader_changes"], changes)
    faults.require_equal("cost", "cost.bytes", cost["bytes"], total([move["bytes"] for move in moves]))
    _check_budget(cost, wishes, faults)
    _check_verdict(document, faults)


def is_whole(said: int | None, found: float) -> bool:
    """A whole number of bytes next to what was found; None where that is unknown."""
    if said is None or math.isnan(found):
        return said is None and math.isnan(found)
    return abs(said - found) <= 0.5 + 1e-9 * found


def total(values: list[int | None]) -> int | None:
    """The sum, None where one of them is unknown."""
    known = [each for each in values if each is not None]
    return sum(known) if len(known) == len(values) else None


def _check_budget(cost: dict[str, Any], wishes: Wishes, faults: FaultList) -> None:
    limits = {
        "bytes": wishes.max_move_bytes,
        "replica_moves": wishes.max_moves,
        "leader_changes": wishes.max_leader_changes,
    }
    for name, limit in limits.items():
        if limit is not None and cost[name] is not None and cost[name] > limit:
            faults.add("budget", f"cost.{name}", f"{cost[name]} is above the limit {limit}")


def _check_verdict(document: dict[str, Any], faults: FaultList) -> None:
    verdict, has_moves = document["verdict"], bool(document["moves"])
    if verdict == "rebalance" and not has_moves:
        faults.add("verdict", "plan.verdict", "rebalance without moves")
    if verdict in ("nothing_to_do", "cannot_tell", "infeasible") and has_moves:
        faults.add("verdict", "plan.verdict", f"{verdict} with {len(document['moves'])} moves")
    if not document["reasons"] or not all(document["reasons"]):
        faults.add("verdict", "plan.reasons", "no reason is given")
    if has_moves and not document["preconditions"]:
        faults.add("verdict", "plan.preconditions", "no preconditions are given")
