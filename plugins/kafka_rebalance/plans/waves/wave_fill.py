"""Which transfer goes into which wave: the compiled inner loops of ``waves.py``.

A wave lasts as long as its busiest broker's bytes in or out, and waves run one after the other. So the longest wave
is not what counts, but the sum: each transfer goes where it lengthens its wave least, and among equals where its own
brokers are least busy. Sorted by size, transfers of one length end up together, and little time is lost at barriers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Flags, Floats, Ints, Longs
from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.plans.waves.transfers import Transfers


@dataclass(frozen=True, eq=False)
class Copies(ByReference):
    """The columns of ``Transfers`` that kernels read."""

    source: Ints
    size: Floats
    rate: Floats
    target: Ints
    begin: Longs
    leader_before: Ints
    leader_after: Ints


@dataclass(frozen=True, eq=False)
class Caps(ByReference):
    """Limits of one wave: partitions sent or copies received by a broker, rows of a file, bytes/s written meanwhile,
    leaders that change from or to a broker.
    """

    slots: int
    rows: int
    rate: float
    leaders: int


@dataclass(frozen=True, eq=False)
class WaveLoads(ByReference):
    """What is in each wave so far, [waves, brokers] but ``members`` int64[waves] and ``length`` float64[waves]."""

    busy_out: Floats
    busy_in: Floats
    rate_out: Floats
    rate_in: Floats
    count_out: npt.NDArray[np.int32]
    count_in: npt.NDArray[np.int32]
    leaders_out: npt.NDArray[np.int32]
    leaders_in: npt.NDArray[np.int32]
    members: Longs
    length: Floats


def copies_of(transfers: Transfers) -> Copies:
    """The view that kernels want."""
    return Copies(
        np.ascontiguousarray(transfers.source),
        np.ascontiguousarray(transfers.size),
        np.ascontiguousarray(transfers.rate),
        np.ascontiguousarray(transfers.target),
        np.ascontiguousarray(transfers.begin),
        np.ascontiguousarray(transfers.leaders.before, dtype=np.int32),
        np.ascontiguousarray(transfers.leaders.after, dtype=np.int32),
    )


def empty_wave_loads(waves: int, brokers: int) -> WaveLoads:
    """``waves`` without members."""
    shape = (waves, brokers)
    busy = [np.zeros(shape) for _ in range(4)]
    counts = [np.zeros(shape, dtype=np.int32) for _ in range(4)]
    return WaveLoads(
        busy[0], busy[1], busy[2], busy[3], counts[0], counts[1], counts[2], counts[3],
        np.zeros(waves, dtype=np.int64), np.zeros(waves),
    )  # fmt: skip


@inner_kernel
def can_change_leader(w: int, before: int, after: int, wave_loads: WaveLoads, limit: int) -> bool:
    """Wave ``w`` may change one leader more from one broker to another; -1: nobody."""
    return (before < 0 or wave_loads.leaders_out[w, before] < limit) and (
        after < 0 or wave_loads.leaders_in[w, after] < limit
    )


@inner_kernel
def level_in(w: int, e: int, copies: Copies, wave_loads: WaveLoads, caps: Caps) -> float:
    """Bytes of the busiest of the transfer's own brokers if it joined wave ``w``; -1 where it may not join."""
    first, last, s = copies.begin[e], copies.begin[e + 1], copies.source[e]
    out_rate = copies.rate[e] * (last - first)
    if wave_loads.members[w] >= caps.rows or wave_loads.count_out[w, s] >= caps.slots:
        return -1.0
    if wave_loads.rate_out[w, s] > 0 and wave_loads.rate_out[w, s] + out_rate > caps.rate:
        return -1.0
    if not can_change_leader(w, copies.leader_before[e], copies.leader_after[e], wave_loads, caps.leaders):
        return -1.0
    level = float(wave_loads.busy_out[w, s] + copies.size[e] * (last - first))
    for i in range(first, last):
        d = copies.target[i]
        if wave_loads.count_in[w, d] >= caps.slots:
            return -1.0
        if wave_loads.rate_in[w, d] > 0 and wave_loads.rate_in[w, d] + copies.rate[e] > caps.rate:
            return -1.0
        level = max(level, wave_loads.busy_in[w, d] + copies.size[e])
    return level


@inner_kernel
def join(w: int, e: int, copies: Copies, wave_loads: WaveLoads) -> None:
    """Put a transfer into a wave."""
    first, last, s = copies.begin[e], copies.begin[e + 1], copies.source[e]
    wave_loads.busy_out[w, s] += copies.size[e] * (last - first)
    wave_loads.rate_out[w, s] += copies.rate[e] * (last - first)
    wave_loads.count_out[w, s] += 1
    if copies.leader_before[e] >= 0:
        wave_loads.leaders_out[w, copies.leader_before[e]] += 1
    if copies.leader_after[e] >= 0:
        wave_loads.leaders_in[w, copies.leader_after[e]] += 1
    wave_loads.length[w] = max(wave_loads.length[w], wave_loads.busy_out[w, s])
    for i in range(first, last):
        d = copies.target[i]
        wave_loads.busy_in[w, d] += copies.size[e]
        wave_loads.rate_in[w, d] += copies.rate[e]
        wave_loads.count_in[w, d] += 1
        wave_loads.length[w] = max(wave_loads.length[w], wave_loads.busy_in[w, d])
    wave_loads.members[w] += 1


@kernel
def fill_evenly(
    order: Longs, urgent_count: int, urgent_waves: int, copies: Copies, wave_loads: WaveLoads, caps: Caps
) -> Ints:
    """int32[E]: the wave of each transfer, -1 where none of the waves of ``wave_loads`` could take it.

    The first ``urgent_count`` of ``order`` go into the first ``urgent_waves``.
    """
    wave_of = np.full(len(order), -1, dtype=np.int32)
    for position in range(len(order)):
        e = order[position]
        best, best_growth, best_level = -1, 0.0, 0.0
        for w in range(urgent_waves if position < urgent_count else len(wave_loads.members)):
            level = level_in(w, e, copies, wave_loads, caps)
            if level < 0:
                continue
            growth = max(0.0, level - wave_loads.length[w])
            if best < 0 or growth < best_growth or (growth == best_growth and level < best_level):
                best, best_growth, best_level = w, growth, level
        if best >= 0:
            wave_of[e] = best
            join(best, e, copies, wave_loads)
    return wave_of


@kernel
def fill_next(waiting: Longs, copies: Copies, wave_loads: WaveLoads, caps: Caps, used: Floats, limit: Floats) -> Flags:
    """bool[len(waiting)]: which of ``waiting`` go into the one wave of ``wave_loads``, in that order.

    No disk (``used`` float64[B] of ``limit``) overflows while all that arrives stands beside all that is to leave.
    """
    is_taken = np.zeros(len(waiting), dtype=np.bool_)
    for position in range(len(waiting)):
        e = waiting[position]
        has_capacity = level_in(0, e, copies, wave_loads, caps) >= 0
        for i in range(copies.begin[e], copies.begin[e + 1]):
            d = copies.target[i]
            has_capacity = has_capacity and used[d] + wave_loads.busy_in[0, d] + copies.size[e] <= limit[d]
        if has_capacity:
            is_taken[position] = True
            join(0, e, copies, wave_loads)
    return is_taken
