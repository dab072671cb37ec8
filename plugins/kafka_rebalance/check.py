"""Is a plan still valid, still worth it, or harmful by now? Judged on a newer snapshot, move by move.

The worst of these wins, in this order:

- harmful: a move contradicts the cluster as it is (its partition is being reassigned, its broker is gone or closed),
  or what is left of the plan would overfill a disk, put replicas on one rack, or make the balance worse;
- stale: the plan has expired, or partitions have been changed, deleted or re-created since;
- not worth it: everything is done already, or what is left no longer pays;
- valid.

Moves that were made already count as done, so that a plan can be judged between its waves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.model import ClusterSnapshot
from kafka_rebalance.plan_making.ask import Ask, build_ask, lacks_racks
from kafka_rebalance.plan_making.draft import Draft, draft_of, empty_draft
from kafka_rebalance.plan_making.options import PlanOptions
from kafka_rebalance.plan_making.outcome import bands_of, outcome_of
from kafka_rebalance.plan_making.stay import furthest, gain_per_byte, imbalance
from kafka_rebalance.planner.loads import broker_loads
from kafka_rebalance.planner.problem import NOBODY, Problem

SHOWN = 5
WORSE_BY = 0.01  # imbalance: a hundredth of the load more outside its bands is harm, less is noise


class Judgement(IntEnum):
    """The values are the exit codes of ``rebalance-advisor check``."""

    VALID = 0
    STALE = 10
    NOT_WORTH_IT = 11
    HARMFUL = 12


@dataclass(frozen=True, slots=True)
class CheckResult:
    """``reasons`` in sentences; moves that are done, left, and in the way of the judgement."""

    judgement: Judgement
    reasons: tuple[str, ...]
    done: int
    left: int


def check_plan(document: Mapping[str, Any], snapshot: ClusterSnapshot) -> CheckResult:
    """Judge ``plan.json`` (parsed) on a newer snapshot. Raises InvalidInputError for another cluster's plan."""
    ids = {document["cluster_id"], snapshot.cluster_id} - {None}
    if len(ids) > 1:
        raise InvalidInputError.at("check", f"the plan is of cluster {document['cluster_id']}", "give its own snapshot")
    if not document["moves"]:
        return _check_rest(document, snapshot)
    ask = build_ask(snapshot, _options(document, snapshot))
    problem = ask.problem(ask.options.band)
    conflicts, changes, left = _sorted_moves(document, ask, problem)
    done = len(document["moves"]) - len(left) - len(conflicts) - len(changes)
    if conflicts:
        return CheckResult(Judgement.HARMFUL, _shown(conflicts), done, len(left))
    harm, gain, copied = _effect(ask, problem, left)
    if harm and not changes:
        return CheckResult(Judgement.HARMFUL, tuple(harm), done, len(left))
    expired = _expired(document, snapshot)
    if changes or expired:
        return CheckResult(Judgement.STALE, (*expired, *_shown(changes)), done, len(left))
    if not left:
        return CheckResult(Judgement.NOT_WORTH_IT, (f"all {done:,} moves are done",), done, 0)
    return _worth(ask, problem, gain, copied, done, len(left))


def _options(document: Mapping[str, Any], snapshot: ClusterSnapshot) -> PlanOptions:
    """The plan's own options; brokers that left the cluster since need not be removed any more."""
    options = PlanOptions.from_document(document["parameters"])
    known = {broker.id for broker in snapshot.brokers} | options.add_brokers.keys()
    return replace(
        options,
        remove_brokers=options.remove_brokers & known,
        demote_brokers=options.demote_brokers & known,
        exclude_brokers=options.exclude_brokers & known,
    )


def _sorted_moves(
    document: Mapping[str, Any], ask: Ask, problem: Problem
) -> tuple[list[str], list[str], list[tuple[int, list[int], int]]]:
    """Conflicts and changes in words, and what is left: problem row, target brokers, leader."""
    at_row = {row: at for at, row in enumerate(ask.rows.tolist())}
    row_of, index = ask.snapshot.row_of, ask.brokers.index_of
    joined = {broker.id for broker in ask.snapshot.brokers}
    conflicts, changes, left = [], [], []
    for move in document["moves"]:
        name = f"{move['topic']}-{move['partition']}"
        row = row_of.get((move["topic"], move["partition"]))
        if row is None or row not in at_row:
            changes.append(f"{name} is not in the cluster any more")
            continue
        at = at_row[row]
        target = [index.get(broker, NOBODY) if broker in joined else NOBODY for broker in move["to"]]
        today = [each for each in problem.replicas[at].tolist() if each >= 0]
        leader = index.get(move["leader_to"], NOBODY)
        is_running = bool(ask.partitions.in_flight[row])
        if today == target and (is_running or int(problem.leader[at]) == leader):
            continue
        conflict = _conflict(ask, problem, row, move, target, today)
        start = [index.get(broker, NOBODY) for broker in move["from"]]
        if conflict:
            conflicts.append(f"{name}: {conflict}")
        elif today not in (start, target):
            brokers = [int(ask.brokers.arrays.ids[b]) for b in today]
            changes.append(f"{name} is on {brokers} now, the plan was made for {move['from']}")
        else:
            left.append((at, target, leader))
    return conflicts, changes, left


def _conflict(
    ask: Ask, problem: Problem, row: int, move: Mapping[str, Any], target: list[int], today: list[int]
) -> str:
    if ask.partitions.in_flight[row]:
        return "is being reassigned already"
    if NOBODY in target:
        return f"broker {move['to'][target.index(NOBODY)]} is not in the cluster"
    gone = [b for b in target if not problem.stays[b]]
    if gone:
        broker = ask.brokers.brokers[gone[0]]
        return f"broker {broker.id} is {broker.state.value}"
    closed = [b for b in target if b not in today and not problem.takes_replicas[b]]
    if closed:
        return f"broker {ask.brokers.brokers[closed[0]].id} takes no replicas"
    if ask.partitions.leaderless[row]:
        return "has no leader to copy from"
    return ""


def _effect(ask: Ask, problem: Problem, left: list[tuple[int, list[int], int]]) -> tuple[list[str], float, float]:
    """What would be harmed, the imbalance removed, and the bytes copied, if everything that is left were done."""
    replicas, leaders = problem.replicas.copy(), problem.leader.copy()
    width = max([replicas.shape[1], *(len(target) for _, target, _ in left)])
    replicas = np.pad(replicas, ((0, 0), (0, width - replicas.shape[1])), constant_values=NOBODY)
    for at, target, leader in left:
        replicas[at] = NOBODY
        replicas[at, : len(target)] = target
        leaders[at] = leader
    draft = draft_of(ask, replicas, leaders)
    before, after = outcome_of(ask, empty_draft(ask)).before, outcome_of(ask, draft).after
    bands, stays = bands_of(problem), problem.stays
    gain = imbalance(bands, before, stays) - imbalance(bands, after, stays)
    harm = _harm(ask, problem, draft, before, after)
    if gain < -WORSE_BY and not ask.hard:
        harm.append(f"the imbalance would grow by {-gain:.3g}: more of the load would stand outside its bands")
    return harm, gain, float((draft.copies * np.nan_to_num(draft.size)).sum())


def _harm(ask: Ask, problem: Problem, draft: Draft, before: np.ndarray, after: np.ndarray) -> list[str]:
    lines = []
    ids = ask.brokers.arrays.ids
    for d, name in enumerate(problem.resources):
        over = problem.stays & (after[:, d] > problem.limit[:, d]) & (after[:, d] > before[:, d])
        if over.any():
            lines.append(f"{name}: broker {ids[over.argmax()]} would be above its capacity")
    target = np.asarray((draft.end >= 0).sum(axis=1), dtype=np.int32)
    shares = lacks_racks(draft.end, ask.brokers, target) & ~lacks_racks(draft.start, ask.brokers, target)
    if shares.any():
        lines.append(f"{int(shares.sum()):,} partitions would have replicas that share a rack")
    return lines


def _expired(document: Mapping[str, Any], snapshot: ClusterSnapshot) -> tuple[str, ...]:
    expires, now = document["expires_at"], snapshot.captured_at
    if expires is None or now is None or _moment(now) <= _moment(expires):
        return ()
    return (f"the plan expired at {expires}",)


def _moment(text: str) -> np.datetime64:
    """An ISO time in UTC."""
    plain, zone = (text[:-1], "+00:00") if text.endswith("Z") else (text, "+00:00")
    if plain[-6:-5] in ("+", "-") and plain[-3] == ":":
        plain, zone = plain[:-6], plain[-6:]
    minutes = (int(zone[1:3]) * 60 + int(zone[4:6])) * (-1 if zone[0] == "-" else 1)
    return np.datetime64(plain.replace(" ", "T")) - np.timedelta64(minutes, "m")


def _worth(ask: Ask, problem: Problem, gain: float, copied: float, done: int, left: int) -> CheckResult:
    options = ask.options
    if ask.hard or options.preferred_election:
        return CheckResult(Judgement.VALID, (*ask.hard, f"{left:,} moves are left"), done, left)
    rate = gain_per_byte(gain, copied, float(np.nan_to_num(ask.partitions.size).sum()))
    if gain <= 0 or (not options.is_order and rate < options.least_gain_per_byte):
        return CheckResult(Judgement.NOT_WORTH_IT, (f"what is left takes {gain:.3g} off the imbalance",), done, left)
    loads = broker_loads(problem, problem.replicas, problem.leader)
    worst = None if options.band is None else furthest(problem, loads, options.band)
    if worst is None or worst.ratio == 1.0:
        return CheckResult(Judgement.NOT_WORTH_IT, ("every broker is inside its band already",), done, left)
    text = f"{left:,} moves are left, they take {gain:.3g} off the imbalance"
    return CheckResult(Judgement.VALID, (text,), done, left)


def _check_rest(document: Mapping[str, Any], snapshot: ClusterSnapshot) -> CheckResult:
    """A plan without moves holds as long as there is still nothing to do."""
    ask = build_ask(snapshot, _options(document, snapshot))
    expired = _expired(document, snapshot)
    if expired or document["verdict"] != "nothing_to_do":
        reason = expired or (f"the plan said {document['verdict']}: make a new one",)
        return CheckResult(Judgement.STALE, reason, 0, 0)
    within = ask.options.band
    problem = ask.problem(within)
    loads = broker_loads(problem, problem.replicas, problem.leader)
    worst = None if within is None else furthest(problem, loads, within)
    allowed = (within or 0.0) if ask.options.is_order else ask.options.dead_band
    if ask.hard or (worst is not None and abs(worst.ratio - 1) > allowed + 1e-9):
        return CheckResult(Judgement.STALE, (*ask.hard, "there is something to do by now"), 0, 0)
    return CheckResult(Judgement.VALID, ("there is still nothing to do",), 0, 0)


def _shown(lines: list[str]) -> tuple[str, ...]:
    more = (f"and {len(lines) - SHOWN:,} more",) if len(lines) > SHOWN else ()
    return (*lines[:SHOWN], *more)
