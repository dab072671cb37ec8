"""How long nobody reads which partition after one trigger in a settled classic group, in closed form.

It says what ``classic_protocol`` replays, without its events. Worked example (eager; member 2 of 3 leaves at 0, beats
of 0 and 1 at 1,000 and 2,000 ms, trips of 100 ms): 0 stops at 1,100 ms, 1 at 2,100 ms, which is the last JoinGroup; all
read again two trips later, at 2,300 ms: pauses of 1,200 and 200 ms, and 2,300 ms for what the third had. Complexity
O(partitions + members).

Properties, in order: the figures are those of the replay, to the millisecond; one pass over the partitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Ints, Longs
from kafka_rebalance.coordinator.staggered_clocks import beat_from
from kafka_rebalance.kernels.decorators import inner_kernel, kernel


class JoinPhase(NamedTuple):
    """``prepared_ms``: when the coordinator wants everybody's JoinGroup; that of ``joined_first`` is there by then.

    ``gone``: who stopped reading at 0 and is in the group no longer; ``newcomer``: who was not in it before.
    ``delay_ms``: what an empty group waits. ``unread_since_ms``: when reading of what nobody reads
    before this was due: at 0, or when it was lost.
    """

    prepared_ms: int
    joined_first: int
    gone: int
    newcomer: int
    delay_ms: int
    unread_since_ms: int
    trip_ms: int
    heartbeat_ms: int


class ClassicPauses(NamedTuple):
    """``refused``: a place of the arrays that cannot be. ``next_beat_ms``: everybody's, after the last JoinGroup."""

    refused: int
    unread: int
    revoked: int
    endless: int
    longest_ms: int
    total_ms: int
    ends_ms: int
    next_beat_ms: int


@kernel
def eager_pauses(before: Ints, after: Ints, beats: Longs, phase: JoinPhase) -> ClassicPauses:
    """Everybody stops when it rejoins, and reads again two trips after the last one did.

    ``beats``: when each member beats next; on return when it rejoined.
    """
    joined_ms = _last_join(beats, phase)
    reads_ms = joined_ms + 2 * phase.trip_ms
    unread, revoked, endless, longest, total = 0, 0, 0, 0, 0
    for partition in range(len(before)):
        old, new = before[partition], after[partition]
        if _is_refused(old, new, len(beats), phase):
            return ClassicPauses(partition, 0, 0, 0, 0, 0, 0, 0)
        if old == NOBODY and new == NOBODY:
            continue
        from_ms = phase.unread_since_ms if old == NOBODY else 0
        if old not in (NOBODY, phase.gone):
            from_ms = int(beats[old])
            revoked += 1
        if new == NOBODY:
            endless += 1
        elif reads_ms > from_ms:
            unread += 1
            longest = max(longest, reads_ms - from_ms)
            total += reads_ms - from_ms
    next_beat_ms = joined_ms + phase.trip_ms + phase.heartbeat_ms
    return ClassicPauses(NOBODY, unread + endless, revoked, endless, longest, total, reads_ms, next_beat_ms)


@kernel
def cooperative_pauses(before: Ints, after: Ints, dropped: Flags, beats: Longs, phase: JoinPhase) -> ClassicPauses:
    """What is free is read after the first round; what a member gives up then, after a second one.

    ``dropped``: empty, or what ``joined_first`` gave up before it joined; ``beats``: as above.
    """
    joined_ms = _last_join(beats, phase)
    first_ms = joined_ms + 2 * phase.trip_ms
    is_revoking = np.zeros(len(beats), dtype=np.bool_)
    free, dropped_count, moved, taken, endless, revoking = 0, 0, 0, 0, 0, 0
    for partition in range(len(before)):
        old, new = before[partition], after[partition]
        if _is_refused(old, new, len(beats), phase):
            return ClassicPauses(partition, 0, 0, 0, 0, 0, 0, 0)
        is_dropped = len(dropped) > 0 and dropped[partition] and old != NOBODY and old == phase.joined_first
        if old == new and not is_dropped:
            continue
        if old in (NOBODY, phase.gone) or is_dropped:
            dropped_count += is_dropped
            free += new != NOBODY
            endless += new == NOBODY
            continue
        moved += new != NOBODY
        taken += new == NOBODY
        endless += new == NOBODY
        revoking += not is_revoking[old]
        is_revoking[old] = True
    ends_ms, next_beat_ms = first_ms, joined_ms + phase.trip_ms + phase.heartbeat_ms
    if revoking > 0:
        is_all = revoking == len(beats) - (phase.gone != NOBODY)
        rejoined_ms = first_ms if is_all else beat_from(next_beat_ms, first_ms, phase.heartbeat_ms) + phase.trip_ms
        ends_ms, next_beat_ms = rejoined_ms + 2 * phase.trip_ms, rejoined_ms + phase.trip_ms + phase.heartbeat_ms
    second_ms = ends_ms - first_ms
    free_ms = first_ms - phase.unread_since_ms
    free = free if free_ms > 0 else 0
    handed_over = moved if second_ms > 0 else 0
    longest = max(free_ms if free > 0 else 0, second_ms if handed_over > 0 else 0)
    total = free * free_ms + handed_over * second_ms
    unread, revoked = free + handed_over + endless, dropped_count + moved + taken
    return ClassicPauses(NOBODY, unread, revoked, endless, longest, total, ends_ms, next_beat_ms)


@inner_kernel
def _last_join(beats: Longs, phase: JoinPhase) -> int:
    """When the last JoinGroup is there; ``beats`` then holds the time of each member's own."""
    last = phase.prepared_ms + phase.delay_ms
    for member in range(len(beats)):
        if member == phase.gone:
            continue
        if member == phase.joined_first:
            beats[member] = phase.prepared_ms
            continue
        beats[member] = beat_from(beats[member], phase.prepared_ms, phase.heartbeat_ms) + phase.trip_ms
        last = max(last, beats[member])
    return last


@inner_kernel
def _is_refused(old: int, new: int, members: int, phase: JoinPhase) -> bool:
    """No such member, one that reads before it is there, or one that is to read when it is gone."""
    is_outside = old < NOBODY or old >= members or new < NOBODY or new >= members
    is_early = old == phase.newcomer and old != NOBODY
    return is_outside or is_early or (new == phase.gone and new != NOBODY)
