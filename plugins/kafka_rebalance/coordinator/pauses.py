"""What a trigger on a settled group does to reading, summed up, in closed form: microseconds instead of a replay.

It gives exactly what ``replay_chain`` gives with heartbeats spread evenly over their interval (``staggered``), for any
trigger under any protocol. Nobody knows members' clocks: ``Times.heartbeat_offset_ms`` is not looked at, nor are
``poll_delay_ms`` (members poll as soon as they hear).

Worked example (eager, two members with three partitions each, a third joins; trips of 100 ms, so it has joined at 200;
of three, those two beat at 1,000 and 2,000): six partitions are revoked and read again at 2,300 ms. Three pause
1,200 ms, three 200 ms: ``Pauses(6, 6, 1200, 4200)``. Complexity O(partitions + members).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kafka_rebalance.arrays import NOBODY, Longs
from kafka_rebalance.coordinator.classic_pauses import ClassicPauses, JoinPhase, cooperative_pauses, eager_pauses
from kafka_rebalance.coordinator.consumer_pauses import ConsumerPauses, EpochRaised, consumer_pauses
from kafka_rebalance.coordinator.pause_sums import NO_PAUSES, Pauses, added, scaled, summed
from kafka_rebalance.coordinator.rebalance_step import Step
from kafka_rebalance.coordinator.replayed_pauses import replayed_pauses
from kafka_rebalance.coordinator.staggered_clocks import first_beats, interval_of, session_end
from kafka_rebalance.coordinator.timeline import Protocol, Times, Trigger
from kafka_rebalance.errors import InvalidInputError

__all__ = ["Pauses", "Step", "added", "pauses_of", "restart_pauses", "rolling", "scaled", "summed"]

_NOTHING_DROPPED = np.zeros(0, dtype=np.bool_)
_NOTHING_DROPPED.setflags(write=False)  # as a step's own column is: one variant of the kernel serves both


class _Learned(NamedTuple):
    """When the coordinator knows, and by whose request: ``by`` is NOBODY where it is by none, or by whichever is next.

    ``gone``: who reads no more from 0 on; ``newcomer``: who was not in the group before. ``unread_since_ms``: when what
    nobody reads before this should have been read; ``not_before_ms``: KIP-848 computes no target sooner.
    """

    at_ms: int
    by: int = NOBODY
    gone: int = NOBODY
    newcomer: int = NOBODY
    unread_since_ms: int = 0
    not_before_ms: int = 0


def pauses_of(protocol: Protocol, step: Step, times: Times) -> Pauses:
    """What ``replay_chain`` sums up to for this trigger, if the group was settled and its clocks are staggered.

    Raises InvalidInputError for assignments that cannot be, and for times that no broker would accept.
    """
    _require_possible(protocol, times)
    if step.trigger is Trigger.COORDINATOR_MOVES:
        _require_unchanged(step)
        return NO_PAUSES
    if step.trigger is Trigger.STATIC_RESTART:
        return _static_restart(protocol, step, times)
    return _settled(protocol, step, times)


def restart_pauses(protocol: Protocol, leaves: Step, returns: Step, times: Times) -> Pauses:
    """A member without an instance id is restarted: it leaves, and joins again after ``times.restart_ms``.

    If the others have settled by then both rebalances are summed up, the second with the clocks that the first one left
    behind; else both are replayed together, event by event.
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


def rolling(protocol: Protocol, restarts: Iterable[Step | tuple[Step, Step]], times: Times) -> Pauses:
    """A rolling restart: one member after the other, each when the group has settled since the one before.

    A member without instance id is a pair for ``restart_pauses``; one with is a ``STATIC_RESTART``.
    """
    return summed(
        pauses_of(protocol, restart, times) if isinstance(restart, Step) else restart_pauses(protocol, *restart, times)
        for restart in restarts
    )


def _require_possible(protocol: Protocol, times: Times) -> None:
    """A heartbeat and its answer fit into an interval, a session, and the time that a rebalance may take."""
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


def _settled(protocol: Protocol, step: Step, times: Times) -> Pauses:
    beats = first_beats(step.member_count, interval_of(protocol, times))
    learned = _learned(protocol, step, times)
    if protocol is Protocol.CONSUMER:
        return _summary(_consumer(step, learned, times, beats), step)
    return _summary(_classic(protocol, step, learned, times, beats), step)


def _learned(protocol: Protocol, step: Step, times: Times) -> _Learned:
    """What happens before the coordinator knows."""
    subject, trip, is_classic = step.subject, times.round_trip_ms, protocol is not Protocol.CONSUMER
    match step.trigger:
        case Trigger.MEMBER_JOINS:
            trips = 2 if is_classic and not step.is_static else 1  # KIP-394: a newcomer asks twice
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


def _summary(found: ClassicPauses | ConsumerPauses, step: Step) -> Pauses:
    _require_known(found.refused, step)
    longest_ms = None if found.endless else int(found.longest_ms)
    return Pauses(int(found.unread), int(found.revoked), longest_ms, int(found.total_ms))


def _require_known(refused: int, step: Step) -> None:
    if refused == NOBODY:
        return
    raise InvalidInputError.at(
        f"{step.trigger}, partition {refused}",
        f"is read by {step.before[refused]} before and {step.after[refused]} after",
        f"members are 0 to {step.member_count - 1}, and {step.subject} reads only while it is there",
    )


def _static_restart(protocol: Protocol, step: Step, times: Times) -> Pauses:
    """Within its session: what it had waits for it. Beyond: it dies, and joins later."""
    expires_ms = session_end(protocol, times, step.subject, step.member_count, 0)
    if times.restart_ms <= expires_ms:
        _require_unchanged(step)
        # FindCoordinator, JoinGroup, SyncGroup; under KIP-848 one heartbeat instead of the latter two.
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
    """The subject goes at 0 and is back after ``restart_ms``; replayed where the others have not settled by then.

    And where somebody else's partitions are read by nobody meanwhile, which no strategy does.
    """
    beats = first_beats(goes.member_count, interval_of(protocol, times))
    learned, back = _learned(protocol, goes, times), _learned(protocol, returns, times)
    lost = returns.before == NOBODY
    resumed = lost & (returns.after != NOBODY)
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
    # What was lost until the subject is back pauses once, and is told with the second rebalance.
    count = int(np.count_nonzero(resumed))
    gone = _summary(first._replace(unread=first.unread - count, endless=first.endless - count), goes)
    return summed((gone, second))
