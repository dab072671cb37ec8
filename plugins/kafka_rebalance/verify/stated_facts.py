"""Checks of stated facts: every code, id and count is recomputed; a level must agree with the loads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.other_hands import balancers
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, Floats
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import MADE_OF, Levels, requested_band

_ROUNDING = 1e-6
_BALANCE = ("relieves_broker", "fills_broker", "makes_up_for_moves")
# Reason of a move → possible consequences without it.
_PAIRS = {
    **dict.fromkeys(_BALANCE, ("broker_further_off",)),
    "one_of_several": ("off_only_together", "no_load_changes"),
    "raises_replication_factor": ("keeps_too_few_replicas",),
    "lowers_replication_factor": ("keeps_too_many_replicas",),
    "separates_racks": ("shares_rack",),
    "leaves_forbidden_broker": ("stays_on_forbidden_broker",),
    "leaves_offline_log_dir": ("stays_offline",),
    "leaves_broker": ("stays_on_broker",),
    "elects_preferred": ("goes_on_leading",),
    "keeps_leader": ("loses_leader_at_election",),
    "names_next_leader": ("takes_over_too_much",),
    "leaves_demoted_leader": ("goes_on_leading",),
    "keeps_within_capacity": ("above_capacity",),
    "has_topic_leaders": ("leads_too_few",),
}


def check_stated_facts(
    document: dict[str, Any],
    snapshot: ClusterSnapshot,
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    levels: Levels,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    expected = _preconditions(snapshot, claimed, cluster)
    if document["preconditions"] != expected:
        faults.add("precondition", "plan.preconditions", f"are not those of the moves: {_codes(expected)}")
    shares = _shares(document, levels, cluster, parameters) if document["moves"] else {}
    _check_brokers(document["explanations"], claimed, cluster, levels, shares, faults)
    for number, move in enumerate(document["moves"]):
        if (wrong := _wrong_of_move(move, cluster, levels, shares)) is not None:
            faults.add("explanation", f"moves[{number}]", wrong)
    _check_robustness(document, cluster, parameters, faults)


def _codes(facts: list[dict[str, Any]]) -> str:
    return ", ".join(fact["code"] for fact in facts) or "none"


def _preconditions(snapshot: ClusterSnapshot, claimed: ClaimedMoves, cluster: ClusterArrays) -> list[dict[str, Any]]:
    if not len(claimed.row):
        return []
    used = {int(b) for b in claimed.end[claimed.end >= 0]} | {int(b) for b in claimed.leader_from if b >= 0}
    expected: list[tuple[str, dict[str, Any]]] = [
        ("replicas_as_planned", {}),
        ("brokers_alive", {"brokers": [int(cluster.ids[b]) for b in sorted(used)]}),
        ("kept_replicas_in_sync", {}),
    ]
    added = [int(cluster.ids[b]) for b in sorted(used) if cluster.is_added[b]]
    expected += [("added_brokers_joined", {"brokers": added})] if added else []
    needs_disk = bool(claimed.copies.any()) and not np.isnan(cluster.size[claimed.row]).all()
    expected += [("free_disk_left", {})] if needs_disk else []
    expected += [("balancer_stopped", {"balancer": other.name}) for other in balancers(snapshot)]
    return [{"code": code, "args": args} for code, args in expected]


def _shares(
    document: dict[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions
) -> dict[str, Floats]:
    """float64[B] by resource: from the band's upper edge, else the plain mean."""
    top, shares = 1 + (parameters.band or 0.0), {}
    own = parameters.targets.keys() | parameters.caps.keys() | parameters.headroom.keys()
    for outcome in document["resources"]:
        name = outcome["resource"]
        if name in levels.before:
            band, plain = requested_band(
                outcome, levels.before[name], levels.capacity[name], cluster, parameters, relieves=False
            )
            fair = band.high / top
            shares[name] = plain if name in own else np.where(np.isfinite(fair) & (fair > 0), fair, plain)
    return shares


def _check_brokers(
    facts: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    levels: Levels,
    shares: dict[str, Floats],
    faults: FaultList,
) -> None:
    tally, location = _tally(claimed, cluster), "plan.explanations"
    changed = np.flatnonzero(tally.any(axis=1)).tolist()
    order = sorted(changed, key=lambda b: (-tally[b, 2:4].sum(), -tally[b, [0, 1, 4, 5]].sum(), int(cluster.ids[b])))
    if [(fact["code"], fact["args"].get("broker")) for fact in facts] != [
        ("broker_changes", int(cluster.ids[b])) for b in order
    ]:
        faults.add("explanation", location, "are not one for each broker that gives or gets")
        return
    is_sized = "disk" in shares
    names = ("replicas_out", "replicas_in", "bytes_out", "bytes_in", "leaders_out", "leaders_in")
    for number, (fact, b) in enumerate(zip(facts, order, strict=True)):
        figures = dict(zip(names, tally[b].tolist(), strict=True))
        if not is_sized:
            figures |= {"bytes_out": None, "bytes_in": None}
        args, broker = fact["args"], cluster.brokers[b]
        is_right = args.keys() == {*names, "broker", "state", "resource", "times_share", "times_share_after"}
        is_right = is_right and all(_is_close(args[name], amount) for name, amount in figures.items())
        if is_right and cluster.stays[b]:
            is_right = _is_level(b, args["resource"], args["times_share"], levels.before, shares)
            is_right = is_right and _is_level(b, args["resource"], args["times_share_after"], levels.after, shares)
        elif is_right:
            is_right = args["resource"] is args["times_share"] is args["times_share_after"] is None
        if not is_right or args["state"] != broker.state.value:
            faults.add("explanation", f"{location}[{number}]", "does not say what this broker gives and gets")


def _tally(claimed: ClaimedMoves, cluster: ClusterArrays) -> Floats:
    """float64[B, 6]: replicas that leave and arrive, their bytes, leaders lost and won."""
    count = len(cluster.ids)
    size = np.repeat(np.nan_to_num(cluster.size[claimed.row])[:, None], claimed.end.shape[1], axis=1)
    width = claimed.is_dropped.shape[1]
    out, into = claimed.start[:, :width][claimed.is_dropped], claimed.end[claimed.is_new]
    changes = claimed.leader_from != claimed.leader_to
    columns = [
        np.bincount(out, minlength=count),
        np.bincount(into, minlength=count),
        np.bincount(out, weights=size[:, :width][claimed.is_dropped], minlength=count),
        np.bincount(into, weights=size[claimed.is_new], minlength=count),
        np.bincount(np.maximum(claimed.leader_from[changes], 0), minlength=count),
        np.bincount(claimed.leader_to[changes], minlength=count),
    ]
    return np.stack(columns, axis=1).astype(np.float64)


def _wrong_of_move(
    move: dict[str, Any], cluster: ClusterArrays, levels: Levels, shares: dict[str, Floats]
) -> str | None:
    reason, worse = move["reason"], move["worse_without"]
    if reason["code"] == "drops_out_of_sync":
        gone = [broker for broker in move["from"] if broker not in move["to"]]
        inner = reason["args"].get("why")
        if reason["args"].get("broker") not in gone or not _is_fact(inner):
            return "the replica out of sync does not leave"
        reason = inner
    if worse["code"] not in _PAIRS.get(reason["code"], ()):
        return f"{reason['code']!r} does not go with {worse['code']!r}"[:120]
    args, other = reason["args"], worse["args"]
    own = {*move["from"], *move["to"], move["leader_from"], move["leader_to"]}
    named = [arguments[key] for arguments in (args, other) for key in ("broker", "preferred") if key in arguments]
    if not all(type(broker) is int and broker in own for broker in named):
        return "it names a broker that it does not touch"
    if "resource" in args and (args["resource"], args.get("broker")) != (
        other.get("resource", args["resource"]), other.get("broker", args.get("broker")),
    ):  # fmt: skip
        return "its two facts name different brokers or resources"
    if reason["code"] in (*_BALANCE, "one_of_several"):
        return _wrong_level(reason["code"], args, worse, cluster, levels, shares)
    return None if _agrees(reason["code"], args, other, move, cluster) else "its facts do not agree with the move"


def _is_fact(value: Any) -> bool:
    is_object = isinstance(value, dict) and value.keys() == {"code", "args"}
    return is_object and isinstance(value["code"], str) and isinstance(value["args"], dict)


def _wrong_level(
    code: str,
    args: Mapping[str, Any],
    worse: dict[str, Any],
    cluster: ClusterArrays,
    levels: Levels,
    shares: dict[str, Floats],
) -> str | None:
    b, name = cluster.index_of.get(args.get("broker", -1), -1), args.get("resource")
    if args.keys() != {"broker", "resource", "times_share"} or b < 0:
        return "it does not say which broker it helps"
    if not _is_level(b, name, args["times_share"], levels.before, shares):
        return "the broker's level today is not that"
    if (code == "relieves_broker" and args["times_share"] < 1 - _ROUNDING) or (
        code == "fills_broker" and args["times_share"] > 1 + _ROUNDING
    ):
        return "the broker is on the other side of its share"
    if worse["code"] == "no_load_changes":
        return None
    without, after = (worse["args"].get(f"times_share_{when}") for when in ("without", "after"))
    if not _is_level(b, name, after, levels.after, shares) or not isinstance(without, int | float):
        return "the broker's level after the plan is not that"
    is_worse = abs(without - 1) > abs(after - 1)
    return None if is_worse or code == "one_of_several" else "nothing is worse without it"


def _agrees(
    code: str, args: Mapping[str, Any], worse: Mapping[str, Any], move: dict[str, Any], cluster: ClusterArrays
) -> bool:
    start, end, now, then = move["from"], move["to"], move["leader_from"], move["leader_to"]
    broker = args.get("broker", -1)
    if code in ("leaves_broker", "leaves_forbidden_broker"):
        is_left = broker in start and broker not in end and worse == args
        b = cluster.index_of.get(broker, -1)
        is_gone = b >= 0 and not cluster.stays[b] and args.get("state") == cluster.brokers[b].state.value
        return bool(is_left and (code == "leaves_forbidden_broker" or is_gone))
    if code == "has_topic_leaders":
        return bool(args.get("topic") == worse.get("topic") == move["topic"] and broker == then)
    counts = {"replicas": len(start), "wanted": len(end)}
    exact: dict[str, tuple[bool, dict[str, Any], dict[str, Any]]] = {
        "raises_replication_factor": (len(end) > len(start), counts, counts),
        "lowers_replication_factor": (len(end) < len(start), counts, counts),
        "elects_preferred": (now != then, {"broker": then}, {"broker": now}),
        "leaves_demoted_leader": (now != then, {"broker": now}, {"broker": now}),
        "keeps_leader": (now == then, {"broker": then, "preferred": start[0]}, {"preferred": start[0]}),
        "names_next_leader": (
            start[:1] == end[:1],
            {"broker": end[-1] if len(end) < 2 else end[1], "lost": end[0]},
            {"broker": start[-1] if len(start) < 2 else start[1], "lost": end[0]},
        ),
    }
    if code not in exact:
        return True
    is_so, first, second = exact[code]
    return bool(is_so and args == first and worse == second)


def _is_close(claimed: Any, recomputed: float | None) -> bool:
    if claimed is None or recomputed is None:
        return claimed is recomputed
    is_number = isinstance(claimed, int | float) and not isinstance(claimed, bool)
    return is_number and abs(claimed - recomputed) <= _ROUNDING * max(abs(recomputed), 1.0)


def _is_level(b: int, resource: Any, claimed: Any, loads: dict[str, Floats], shares: dict[str, Floats]) -> bool:
    if not isinstance(resource, str) or resource not in shares:
        return False
    share = float(shares[resource][b])
    return _is_close(claimed, float(loads[resource][b]) / share if share > 0 else 0.0)


def _check_robustness(
    document: dict[str, Any], cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    robustness, location = document["robustness"], "plan.robustness"
    measured = [outcome["resource"] for outcome in document["resources"] if MADE_OF.get(outcome["resource"])]
    is_due = bool(measured) and document["verdict"] in ("rebalance", "nothing_to_do", "not_fixable_by_moving")
    is_due = is_due and not parameters.preferred_election and len(cluster.now) > 0
    if (robustness is not None) is not is_due:
        faults.add("robustness", location, "is missing" if is_due else "is there although nothing was tried")
    if robustness is None:
        return
    trials, stable, noise = robustness["trials"], robustness["verdict_stands"], robustness["noise"]
    if trials < 1 or not 0 <= stable <= trials or not 0 < noise < 1:
        faults.add("robustness", location, f"{stable} of {trials} trials at a noise of {noise:g}")
