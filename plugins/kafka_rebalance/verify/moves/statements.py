"""Sentences that people act on: preconditions, what each broker gives and takes, and how often the verdict stands."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats
from kafka_rebalance.verify.cluster.claimed_moves import ClaimedMoves
from kafka_rebalance.verify.cluster.resource_weights import MADE_OF
from kafka_rebalance.verify.document.parameters import PlanParameters
from kafka_rebalance.verify.document.spoken_amounts import tells_bytes, tells_count
from kafka_rebalance.verify.faults import FaultList

_ALIVE = re.compile(r"brokers ([\d, ]+) are alive|all (\d+) brokers that the moves name are alive", re.ASCII)
_DISK = re.compile(r".*\bfree disk\b.*")
_BROKER = re.compile(r"broker (\d+) (.+): (.+)", re.ASCII)
_COPIES = re.compile(r"(gives up|receives) (?P<count>[\d,]+) replicas?(?: of (?P<size>.+))?", re.ASCII)
_LEADS = re.compile(r"(loses|gains) ([\d,]+) leaderships?", re.ASCII)
# As plans of earlier releases say it.
_COPIES_BEFORE = re.compile(r"(gives up|receives) (?:(?P<size>.+) in )?(?P<count>[\d,]+) moves?", re.ASCII)
_LEADS_BEFORE = re.compile(r"([\d,]+)(?: leaderships)? (fewer|more)", re.ASCII)
_NAMED = re.compile(r"\bbroker (\d+)", re.ASCII)
_TRIALS = re.compile(r".* by up to (\d+)% .* in (\d+) of (\d+) trials", re.ASCII)


def check_statements(
    document: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanParameters,
    faults: FaultList,
) -> None:
    """All of them; what is only worded otherwise is no fault."""
    _check_preconditions(document["preconditions"], claimed, cluster, faults)
    _check_brokers(document["explanations"], claimed, cluster, faults)
    _check_named(document["moves"], faults)
    _check_robustness(document, cluster, parameters, faults)


def _check_preconditions(lines: list[str], claimed: ClaimedMoves, cluster: ClusterArrays, faults: FaultList) -> None:
    place = "plan.preconditions"
    if not len(claimed.row):
        if lines:
            faults.add("precondition", place, "nothing moves, yet conditions are told")
        return
    if not all(line.strip() for line in lines) or len(set(lines)) != len(lines):
        faults.add("precondition", place, "one is empty or stands twice")
    if not any("from" in line and "replicas" in line for line in lines):
        faults.add("precondition", place, "none asks for the replicas in `from`")
    used = {int(b) for b in claimed.end[claimed.end >= 0]} | {int(b) for b in claimed.leader_from if b >= 0}
    ids = sorted(int(cluster.ids[b]) for b in used)
    match = next((found for line in lines if (found := _ALIVE.fullmatch(line))), None)
    if match is None:
        faults.add("precondition", place, "none asks for the brokers that the moves name")
    elif match[1] is not None and match[1].split(", ") != list(map(str, ids)):
        faults.add("precondition", place, f"names brokers {match[1]}, the moves name {ids}")
    elif match[2] is not None and match[2] != str(len(ids)):
        faults.add("precondition", place, f"tells of {match[2]} brokers, the moves name {len(ids)}")
    needs_disk = bool(claimed.copies.any()) and not np.isnan(cluster.size[claimed.row]).all()
    if any(map(_DISK.fullmatch, lines)) is not needs_disk:
        faults.add("precondition", place, f"free disk is {'not ' if needs_disk else ''}asked for")
    if any("added" in line for line in lines) is not any(cluster.is_added[b] for b in used):
        faults.add("precondition", place, "brokers that are to be added are not rightly told")


def _check_brokers(lines: list[str], claimed: ClaimedMoves, cluster: ClusterArrays, faults: FaultList) -> None:
    """A line for each broker that gives or takes, with its figures."""
    tally = _tally(claimed, cluster)
    changed = {int(cluster.ids[b]): tally[b] for b in np.flatnonzero(tally.any(axis=1)).tolist()}
    order = sorted(changed, key=lambda b: (-changed[b][2] - changed[b][3], -changed[b][[0, 1, 4, 5]].sum(), b))
    found = [_BROKER.fullmatch(line) for line in lines]
    if [match and int(match[1][:12]) for match in found] != order:
        faults.add("explanation", "plan.explanations", "are not a line for each broker that gives or takes")
        return
    for number, match in enumerate(found):
        if match is not None and not _tells(match[2], changed[int(match[1])], is_sized="disk" in cluster.figures):
            faults.add("explanation", f"explanations[{number}]", "does not tell what this broker gives and takes")


def _tally(claimed: ClaimedMoves, cluster: ClusterArrays) -> Floats:
    """float64[B, 6]: replicas that leave and arrive, their bytes, leaderships lost and won."""
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


def _tells(words: str, tally: Floats, *, is_sized: bool) -> bool:
    out, into, out_bytes, in_bytes, lost, won = tally.tolist()
    reported = dict.fromkeys(("gives up", "receives", "loses", "gains"), "0")
    for part in words.split(", "):
        copies = _COPIES.fullmatch(part) or _COPIES_BEFORE.fullmatch(part)
        if copies is not None:
            reported[copies[1]], size = copies["count"], copies["size"]
            amount = out_bytes if copies[1] == "gives up" else in_bytes
            if is_sized is (size is None) or (is_sized and not tells_bytes(size, amount)):
                return False
        elif (leads := _LEADS.fullmatch(part)) is not None:
            reported[leads[1]] = leads[2]
        elif (leads := _LEADS_BEFORE.fullmatch(part)) is not None:
            reported["loses" if leads[2] == "fewer" else "gains"] = leads[1]
        else:
            return False
    return all(
        tells_count(claimed, int(value))
        for claimed, value in zip(reported.values(), (out, into, lost, won), strict=True)
    )


def _check_named(moves: list[dict[str, Any]], faults: FaultList) -> None:
    """A move is told by a broker that it touches."""
    for number, move in enumerate(moves):
        own = {*move["from"], *move["to"], move["leader_from"], move["leader_to"]}
        for field in ("reason", "worse_without"):
            strangers = [name for name in _NAMED.findall(move[field]) if len(name) > 10 or int(name) not in own]
            if strangers:
                faults.add(
                    "explanation", f"moves[{number}].{field}", f"broker {strangers[0][:20]} is not touched by it"
                )


def _check_robustness(
    document: dict[str, Any], cluster: ClusterArrays, parameters: PlanParameters, faults: FaultList
) -> None:
    robustness, place = document["robustness"], "plan.robustness"
    measured = [outcome["resource"] for outcome in document["resources"] if MADE_OF.get(outcome["resource"])]
    is_due = bool(measured) and document["verdict"] in ("rebalance", "nothing_to_do", "not_fixable_by_moving")
    is_due = is_due and not parameters.preferred_election and len(cluster.now) > 0
    if (robustness is not None) is not is_due:
        faults.add("robustness", place, "is missing" if is_due else "is told although nothing was tried")
    if robustness is None:
        return
    trials, stands, noise = robustness["trials"], robustness["verdict_stands"], robustness["noise"]
    if trials < 1 or not 0 <= stands <= trials or not 0 < noise < 1:
        faults.add("robustness", place, f"{stands} of {trials} trials at a noise of {noise:g}")
    match = _TRIALS.fullmatch(robustness["words"])
    if match is None or match.groups() != (f"{noise:.0%}"[:-1], str(stands), str(trials)):
        faults.add("robustness", f"{place}.words", "do not tell the counts")
