"""Shorter waves by exchange: the compiled loop that makes the sum of the waves' lengths smaller.

A wave is as long as its busiest broker is. So of each wave, what its busiest broker sends or receives is tried in the
other waves: alone, or in exchange for a transfer that shares a broker with it there. What shortens the two waves'
sum most is done; nothing is done that makes it longer, so it ends. The limits of a wave hold after each step.

Example, one slot: waves {1→2 of 6, 3→4 of 2} and {1→5 of 3, 3→6 of 7} last 6 + 7. Exchanging 3→4 and 3→6 makes them
{6, 7} and {3, 2}: 7 + 3.
Complexity: O(tries · copies of a transfer + steps · brokers), and tries are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Ints, Longs
from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.kernels.decorators import inner_kernel, kernel
from kafka_rebalance.plans.waves.wave_fill import Caps, Copies, WaveLoads, join, level_in


@dataclass(frozen=True, eq=False)
class Packing(ByReference):
    """Transfers in waves. ``wave_of`` int32[E]; the members of each wave are a list: ``head`` int64[waves],
    ``following`` int64[E], -1 ends it; waves from ``first`` on may change.
    """

    wave_of: Ints
    head: Longs
    following: Longs
    first: int
    copies: Copies
    wave_loads: WaveLoads
    caps: Caps


def packing_of(wave_of: Ints, first: int, copies: Copies, wave_loads: WaveLoads, caps: Caps) -> Packing:
    """The waves as they are: ``wave_loads`` holds what ``wave_of`` says."""
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
    """Exchange in place until the lengths of all waves sum up to ``enough`` bytes, nothing helps, or ``most_tries``
    were made. Returns how many were.
    """
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
    """The wave that ``e``, out of ``w``, goes to (-1: nothing helps), what comes back for it (-1: nothing), and
    how many were tried. ``rest``: the length of ``w`` without it.
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
                there = level_in(v, e, copies, wave_loads, caps)
                here = level_in(w, f, copies, wave_loads, caps)
                join(v, f, copies, wave_loads)
                gain = top - max(rest, here) - max(0.0, there - length)
                if there >= 0 and here >= 0 and gain > best:
                    best, best_wave, best_other = gain, v, f
            f = packing.following[f]
    return best_wave, best_other, tries


@inner_kernel
def _carry(e: int, w: int, v: int, packing: Packing) -> None:
    """Take a transfer from wave ``w`` to ``v``."""
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
    """Take a transfer out of a wave's loads; ``length`` stays as it was."""
    first, last, s = copies.begin[e], copies.begin[e + 1], copies.source[e]
    wave_loads.busy_out[w, s] -= copies.size[e] * (last - first)
    wave_loads.rate_out[w, s] -= copies.rate[e] * (last - first)
    wave_loads.count_out[w, s] -= 1
    if wave_loads.count_out[w, s] == 0:  # no rest of rounding
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
    """Bytes of the wave's busiest broker."""
    longest = 0.0
    for b in range(wave_loads.busy_out.shape[1]):
        longest = max(longest, wave_loads.busy_out[w, b], wave_loads.busy_in[w, b])
    return longest


@inner_kernel
def _is_busiest(w: int, e: int, copies: Copies, wave_loads: WaveLoads) -> bool:
    """The transfer keeps the wave's busiest broker busy."""
    top = wave_loads.length[w] * (1 - 1e-9)
    found = wave_loads.busy_out[w, copies.source[e]] >= top
    for i in range(copies.begin[e], copies.begin[e + 1]):
        found = found or wave_loads.busy_in[w, copies.target[i]] >= top
    return bool(found)


@inner_kernel
def _meet(e: int, f: int, copies: Copies) -> bool:
    """Two transfers share their sender, or a receiver."""
    found = copies.source[e] == copies.source[f]
    for i in range(copies.begin[e], copies.begin[e + 1]):
        for j in range(copies.begin[f], copies.begin[f + 1]):
            found = found or copies.target[i] == copies.target[j]
    return bool(found)
