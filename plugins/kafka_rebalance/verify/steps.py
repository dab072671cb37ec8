"""Checks of a plan's steps: each fits its kind, and the cluster after it is judged like the end, with the bound by the
step's prices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import STEPS, PlanOptions
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.bounds import recomputed_bounds
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, Flags, Floats, cap_of, read_moves
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import (
    FULL_SHARE,
    SLACK,
    Levels,
    check_capacity,
    check_caps,
    check_widened,
    recompute,
    relieved_most,
    skew_of,
)
from kafka_rebalance.verify.verdict_rules import is_same
from kafka_rebalance.verify.waves import total

# Reasons of moves that are needed regardless of balance.
_REPAIRS = (
    "raises_replication_factor", "lowers_replication_factor", "separates_racks", "leaves_forbidden_broker",
    "leaves_offline_log_dir", "leaves_broker", "leaves_demoted_leader",
)  # fmt: skip
# A disk that reaches ``FULL_SHARE`` within these days is relieved.
_FORECAST_DAYS = 30.0


def check_steps(
    document: dict[str, Any],
    snapshot: ClusterSnapshot,
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    levels: Levels,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    steps, waves, moves = document["steps"], document["waves"], document["moves"]
    if not _has_order(steps, len(waves), faults):
        return
    if faults.has_any("wave_members", "from_differs", "resource", "before", "after"):
        return
    done: list[int] = []
    before = levels.before
    fills_soon: dict[str, Any] | None = None
    for number, step in enumerate(steps):
        location, own = f"steps[{number}]", [member for wave in step["waves"] for member in waves[wave - 1]["moves"]]
        done = sorted([*done, *own])
        is_last = number == len(steps) - 1
        part = claimed if is_last else read_moves([moves[member] for member in done], snapshot, cluster, faults)
        if part is None:
            return
        after = levels if is_last else recompute(part, cluster, parameters)
        _check_kind(location, step["kind"], own, moves, claimed, cluster, faults)
        if step["kind"] == "relieve":
            loads = {outcome["resource"]: before[outcome["resource"]] for outcome in document["resources"]}
            full, fills_soon = _relieved(loads, after, cluster, parameters)
            # A repair that needs this room is in the step.
            has_cause = bool(full) or fills_soon is not None or any(_is_repair(moves[member]) for member in own)
            if not has_cause:
                faults.add("step", location, "no broker that is nearly full or soon will be is relieved")
            for name, most in relieved_most(document, levels, cluster, parameters).items():
                if (cluster.stays & (after.after[name] > np.maximum(most, levels.after[name]) * (1 + SLACK))).any():
                    faults.add("step", location, f"{name}: leaves a broker above where relief ends")
        check_capacity(after, cluster, faults)
        check_caps(after, cluster, parameters, faults, is_end=False)
        _check_cost(location, step, own, claimed, document, faults)
        _check_outcomes(location, step, before, after, cluster, parameters, document, faults)
        _check_bound(location, step, done, after, cluster, parameters, document, faults, is_last=is_last)
        before = after.after
    _check_reasons(document, fills_soon, faults)


def _has_order(steps: Sequence[dict[str, Any]], wave_count: int, faults: FaultList) -> bool:
    """Whether kinds are in order and each wave is in one step."""
    kinds = [step["kind"] for step in steps]
    numbers = [number for step in steps for number in step["waves"]]
    if kinds != [kind for kind in STEPS if kind in kinds]:
        faults.add("step", "plan.steps", f"are {kinds}, the order is {list(STEPS)}")
        return False
    if numbers != list(range(1, wave_count + 1)) or not all(step["waves"] for step in steps):
        faults.add("step", "plan.steps", f"hold waves {numbers} of {wave_count}")
        return False
    return True


def _check_reasons(document: dict[str, Any], fills_soon: dict[str, Any] | None, faults: FaultList) -> None:
    stated = [reason["args"] for reason in document["reasons"] if reason["code"] == "disks_fill_soon"]
    if len(stated) != (fills_soon is not None) or not all(is_same(args, fills_soon or {}) for args in stated):
        faults.add("step", "plan.reasons", f"say of disks that fill soon {stated}, recomputed {fills_soon}")


def _is_repair(move: dict[str, Any]) -> bool:
    return move["reason"]["code"] in _REPAIRS


def _check_kind(
    location: str,
    kind: str,
    own: Sequence[int],
    moves: Sequence[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    faults: FaultList,
) -> None:
    if kind == "elect" and (claimed.start[own] != claimed.end[own]).any():
        faults.add("step", location, "an election rewrites no list")
    if kind == "repair":
        is_urgent = (cluster.under_replicated[claimed.row[own]] & (claimed.copies[own] > 0)).tolist()
        for member, urgent in zip(own, is_urgent, strict=True):
            if not urgent and not _is_repair(moves[member]):
                faults.add("step", location, f"moves[{member}] repairs nothing")


def _relieved(
    before: dict[str, Any], after: Levels, cluster: ClusterArrays, parameters: PlanOptions
) -> tuple[int, dict[str, Any] | None]:
    """Return how many full brokers have less after the step, and figures of the relieved disks that fill up later."""
    is_full = np.zeros(len(cluster.ids), dtype=np.bool_)
    soon: dict[str, Any] | None = None
    for name, load in before.items():
        capacity = after.capacity[name]
        most = FULL_SHARE * after.limit[name]
        cap = cap_of(name, capacity, len(load), parameters)
        most = most if cap is None else np.minimum(most, cap)
        falls = cluster.stays & (after.after[name] < load)
        is_over = load > most * (1 + SLACK)
        is_full |= falls & is_over
        if name == "disk":
            soon = _fills_soon(load, after, np.asarray(falls & ~is_over), most, cluster, parameters)
    count = int(is_full.sum())
    return count, None if soon is None else soon | {"full_brokers": count}


def _fills_soon(
    load: Floats, after: Levels, falls: Flags, most: Floats, cluster: ClusterArrays, parameters: PlanOptions
) -> dict[str, Any] | None:
    """Return the figures of the disk that is full first, of those in ``falls`` that fill up within the forecast."""
    days = {}
    for b in np.flatnonzero(falls).tolist():
        growth = parameters.disk_growth.get(int(cluster.ids[b]))
        if growth is not None and load[b] + _FORECAST_DAYS * growth > most[b] * (1 + SLACK):
            days[b] = float(most[b] - load[b]) / growth
    if not days:
        return None
    b = min(days, key=lambda b: (days[b], b))
    capacity = float(after.limit["disk"][b])
    return {
        "broker": int(cluster.ids[b]), "growth_bytes_per_day": parameters.disk_growth[int(cluster.ids[b])],
        "days": days[b], "load": float(load[b]), "load_after": float(after.after["disk"][b]), "most": float(most[b]),
        "capacity": capacity if np.isfinite(capacity) else None, "disks": len(days),
        "horizon_days": _FORECAST_DAYS,
    }  # fmt: skip


def _check_cost(
    location: str,
    step: dict[str, Any],
    own: Sequence[int],
    claimed: ClaimedMoves,
    document: dict[str, Any],
    faults: FaultList,
) -> None:
    cost, moves = step["cost"], document["moves"]
    changed = claimed.leader_from[own] != claimed.leader_to[own]
    seconds = [document["waves"][wave - 1]["seconds"] for wave in step["waves"]]
    expected = {
        "replica_moves": int(claimed.copies[own].sum()),
        "leader_changes": int(changed.sum()),
        "bytes": total([moves[member]["bytes"] for member in own]),
    }
    for name, value in expected.items():
        faults.require_equal("step", f"{location}.cost.{name}", cost[name], value)
    whole = None if None in seconds else float(sum(seconds))
    faults.require_close("step", f"{location}.cost.seconds", cost["seconds"], whole)


def _check_outcomes(
    location: str,
    step: dict[str, Any],
    before: dict[str, Any],
    levels: Levels,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    document: dict[str, Any],
    faults: FaultList,
) -> None:
    resources = {outcome["resource"]: outcome for outcome in document["resources"]}
    if [outcome["resource"] for outcome in step["resources"]] != list(resources):
        faults.add("step", f"{location}.resources", "are not those of the plan")
        return
    for outcome in step["resources"]:
        name = outcome["resource"]
        capacity = levels.capacity[name]
        for time, loads in (("before", before[name]), ("after", levels.after[name])):
            level = np.where(cluster.stays, loads if capacity is None else loads / capacity, 0.0)
            at = int((level >= float(level.max()) * (1 - SLACK)).argmax())
            fullest = int(cluster.ids[at])
            faults.require_equal("step", f"{location}.{name}.fullest_{time}", outcome[f"fullest_{time}"], fullest)
            faults.require_close("step", f"{location}.{name}.load_{time}", outcome[f"load_{time}"], float(loads[at]))
            skew = skew_of(loads, capacity, cluster.stays)
            faults.require_close("step", f"{location}.{name}.skew_{time}", outcome[f"skew_{time}"], skew)
        if document["verdict"] == "rebalance":
            check_widened(resources[name] | {"widened_to": outcome["widened_to"]}, levels, cluster, parameters, faults)


def _check_bound(
    location: str,
    step: dict[str, Any],
    done: Sequence[int],
    levels: Levels,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    document: dict[str, Any],
    faults: FaultList,
    *,
    is_last: bool,
) -> None:
    copied, claimed = total([document["moves"][member]["bytes"] for member in done]), step["lower_bound_bytes"]
    if (copied is None) is not (claimed is None):
        faults.add("step", f"{location}.lower_bound_bytes", "bytes and their bound are known together or not at all")
    gap = None if copied is None or not claimed else (copied - claimed) / claimed
    faults.require_close("step", f"{location}.gap", step["gap"], 0.0 if copied == 0 and claimed == 0 else gap, 1.0)
    if copied is None or claimed is None or faults.has_any("band", "step"):
        return
    widened = {outcome["resource"]: outcome["widened_to"] for outcome in step["resources"]}
    pseudo = document | {
        "resources": [resource | {"widened_to": widened[resource["resource"]]} for resource in document["resources"]],
        "cost": document["cost"] | {"bytes": copied},
        "certificate": document["certificate"] if is_last else step["certificate"],
        "proofs": document["proofs"] if is_last else {},
    }
    proved = recomputed_bounds(pseudo, levels, cluster, parameters).get("bytes", 0.0)
    if not 0 <= claimed <= min(copied, proved) + 1e-7 * max(copied, 1.0):
        text = f"says {claimed:g}, {proved:g} can be proved of {copied}"
        faults.add("step_bound", f"{location}.lower_bound_bytes", text)
