"""How long nobody reads which partition after one trigger in a settled KIP-848 group, in closed form.

It says what ``consumer_protocol`` replays, without its events. Each member learns of its new target at its first beat
after the group's epoch was raised; who must give something up beats again a trip later, which frees it; its new reader
gets it at the first of its own beats after that. Worked example (A and B hold two partitions each, C joins at 0, A
beats at 1 s, B at 4 s, every 5 s, no trips): A frees at 1 s, B at 4 s, C's beat is at 5 s: pauses of 4 s and 1 s.

Properties, in order: the figures are those of the replay, to the millisecond; two passes over the partitions.
Complexity O(partitions + members).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import NOBODY, Ints, Longs
from kafka_rebalance.coordinator.staggered_clocks import beat_from
from kafka_rebalance.kernels.decorators import inlined_kernel, inner_kernel, kernel


class EpochRaised(NamedTuple):
    """``raised_ms``: when the group's epoch is; by the beat of ``raised_by``, or NOBODY: before all beats of that time.

    ``gone``: who stopped reading at 0 and is in the group no longer; ``newcomer``: who was not in it before.
    ``unread_since_ms``: when reading of what nobody reads before this was due: at 0, or when it was lost.
    ``not_before_ms``: the new target is computed no sooner.
    """

    raised_ms: int
    raised_by: int
    gone: int
    newcomer: int
    unread_since_ms: int
    not_before_ms: int
    trip_ms: int
    heartbeat_ms: int


class ConsumerPauses(NamedTuple):
    """``refused``: a place of the arrays that cannot be. ``computed_ms``: when the new target is; -1: never."""

    refused: int
    unread: int
    revoked: int
    endless: int
    longest_ms: int
    total_ms: int
    ends_ms: int
    computed_ms: int


@kernel
def consumer_pauses(before: Ints, after: Ints, beats: Longs, epoch: EpochRaised) -> ConsumerPauses:
    """``beats``: each member's next, on return the one at which it first asks for more with nothing to give up."""
    refused = _first_refused(before, after, len(beats), epoch)
    if refused != NOBODY:
        return ConsumerPauses(refused, 0, 0, 0, 0, 0, 0, 0)
    computed_ms = _learn(beats, epoch)
    _revoke(before, after, beats, epoch)
    unread, revoked, endless, longest, total, ends_ms = 0, 0, 0, 0, 0, max(computed_ms, epoch.raised_ms)
    for partition in range(len(before)):
        old, new = before[partition], after[partition]
        if old == new:
            continue
        is_taken = old not in (NOBODY, epoch.gone)
        from_ms = epoch.unread_since_ms if old == NOBODY else 0
        if is_taken:
            revoked += 1
            from_ms = int(beats[old])
            ends_ms = max(ends_ms, from_ms)
        if new == NOBODY:
            endless += 1
            continue
        given_ms = int(beats[new])
        if is_taken:
            given_ms = beat_from(given_ms, from_ms, epoch.heartbeat_ms)
            if given_ms == from_ms and new < old:  # of one moment's beats the lower number's is first
                given_ms += epoch.heartbeat_ms
        reads_ms = given_ms + epoch.trip_ms
        ends_ms = max(ends_ms, reads_ms)
        if reads_ms > from_ms:
            unread += 1
            longest = max(longest, reads_ms - from_ms)
            total += reads_ms - from_ms
    return ConsumerPauses(NOBODY, unread + endless, revoked, endless, longest, total, ends_ms, computed_ms)


@inner_kernel
def _first_refused(before: Ints, after: Ints, members: int, epoch: EpochRaised) -> int:
    """The place of no such member, of one that reads before it is there, or is to read when it is gone."""
    for partition in range(len(before)):
        old, new = before[partition], after[partition]
        is_outside = old < NOBODY or old >= members or new < NOBODY or new >= members
        is_early = old == epoch.newcomer and old != NOBODY
        if is_outside or is_early or (new == epoch.gone and new != NOBODY):
            return partition
    return NOBODY


@inner_kernel
def _learn(beats: Longs, epoch: EpochRaised) -> int:
    """``beats`` becomes the first of each member that meets the new target; when it is computed, -1: nobody is left."""
    computed_ms = -1
    asked_ms = max(epoch.raised_ms, epoch.not_before_ms)
    for member in range(len(beats)):
        if member == epoch.gone:
            continue
        if member == epoch.raised_by:
            beats[member] = beat_from(epoch.raised_ms, asked_ms, epoch.heartbeat_ms)
        else:
            beat = beat_from(beats[member], asked_ms, epoch.heartbeat_ms)
            is_too_early = beat == epoch.raised_ms and member < epoch.raised_by
            beats[member] = beat + epoch.heartbeat_ms if is_too_early else beat
        computed_ms = beats[member] if computed_ms < 0 else min(computed_ms, beats[member])
    return computed_ms


@inner_kernel
def _revoke(before: Ints, after: Ints, beats: Longs, epoch: EpochRaised) -> None:
    """Who gives something up beats again a trip later, when it has."""
    is_revoking = np.zeros(len(beats), dtype=np.bool_)
    for partition in range(len(before)):
        old = before[partition]
        if old != after[partition] and _is_there(old, epoch):
            is_revoking[old] = True
    for member in range(len(beats)):
        if is_revoking[member]:
            beats[member] += epoch.trip_ms


@inlined_kernel
def _is_there(member: int, epoch: EpochRaised) -> bool:
    return member not in (NOBODY, epoch.gone)
