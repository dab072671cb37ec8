"""Reasons for moves, consequences without them, changes of each broker, preconditions of a plan."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from kafka_rebalance.amounts import counted, format_amount, format_bytes
from kafka_rebalance.facts import FactCode
from kafka_rebalance.resources import ROWS, UNITS

_LISTED_BROKERS = 20
_STATES = {"dead": "dead", "fenced": "fenced", "draining": "to be removed", "demoted": "demoted"}


def _level(resource: str, times_share: float) -> str:
    return f"its {ROWS[resource].phrase} {times_share:.2f} × its share"


def _relieves(*, broker: int, resource: str, times_share: float) -> str:
    return f"relieves broker {broker}: {_level(resource, times_share)}"


def _fills(*, broker: int, resource: str, times_share: float) -> str:
    return f"fills broker {broker}: {_level(resource, times_share)}"


def _makes_up(*, broker: int, resource: str, times_share: float) -> str:
    return f"makes up for other moves of broker {broker}: {_level(resource, times_share)}"


def _one_of_several(*, broker: int, resource: str, times_share: float) -> str:
    return f"is one of several moves that only together even out broker {broker}: {_level(resource, times_share)}"


def _raises(*, replicas: int, wanted: int) -> str:
    return f"raises the replication factor from {replicas} to {wanted}"


def _lowers(*, replicas: int, wanted: int) -> str:
    return f"lowers the replication factor from {replicas} to {wanted}"


def _separates_racks() -> str:
    return "puts replicas that share a rack on different racks"


def _leaves_forbidden(*, broker: int) -> str:
    return f"leaves broker {broker}, which its topic may not be on"


def _leaves_offline() -> str:
    return "its log dir is offline"


def _leaves(*, broker: int, state: str) -> str:
    return f"leaves broker {broker}, which is {_STATES.get(state, state)}"


def _drops_out_of_sync(*, broker: int, why: str) -> str:
    return f"{why}; the replica on broker {broker} is out of sync and leaves"


def _elects(*, broker: int) -> str:
    return f"elects broker {broker}, the first in the list of those that may lead"


def _keeps_leader(*, broker: int, preferred: int) -> str:
    return f"keeps broker {broker} leading: an election of preferred leaders would elect broker {preferred}"


def _names_next_leader(*, broker: int, lost: int) -> str:
    return f"lets broker {broker} lead it if broker {lost} is lost"


def _leaves_demoted(*, broker: int) -> str:
    return f"changes the leader from broker {broker}, which is demoted"


def _keeps_within_capacity(*, broker: int, resource: str, lost_kind: str, lost: str | None) -> str:
    return f"keeps broker {broker} within its capacity of {resource} {_if_lost(lost_kind, lost)}"


def _has_topic_leaders(*, broker: int, topic: str, wanted: int) -> str:
    return f"broker {broker} leads {counted(wanted, 'partition')} of {topic}, as the options want"


def _further_off(*, broker: int, resource: str, times_share_without: float, times_share_after: float) -> str:
    without, after = distinct_texts(times_share_without, times_share_after)
    return f"broker {broker}'s {ROWS[resource].phrase} {without} × its share instead of {after} ×"


def _only_together(*, broker: int, resource: str, times_share_without: float, times_share_after: float) -> str:
    alone, whole = distinct_texts(times_share_without, times_share_after)
    return (
        f"nothing by itself: broker {broker}'s {ROWS[resource].phrase} {alone} × its share, in the whole plan {whole} ×"
    )


def _no_load_changes() -> str:
    return "nothing that is measured: each broker carries the same"


def _too_few(*, replicas: int, wanted: int) -> str:
    return f"the partition keeps {replicas} of {wanted} replicas"


def _too_many(*, replicas: int, wanted: int) -> str:
    return f"the partition keeps {counted(replicas - wanted, 'replica')} too many"


def _shares_rack() -> str:
    return "the loss of one rack takes more than one replica of the partition"


def _stays_on_forbidden(*, broker: int) -> str:
    return f"a replica stays on broker {broker}, which its topic may not be on"


def _stays_offline() -> str:
    return "the partition lacks a replica until the disk is repaired"


def _stays_on(*, broker: int, state: str) -> str:
    return f"a replica stays on broker {broker}, which is {_STATES.get(state, state)}"


def _goes_on_leading(*, broker: int) -> str:
    return f"broker {broker} goes on leading it"


def _loses_leader(*, preferred: int) -> str:
    return f"broker {preferred} leads it after the next election of preferred leaders"


def _takes_over(*, broker: int, lost: int) -> str:
    return f"broker {broker} takes over more than an even part of what broker {lost} leads"


def _above_capacity(
    *, broker: int, resource: str, lost_kind: str, lost: str | None, load: float, capacity: float
) -> str:
    would, can = (format_amount(amount, UNITS[resource]) for amount in (load, capacity))
    return f"broker {broker} would carry {would} of {resource} {_if_lost(lost_kind, lost)}; its capacity is {can}"


def _if_lost(kind: str, lost: str | None) -> str:
    return "if another one is lost" if lost is None else f"if {kind} {lost} is lost"


def _leads_too_few(*, broker: int, topic: str, leaders: int, wanted: int) -> str:
    return f"broker {broker} would lead {counted(leaders, 'partition')} of {topic}; the options want {wanted:,}"


def distinct_texts(first: float, second: float) -> tuple[str, str]:
    """Return both with four digits, or more until they differ: 1.0971 and 1.0974."""
    texts = (f"{first:.4g}", f"{second:.4g}")
    for digits in range(5, sys.float_info.dig + 1):
        if texts[0] != texts[1]:
            break
        texts = (f"{first:.{digits}g}", f"{second:.{digits}g}")
    return texts


def _broker_changes(
    *,
    broker: int,
    replicas_out: int,
    replicas_in: int,
    bytes_out: float | None,
    bytes_in: float | None,
    leaders_out: int,
    leaders_in: int,
    state: str,
    resource: str | None,
    times_share: float | None,
    times_share_after: float | None,
) -> str:
    parts = [
        f"{verb} {counted(count, 'replica')}" + ("" if size is None else f" of {format_bytes(size)}")
        for verb, count, size in (("gives up", replicas_out, bytes_out), ("gets", replicas_in, bytes_in))
        if count
    ]
    leaders = (("loses", leaders_out), ("gains", leaders_in))
    parts += [f"{verb} {counted(count, 'leadership')}" for verb, count in leaders if count]
    if resource is None or times_share is None:
        level = f"it is {_STATES.get(state, state)}"
    else:
        level = f"{_level(resource, times_share)}, afterwards {times_share_after:.2f} ×"
    return f"broker {broker} {', '.join(parts)}: {level}"


def _as_planned() -> str:
    return "each partition that moves still has the replicas of the snapshot, and is not being reassigned"


def _alive(*, brokers: Sequence[int]) -> str:
    if len(brokers) > _LISTED_BROKERS:
        return f"all {len(brokers):,} brokers that the moves name are alive"
    return f"broker{'s' * (len(brokers) != 1)} {_list_brokers(brokers)} {'is' if len(brokers) == 1 else 'are'} alive"


def _list_brokers(brokers: Sequence[int]) -> str:
    return ", ".join(map(str, brokers))


def _kept_in_sync() -> str:
    return "replicas that stay are in sync before their partition's leader changes"


def _joined(*, brokers: Sequence[int]) -> str:
    named = f"broker{'s' * (len(brokers) != 1)} {_list_brokers(brokers[:_LISTED_BROKERS])}"
    return f"the added {named} joined the cluster, empty, in the racks that were named"


def _free_disk() -> str:
    return "brokers that get replicas have the free disk that each wave names"


def _stopped(*, balancer: str) -> str:
    return f"{balancer}, which left its traces in this cluster, is stopped"


_WHAT_HOLDS = {
    "nothing_to_do": "nothing has to be done",
    "not_fixable_by_moving": "some broker is outside its allowed range",
    "rebalance": "the moves remove most of the imbalance",
}


def _verdict_holds(*, verdict: str, trials: int, noise: float, verdict_stands: int) -> str:
    holds = f"{_WHAT_HOLDS.get(verdict, verdict)} in {verdict_stands} of {trials} trials"
    return f"with every load off by up to {noise:.0%} at random, {holds}"


MOVES: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {
        FactCode.RELIEVES_BROKER: _relieves,
        FactCode.FILLS_BROKER: _fills,
        FactCode.MAKES_UP_FOR_MOVES: _makes_up,
        FactCode.ONE_OF_SEVERAL: _one_of_several,
        FactCode.RAISES_REPLICATION_FACTOR: _raises,
        FactCode.LOWERS_REPLICATION_FACTOR: _lowers,
        FactCode.SEPARATES_RACKS: _separates_racks,
        FactCode.LEAVES_FORBIDDEN_BROKER: _leaves_forbidden,
        FactCode.LEAVES_OFFLINE_LOG_DIR: _leaves_offline,
        FactCode.LEAVES_BROKER: _leaves,
        FactCode.DROPS_OUT_OF_SYNC: _drops_out_of_sync,
        FactCode.ELECTS_PREFERRED: _elects,
        FactCode.KEEPS_LEADER: _keeps_leader,
        FactCode.NAMES_NEXT_LEADER: _names_next_leader,
        FactCode.LEAVES_DEMOTED_LEADER: _leaves_demoted,
        FactCode.KEEPS_WITHIN_CAPACITY: _keeps_within_capacity,
        FactCode.HAS_TOPIC_LEADERS: _has_topic_leaders,
        FactCode.BROKER_FURTHER_OFF: _further_off,
        FactCode.OFF_ONLY_TOGETHER: _only_together,
        FactCode.NO_LOAD_CHANGES: _no_load_changes,
        FactCode.KEEPS_TOO_FEW_REPLICAS: _too_few,
        FactCode.KEEPS_TOO_MANY_REPLICAS: _too_many,
        FactCode.SHARES_RACK: _shares_rack,
        FactCode.STAYS_ON_FORBIDDEN_BROKER: _stays_on_forbidden,
        FactCode.STAYS_OFFLINE: _stays_offline,
        FactCode.STAYS_ON_BROKER: _stays_on,
        FactCode.GOES_ON_LEADING: _goes_on_leading,
        FactCode.LOSES_LEADER_AT_ELECTION: _loses_leader,
        FactCode.TAKES_OVER_TOO_MUCH: _takes_over,
        FactCode.ABOVE_CAPACITY: _above_capacity,
        FactCode.LEADS_TOO_FEW: _leads_too_few,
        FactCode.BROKER_CHANGES: _broker_changes,
        FactCode.REPLICAS_AS_PLANNED: _as_planned,
        FactCode.BROKERS_ALIVE: _alive,
        FactCode.KEPT_REPLICAS_IN_SYNC: _kept_in_sync,
        FactCode.ADDED_BROKERS_JOINED: _joined,
        FactCode.FREE_DISK_LEFT: _free_disk,
        FactCode.BALANCER_STOPPED: _stopped,
        FactCode.VERDICT_HOLDS: _verdict_holds,
    }
)
