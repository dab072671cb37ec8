"""The verifier on three brokers with 15, 10 and 5 GB, and one move of 4 GB from broker 0 to 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, cluster_arrays, read_moves
from kafka_rebalance.verify.faults import FaultList
from tests.unit.planner.sample_clusters import GB
from tests.unit.plans.hand_plans import SNAPSHOT

MOVE: dict[str, Any] = {
    "topic": "t", "partition": 1, "from": [0, 1], "to": [2, 1], "leader_from": 0, "leader_to": 2, "kind": "replica",
    "bytes": 4 * GB, "wave": 1,
    "reason": {"code": "relieves_broker", "args": {"broker": 0, "resource": "disk", "times_share": 1.5}},
    "worse_without": {
        "code": "broker_further_off",
        "args": {"broker": 0, "resource": "disk", "times_share_without": 1.5, "times_share_after": 1.1},
    },
}  # fmt: skip
THROTTLE = 1_000_000
WAVE: dict[str, Any] = {
    "moves": [0], "bytes": 4 * GB, "seconds": 4000.0, "throttle_bytes_per_s": THROTTLE,
    "free_disk_needed": {"2": 4 * GB}, "leader_changes": 1, "leader_in_bytes_per_s": None,
    "leader_out_bytes_per_s": None,
}  # fmt: skip
DISK: dict[str, Any] = {
    "resource": "disk", "basis": "fair_share", "band_asked": [0.8, 1.2], "widened_to": [None, None], "is_ordered": True,
}  # fmt: skip


def parameters_document(**changes: object) -> dict[str, Any]:
    """A band of a fifth, ten moves a broker at a time, a megabyte a second."""
    options = PlanOptions(within=0.2, moves_per_broker=10, throttle_bytes_per_s=THROTTLE)
    return options.document() | changes


def parameters(**changes: object) -> PlanOptions:
    """Each rule of the verifier reads its own options: these need not go together, as those of a plan must."""
    band = {"balance_within": 0.2, "is_within_ordered": True}
    band |= {name: changes.pop(name) for name in tuple(band) if name in changes}
    read = PlanOptions.from_document(parameters_document(**band))
    for name, value in changes.items():
        alone = PlanOptions.from_document(parameters_document(**{name: value, "is_within_ordered": False}))
        object.__setattr__(read, name, getattr(alone, name))
    return read


def arrays(snapshot: ClusterSnapshot = SNAPSHOT, **changes: object) -> ClusterArrays:
    return cluster_arrays(snapshot, parameters(**changes))


def claims(*moves: dict[str, Any], snapshot: ClusterSnapshot = SNAPSHOT, **changes: object) -> ClaimedMoves:
    """Those moves, or the one of 4 GB."""
    faults = FaultList()
    read = read_moves(list(moves or (MOVE,)), snapshot, arrays(snapshot, **changes), faults)
    assert read is not None, faults.faults
    return read


def faults_of(check: Callable[..., object], *arguments: object) -> list[str]:
    """The codes that a check adds, each once."""
    faults = FaultList()
    check(*arguments, faults)
    return sorted(faults.counts)


def frontier(**changes: object) -> dict[str, Any]:
    """Eight points from 0 to 70 bytes, the fifth chosen; ``changes`` are of that one."""
    names = {1: "cheap", 4: "knee", 7: "even"}
    points = [
        {
            "tolerance": 0.2, "bytes": 10 * i, "replica_moves": i, "leader_changes": 0, "lower_bound_bytes": 5.0 * i,
            "skew": {"disk": 1.5 - 0.05 * i}, "name": names.get(i), "is_recommended": i == 4,
            "reasons": [{"code": "point_even", "args": {}}], "seconds": 60.0 * i,
        }
        for i in range(8)
    ]  # fmt: skip
    points[4] |= changes
    return {
        "frontier": points, "verdict": "rebalance", "moves": [MOVE], "parameters": parameters_document(),
        "resources": [{"resource": "disk", "skew_before": 1.5, "skew_after": 1.3}],
        "cost": {"bytes": 40, "replica_moves": 4, "leader_changes": 0, "seconds": 240.0},
        "lower_bound": [{"cost": "bytes", "value": 20.0}],
    }  # fmt: skip
