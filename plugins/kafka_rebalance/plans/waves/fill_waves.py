"""Which moves run together. Promises, in order:

1. While both copies exist no disk overflows.
2. No broker sends more than ``slots`` partitions or receives more than ``slots`` copies at a time, and what is written
   meanwhile stays below half of the throttle, unless one partition alone is above it: then that wave's throttle is
   raised above its rate, for otherwise the copy would never catch up.
3. No broker gives or takes the leadership of more than ``leaders`` partitions in one wave.
4. Partitions that lack replicas go first.
5. The sum of the waves' times is small: it comes near the busiest broker's bytes over the throttle, which is a lower
   bound. The largest first, each where it costs least; then exchange between waves (``wave_exchange``).

Example: throttle 10 bytes/s, broker 1 sends 100 and 40 bytes, broker 2 sends 50, one slot: waves {100, 50} and {40}
last 10 s + 4 s = 14 s = broker 1's 140 bytes over the throttle.
Complexity: O(E · waves) for E transfers; with tight disks as well.
Sources: bipartite edge colouring needs ⌈largest degree / slots⌉ waves (König); that many are opened at first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Flags, Floats, Ints
from kafka_rebalance.plans.params import DEFAULTS, WaveParams
from kafka_rebalance.plans.waves.leader_steps import UNLIMITED
from kafka_rebalance.plans.waves.transfers import Transfers
from kafka_rebalance.plans.waves.wave_exchange import packing_of, shorten
from kafka_rebalance.plans.waves.wave_fill import Caps, copies_of, empty_wave_loads, fill_evenly, fill_next


@dataclass(frozen=True, slots=True)
class WaveLimits:
    """What one wave may do at most, see ``PlanOptions``."""

    throttle_bytes_per_s: int
    slots: int
    rows: int
    leaders: int = UNLIMITED


@dataclass(frozen=True, slots=True, eq=False)
class Disk:
    """float64[B] bytes: in use today, and what can be carried at all (inf: unknown)."""

    used: Floats
    limit: Floats


@dataclass(frozen=True, slots=True, eq=False)
class WaveTraffic:
    """One wave's bytes by broker float64[B], its throttle and its time."""

    arriving: Floats
    sent: Floats
    throttle_bytes_per_s: int
    seconds: float


def waves_of(
    transfers: Transfers,
    is_urgent: Flags,
    brokers: int,
    disk: Disk | None,
    limits: WaveLimits,
    params: WaveParams = DEFAULTS.waves,
) -> Ints:
    """int32[E]: the wave of each transfer, without gaps, urgent ones first; -1: no disk ever has capacity for it."""
    if len(transfers) == 0:
        return np.zeros(0, dtype=np.int32)
    caps = Caps(limits.slots, limits.rows, limits.throttle_bytes_per_s / 2, limits.leaders)
    if disk is not None and _is_tight(transfers, brokers, disk):
        return _one_after_the_other(transfers, is_urgent, brokers, disk, caps)
    copies = copies_of(transfers)
    order = np.lexsort((-transfers.size * transfers.copies, ~is_urgent))
    urgent = np.flatnonzero(is_urgent)
    urgent_waves = _least_waves(transfers.chosen(urgent), brokers, caps)
    waves = max(_least_waves(transfers, brokers, caps), urgent_waves, 1)
    while True:
        wave_loads = empty_wave_loads(waves, brokers)
        wave = fill_evenly(order, len(urgent), max(urgent_waves, 1), copies, wave_loads, caps)
        if (wave >= 0).all():
            enough = (1 + params.fair_time_over_least) * least_in_turn(transfers, brokers)
            # Waves with urgent partitions stay as they are: none of the others may come between them.
            packing = packing_of(wave, urgent_waves, copies, wave_loads, caps)
            shorten(packing, params.most_exchange_tries, enough)
            return _without_gaps(wave)
        urgent_waves += math.ceil(urgent_waves / 8) if (wave[urgent] < 0).any() else 0
        waves = max(waves + math.ceil(waves / 8), urgent_waves)


def _one_after_the_other(transfers: Transfers, is_urgent: Flags, brokers: int, disk: Disk, caps: Caps) -> Ints:
    """With tight disks: what leaves full disks first, each wave as full as disks allow."""
    copies, used = copies_of(transfers), disk.used.copy()
    wave_of = np.full(len(transfers), -1, dtype=np.int32)
    waiting = np.lexsort((-transfers.size * transfers.copies, ~_relieves(transfers, disk), ~is_urgent))
    wave = 0
    while len(waiting):
        wave_loads = empty_wave_loads(1, brokers)
        is_taken = fill_next(waiting, copies, wave_loads, caps, used, disk.limit)
        if not is_taken.any():
            break
        taken = waiting[is_taken]
        wave_of[taken] = wave
        gone = transfers.chosen(taken)
        leaving = np.bincount(gone.dropped, weights=gone.dropped_size, minlength=brokers)
        used = used + wave_loads.busy_in[0] - leaving
        waiting, wave = waiting[~is_taken], wave + 1
    return wave_of


def _without_gaps(wave: Ints) -> Ints:
    return np.asarray(np.unique(wave, return_inverse=True)[1], dtype=np.int32)


def traffic_of(
    transfers: Transfers, brokers: int, throttle: int, over_rate: float = DEFAULTS.waves.throttle_over_rate
) -> WaveTraffic:
    """Bytes and time of transfers that run together.

    The throttle is raised to ``over_rate`` times what is written meanwhile where that is above it: a copy catches up
    if the throttle leaves it something.
    """
    out = transfers.copies * transfers.size
    of_copy = transfers.of_copy
    arriving = np.bincount(transfers.target, weights=transfers.size[of_copy], minlength=brokers).astype(np.float64)
    sent = np.bincount(transfers.source, weights=out, minlength=brokers).astype(np.float64)
    rate = _busiest_rate(transfers, brokers)
    raised = throttle if rate < throttle else math.ceil(rate * over_rate) + 1
    busiest = max(float(arriving.max(initial=0.0)), float(sent.max(initial=0.0)))
    return WaveTraffic(arriving, sent, raised, busiest / raised)


def _busiest_rate(transfers: Transfers, brokers: int) -> float:
    into = np.bincount(transfers.target, weights=transfers.rate[transfers.of_copy], minlength=brokers)
    out = np.bincount(transfers.source, weights=transfers.copies * transfers.rate, minlength=brokers)
    return max(float(into.max(initial=0.0)), float(out.max(initial=0.0)))


def least_in_turn(transfers: Transfers, brokers: int) -> float:
    """Bytes of the busiest broker: waves after each other cannot be shorter."""
    sent = np.bincount(transfers.source, weights=transfers.copies * transfers.size, minlength=brokers)
    arriving = np.bincount(transfers.target, weights=transfers.size[transfers.of_copy], minlength=brokers)
    return max(float(sent.max(initial=0.0)), float(arriving.max(initial=0.0)))


def bytes_in_turn(transfers: Transfers, wave: Ints, brokers: int) -> float:
    """The busiest broker's bytes of each wave, summed: what the waves' times are made of. -1: in no wave."""
    waves = int(wave.max(initial=-1)) + 1
    within = wave >= 0
    sent = np.bincount(
        wave[within] * brokers + transfers.source[within],
        weights=(transfers.copies * transfers.size)[within],
        minlength=waves * brokers,
    )
    owner = transfers.of_copy
    owner, target = owner[within[owner]], transfers.target[within[owner]]
    arriving = np.bincount(wave[owner] * brokers + target, weights=transfers.size[owner], minlength=waves * brokers)
    return float(np.maximum(sent, arriving).reshape(waves, brokers).max(axis=1, initial=0.0).sum())


def _least_waves(transfers: Transfers, brokers: int, caps: Caps) -> int:
    """Fewer waves cannot be: degree over slots, rows of a file, write rates and leaders over what a wave may have."""
    if len(transfers) == 0:
        return 0
    degree = max(
        int(np.bincount(transfers.source, minlength=brokers).max()),
        int(np.bincount(transfers.target, minlength=brokers).max(initial=0)),
    )
    led = max((int(np.bincount(side[side >= 0], minlength=1).max()) for side in transfers.leaders), default=0)
    by_rate = max(_busiest_rate(transfers, brokers) / caps.rate, led / caps.leaders)
    return max(math.ceil(degree / caps.slots), math.ceil(len(transfers) / caps.rows), math.ceil(by_rate), 1)


def _is_tight(transfers: Transfers, brokers: int, disk: Disk) -> bool:
    """Some disk could overflow if everything arrived before anything left."""
    arriving = np.bincount(transfers.target, weights=transfers.size[transfers.of_copy], minlength=brokers)
    return bool(((arriving > 0) & (disk.used + arriving > disk.limit)).any())


def _relieves(transfers: Transfers, disk: Disk) -> Flags:
    """bool[E]: takes a replica off a disk that is nearly full: those go early."""
    fullness = np.divide(disk.used, disk.limit, out=np.zeros_like(disk.used), where=disk.limit > 0)
    is_full = fullness > np.quantile(fullness, 0.75)
    counts = np.diff(transfers.dropped_begin)
    owner = np.repeat(np.arange(len(transfers)), counts)
    return np.bincount(owner, weights=is_full[transfers.dropped], minlength=len(transfers)) > 0
