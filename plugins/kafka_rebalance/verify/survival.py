"""Does the plan leave nobody above its capacity after any loss, where that was asked for? Simulated loss by loss.

Demands, in order: a plan that is not infeasible survives every loss of the kind; one that is, does not survive as
replicas stand today (``verdict_rules``); lists that stay get other orders beyond what was allowed, or that spread
nothing, only where it would not survive without them.

Complexity: one simulation of all losses for each of the three placements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats, Ints
from kafka_rebalance.verify.cluster.claimed_moves import ClaimedMoves
from kafka_rebalance.verify.cluster.outcomes import Levels
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.losses import held_of, highest_loads, losses_of
from kafka_rebalance.verify.moves.follower_order import reordered, unevenness

_CODE = "survive"
_CLOSE = 1e-9
_JUDGED = ("rebalance", "nothing_to_do", "not_fixable_by_moving")


@dataclass(frozen=True, slots=True)
class Above:
    """Who stands highest over its capacity after which loss: ``ratio`` above 1."""

    lost: str
    broker: int
    resource: str
    ratio: float


@dataclass(frozen=True, slots=True, eq=False)
class Placements:
    """What losses are simulated on: the cluster, the moves, and the resources that the plan tells of."""

    snapshot: ClusterSnapshot
    cluster: ClusterArrays
    claimed: ClaimedMoves
    levels: Levels
    named: frozenset[str]

    def above_today(self, kind: str) -> Above | None:
        """As replicas stand."""
        return self._above(kind, self.cluster.now, self.cluster.leader, self.levels.before)

    def above_after(self, kind: str) -> Above | None:
        """Once the plan is done."""
        return self._above(kind, self.claimed.after, self.claimed.leader_after, self.levels.after)

    def above_without_orders(self, kind: str) -> Above | None:
        """Once it is done but for new orders of lists that stay, which change nothing that brokers carry."""
        lists, is_reorder = self.claimed.after.copy(), reordered(self.claimed)
        lists[self.claimed.row[is_reorder]] = self.claimed.start[is_reorder]
        return self._above(kind, lists, self.claimed.leader_after, self.levels.after)

    def _above(self, kind: str, lists: Ints, leader: Ints, carried: Mapping[str, Floats]) -> Above | None:
        known = {name: load for name, load in carried.items() if name in self.named}
        held = held_of(self.snapshot, self.cluster, lists, leader, known)
        found: Above | None = None
        for loss, _, ratios in highest_loads(held, losses_of(kind, self.cluster), self.cluster, self.levels):
            for name, ratio in ratios.items():
                b = int(ratio.argmax())
                if ratio[b] > max(1 + _CLOSE, 0.0 if found is None else found.ratio):
                    found = Above(loss.name, int(self.cluster.ids[b]), name, float(ratio[b]))
        return found


def check_survival(
    document: dict[str, Any], placements: Placements, parameters: PlanOptions, faults: FaultList
) -> None:
    """Judge a document of the right shape by ``parameters.survive``."""
    kind = parameters.survive
    if kind is None or document["verdict"] not in _JUDGED:
        return
    above = placements.above_after(kind)
    if above is not None:
        faults.add(
            _CODE,
            "plan.after",
            f"without {kind} {above.lost[:40]} broker {above.broker} carries {above.ratio:.4g} × its capacity of "
            f"{above.resource}",
        )
        return
    if _is_beyond_what_was_allowed(placements, parameters) and placements.above_without_orders(kind) is None:
        faults.add("follower_order", "plan.moves", f"lists are reordered, and any {kind} would be survived without it")


def _is_beyond_what_was_allowed(placements: Placements, parameters: PlanOptions) -> bool:
    """More lists that stay are reordered than were asked for, or they spread nothing."""
    claimed, cluster = placements.claimed, placements.cluster
    is_reorder = reordered(claimed)
    if not is_reorder.any():
        return False
    as_before = claimed.after.copy()
    as_before[claimed.row[is_reorder]] = claimed.start[is_reorder]
    was, left = (unevenness(cluster, lists, claimed.leader_after) for lists in (as_before, claimed.after))
    return int(is_reorder.sum()) > parameters.max_reorders or left >= was
