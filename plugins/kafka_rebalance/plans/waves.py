"""Cut a draft into waves with times, throttles and free disk, and the rollback with its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.draft import Draft, outcome_of, total_bytes
from kafka_rebalance.plans.params import DEFAULTS, WaveParams
from kafka_rebalance.plans.plan import Cost, Rollback, Wave
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.plans.wave_filling import (
    UNLIMITED,
    Disk,
    Transfers,
    WaveLimits,
    busiest_bytes,
    bytes_in_turn,
    leader_steps,
    least_in_turn,
    slot_filling_seconds,
    traffic_of,
    waves_of,
)
from kafka_rebalance.snapshot.figures import LoadKind

# Waves that fill a night to the last byte.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class WavePlan:
    """``stuck``: moves in no wave, since no disk ever has room; ``slots``: concurrent moves for each broker and
    direction.
    """

    wave_of: Ints
    stuck: Longs
    slots: int


def slots_of(plan_request: PlanRequest, draft: Draft, params: WaveParams = DEFAULTS.waves) -> int:
    if plan_request.options.moves_per_broker is not None:
        return plan_request.options.moves_per_broker
    brokers = len(plan_request.brokers.brokers)
    sent = np.bincount(draft.leader_from[draft.copies > 0], minlength=brokers)
    received = np.bincount(draft.end[draft.is_new], minlength=brokers)
    return max(params.least_slots, -(-max(int(sent.max()), int(received.max())) // params.most_waves))


@dataclass(frozen=True, slots=True, eq=False)
class SteppedWaves:
    """See ``WavePlan``."""

    wave_of: Ints
    step_of: Ints
    stuck: Longs
    slots: int


def waves_by_step(
    plan_request: PlanRequest,
    draft: Draft,
    step_of: Ints,
    params: WaveParams = DEFAULTS.waves,
    urgent: Flags | None = None,
) -> SteppedWaves:
    """Waves of each step, ``urgent`` moves first; a move without room in its step goes into the next."""
    wave_of, step_of = np.full(len(draft), -1, dtype=np.int32), step_of.copy()
    stuck, slots, first = np.zeros(0, dtype=np.int64), params.least_slots, 0
    for step in np.unique(step_of).tolist():
        step_of[stuck] = step
        members = np.flatnonzero(step_of == step)
        used = _disk_used(plan_request, draft.chosen(np.flatnonzero(wave_of >= 0)))
        cut = waves_cut(plan_request, draft.chosen(members), used, params, None if urgent is None else urgent[members])
        wave_of[members] = np.where(cut.wave_of >= 0, first + cut.wave_of, -1)
        stuck, slots = members[cut.stuck], max(slots, cut.slots)
        first = int(wave_of.max(initial=-1)) + 1
    if plan_request.options.moves_per_broker is not None:
        slots = plan_request.options.moves_per_broker
    return SteppedWaves(wave_of, step_of, stuck, slots)


def _disk_used(plan_request: PlanRequest, done: Draft) -> Floats | None:
    """None where sizes are unknown, or no replica moves."""
    outcome = outcome_of(plan_request, done)
    has_disk = "disk" in outcome.resources and plan_request.options.moves_replicas
    return outcome.after[:, outcome.column("disk")] if has_disk else None


def waves_cut(
    plan_request: PlanRequest,
    draft: Draft,
    used: Floats | None,
    params: WaveParams = DEFAULTS.waves,
    urgent: Flags | None = None,
) -> WavePlan:
    """Waves with the requested concurrency; without a request, with more where barriers cost much time.

    With nights the waves that take fewest of them.
    """
    best = _wide_enough(plan_request, draft, used, params, urgent)
    night_bytes = night_bytes_of(plan_request.options)
    if math.isinf(night_bytes):
        return best
    transfers, brokers = draft.forward(), len(plan_request.brokers.brokers)
    least = math.ceil(least_in_turn(transfers, brokers) / night_bytes)
    nights = len(by_night(busiest_bytes(transfers, best.wave_of, brokers).tolist(), night_bytes))
    for parts in range(2, params.most_parts + 1):
        if nights <= least or len(best.stuck) or plan_request.partitions.under_replicated[draft.row].any():
            break  # under-replicated partitions stay in the first waves
        other = cut_into_waves(plan_request, draft, used, best.slots, params, parts, urgent)
        needed = len(by_night(busiest_bytes(transfers, other.wave_of, brokers).tolist(), night_bytes))
        if needed < nights and not len(other.stuck):
            best, nights = other, needed
    return best


def night_bytes_of(options: PlanOptions) -> float:
    """Return the bytes that a broker can send or receive in a night; inf without one."""
    return math.inf if options.night_hours is None else 3600 * options.night_hours * options.throttle_bytes_per_s


def by_night(amounts: Sequence[float], most: float) -> list[list[int]]:
    """Return the waves of each night, in order: as many as fit, or one that is longer.

    >>> by_night([2, 1, 3, 0, 9], 3)
    [[0, 1], [2, 3], [4]]
    """
    nights: list[list[int]] = []
    used = math.inf
    for wave, amount in enumerate(amounts):
        used += amount
        if not fits_night(used, most):
            nights.append([])
            used = amount
        nights[-1].append(wave)
    return nights


def fits_night(amount: float, most: float) -> bool:
    return amount <= most * (1 + _ROUNDING)


def _wide_enough(
    plan_request: PlanRequest, draft: Draft, used: Floats | None, params: WaveParams, urgent: Flags | None
) -> WavePlan:
    cut = cut_into_waves(plan_request, draft, used, slots_of(plan_request, draft, params), params, urgent=urgent)
    if plan_request.options.moves_per_broker is not None:
        return cut
    transfers, brokers = draft.forward(), len(plan_request.brokers.brokers)
    fair = (1 + params.slow_time_over_least) * least_in_turn(transfers, brokers)
    in_turn = bytes_in_turn(transfers, cut.wave_of, brokers)
    for _ in range(params.most_doublings):
        if len(cut.stuck) or in_turn <= fair:
            break
        wider = cut_into_waves(plan_request, draft, used, 2 * cut.slots, params, urgent=urgent)
        shorter = bytes_in_turn(transfers, wider.wave_of, brokers)
        if shorter > (1 - params.slow_time_over_least) * in_turn:
            break
        cut, in_turn = wider, shorter
    return cut


def cut_into_waves(
    plan_request: PlanRequest,
    draft: Draft,
    used: Floats | None,
    slots: int,
    params: WaveParams = DEFAULTS.waves,
    parts: int = 1,
    urgent: Flags | None = None,
) -> WavePlan:
    """Return waves of partitions with missing replicas, then leader changes alone, then the rest, ``urgent`` first.

    Each wave takes at most one of ``parts`` of a night.

    Leader changes copy nothing, so they come as early as safety allows, elections first. ``used`` float64[B]: bytes on
    disk today, None where sizes are unknown.
    """
    options, brokers = plan_request.options, len(plan_request.brokers.brokers)
    leaders = options.max_leader_changes_per_wave or UNLIMITED
    most_bytes = night_bytes_of(options) / parts
    limits = WaveLimits(options.throttle_bytes_per_s, slots, options.partitions_per_wave, leaders, most_bytes)
    disk = None if used is None else Disk(used, plan_request.disk_limit)
    is_copy = draft.copies > 0
    copying = np.flatnonzero(is_copy)
    missing = plan_request.partitions.under_replicated[draft.row[copying]]
    transfers = draft.forward()
    comes_first = missing if urgent is None or missing.any() else urgent[copying]
    wave = waves_of(transfers.chosen(copying), comes_first, brokers, disk, limits, params)
    stuck = copying[wave < 0]
    rest = np.flatnonzero(~is_copy)
    step = leader_steps(transfers.chosen(rest).leaders, draft.is_election[rest], brokers, limits.rows, leaders)
    first = int(wave[missing & (wave >= 0)].max(initial=-1)) + 1
    wave_of = np.full(len(draft), -1, dtype=np.int32)
    wave_of[copying] = np.where(wave >= first, wave + int(step.max(initial=-1)) + 1, wave)
    wave_of[rest] = first + step
    return WavePlan(wave_of, stuck, slots)


def waves_forward(
    plan_request: PlanRequest, draft: Draft, wave_of: Ints, params: WaveParams = DEFAULTS.waves
) -> tuple[Wave, ...]:
    traffic = _leader_traffic(plan_request, draft, draft.changes_leader)
    return _waves(plan_request, draft.forward(), draft.bytes_forward(), _members(wave_of), traffic, params)


def rollback_of(
    plan_request: PlanRequest, draft: Draft, wave_of: Ints, params: WaveParams = DEFAULTS.waves
) -> Rollback:
    """Return the waves in reverse. Replicas cannot return to lost brokers, and an election is not undone."""
    gone = np.array([broker.state.is_gone for broker in plan_request.brokers.brokers], dtype=np.bool_)
    lost = np.asarray(((draft.start >= 0) & gone[draft.start]).any(axis=1))
    turned = [members[~lost[members]] for members in reversed(_members(wave_of))]
    members = [wave_moves for wave_moves in turned if len(wave_moves)]
    traffic = _leader_traffic(plan_request, draft, draft.changes_leader_back)
    waves = _waves(plan_request, draft.backward(), draft.bytes_back(), members, traffic, params)
    undone = np.flatnonzero(~lost)
    cost = Cost(
        replica_moves=int(draft.dropped[undone].sum()),
        bytes=total_bytes([wave.bytes for wave in waves]),
        leader_changes=int(draft.changes_leader_back[undone].sum()),
        seconds=_seconds(waves),
        seconds_slot_filling=_slot_filling(plan_request, draft.backward().chosen(undone), waves, params),
    )
    return Rollback(cost, waves, tuple(np.flatnonzero(lost).tolist()))


def cost_of(
    plan_request: PlanRequest, draft: Draft, waves: tuple[Wave, ...], params: WaveParams = DEFAULTS.waves
) -> Cost:
    return Cost(
        replica_moves=int(draft.copies.sum()),
        bytes=total_bytes(draft.bytes_forward()),
        leader_changes=int(draft.changes_leader.sum()),
        seconds=_seconds(waves),
        seconds_slot_filling=_slot_filling(plan_request, draft.forward(), waves, params),
    )


def _leader_traffic(plan_request: PlanRequest, draft: Draft, changes: Flags) -> LeaderTraffic:
    snapshot = plan_request.snapshot
    return LeaderTraffic(
        changes=changes,
        written=snapshot.load(LoadKind.IN_BYTES_PER_S)[draft.row],
        read=snapshot.load(LoadKind.OUT_BYTES_PER_S)[draft.row],
        is_reported=plan_request.options.max_leader_changes_per_wave is not None,
    )


def _members(wave_of: Ints) -> list[Longs]:
    order = np.argsort(wave_of, kind="stable")
    counts = np.bincount(wave_of) if len(wave_of) else np.zeros(0, dtype=np.int64)
    return np.split(order, np.cumsum(counts)[:-1]) if len(counts) else []


def _waves(
    plan_request: PlanRequest,
    transfers: Transfers,
    amounts: list[int | None],
    members: list[Longs],
    leaders: LeaderTraffic,
    params: WaveParams,
) -> tuple[Wave, ...]:
    ids, throttle = plan_request.brokers.arrays.ids.tolist(), plan_request.options.throttle_bytes_per_s
    waves = []
    for member in members:
        traffic = traffic_of(transfers.chosen(member), len(ids), throttle, params.throttle_over_rate)
        amount = total_bytes([amounts[m] for m in member.tolist()])
        needed = np.ceil(traffic.arriving).astype(np.int64)
        needed[_receivers_of_unknown(transfers.chosen(member), [amounts[m] is None for m in member.tolist()])] = 0
        waves.append(
            Wave(
                moves=tuple(member.tolist()),
                bytes=amount,
                seconds=None if amount is None else traffic.seconds,
                throttle_bytes_per_s=traffic.throttle_bytes_per_s,
                free_disk_needed={ids[b]: value for b, value in enumerate(needed.tolist()) if value > 0},
                **leaders.of_wave(member),
            )
        )
    return tuple(waves)


def _receivers_of_unknown(transfers: Transfers, is_unknown: list[bool]) -> Ints:
    return transfers.target[np.array(is_unknown, dtype=np.bool_)[transfers.of_copy]]


def _slot_filling(
    plan_request: PlanRequest, transfers: Transfers, waves: tuple[Wave, ...], params: WaveParams
) -> float | None:
    """At most the waves' time, since a driver may run the waves as they are."""
    in_waves = _seconds(waves)
    if in_waves is None or not waves:
        return in_waves
    throttle = max(wave.throttle_bytes_per_s for wave in waves)
    brokers = len(plan_request.brokers.brokers)
    return min(in_waves, float(slot_filling_seconds(transfers, brokers, params.driver_slots, throttle)))


def _seconds(waves: tuple[Wave, ...]) -> float | None:
    estimated = [wave.seconds for wave in waves if wave.seconds is not None]
    return float(sum(estimated)) if len(estimated) == len(waves) else None


class LeaderFigures(TypedDict):
    leader_changes: int | None
    leader_in_bytes_per_s: float | None
    leader_out_bytes_per_s: float | None


@dataclass(frozen=True, slots=True, eq=False)
class LeaderTraffic:
    """``written``, ``read`` bytes/s of each move's partition (nan: unknown); ``is_reported``: leader changes are
    limited, so waves count them.
    """

    changes: Flags
    written: Floats
    read: Floats
    is_reported: bool

    def of_wave(self, members: Longs) -> LeaderFigures:
        changed = members[self.changes[members]]
        return LeaderFigures(
            leader_changes=len(changed) if self.is_reported else None,
            leader_in_bytes_per_s=_known_sum(self.written[changed]) if self.is_reported else None,
            leader_out_bytes_per_s=_known_sum(self.read[changed]) if self.is_reported else None,
        )


def _known_sum(rates: Floats) -> float | None:
    total = float(rates.sum())
    return None if np.isnan(total) else total
