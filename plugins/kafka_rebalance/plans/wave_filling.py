"""Assign transfers to waves, with the throttle of each: kernels that know no cluster.

Promises, in order
1. While both copies exist no disk overflows.
2. No broker sends more than ``slots`` partitions or receives more than ``slots`` copies at a time. Concurrent writes
   stay below half of the throttle; if one partition alone exceeds that, the throttle rises above its rate, so that its
   copy catches up.
3. No broker loses or wins more than ``leaders`` leaders in one wave.
4. No broker sends or receives more than fits into a night, but for one transfer that is larger.
5. Partitions with missing replicas go first.
6. The sum of the waves' times is near its lower bound, the busiest broker's bytes over the throttle.

Filling: largest first; each transfer goes where it lengthens its wave least, ties where its own brokers are least busy.
A wave lasts as long as its busiest broker's bytes in or out. Example: throttle 10 bytes/s, broker 1 sends 100 and 40
bytes, broker 2 sends 50, one slot: waves {100, 50} and {40} last 10 s + 4 s = 14 s.

Exchange: transfers of each wave's busiest broker are tried in other waves, alone or for a transfer there that shares a
broker. The best change is made while one shortens the sum of both waves.

Leader changes alone go into the first step with room, in the given order.

Slot filling (a driver without barriers) is event-driven list scheduling: a copy runs at throttle / slots. When one ends
the next starts: the one whose other side has most left, then the largest.

O(E · waves) for E transfers. Source: bipartite edge colouring needs ⌈largest degree / slots⌉ waves (König); that many
are opened at first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_assignors.kernels import ByReference, inner_kernel, kernel
from kafka_rebalance.plans.params import DEFAULTS, WaveParams

UNLIMITED = int(np.iinfo(np.int32).max)


class LeaderShifts(NamedTuple):
    """The broker that stops leading each partition, and the one that begins; -1: none."""

    before: Ints
    after: Ints


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Transfers:
    """E transfers with C copies.

    ``source`` the leader that sends; ``size`` bytes of one copy; ``rate`` concurrent writes; ``target`` int32[C]
    receivers, those of e are ``target[begin[e]:begin[e + 1]]``; ``dropped`` with ``dropped_begin``: brokers that lose a
    replica of ``dropped_size`` bytes afterwards; ``leaders``: leader changes.
    """

    source: Ints
    size: Floats
    rate: Floats
    target: Ints
    begin: Longs
    dropped: Ints
    dropped_size: Floats
    dropped_begin: Longs
    leaders: LeaderShifts

    def __len__(self) -> int:
        return len(self.source)

    @property
    def copies(self) -> Longs:
        return np.diff(self.begin)

    @property
    def of_copy(self) -> Longs:
        return np.repeat(np.arange(len(self), dtype=np.int64), self.copies)

    def chosen(self, members: Longs) -> Transfers:
        target, begin = _cells(self.begin, members)
        dropped, dropped_begin = _cells(self.dropped_begin, members)
        return Transfers(
            source=self.source[members], size=self.size[members], rate=self.rate[members],
            target=self.target[target], begin=begin, dropped=self.dropped[dropped],
            dropped_size=self.dropped_size[dropped], dropped_begin=dropped_begin,
            leaders=LeaderShifts(self.leaders.before[members], self.leaders.after[members]),
        )  # fmt: skip


class ReplicaCells(NamedTuple):
    """``brokers`` int32[E, W] of replica lists; bool[E, W]: the selected ones."""

    brokers: Ints
    is_meant: Flags

    @property
    def begins(self) -> Longs:
        return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.is_meant.sum(axis=1), dtype=np.int64)))

    @property
    def listed(self) -> Ints:
        return self.brokers[self.is_meant]


def transfers_of(
    *,
    source: Ints,
    size: Floats,
    rate: Floats,
    new: ReplicaCells,
    dropped: ReplicaCells,
    own_size: Floats,
    leaders: LeaderShifts,
) -> Transfers:
    """New copies, and dropped replicas of ``own_size``. Unknown sizes and rates count 0."""
    return Transfers(
        source=source,
        size=np.nan_to_num(size),
        rate=np.nan_to_num(rate),
        target=new.listed,
        begin=new.begins,
        dropped=dropped.listed,
        dropped_size=np.nan_to_num(own_size[dropped.is_meant]),
        dropped_begin=dropped.begins,
        leaders=leaders,
    )


def _cells(begin: Longs, members: Longs) -> tuple[Longs, Longs]:
    counts = np.diff(begin)[members]
    starts = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    cells = np.arange(starts[-1]) + np.repeat(begin[members] - starts[:-1], counts)
    return cells, starts


def leader_steps(shifts: LeaderShifts, is_first: Flags, brokers: int, rows: int, limit: int) -> Ints:
    """Steps from 0, without gaps; ``is_first`` are placed first."""
    count = len(shifts.before)
    if count == 0:
        return np.zeros(0, dtype=np.int32)
    order = np.argsort(~is_first, kind="stable")
    most = -(-count // rows) + sum(-(-int(np.bincount(side[side >= 0], minlength=1).max()) // limit) for side in shifts)
    step = np.empty(count, dtype=np.int32)
    step[order] = _first_with_room(
        np.ascontiguousarray(shifts.before[order], dtype=np.int32),
        np.ascontiguousarray(shifts.after[order], dtype=np.int32),
        np.zeros((2, most, brokers), dtype=np.int32), rows, limit,
    )  # fmt: skip
    return step


@kernel
def _first_with_room(before: Ints, after: Ints, changed: Ints, rows: int, limit: int) -> Ints:
    """``changed``: leaders lost and won in each step so far."""
    members: Longs = np.zeros(changed.shape[1], np.int64)
    step = np.full(len(before), -1, np.int32)
    for e in range(len(before)):
        a, b = before[e], after[e]
        for s in range(len(members)):
            if members[s] >= rows or (a >= 0 and changed[0, s, a] >= limit) or (b >= 0 and changed[1, s, b] >= limit):
                continue
            members[s] += 1
            if a >= 0:
                changed[0, s, a] += 1
            if b >= 0:
                changed[1, s, b] += 1
            step[e] = s
            break
    return step


@dataclass(frozen=True, slots=True)
class WaveLimits:
    """See ``PlanOptions``; ``most_bytes`` that a broker sends or receives in a night."""

    throttle_bytes_per_s: int
    slots: int
    rows: int
    leaders: int = UNLIMITED
    most_bytes: float = math.inf


@dataclass(frozen=True, slots=True, eq=False)
class Disk:
    """Bytes used today, and the capacity (inf: unknown)."""

    used: Floats
    limit: Floats


@dataclass(frozen=True, slots=True, eq=False)
class WaveTraffic:
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
    """Waves without gaps, urgent ones first; -1: no disk ever has room."""
    if len(transfers) == 0:
        return np.zeros(0, dtype=np.int32)
    caps = Caps(limits.slots, limits.rows, limits.throttle_bytes_per_s / 2, limits.leaders, limits.most_bytes)
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
            # No other move delays urgent partitions.
            packing = packing_of(wave, urgent_waves, copies, wave_loads, caps)
            shorten(packing, params.most_exchange_tries, enough)
            return _without_gaps(wave)
        urgent_waves += math.ceil(urgent_waves / 8) if (wave[urgent] < 0).any() else 0
        waves = max(waves + math.ceil(waves / 8), urgent_waves)


def _one_after_the_other(transfers: Transfers, is_urgent: Flags, brokers: int, disk: Disk, caps: Caps) -> Ints:
    """With tight disks: moves off full disks first, each wave as full as disks allow."""
    copies, used = copies_of(transfers), disk.used.copy()
    wave_of = np.full(len(transfers), -1, dtype=np.int32)
    waiting = np.lexsort((-transfers.size * transfers.copies, ~_relieves(transfers, disk), ~is_urgent))
    wave = 0
    while len(waiting):
        wave_loads = empty_wave_loads(1, brokers)
        is_taken = fill_next(waiting, copies, wave_loads, caps, used, disk.limit)
        if not is_taken.any():
            break
        in_wave = waiting[is_taken]
        wave_of[in_wave] = wave
        gone = transfers.chosen(in_wave)
        leaving = np.bincount(gone.dropped, weights=gone.dropped_size, minlength=brokers)
        used = used + wave_loads.busy_in[0] - leaving
        waiting, wave = waiting[~is_taken], wave + 1
    return wave_of


def _without_gaps(wave: Ints) -> Ints:
    return np.asarray(np.unique(wave, return_inverse=True)[1], dtype=np.int32)


def traffic_of(
    transfers: Transfers, brokers: int, throttle: int, over_rate: float = DEFAULTS.waves.throttle_over_rate
) -> WaveTraffic:
    """The throttle is at least ``over_rate`` times the concurrent writes, so that copies catch up."""
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
    """Lower bound for waves in sequence."""
    sent = np.bincount(transfers.source, weights=transfers.copies * transfers.size, minlength=brokers)
    arriving = np.bincount(transfers.target, weights=transfers.size[transfers.of_copy], minlength=brokers)
    return max(float(sent.max(initial=0.0)), float(arriving.max(initial=0.0)))


def bytes_in_turn(transfers: Transfers, wave: Ints, brokers: int) -> float:
    """Sum over waves of the busiest broker's bytes. -1: in no wave."""
    return float(busiest_bytes(transfers, wave, brokers).sum())


def busiest_bytes(transfers: Transfers, wave: Ints, brokers: int) -> Floats:
    """float64[waves]: bytes of each wave's busiest broker. ``wave`` -1: in no wave."""
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
    return np.asarray(np.maximum(sent, arriving).reshape(waves, brokers).max(axis=1, initial=0.0))


def _least_waves(transfers: Transfers, brokers: int, caps: Caps) -> int:
    """Degree over slots, rows of a file, write rates, leaders, nights."""
    if len(transfers) == 0:
        return 0
    degree = max(
        int(np.bincount(transfers.source, minlength=brokers).max()),
        int(np.bincount(transfers.target, minlength=brokers).max(initial=0)),
    )
    led = max((int(np.bincount(side[side >= 0], minlength=1).max()) for side in transfers.leaders), default=0)
    by_rate = max(_busiest_rate(transfers, brokers) / caps.rate, led / caps.leaders)
    by_rate = max(by_rate, least_in_turn(transfers, brokers) / caps.most_bytes)
    return max(math.ceil(degree / caps.slots), math.ceil(len(transfers) / caps.rows), math.ceil(by_rate), 1)


def _is_tight(transfers: Transfers, brokers: int, disk: Disk) -> bool:
    """Whether a disk overflows if all arrives before anything leaves."""
    arriving = np.bincount(transfers.target, weights=transfers.size[transfers.of_copy], minlength=brokers)
    return bool(((arriving > 0) & (disk.used + arriving > disk.limit)).any())


def _relieves(transfers: Transfers, disk: Disk) -> Flags:
    fullness = np.divide(disk.used, disk.limit, out=np.zeros_like(disk.used), where=disk.limit > 0)
    is_full = fullness > np.quantile(fullness, 0.75)
    counts = np.diff(transfers.dropped_begin)
    owner = np.repeat(np.arange(len(transfers)), counts)
    return np.bincount(owner, weights=is_full[transfers.dropped], minlength=len(transfers)) > 0


@dataclass(frozen=True, eq=False)
class Copies(ByReference):
    source: Ints
    size: Floats
    rate: Floats
    target: Ints
    begin: Longs
    leader_before: Ints
    leader_after: Ints


@dataclass(frozen=True, eq=False)
class Caps(ByReference):
    """Limits of one wave: partitions sent or copies received by a broker, rows of a file, bytes/s of concurrent writes,
    leaders changed, bytes of a broker in a night (inf: no limit).
    """

    slots: int
    rows: int
    rate: float
    leaders: int
    most_bytes: float


@dataclass(frozen=True, eq=False)
class WaveLoads(ByReference):
    """[waves, brokers] but ``members`` and ``length`` [waves]."""

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
    shape = (waves, brokers)
    busy = [np.zeros(shape) for _ in range(4)]
    counts = [np.zeros(shape, dtype=np.int32) for _ in range(4)]
    return WaveLoads(
        busy[0], busy[1], busy[2], busy[3], counts[0], counts[1], counts[2], counts[3],
        np.zeros(waves, dtype=np.int64), np.zeros(waves),
    )  # fmt: skip


@inner_kernel
def can_change_leader(w: int, before: int, after: int, wave_loads: WaveLoads, limit: int) -> bool:
    """Whether wave ``w`` may change one more leader; broker -1: none."""
    return (before < 0 or wave_loads.leaders_out[w, before] < limit) and (
        after < 0 or wave_loads.leaders_in[w, after] < limit
    )


@inner_kernel
def level_in(w: int, e: int, copies: Copies, wave_loads: WaveLoads, caps: Caps) -> float:
    """Bytes of the busiest of the transfer's own brokers in wave ``w``; -1 where it may not join."""
    first, last, s = copies.begin[e], copies.begin[e + 1], copies.source[e]
    out_rate = copies.rate[e] * (last - first)
    if wave_loads.members[w] >= caps.rows or wave_loads.count_out[w, s] >= caps.slots:
        return -1.0
    if wave_loads.rate_out[w, s] > 0 and wave_loads.rate_out[w, s] + out_rate > caps.rate:
        return -1.0
    if not can_change_leader(w, copies.leader_before[e], copies.leader_after[e], wave_loads, caps.leaders):
        return -1.0
    level = float(wave_loads.busy_out[w, s] + copies.size[e] * (last - first))
    if wave_loads.count_out[w, s] > 0 and level > caps.most_bytes:
        return -1.0
    for i in range(first, last):
        d = copies.target[i]
        if wave_loads.count_in[w, d] >= caps.slots:
            return -1.0
        if wave_loads.rate_in[w, d] > 0 and wave_loads.rate_in[w, d] + copies.rate[e] > caps.rate:
            return -1.0
        arriving = wave_loads.busy_in[w, d] + copies.size[e]
        if wave_loads.count_in[w, d] > 0 and arriving > caps.most_bytes:
            return -1.0
        level = max(level, arriving)
    return level


@inner_kernel
def join(w: int, e: int, copies: Copies, wave_loads: WaveLoads) -> None:
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
    """Wave of each transfer, -1 where none could take it. The first ``urgent_count`` of ``order`` go into the first
    ``urgent_waves``.
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
    """Members of the one wave of ``wave_loads``, chosen in order. No disk (``used`` of ``limit``) overflows with all
    arrivals beside all departures.
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


@dataclass(frozen=True, eq=False)
class Packing(ByReference):
    """Each wave's members are a linked list: ``head`` int64[waves], ``following`` int64[E], -1 ends it; waves from
    ``first`` on may change.
    """

    wave_of: Ints
    head: Longs
    following: Longs
    first: int
    copies: Copies
    wave_loads: WaveLoads
    caps: Caps


def packing_of(wave_of: Ints, first: int, copies: Copies, wave_loads: WaveLoads, caps: Caps) -> Packing:
    """``wave_loads`` must hold the waves of ``wave_of``."""
    head = np.full(len(wave_loads.members), -1, dtype=np.int64)
    following = np.full(len(wave_of), -1, dtype=np.int64)
    order = np.argsort(wave_of, kind="stable")
    is_last = np.append(np.diff(wave_of[order]) != 0, values=True)
    following[order[:-1]] = np.where(is_last[:-1], -1, order[1:])
    head[wave_of[order[0]]] = order[0]
    begins = order[1:][is_last[:-1]]
    head[wave_of[begins]] = begins
    return Packing(wave_of, head, following, first, copies, wave_loads, caps)


@kernel
def shorten(packing: Packing, most_tries: int, enough: float) -> int:
    """Exchange until the lengths sum to ``enough`` bytes, nothing helps, or ``most_tries``; return the tries."""
    wave_loads, following, tries, has_gained = packing.wave_loads, packing.following, 0, True
    while has_gained and tries < most_tries and wave_loads.length.sum() > enough:
        has_gained = False
        for w in range(packing.first, len(wave_loads.members)):
            e = packing.head[w]
            while e >= 0 and tries < most_tries:
                if not _is_busiest(w, e, packing.copies, wave_loads):
                    e = following[e]
                    continue
                _leave(w, e, packing.copies, wave_loads)
                rest, best_wave, best_other = _longest(w, wave_loads), -1, -1
                if rest < wave_loads.length[w]:
                    best_wave, best_other, tried = _best_exchange(w, e, rest, packing)
                    tries += tried
                join(w, e, packing.copies, wave_loads)
                if best_wave < 0:
                    e = following[e]
                    continue
                has_gained = True
                _carry(e, w, best_wave, packing)
                if best_other >= 0:
                    _carry(best_other, best_wave, w, packing)
                wave_loads.length[w] = _longest(w, wave_loads)
                wave_loads.length[best_wave] = _longest(best_wave, wave_loads)
                e = packing.head[w]
    return tries


@inner_kernel
def _best_exchange(w: int, e: int, rest: float, packing: Packing) -> tuple[int, int, int]:
    """Return the wave for ``e`` out of ``w`` (-1: none helps), the transfer in exchange (-1: none), and the tries.
    ``rest``: the length of ``w`` without ``e``.
    """
    copies, wave_loads, caps = packing.copies, packing.wave_loads, packing.caps
    top = wave_loads.length[w]
    best, best_wave, best_other, tries = 1e-9 * top, -1, -1, 0
    for v in range(packing.first, len(wave_loads.members)):
        if v == w:
            continue
        tries += 1
        level, length = level_in(v, e, copies, wave_loads, caps), wave_loads.length[v]
        if level >= 0 and top - rest - max(0.0, level - length) > best:
            best, best_wave, best_other = top - rest - max(0.0, level - length), v, -1
        f = packing.head[v] if level < 0 or level > length else -1
        while f >= 0:
            if _meet(e, f, copies):
                tries += 1
                _leave(v, f, copies, wave_loads)
                level_there = level_in(v, e, copies, wave_loads, caps)
                level_here = level_in(w, f, copies, wave_loads, caps)
                join(v, f, copies, wave_loads)
                gain = top - max(rest, level_here) - max(0.0, level_there - length)
                if level_there >= 0 and level_here >= 0 and gain > best:
                    best, best_wave, best_other = gain, v, f
            f = packing.following[f]
    return best_wave, best_other, tries


@inner_kernel
def _carry(e: int, w: int, v: int, packing: Packing) -> None:
    head, following = packing.head, packing.following
    if head[w] == e:
        head[w] = following[e]
    else:
        f = head[w]
        while following[f] != e:
            f = following[f]
        following[f] = following[e]
    following[e] = head[v]
    head[v] = e
    packing.wave_of[e] = v
    _leave(w, e, packing.copies, packing.wave_loads)
    join(v, e, packing.copies, packing.wave_loads)


@inner_kernel
def _leave(w: int, e: int, copies: Copies, wave_loads: WaveLoads) -> None:
    """``length`` is unchanged."""
    first, last, s = copies.begin[e], copies.begin[e + 1], copies.source[e]
    wave_loads.busy_out[w, s] -= copies.size[e] * (last - first)
    wave_loads.rate_out[w, s] -= copies.rate[e] * (last - first)
    wave_loads.count_out[w, s] -= 1
    if wave_loads.count_out[w, s] == 0:  # no rounding rest
        wave_loads.busy_out[w, s] = wave_loads.rate_out[w, s] = 0.0
    if copies.leader_before[e] >= 0:
        wave_loads.leaders_out[w, copies.leader_before[e]] -= 1
    if copies.leader_after[e] >= 0:
        wave_loads.leaders_in[w, copies.leader_after[e]] -= 1
    for i in range(first, last):
        d = copies.target[i]
        wave_loads.busy_in[w, d] -= copies.size[e]
        wave_loads.rate_in[w, d] -= copies.rate[e]
        wave_loads.count_in[w, d] -= 1
        if wave_loads.count_in[w, d] == 0:
            wave_loads.busy_in[w, d] = wave_loads.rate_in[w, d] = 0.0
    wave_loads.members[w] -= 1


@inner_kernel
def _longest(w: int, wave_loads: WaveLoads) -> float:
    longest = 0.0
    for b in range(wave_loads.busy_out.shape[1]):
        longest = max(longest, wave_loads.busy_out[w, b], wave_loads.busy_in[w, b])
    return longest


@inner_kernel
def _is_busiest(w: int, e: int, copies: Copies, wave_loads: WaveLoads) -> bool:
    top = wave_loads.length[w] * (1 - 1e-9)
    is_at_top = wave_loads.busy_out[w, copies.source[e]] >= top
    for i in range(copies.begin[e], copies.begin[e + 1]):
        is_at_top = is_at_top or wave_loads.busy_in[w, copies.target[i]] >= top
    return bool(is_at_top)


@inner_kernel
def _meet(e: int, f: int, copies: Copies) -> bool:
    is_shared = copies.source[e] == copies.source[f]
    for i in range(copies.begin[e], copies.begin[e + 1]):
        for j in range(copies.begin[f], copies.begin[f + 1]):
            is_shared = is_shared or copies.target[i] == copies.target[j]
    return bool(is_shared)


def slot_filling_seconds(transfers: Transfers, brokers: int, slots: int, throttle: float) -> float:
    of_copy = transfers.of_copy
    if len(of_copy) == 0:
        return 0.0
    source, size = transfers.source[of_copy], transfers.size[of_copy]
    left_out = np.bincount(source, weights=size, minlength=brokers).astype(np.float64)
    left_in = np.bincount(transfers.target, weights=size, minlength=brokers).astype(np.float64)
    out_begin, out_copies = _by_broker(source, brokers)
    in_begin, in_copies = _by_broker(transfers.target, brokers)
    board = Board(
        source=source, target=np.ascontiguousarray(transfers.target), size=size, out_begin=out_begin,
        out_copies=out_copies, in_begin=in_begin, in_copies=in_copies, left_out=left_out, left_in=left_in,
        free_out=np.full(brokers, slots), free_in=np.full(brokers, slots),
        is_started=np.zeros(len(source), dtype=np.bool_),
    )  # fmt: skip
    most_left_first = np.argsort(-np.maximum(left_out, left_in), kind="stable")
    units = _makespan(board, most_left_first, brokers * slots + 1)
    return units * slots / throttle


def _by_broker(key: Ints, brokers: int) -> tuple[Longs, Longs]:
    begin = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(key, minlength=brokers))))
    return begin, np.argsort(key, kind="stable")


@dataclass(frozen=True, eq=False, kw_only=True)
class Board(ByReference):
    """C copies by sender and by receiver; remaining work by broker, free slots, started copies."""

    source: Ints  # int32[C]
    target: Ints  # int32[C]
    size: Floats  # float64[C]
    out_begin: Longs  # int64[B+1] into out_copies
    out_copies: Longs  # int64[C], by sender
    in_begin: Longs  # int64[B+1] into in_copies
    in_copies: Longs  # int64[C], by receiver
    left_out: Floats  # float64[B]
    left_in: Floats  # float64[B]
    free_out: Longs  # int64[B]
    free_in: Longs  # int64[B]
    is_started: Flags  # bool[C]


@kernel
def _makespan(board: Board, waiting: Longs, most_running: int) -> float:
    ends, running, count = np.empty(most_running), np.empty(most_running, np.int64), 0
    now = 0.0
    while True:
        for b in waiting:
            while board.free_out[b] > 0:
                i = _next_to_send(board, b)
                if i < 0:
                    break
                _start(i, board)
                count = _push(ends, running, count, now + board.size[i], i)
            while board.free_in[b] > 0:
                i = _next_to_receive(board, b)
                if i < 0:
                    break
                _start(i, board)
                count = _push(ends, running, count, now + board.size[i], i)
        if count == 0:
            return now
        now, ended = ends[0], running[0]
        count = _pop(ends, running, count)
        source, target = board.source[ended], board.target[ended]
        board.free_out[source] += 1
        board.free_in[target] += 1
        waiting = np.empty(2, np.int64)
        waiting[0], waiting[1] = source, target


@inner_kernel
def _next_to_send(board: Board, broker: int) -> int:
    """The receiver has most left, then the largest copy; -1: none can start."""
    best, best_left, best_size = -1, -1.0, -1.0
    for index in range(board.out_begin[broker], board.out_begin[broker + 1]):
        i = board.out_copies[index]
        other, size = board.target[i], board.size[i]
        if board.is_started[i] or board.free_in[other] <= 0:
            continue
        left = board.left_in[other]
        if left > best_left or (left == best_left and size > best_size):
            best, best_left, best_size = i, left, size
    return best


@inner_kernel
def _next_to_receive(board: Board, broker: int) -> int:
    """As ``_next_to_send``."""
    best, best_left, best_size = -1, -1.0, -1.0
    for index in range(board.in_begin[broker], board.in_begin[broker + 1]):
        i = board.in_copies[index]
        other, size = board.source[i], board.size[i]
        if board.is_started[i] or board.free_out[other] <= 0:
            continue
        left = board.left_out[other]
        if left > best_left or (left == best_left and size > best_size):
            best, best_left, best_size = i, left, size
    return best


@inner_kernel
def _start(i: int, board: Board) -> None:
    source, target, size = board.source[i], board.target[i], board.size[i]
    board.is_started[i] = True
    board.free_out[source] -= 1
    board.free_in[target] -= 1
    board.left_out[source] -= size
    board.left_in[target] -= size


@inner_kernel
def _push(ends: Floats, running: Longs, count: int, end: float, copy: int) -> int:
    i = count
    while i > 0 and ends[(i - 1) // 2] > end:
        ends[i], running[i] = ends[(i - 1) // 2], running[(i - 1) // 2]
        i = (i - 1) // 2
    ends[i], running[i] = end, copy
    return count + 1


@inner_kernel
def _pop(ends: Floats, running: Longs, count: int) -> int:
    count -= 1
    end, copy, i = ends[count], running[count], 0
    while 2 * i + 1 < count:
        child = 2 * i + 1
        if child + 1 < count and ends[child + 1] < ends[child]:
            child += 1
        if ends[child] >= end:
            break
        ends[i], running[i] = ends[child], running[child]
        i = child
    ends[i], running[i] = end, copy
    return count
