"""Checks of hard rules, of follower orders, and of the rollback.

Follower orders: no more lists change than allowed, and each helps. The controller makes the first alive in-sync replica
the new leader, so the first follower that may lead is the standby. Orders are judged by how many leaders each standby
takes from each broker. The rollback has reverse order, every move once, its own cost, and restores the start.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import STEPS, PlanOptions
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, Flags, Ints, distinct_racks, is_spread_evenly
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.waves import Traffic, check_leader_steps, check_times, check_wave, total


def check_follower_order(
    moves: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    is_reorder = reordered(claimed)
    count = int(is_reorder.sum())
    if count > parameters.max_reorders and parameters.survive is None:
        faults.add("follower_order", "plan.moves", f"{count} lists are reordered, {parameters.max_reorders} allowed")
    behind = is_reorder & cluster.under_replicated[claimed.row]
    for number in np.flatnonzero(behind).tolist():
        name = f"moves[{number}] {moves[number]['topic']}-{moves[number]['partition']}"
        faults.add("follower_order", name, "a replica of it is behind: nobody knows who would lead")
    if not count or parameters.survive is not None:  # see survival.py
        return
    as_before = claimed.after.copy()
    as_before[claimed.row[is_reorder]] = claimed.start[is_reorder]
    was, left = (unevenness(cluster, lists, claimed.leader_after) for lists in (as_before, claimed.after))
    if left >= was:
        faults.add(
            "follower_order", "plan.moves", f"new orders spread nothing: squares of takeovers {was}, then {left}"
        )


def reordered(claimed: ClaimedMoves) -> Flags:
    """bool[M]: same replicas, leader and preferred leader, another list."""
    changes_set = (claimed.copies > 0) | claimed.is_dropped.any(axis=1)
    is_other = (claimed.start != claimed.end).any(axis=1)
    stays_led = (claimed.leader_from == claimed.leader_to) & (claimed.start[:, 0] == claimed.end[:, 0])
    return np.asarray(~changes_set & is_other & stays_led)


def unevenness(cluster: ClusterArrays, lists: Ints, leader: Ints) -> int:
    """Σ of squares of the leaders that each standby takes from each broker."""
    is_responsive = np.array([not broker.state.is_unresponsive for broker in cluster.brokers], dtype=np.bool_)
    may_lead = cluster.keeps_leaders & is_responsive
    able = (lists >= 0) & may_lead[lists] & (lists != leader[:, None])
    led_first = (lists[:, 0] == leader) & (leader >= 0) & able.any(axis=1)
    rows = np.flatnonzero(led_first)
    standby = lists[rows, able[rows].argmax(axis=1)]
    pairs = leader[rows].astype(np.int64) * len(cluster.ids) + standby
    _, counts = np.unique(pairs, return_counts=True)
    return int((counts.astype(np.int64) ** 2).sum())


def check_moves(
    moves: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    _check_start(moves, claimed, cluster, faults)
    _check_scope(moves, claimed, cluster, parameters, faults)
    _check_targets(moves, claimed, cluster, parameters, faults)
    _check_in_sync(moves, claimed, cluster, faults)
    _check_leaders(moves, claimed, cluster, faults)
    _check_factor(moves, claimed, cluster, parameters, faults)
    _check_racks(claimed, cluster, moves, faults)
    _check_kind(moves, claimed, faults)
    check_follower_order(moves, claimed, cluster, parameters, faults)


def _name(moves: list[dict[str, Any]], number: int) -> str:
    return f"moves[{number}] {moves[number]['topic']}-{moves[number]['partition']}"


def _flag(code: str, moves: list[dict[str, Any]], wrong: Any, message: str, faults: FaultList, *fields: str) -> None:
    for number in np.flatnonzero(wrong).tolist():
        values = [moves[number][field] for field in fields]
        faults.add(code, _name(moves, number), message.format(*values))


def _check_start(moves: list[dict[str, Any]], claimed: ClaimedMoves, cluster: ClusterArrays, faults: FaultList) -> None:
    width = cluster.now.shape[1]
    today = cluster.now[claimed.row]
    wrong: Any = (claimed.start[:, :width] != today).any(axis=1) | (claimed.start[:, width:] >= 0).any(axis=1)
    _flag("from_differs", moves, wrong, "`from` {} is not what the snapshot holds", faults, "from")
    wrong = claimed.leader_from != cluster.leader[claimed.row]
    _flag("from_differs", moves, wrong, "leader_from {} is not today's leader", faults, "leader_from")


def _check_scope(
    moves: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    row = claimed.row
    observed = cluster.observed[row]
    _flag("topic_excluded", moves, cluster.excluded[row] & ~observed, "its topic was to be left alone", faults)
    _flag("unmovable", moves, observed, "it has observers, which Kafka's tool would turn into replicas", faults)
    _flag("in_flight", moves, cluster.in_flight[row], "it is being reassigned already", faults)
    _flag("unmovable", moves, cluster.leaderless[row], "it has no leader to copy from", faults)
    _flag("out_of_sync", moves, cluster.waiting[row], "a replica of it has to catch up first", faults)
    changes_set = (claimed.copies > 0) | claimed.is_dropped.any(axis=1)
    if not parameters.moves_replicas:
        _flag("scope", moves, changes_set, "moves replicas {} → {}, only leaders were asked", faults, "from", "to")
    if parameters.preferred_election:
        reorders = (claimed.start != claimed.end).any(axis=1)
        _flag("scope", moves, reorders, "changes the list {}, only an election was asked", faults, "from")


def _check_targets(
    moves: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    end, is_replica = claimed.end, claimed.end >= 0
    gone = is_replica & ~cluster.stays[end] & (claimed.is_new | parameters.moves_replicas)
    _flag("broker_gone", moves, gone.any(axis=1), "`to` {} names a broker that leaves or is gone", faults, "to")
    closed = claimed.is_new & ~cluster.takes_replicas[end] & cluster.stays[end]
    _flag("broker_closed", moves, closed.any(axis=1), "`to` {} brings a replica to a closed broker", faults, "to")
    outside = claimed.is_new & cluster.is_outside(claimed.row, end)
    _flag("broker_closed", moves, outside.any(axis=1), "`to` {} names a broker that its topic may not be on", faults,
          "to")  # fmt: skip


def _check_in_sync(
    moves: list[dict[str, Any]], claimed: ClaimedMoves, cluster: ClusterArrays, faults: FaultList
) -> None:
    """Kafka ends a reassignment only when every replica is in sync, and only such a replica may lead."""
    width = cluster.now.shape[1]
    behind = np.where(cluster.behind[claimed.row], cluster.now[claimed.row], -1)
    kept = np.zeros(len(claimed.row), dtype=np.bool_)
    for j in range(width):
        kept |= ((claimed.end == behind[:, j : j + 1]) & (claimed.end >= 0)).any(axis=1)
    changes_set = (claimed.copies > 0) | claimed.is_dropped.any(axis=1)
    _flag("out_of_sync", moves, kept & changes_set, "`to` {} keeps a replica that is out of sync", faults, "to")
    leads = (behind == claimed.leader_to[:, None]).any(axis=1)
    _flag("out_of_sync", moves, leads, "leader_to {} is out of sync", faults, "leader_to")


def _check_leaders(
    moves: list[dict[str, Any]], claimed: ClaimedMoves, cluster: ClusterArrays, faults: FaultList
) -> None:
    to, before = claimed.leader_to, claimed.leader_from
    _flag("leader_not_first", moves, claimed.end[:, 0] != to, "leader_to {} is not first in {}", faults,
          "leader_to", "to")  # fmt: skip
    may = np.where(to == before, cluster.keeps_leaders[to], cluster.takes_leaders[to])
    # Where no broker may lead, one still must; a possible leader must not have been moved away.
    others = (claimed.end >= 0) & (cluster.takes_leaders[claimed.end])
    could = others.any(axis=1) | _could_lead_today(cluster)[claimed.row]
    _flag("leader_forbidden", moves, ~may & could, "broker {} may not lead it", faults, "leader_to")
    absent = ~(claimed.end == to[:, None]).any(axis=1)
    _flag("leader_forbidden", moves, absent, "leader_to {} is no replica of it", faults, "leader_to")


def _check_factor(
    moves: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    was = (cluster.now[claimed.row] >= 0).sum(axis=1)
    factor = was if parameters.replication_factor is None else np.full(len(was), parameters.replication_factor)
    if not parameters.moves_replicas:
        factor = was
    wrong = (claimed.end >= 0).sum(axis=1) != factor
    for number in np.flatnonzero(wrong).tolist():
        replicas = len(moves[number]["to"])
        faults.add("replication_factor", _name(moves, number), f"{replicas} replicas, asked {int(factor[number])}")


def _check_racks(claimed: ClaimedMoves, cluster: ClusterArrays, moves: list[dict[str, Any]], faults: FaultList) -> None:
    before = cluster.now[claimed.row]
    uneven = ~is_spread_evenly(cluster, claimed.row, claimed.end)
    fewer = distinct_racks(cluster, claimed.end) < distinct_racks(cluster, before)
    changes_set = (claimed.copies > 0) | claimed.is_dropped.any(axis=1)
    worse = uneven & changes_set & (fewer | is_spread_evenly(cluster, claimed.row, before))
    _flag("rack", moves, worse, "`to` {} shares racks more than needed", faults, "to")


def _check_kind(moves: list[dict[str, Any]], claimed: ClaimedMoves, faults: FaultList) -> None:
    changes_set = (claimed.copies > 0) | claimed.is_dropped.any(axis=1)
    same = (claimed.start == claimed.end).all(axis=1) & (claimed.leader_from == claimed.leader_to)
    _flag("move_idle", moves, same, "changes nothing", faults)
    reorders = reordered(claimed)
    for number, changes in enumerate(changes_set.tolist()):
        kind = "replica" if changes else "order" if reorders[number] else "leader"
        if moves[number]["kind"] != kind:
            faults.add("move_idle", _name(moves, number), f"kind {moves[number]['kind']!r} should be {kind!r}")


def check_result(
    claimed: ClaimedMoves, cluster: ClusterArrays, parameters: PlanOptions, verdict: str, faults: FaultList
) -> None:
    if verdict not in ("rebalance", "nothing_to_do", "not_fixable_by_moving") or not parameters.moves_replicas:
        return
    free = ~cluster.left_alone
    if parameters.at in STEPS[:-1]:
        free &= np.isin(np.arange(len(free)), claimed.row)
    _check_demoted(claimed, claimed.leader_after, cluster, free, faults)
    if not parameters.has_budget:
        elected = cluster.preferred.copy()
        elected[claimed.row] = claimed.leader_to
        _check_demoted(claimed, elected, cluster, free & (elected != claimed.leader_after), faults)
    if parameters.has_budget and verdict == "rebalance":
        return
    after = claimed.after
    left = (after >= 0) & ~cluster.stays[after] & free[:, None]
    for p in np.flatnonzero(left.any(axis=1)).tolist():
        broker = int(cluster.ids[after[p][left[p]][0]])
        faults.add("broker_left", f"partition row {p}", f"a replica stays on broker {broker}, which leaves or is gone")
    outside = cluster.is_outside(np.arange(len(after)), after) & free[:, None]
    for p in np.flatnonzero(outside.any(axis=1)).tolist():
        broker = int(cluster.ids[after[p][outside[p]][0]])
        faults.add(
            "broker_left", f"partition row {p}", f"a replica stays on broker {broker}: its topic may not be there"
        )
    uneven = free & ~cluster.unknown & ~is_spread_evenly(cluster, np.arange(len(after)), after)
    for p in np.flatnonzero(uneven).tolist():
        faults.add(
            "rack", f"partition row {p}", f"replicas {cluster.ids[after[p][after[p] >= 0]].tolist()} share racks"
        )
    if parameters.replication_factor is not None:
        wrong = free & ((after >= 0).sum(axis=1) != parameters.replication_factor)
        for p in np.flatnonzero(wrong).tolist():
            faults.add("replication_factor", f"partition row {p}", "its replication factor was to be changed")


def _could_lead_today(cluster: ClusterArrays) -> Flags:
    """One of today's replicas in an online log dir may lead.

    False where no receiver takes leaders: then moved partitions have no leader.
    """
    if not (cluster.takes_replicas & cluster.takes_leaders).any():
        return np.zeros(len(cluster.now), dtype=np.bool_)
    goes_on = (cluster.now == cluster.leader[:, None]) & cluster.keeps_leaders[cluster.now]
    able = (cluster.now >= 0) & ~cluster.must_leave & (cluster.takes_leaders[cluster.now] | goes_on)
    return np.asarray(able.any(axis=1))


def _can_be_led(cluster: ClusterArrays) -> Flags:
    able = cluster.may_be_on & cluster.takes_replicas & cluster.takes_leaders
    barred = (cluster.must_leave & able[cluster.place_rule[:, None], cluster.now]).sum(axis=1)
    return np.asarray(_could_lead_today(cluster) | (barred < able.sum(axis=1)[cluster.place_rule]))


def _check_demoted(claimed: ClaimedMoves, leads: Ints, cluster: ClusterArrays, free: Flags, faults: FaultList) -> None:
    others = ((claimed.after >= 0) & cluster.takes_leaders[claimed.after]).any(axis=1) | _can_be_led(cluster)
    wrong = free & (leads >= 0) & ~cluster.keeps_leaders[leads] & others
    for p in np.flatnonzero(wrong).tolist():
        broker = int(cluster.ids[leads[p]])
        faults.add(
            "leader_forbidden", f"partition row {p}", f"broker {broker}, demoted or leaving, leads it still or again"
        )


def check_rollback(
    document: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    rollback, waves = document["rollback"], document["waves"]
    if rollback is None:
        if waves:
            faults.add("rollback_order", "plan.rollback", "missing although there is something to undo")
        return
    if not waves:
        faults.add("rollback_order", "plan.rollback", "there is nothing to undo")
        return
    if faults.has_any("wave_members"):
        return
    gone = np.array([broker.state.is_gone for broker in cluster.brokers], dtype=np.bool_)
    lost = np.asarray(((claimed.start >= 0) & gone[claimed.start]).any(axis=1))
    expected = np.flatnonzero(lost).tolist()
    faults.require_equal("rollback_undone", "rollback.not_undone", rollback["not_undone"], expected)
    turned = [[m for m in wave["moves"] if not lost[m]] for wave in reversed(waves)]
    turned = [members for members in turned if members]
    if [wave["moves"] for wave in rollback["waves"]] != turned:
        faults.add("rollback_order", "rollback.waves", "are not the waves in reverse order")
        return
    _check_waves(rollback, claimed, cluster, parameters, faults)
    undone = ~lost
    dropped = claimed.is_dropped.sum(axis=1)[undone]
    changes = int(claimed.changes_leader_back[undone].sum())
    faults.require_equal("rollback_cost", "rollback.replica_moves", rollback["replica_moves"], int(dropped.sum()))
    faults.require_equal("rollback_cost", "rollback.leader_changes", rollback["leader_changes"], changes)
    amounts = [wave["bytes"] for wave in rollback["waves"]]
    faults.require_equal("rollback_cost", "rollback.bytes", rollback["bytes"], total(amounts))


def _check_waves(
    rollback: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    size = cluster.size[claimed.row]
    dropped = claimed.is_dropped.sum(axis=1)
    back = np.where(dropped == 0, 0.0, dropped * size)
    amounts = [None if value != value else round(value) for value in back.tolist()]  # noqa: PLR0124
    for number, wave in enumerate(rollback["waves"]):
        members = np.array(wave["moves"], dtype=np.int64)
        traffic = Traffic.backward(claimed, cluster, members)
        wave_amounts = [amounts[m] for m in wave["moves"]]
        check_wave(f"rollback.waves[{number}]", wave, wave_amounts, traffic, cluster, parameters, faults)
        check_leader_steps(f"rollback.waves[{number}]", wave, claimed, cluster, parameters, faults, is_back=True)
    check_times("rollback", rollback, rollback["waves"], claimed, cluster, faults)
