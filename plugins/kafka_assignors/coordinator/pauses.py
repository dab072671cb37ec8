"""Pauses that one trigger causes in a settled group, in closed form. O(partitions + members).

Equal to ``replay_chain`` to the millisecond for any trigger and protocol, with staggered heartbeats and members that
poll at once. Example (KIP-848, no trips): A and B hold two partitions each, C joins at 0, A beats at 1 s, B at 4 s,
every 5 s. A frees at 1 s, B at 4 s, C beats at 5 s: pauses of 4 s and 1 s. A member that revokes beats again a trip
later.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Ints, Longs
from kafka_assignors.coordinator.classic_protocol import replay_classic
from kafka_assignors.coordinator.consumer_protocol import replay_consumer
from kafka_assignors.coordinator.timeline import (
    Change,
    Holding,
    Phase,
    Protocol,
    Step,
    Timeline,
    Times,
    Trigger,
    beat_from,
    first_beats,
    holdings,
    interval_of,
    session_end,
    stagger,
)
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.kernels import inlined_kernel, inner_kernel, kernel


@dataclass(frozen=True, slots=True)
class Pauses:
    """Counted once a rebalance.

    ``partitions_unread``: for a while, or for good. ``partitions_revoked``: a living member stopped reading them, even
    if it got them back. ``longest_pause_ms`` is None where one has no reader any more; ``unread_partition_ms``, a sum
    over partitions, excludes such.
    """

    partitions_unread: int
    partitions_revoked: int
    longest_pause_ms: int | None
    unread_partition_ms: int


NO_PAUSES = Pauses(0, 0, 0, 0)


def sum_pauses(all_pauses: Iterable[Pauses]) -> Pauses:
    unread, revoked, unread_ms = 0, 0, 0
    longest: int | None = 0
    for pauses in all_pauses:
        unread += pauses.partitions_unread
        revoked += pauses.partitions_revoked
        unread_ms += pauses.unread_partition_ms
        is_endless = longest is None or pauses.longest_pause_ms is None
        longest = None if is_endless else max(longest or 0, pauses.longest_pause_ms or 0)
    return Pauses(unread, revoked, longest, unread_ms)


def add_pauses(first: Pauses, second: Pauses) -> Pauses:
    return sum_pauses((first, second))


def scale_pauses(pauses: Pauses, share: float) -> Pauses:
    """Extrapolated from a known ``share`` (above 0, at most 1); the longest stays."""
    return Pauses(
        round(pauses.partitions_unread / share),
        round(pauses.partitions_revoked / share),
        pauses.longest_pause_ms,
        round(pauses.unread_partition_ms / share),
    )


class JoinPhase(NamedTuple):
    """``prepared_ms``: when the coordinator needs all JoinGroups; that of ``joined_first`` is there by then.

    ``gone``: stopped reading at 0 and left. ``unread_since_ms``: for partitions without a reader before.
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
    """Each member stops when it rejoins, and reads again two trips after the last one did.

    ``beats``: next beat; on return when it rejoined.
    """
    joined_ms = _last_join(beats, phase)
    reads_ms = joined_ms + 2 * phase.trip_ms
    unread, revoked, endless, longest, total = 0, 0, 0, 0, 0
    for partition in range(len(before)):
        old, new = before[partition], after[partition]
        if _is_refused(old, new, len(beats), phase):
            return ClassicPauses(partition, 0, 0, 0, 0, 0, 0, 0)
        if old == ABSENT and new == ABSENT:
            continue
        from_ms = phase.unread_since_ms if old == ABSENT else 0
        if old not in (ABSENT, phase.gone):
            from_ms = int(beats[old])
            revoked += 1
        if new == ABSENT:
            endless += 1
        elif reads_ms > from_ms:
            unread += 1
            longest = max(longest, reads_ms - from_ms)
            total += reads_ms - from_ms
    next_beat_ms = joined_ms + phase.trip_ms + phase.heartbeat_ms
    return ClassicPauses(ABSENT, unread + endless, revoked, endless, longest, total, reads_ms, next_beat_ms)


@kernel
def cooperative_pauses(before: Ints, after: Ints, dropped: Flags, beats: Longs, phase: JoinPhase) -> ClassicPauses:
    """Free partitions are read after the first round, revoked ones after a second.

    ``dropped``: what ``joined_first`` revoked before it joined, or empty; ``beats``: as above.
    """
    joined_ms = _last_join(beats, phase)
    first_ms = joined_ms + 2 * phase.trip_ms
    is_revoking = np.zeros(len(beats), dtype=np.bool_)
    free, dropped_count, moved, taken, endless, revoking = 0, 0, 0, 0, 0, 0
    for partition in range(len(before)):
        old, new = before[partition], after[partition]
        if _is_refused(old, new, len(beats), phase):
            return ClassicPauses(partition, 0, 0, 0, 0, 0, 0, 0)
        is_dropped = len(dropped) > 0 and dropped[partition] and old != ABSENT and old == phase.joined_first
        if old == new and not is_dropped:
            continue
        if old in (ABSENT, phase.gone) or is_dropped:
            dropped_count += is_dropped
            free += new != ABSENT
            endless += new == ABSENT
            continue
        moved += new != ABSENT
        taken += new == ABSENT
        endless += new == ABSENT
        revoking += not is_revoking[old]
        is_revoking[old] = True
    ends_ms, next_beat_ms = first_ms, joined_ms + phase.trip_ms + phase.heartbeat_ms
    if revoking > 0:
        is_all = revoking == len(beats) - (phase.gone != ABSENT)
        rejoined_ms = first_ms if is_all else beat_from(next_beat_ms, first_ms, phase.heartbeat_ms) + phase.trip_ms
        ends_ms, next_beat_ms = rejoined_ms + 2 * phase.trip_ms, rejoined_ms + phase.trip_ms + phase.heartbeat_ms
    second_ms = ends_ms - first_ms
    free_ms = first_ms - phase.unread_since_ms
    free = free if free_ms > 0 else 0
    handed_over = moved if second_ms > 0 else 0
    longest = max(free_ms if free > 0 else 0, second_ms if handed_over > 0 else 0)
    total = free * free_ms + handed_over * second_ms
    unread, revoked = free + handed_over + endless, dropped_count + moved + taken
    return ClassicPauses(ABSENT, unread, revoked, endless, longest, total, ends_ms, next_beat_ms)


@inner_kernel
def _last_join(beats: Longs, phase: JoinPhase) -> int:
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
    is_outside = old < ABSENT or old >= members or new < ABSENT or new >= members
    is_early = old == phase.newcomer and old != ABSENT
    return is_outside or is_early or (new == phase.gone and new != ABSENT)


class EpochRaised(NamedTuple):
    """The epoch rises at ``raised_ms`` by the beat of ``raised_by``, or ABSENT: before all beats of that time.

    ``gone``: stopped reading at 0 and left. ``unread_since_ms``: for partitions without a reader before.
    ``not_before_ms``: earliest new target.
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
    """``beats``: next of each member; on return the first with nothing to revoke."""
    refused = _first_refused(before, after, len(beats), epoch)
    if refused != ABSENT:
        return ConsumerPauses(refused, 0, 0, 0, 0, 0, 0, 0)
    computed_ms = _learn(beats, epoch)
    _revoke(before, after, beats, epoch)
    unread, revoked, endless, longest, total, ends_ms = 0, 0, 0, 0, 0, max(computed_ms, epoch.raised_ms)
    for partition in range(len(before)):
        old, new = before[partition], after[partition]
        if old == new:
            continue
        is_taken = old not in (ABSENT, epoch.gone)
        from_ms = epoch.unread_since_ms if old == ABSENT else 0
        if is_taken:
            revoked += 1
            from_ms = int(beats[old])
            ends_ms = max(ends_ms, from_ms)
        if new == ABSENT:
            endless += 1
            continue
        given_ms = int(beats[new])
        if is_taken:
            given_ms = beat_from(given_ms, from_ms, epoch.heartbeat_ms)
            if given_ms == from_ms and new < old:  # at one time the lower number beats first
                given_ms += epoch.heartbeat_ms
        reads_ms = given_ms + epoch.trip_ms
        ends_ms = max(ends_ms, reads_ms)
        if reads_ms > from_ms:
            unread += 1
            longest = max(longest, reads_ms - from_ms)
            total += reads_ms - from_ms
    return ConsumerPauses(ABSENT, unread + endless, revoked, endless, longest, total, ends_ms, computed_ms)


@inner_kernel
def _first_refused(before: Ints, after: Ints, members: int, epoch: EpochRaised) -> int:
    for partition in range(len(before)):
        old, new = before[partition], after[partition]
        is_outside = old < ABSENT or old >= members or new < ABSENT or new >= members
        is_early = old == epoch.newcomer and old != ABSENT
        if is_outside or is_early or (new == epoch.gone and new != ABSENT):
            return partition
    return ABSENT


@inner_kernel
def _learn(beats: Longs, epoch: EpochRaised) -> int:
    """Advance ``beats`` to each member's first under the new target. Return its time, -1 without members."""
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
    return member not in (ABSENT, epoch.gone)


def replay_rebalance(protocol: Protocol, change: Change, times: Times) -> Timeline:
    return replay_chain(protocol, (change,), times)


def replay_chain(protocol: Protocol, changes: Sequence[Change], times: Times) -> Timeline:
    if protocol is Protocol.CONSUMER:
        return replay_consumer(changes, times)
    return replay_classic(changes, times, is_cooperative=protocol is Protocol.COOPERATIVE)


def replayed_pauses(protocol: Protocol, goes: Step, returns: Step, times: Times) -> Pauses:
    names = _names(goes.member_count)
    subject, leader = goes.subject, names[goes.leader]
    before, after = _holding(goes.before, names, ABSENT), _holding(returns.after, names, ABSENT)
    meanwhile = _holding(goes.after, names, subject)
    changes = (
        Change(goes.trigger, names[subject], before, meanwhile, leader, is_static=goes.is_static),
        Change(
            returns.trigger, names[subject], meanwhile, after, leader, is_static=returns.is_static,
            at_ms=times.restart_ms,
        ),
    )  # fmt: skip
    return _sums(replay_chain(protocol, changes, stagger(protocol, times, names)), names[subject])


def _names(count: int) -> list[str]:
    width = len(str(count))
    return [f"member {number:0{width}}" for number in range(count)]


def _holding(column: Ints, names: list[str], absent: int) -> Holding:
    held = holdings(column)
    return {
        name: frozenset(("", partition) for partition in held.get(number, ()))
        for number, name in enumerate(names)
        if number != absent
    }


def _sums(timeline: Timeline, subject: str) -> Pauses:
    lengths = [pause.to_ms - pause.from_ms for pause in timeline.pauses if pause.to_ms is not None]
    revoked = [event.partitions for event in timeline.events if event.phase is Phase.REVOKE and event.member != subject]
    return Pauses(len(timeline.pauses), sum(revoked), timeline.longest_pause_ms, sum(lengths))


_NOTHING_DROPPED = np.zeros(0, dtype=np.bool_)
_NOTHING_DROPPED.setflags(write=False)


class _Learned(NamedTuple):
    """``by``: whose request; ABSENT: none, or the next one. Other fields as in ``EpochRaised``."""

    at_ms: int
    by: int = ABSENT
    gone: int = ABSENT
    newcomer: int = ABSENT
    unread_since_ms: int = 0
    not_before_ms: int = 0


def pauses_of(protocol: Protocol, step: Step, times: Times) -> Pauses:
    """Sum of ``replay_chain`` for a settled group with staggered clocks.

    Raises InvalidInputError for impossible assignments, and for times that no broker accepts.
    """
    _require_possible(protocol, times)
    if step.trigger is Trigger.COORDINATOR_MOVES:
        _require_unchanged(step)
        return NO_PAUSES
    if step.trigger is Trigger.STATIC_RESTART:
        return _static_restart(protocol, step, times)
    return _measure(protocol, step, times)


def restart_pauses(protocol: Protocol, leaves: Step, returns: Step, times: Times) -> Pauses:
    """A member without an instance id leaves, and joins again after ``times.restart_ms``.

    If the others have settled by then, both rebalances are summed up, the second with the clocks of the first; else
    both are replayed.
    """
    _require_possible(protocol, times)
    is_restart = (leaves.trigger, returns.trigger) == (Trigger.MEMBER_LEAVES, Trigger.MEMBER_JOINS)
    is_same = (leaves.subject, leaves.member_count) == (returns.subject, returns.member_count)
    if not is_restart or not is_same or leaves.is_static or not np.array_equal(leaves.after, returns.before):
        raise InvalidInputError.at(
            f"restart of member {leaves.subject}",
            f"{leaves.trigger} of member {leaves.subject}, then {returns.trigger} of member {returns.subject}",
            "one member without instance id leaves, and joins what that leaves behind; else: static_restart",
        )
    return _goes_and_returns(protocol, leaves, returns, times)


def _require_possible(protocol: Protocol, times: Times) -> None:
    interval, trip = interval_of(protocol, times), times.round_trip_ms
    is_long_enough = interval + trip < times.rebalance_ms or protocol is Protocol.CONSUMER
    if not 0 <= trip < interval or times.session_ms < interval or not is_long_enough:
        raise InvalidInputError.at(
            "times",
            f"heartbeat {interval}, trip {trip}, session {times.session_ms}, rebalance {times.rebalance_ms} ms",
            "a trip is shorter than the heartbeat's interval, that no longer than a session and than a rebalance",
        )


def _require_unchanged(step: Step) -> None:
    if not np.array_equal(step.before, step.after):
        raise InvalidInputError.at(f"{step.trigger}", "changes who reads what, which it does not")


def _measure(protocol: Protocol, step: Step, times: Times) -> Pauses:
    beats = first_beats(step.member_count, interval_of(protocol, times))
    learned = _first_notice(protocol, step, times)
    if protocol is Protocol.CONSUMER:
        return _summary(_consumer(step, learned, times, beats), step)
    return _summary(_classic(protocol, step, learned, times, beats), step)


def _first_notice(protocol: Protocol, step: Step, times: Times) -> _Learned:
    subject, trip, is_classic = step.subject, times.round_trip_ms, protocol is not Protocol.CONSUMER
    match step.trigger:
        case Trigger.MEMBER_JOINS:
            trips = 2 if is_classic and not step.is_static else 1  # KIP-394: JoinGroup twice
            return _Learned(trips * trip, by=subject, newcomer=subject)
        case Trigger.SUBSCRIPTION_CHANGES:
            return _Learned(0, by=subject)
        case Trigger.PARTITION_COUNT_CHANGES:
            return _Learned(times.metadata_max_age_ms, by=step.leader) if is_classic else _Learned(0)
        case Trigger.MEMBER_LEAVES if not step.is_static:
            return _Learned(0, gone=subject)
        case Trigger.MEMBER_STALLS if not step.is_static:
            return _Learned(times.poll_interval_ms, gone=subject)
        case _:
            silent_ms = times.poll_interval_ms if step.trigger is Trigger.MEMBER_STALLS else 0
            return _Learned(session_end(protocol, times, subject, step.member_count, silent_ms), gone=subject)


def _classic(protocol: Protocol, step: Step, learned: _Learned, times: Times, beats: Longs) -> ClassicPauses:
    phase = JoinPhase(
        learned.at_ms, learned.by, learned.gone, learned.newcomer,
        times.initial_delay_ms if step.is_empty_before else 0, learned.unread_since_ms, times.round_trip_ms,
        times.heartbeat_ms,
    )  # fmt: skip
    if protocol is Protocol.EAGER:
        return eager_pauses(step.before, step.after, beats, phase)
    is_dropping = step.trigger is Trigger.SUBSCRIPTION_CHANGES and step.dropped is not None
    dropped = step.dropped if is_dropping else _NOTHING_DROPPED
    return cooperative_pauses(step.before, step.after, dropped, beats, phase)


def _consumer(step: Step, learned: _Learned, times: Times, beats: Longs) -> ConsumerPauses:
    epoch = EpochRaised(
        learned.at_ms, learned.by, learned.gone, learned.newcomer, learned.unread_since_ms, learned.not_before_ms,
        times.round_trip_ms, times.consumer_heartbeat_ms,
    )  # fmt: skip
    return consumer_pauses(step.before, step.after, beats, epoch)


def _summary(pauses: ClassicPauses | ConsumerPauses, step: Step) -> Pauses:
    _require_known(pauses.refused, step)
    longest_ms = None if pauses.endless else int(pauses.longest_ms)
    return Pauses(int(pauses.unread), int(pauses.revoked), longest_ms, int(pauses.total_ms))


def _require_known(refused: int, step: Step) -> None:
    if refused == ABSENT:
        return
    raise InvalidInputError.at(
        f"{step.trigger}, partition {refused}",
        f"is read by {step.before[refused]} before and {step.after[refused]} after",
        f"members are 0 to {step.member_count - 1}, and {step.subject} reads only while it is there",
    )


def _static_restart(protocol: Protocol, step: Step, times: Times) -> Pauses:
    """Within its session it keeps its partitions. Beyond, it dies and joins later."""
    expires_ms = session_end(protocol, times, step.subject, step.member_count, 0)
    if times.restart_ms <= expires_ms:
        _require_unchanged(step)
        # FindCoordinator, JoinGroup, SyncGroup; KIP-848: one heartbeat for the latter two.
        trips = 2 if protocol is Protocol.CONSUMER else 3
        pause_ms = times.restart_ms + trips * times.round_trip_ms
        count = int(np.count_nonzero(step.before == step.subject)) if pause_ms else 0
        return Pauses(count, 0, pause_ms if count else 0, count * pause_ms)
    if step.meanwhile is None:
        raise InvalidInputError.at(
            f"static member {step.subject}",
            f"is away for {times.restart_ms} ms, its session ends after {expires_ms} ms",
            "say what the others have meanwhile (meanwhile)",
        )
    dies = replace(step, trigger=Trigger.MEMBER_DIES, after=step.meanwhile, meanwhile=None, is_static=True)
    joins = replace(step, trigger=Trigger.MEMBER_JOINS, before=step.meanwhile, meanwhile=None, is_static=True)
    return _goes_and_returns(protocol, dies, joins, times)


def _goes_and_returns(protocol: Protocol, goes: Step, returns: Step, times: Times) -> Pauses:
    """Leaves at 0, returns after ``restart_ms``.

    Replayed if the others have not settled by then, or if others' partitions lose their reader meanwhile (no strategy
    does).
    """
    beats = first_beats(goes.member_count, interval_of(protocol, times))
    learned, back = _first_notice(protocol, goes, times), _first_notice(protocol, returns, times)
    lost = returns.before == ABSENT
    resumed = lost & (returns.after != ABSENT)
    is_plain = bool(np.all(goes.before[resumed] == goes.subject))
    first: ClassicPauses | ConsumerPauses
    if protocol is Protocol.CONSUMER:
        first = _consumer(goes, learned, times, beats)
    else:
        first = _classic(protocol, goes, learned, times, beats)
    _require_known(first.refused, goes)
    if times.restart_ms <= first.ends_ms or not is_plain:
        return replayed_pauses(protocol, goes, returns, times)
    back = back._replace(unread_since_ms=-times.restart_ms)
    if isinstance(first, ConsumerPauses):
        since_ms = first.computed_ms + times.assignment_interval_ms - times.restart_ms if first.computed_ms >= 0 else 0
        back = back._replace(not_before_ms=since_ms)
        second = _summary(_consumer(returns, back, times, beats - times.restart_ms), returns)
    else:
        beats[:] = first.next_beat_ms - times.restart_ms
        second = _summary(_classic(protocol, returns, back, times, beats), returns)
    # Partitions lost until the subject returns pause once, counted with the second rebalance.
    count = int(np.count_nonzero(resumed))
    gone = _summary(first._replace(unread=first.unread - count, endless=first.endless - count), goes)
    return sum_pauses((gone, second))
