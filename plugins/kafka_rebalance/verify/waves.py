"""Checks of waves and costs: membership, bytes, time, throttle, free disk, order, leader steps, budget."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, Flags, Floats, Ints
from kafka_rebalance.verify.faults import FaultList

# The throttle's factor over concurrent writes, so that copies catch up.
_HEADROOM = 1.25
_ROUNDING = 1e-12

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """Traffic by broker: bytes that arrive, are sent as leader, and are deleted afterwards (nan: unknown); the largest
    concurrent write rate.
    """

    arriving: Floats
    sent: Floats
    leaving: Floats
    copies_in: Longs
    moves_out: Longs
    busiest_rate: float

    @classmethod
    def forward(cls, claimed: ClaimedMoves, cluster: ClusterArrays, members: Longs) -> Traffic:
        end, start = claimed.end[members], claimed.start[members]
        new, dropped = claimed.is_new[members], _wide(claimed.is_dropped[members], start)
        return _traffic(cluster, claimed.row[members], claimed.leader_from[members], (end, new), (start, dropped))

    @classmethod
    def backward(cls, claimed: ClaimedMoves, cluster: ClusterArrays, members: Longs) -> Traffic:
        end, start = claimed.end[members], claimed.start[members]
        new, dropped = claimed.is_new[members], _wide(claimed.is_dropped[members], start)
        return _traffic(cluster, claimed.row[members], claimed.leader_to[members], (start, dropped), (end, new))

    def throttle(self, requested: int) -> tuple[int, int]:
        """Return the lowest and highest valid throttle: the requested one, else a quarter above the write rate.

        They differ by rounding.
        """
        if self.busiest_rate < requested * (1 - _ROUNDING):
            return requested, requested
        raised = [math.ceil(self.busiest_rate * _HEADROOM * (1 + sign * _ROUNDING)) + 1 for sign in (-1, 1)]
        return (min(requested, raised[0]) if self.busiest_rate < requested * (1 + _ROUNDING) else raised[0]), raised[1]

    def seconds(self, throttle: float) -> float | None:
        """Return the busiest broker's bytes in or out over the throttle."""
        busiest = max(float(self.arriving.max(initial=0.0)), float(self.sent.max(initial=0.0)))
        return None if np.isnan(busiest) else busiest / throttle


def _wide(flags: Flags, like: Ints) -> Flags:
    return np.pad(flags, ((0, 0), (0, like.shape[1] - flags.shape[1])))


def _traffic(
    cluster: ClusterArrays, row: Longs, leader: Ints, coming: tuple[Ints, Flags], going: tuple[Ints, Flags]
) -> Traffic:
    count = len(cluster.ids)
    size = cluster.size[row]
    rate = np.nan_to_num(cluster.rate)[row]
    copies = coming[1].sum(axis=1)
    amount = np.where(copies == 0, 0.0, copies * size)
    sends = (leader >= 0) & (copies > 0)
    rate_in = _sum_over(coming, rate, count)
    rate_out = np.bincount(leader[sends], weights=(copies * rate)[sends], minlength=count)
    return Traffic(
        arriving=_sum_over(coming, size, count),
        sent=np.bincount(leader[sends], weights=amount[sends], minlength=count).astype(np.float64),
        leaving=_sum_over(going, _own(cluster, row, going[0], size), count),
        copies_in=np.bincount(coming[0][coming[1]], minlength=count),
        moves_out=np.bincount(leader[sends], minlength=count),
        busiest_rate=max(float(rate_in.max(initial=0.0)), float(rate_out.max(initial=0.0))),
    )


def _sum_over(cells: tuple[Ints, Flags], weight: Floats, count: int) -> Floats:
    brokers, chosen = cells
    weights = weight if weight.ndim == 2 else np.repeat(weight[:, None], brokers.shape[1], axis=1)
    return np.bincount(brokers[chosen], weights=weights[chosen], minlength=count).astype(np.float64)


def _own(cluster: ClusterArrays, row: Longs, brokers: Ints, size: Floats) -> Floats:
    own = np.full(brokers.shape, np.nan)
    width = min(brokers.shape[1], cluster.now.shape[1])
    same = brokers[:, :width] == cluster.now[row][:, :width]
    own[:, :width] = np.where(same, cluster.own_bytes[row][:, :width], np.nan)
    return np.where(np.isnan(own), size[:, None], own)


def check_leader_steps(
    location: str,
    wave: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
    *,
    is_back: bool = False,
) -> None:
    """Check one wave; without a limit no figure is stated."""
    members = np.array(wave["moves"], dtype=np.int64)
    limit = parameters.max_leader_changes_per_wave
    changed = members[(claimed.changes_leader_back if is_back else claimed.changes_leader)[members]]
    expected: tuple[int | None, float | None, float | None] = (None, None, None)
    if limit is not None:
        rows = claimed.row[changed]
        expected = (len(changed), _known_sum(cluster.rate[rows]), _known_sum(cluster.read_rate[rows]))
    count, written, read = expected
    faults.require_equal("wave_leaders", f"{location}.leader_changes", wave["leader_changes"], count)
    for name, recomputed in (("leader_in_bytes_per_s", written), ("leader_out_bytes_per_s", read)):
        faults.require_close("wave_leaders", f"{location}.{name}", wave[name], recomputed)
    for broker, leaders in enumerate(leader_changes(claimed, cluster, members)):
        if limit is not None and leaders > limit:
            text = f"broker {cluster.ids[broker]} gives or takes {leaders} leaders, {limit} allowed in one wave"
            faults.add("wave_limit", location, text)


def leader_changes(claimed: ClaimedMoves, cluster: ClusterArrays, members: Longs) -> list[int]:
    """Return leaders lost or won by broker, the larger."""
    changed = members[claimed.leader_from[members] != claimed.leader_to[members]]
    before, after = claimed.leader_from[changed], claimed.leader_to[changed]
    count = len(cluster.ids)
    sides = [np.bincount(side[side >= 0], minlength=count).tolist() for side in (before, after)]
    return [max(pair) for pair in zip(*sides, strict=True)]


def _known_sum(rates: Floats) -> float | None:
    total = float(rates.sum())
    return None if np.isnan(total) else total


_SECONDS_ROUNDING = 1e-9
_OF_NIGHTS = ("nights_needed", "waves_longer_than_night")


def check_costs(
    document: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    moves, cost = document["moves"], document["cost"]
    is_exact = cluster.has_whole_sizes
    for number, (move, copied) in enumerate(zip(moves, claimed.bytes.tolist(), strict=True)):
        if not is_whole(move["bytes"], copied, is_exact=is_exact):
            faults.add("move_bytes", f"moves[{number}]", f"says {move['bytes']}, {copied} are copied")
    faults.require_equal("cost", "cost.replica_moves", cost["replica_moves"], int(claimed.copies.sum()))
    changes = int((claimed.leader_from != claimed.leader_to).sum())
    faults.require_equal("cost", "cost.leader_changes", cost["leader_changes"], changes)
    faults.require_equal("cost", "cost.bytes", cost["bytes"], total([move["bytes"] for move in moves]))
    _check_budget(cost, parameters, faults)


def check_trace(document: dict[str, Any], faults: FaultList) -> None:
    for name in ("replica_moves", "bytes", "leader_changes") if document["trace"] else ():
        faults.require_equal("trace", f"trace[-1].{name}", document["trace"][-1][name], document["cost"][name])


def is_whole(claimed: int | None, recomputed: float, *, is_exact: bool) -> bool:
    if claimed is None or math.isnan(recomputed):
        return claimed is None and math.isnan(recomputed)
    return claimed == recomputed if is_exact else abs(claimed - recomputed) <= 1 + 1e-9 * recomputed


def total(values: list[int | None]) -> int | None:
    measured = [value for value in values if value is not None]
    return sum(measured) if len(measured) == len(values) else None


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


def check_waves(
    document: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    disk: tuple[Floats, Floats] | None,
    faults: FaultList,
) -> None:
    """``disk`` = (used today, limit) float64[B]."""
    waves, moves = document["waves"], document["moves"]
    if not _check_members(waves, moves, faults):
        return
    used = None if disk is None else disk[0].copy()
    for number, wave in enumerate(waves):
        members = np.array(wave["moves"], dtype=np.int64)
        traffic = Traffic.forward(claimed, cluster, members)
        location = f"waves[{number}]"
        check_wave(location, wave, [moves[m]["bytes"] for m in wave["moves"]], traffic, cluster, parameters, faults)
        _check_limits(location, traffic, members, cluster, parameters, faults)
        check_leader_steps(location, wave, claimed, cluster, parameters, faults)
        if used is not None and disk is not None:
            used = _check_disk(location, traffic, used, disk[1], cluster, faults)
    for step in document["steps"]:
        chosen = [waves[number - 1] for number in step["waves"] if 0 < number <= len(waves)]
        _check_order(chosen, claimed, cluster, parameters, faults)
    check_times("cost", document["cost"], waves, claimed, cluster, faults)


def check_nights(document: dict[str, Any], claimed: ClaimedMoves, parameters: PlanOptions, faults: FaultList) -> None:
    """Waves in order, each in the night of the one before where it fits."""
    stated = {reason["code"]: reason["args"] for reason in document["reasons"] if reason["code"] in _OF_NIGHTS}
    if faults.has_any("wave_members"):
        return
    waves, hours = document["waves"], parameters.night_hours
    expected: dict[str, dict[str, Any]] = {}
    seconds = [wave["seconds"] for wave in waves]
    if hours is not None and waves and None not in seconds:
        most, used = 3600 * hours * (1 + _SECONDS_ROUNDING), math.inf
        opened: list[int] = []
        for number, duration in enumerate(seconds):
            used += duration
            if used > most:
                opened.append(number)
                used = duration
        first = [*opened, len(waves)][1]
        rest = np.array([member for wave in waves[first:] for member in wave["moves"]], dtype=np.int64)
        expected["nights_needed"] = {
            "nights": len(opened),
            "night_hours": hours,
            "first_waves": first,
            "left_replica_moves": int(claimed.copies[rest].sum()),
            "left_bytes": total([wave["bytes"] for wave in waves[first:]]),
            "left_leader_changes": int(claimed.changes_leader[rest].sum()),
        }
        longer = [duration for duration in seconds if duration > most]
        if longer:
            figures = {"waves": len(longer), "longest_seconds": max(longer), "night_hours": hours}
            expected["waves_longer_than_night"] = figures
    if stated != expected:
        faults.add("wave_night", "plan.reasons", f"say {stated}, recomputed {expected}")


def _beyond_night(traffic: Traffic, parameters: PlanOptions) -> Flags:
    """bool[B]: brokers that send or receive more than fits into a night, and not for one partition alone."""
    if parameters.night_hours is None:
        return np.zeros(len(traffic.arriving), dtype=np.bool_)
    most = 3600 * parameters.night_hours * parameters.throttle_bytes_per_s * (1 + _SECONDS_ROUNDING)
    beyond = (traffic.arriving > most) & (traffic.copies_in > 1) | (traffic.sent > most) & (traffic.moves_out > 1)
    return np.asarray(beyond)


def _check_members(waves: list[dict[str, Any]], moves: list[dict[str, Any]], faults: FaultList) -> bool:
    wave_of = [0] * len(moves)  # waves count from 1; 0: in none
    for number, wave in enumerate(waves, start=1):
        if not wave["moves"]:
            faults.add("wave_members", f"waves[{number - 1}]", "is empty")
        if wave["moves"] != sorted(wave["moves"]):
            faults.add("order", f"waves[{number - 1}].moves", "are not in order")
        for member in wave["moves"]:
            if not 0 <= member < len(moves):
                faults.add("wave_members", f"waves[{number - 1}]", f"there is no move {member}")
            elif wave_of[member]:
                faults.add("wave_members", f"moves[{member}]", f"is in waves {wave_of[member]} and {number}")
            else:
                wave_of[member] = number
    for member, (where, move) in enumerate(zip(wave_of, moves, strict=True)):
        if where != move["wave"]:
            faults.add("wave_members", f"moves[{member}]", f"names wave {move['wave']}, is listed in {where}")
    return not faults.has_any("wave_members")


def check_wave(
    location: str,
    wave: dict[str, Any],
    amounts: list[int | None],
    traffic: Traffic,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    faults.require_equal("wave_bytes", f"{location}.bytes", wave["bytes"], total(amounts))
    throttle = wave["throttle_bytes_per_s"]
    if throttle <= 0:
        faults.add("wave_throttle", location, f"{throttle} bytes/s is no throttle")
        return
    faults.require_close("wave_seconds", f"{location}.seconds", wave["seconds"], traffic.seconds(throttle))
    lowest, highest = traffic.throttle(parameters.throttle_bytes_per_s)
    if not lowest <= throttle <= highest:
        text = f"{throttle} bytes/s, expected {lowest}: {parameters.throttle_bytes_per_s} were asked for"
        faults.add("wave_throttle", location, f"{text}, {traffic.busiest_rate:g} are written meanwhile")
    needed = {str(b): v for b, v in zip(cluster.ids.tolist(), traffic.arriving.tolist(), strict=True) if v != 0}
    claimed = wave["free_disk_needed"]
    is_exact = cluster.has_whole_sizes
    expected = {broker: value for broker, value in needed.items() if value == value}  # noqa: PLR0124
    if set(claimed) != set(expected):
        faults.add("wave_disk", f"{location}.free_disk_needed", "its brokers are not those that receive")
    for broker, value in expected.items():
        if broker in claimed and not is_whole(claimed[broker], np.ceil(value), is_exact=is_exact):
            faults.add("wave_disk", f"{location}.free_disk_needed.{broker}", f"says {claimed[broker]}, needs {value:g}")


def _check_limits(
    location: str, traffic: Traffic, members: Longs, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    limit = parameters.moves_per_broker or 0
    for b in np.flatnonzero(_beyond_night(traffic, parameters)).tolist():
        text = f"broker {cluster.ids[b]} sends or receives more than fits into {parameters.night_hours} h"
        faults.add("wave_night", location, text)
    for direction, counts in (("receives", traffic.copies_in), ("sends", traffic.moves_out)):
        for b in np.flatnonzero(counts > limit).tolist():
            text = f"broker {cluster.ids[b]} {direction} {counts[b]} moves at a time, {limit} allowed"
            faults.add("wave_limit", location, text)
    if len(members) > parameters.partitions_per_wave:
        faults.add(
            "wave_limit", location, f"{len(members)} partitions, {parameters.partitions_per_wave} allowed in one file"
        )


def _check_disk(
    location: str, traffic: Traffic, used: Floats, limit: Floats, cluster: ClusterArrays, faults: FaultList
) -> Floats:
    arriving, leaving = np.nan_to_num(traffic.arriving), np.nan_to_num(traffic.leaving)
    over = (arriving > 0) & (used + arriving > limit * (1 + 1e-9))
    for b in np.flatnonzero(over).tolist():
        text = f"broker {cluster.ids[b]} would hold {used[b] + arriving[b]:g} of {limit[b]:g} bytes at a time"
        faults.add("wave_disk", location, text)
    return np.asarray(used + arriving - leaving)


def _check_order(
    waves: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    """Check that waves with under-replicated partitions come first where they fit."""
    urgent = cluster.under_replicated[claimed.row] & (claimed.copies > 0)
    holds = [bool(urgent[wave["moves"]].any()) for wave in waves]
    if not any(holds):
        return
    last = max(number for number, partition in enumerate(holds) if partition)
    idle = [number for number in range(last) if not holds[number]]
    for number in idle:
        for member in [m for wave in waves[number + 1 :] for m in wave["moves"] if urgent[m]]:
            together = np.array([*waves[number]["moves"], member], dtype=np.int64)
            traffic = Traffic.forward(claimed, cluster, together)
            busiest = max(int(traffic.copies_in.max()), int(traffic.moves_out.max()))
            limit = parameters.max_leader_changes_per_wave
            has_room = limit is None or max(leader_changes(claimed, cluster, together)) <= limit
            has_room &= not _beyond_night(traffic, parameters).any()
            is_within = (
                busiest <= (parameters.moves_per_broker or 0) and len(together) <= parameters.partitions_per_wave
            )
            if has_room and is_within:
                text = "is under-replicated, and a wave without such partitions goes first"
                faults.add("wave_order", f"moves[{member}]", text)


def check_times(
    location: str,
    cost: dict[str, Any],
    waves: list[dict[str, Any]],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    faults: FaultList,
) -> None:
    """Check that the total is the sum of waves, and slot filling between the busiest broker's bytes and that sum."""
    seconds = [wave["seconds"] for wave in waves if wave["seconds"] is not None]
    total_seconds = sum(seconds) if len(seconds) == len(waves) else None
    faults.require_close("cost", f"{location}.seconds", cost["seconds"], total_seconds)
    filling = cost["seconds_slot_filling"]
    if (filling is None) != (total_seconds is None):
        faults.add("slot_filling", location, f"says {filling}, waves take {total_seconds}")
    elif filling is not None and total_seconds is not None and waves:
        members = np.concatenate([np.array(wave["moves"], dtype=np.int64) for wave in waves])
        traffic = Traffic.forward if location == "cost" else Traffic.backward
        throttle = max(wave["throttle_bytes_per_s"] for wave in waves)
        if throttle <= 0:
            return
        least = traffic(claimed, cluster, members).seconds(throttle) or 0.0
        if not least * (1 - 1e-9) <= filling <= total_seconds * (1 + 1e-9):
            faults.add("slot_filling", location, f"{filling:g} s is not between {least:g} and {total_seconds:g} s")
