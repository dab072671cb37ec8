"""KIP-848: no join, no barrier. Each member reconciles with its target at its own heartbeats.

Promises, in order: a partition is given only once its old reader has acknowledged the revocation; a member that must
revoke does so before it gets anything; a member beats again at once after each change and then at its interval.

Worked example (A and B hold two partitions each, C joins at 0 and is to get one of each; A beats at 1 s, B at 4 s): C
joins with nothing free; A revokes at 1 s, B at 4 s; C beats at 5 s and gets both: pauses of 4 s and 1 s, while the
other partitions are read on. Complexity O(beats · members · partitions).

Sources: KIP-848; CurrentAssignmentBuilder, ConsumerHeartbeatRequestManager (Kafka 4.x).
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from kafka_rebalance.coordinator.timeline import (
    Change,
    Event,
    Partition,
    Phase,
    Timeline,
    Times,
    Trigger,
    in_order,
    pauses_between,
)


@dataclass(slots=True)
class _Run:
    """The replay so far; lives inside one call."""

    change: Change
    times: Times
    owned: dict[str, set[Partition]]
    held: dict[Partition, str]  # as the coordinator sees it: freed only by an acknowledged revocation
    events: list[Event] = field(default_factory=list)
    stopped: dict[Partition, int] = field(default_factory=dict)
    started: dict[Partition, int] = field(default_factory=dict)

    def say(self, at_ms: int, member: str, phase: Phase, detail: str = "") -> None:
        self.events.append(Event(at_ms, member, phase, detail))

    def free(self, member: str) -> None:
        for partition in self.owned.pop(member, set()):
            del self.held[partition]


def replay_consumer(change: Change, times: Times) -> Timeline:
    """The timeline of one trigger in a stable KIP-848 group; ``rebalances`` is the number of new group epochs."""
    run = _Run(
        change, times, {member: set(change.before[member]) for member in change.before}, dict(change.owner_before)
    )
    if change.trigger is Trigger.COORDINATOR_MOVES:
        return _coordinator_moves(run)
    if change.trigger is Trigger.STATIC_RESTART:
        return _static_restart(run)
    bumped, first_beats = _start(run)
    for partition in change.owner_after.keys() - change.owner_before.keys():
        run.stopped.setdefault(partition, 0)
    _reconcile(run, bumped, first_beats)
    return Timeline(in_order(run.events), pauses_between(change, run.stopped, run.started), 1)


def _start(run: _Run) -> tuple[int, dict[str, int]]:
    """When the group gets a new epoch and target, and beats that members send on their own account."""
    change, times, subject = run.change, run.times, run.change.subject
    interval = times.consumer_heartbeat_ms
    match change.trigger:
        case Trigger.MEMBER_JOINS:
            run.say(0, subject, Phase.FIND_COORDINATOR)
            run.owned[subject] = set()
            return times.round_trip_ms, {subject: times.round_trip_ms}
        case Trigger.MEMBER_DIES:
            run.stopped.update(dict.fromkeys(change.before[subject], 0))
            expires = times.next_beat(subject, 0, interval) - interval + times.session_ms
            run.say(expires, subject, Phase.SESSION_EXPIRED)
            run.free(subject)
            return expires, {}
        case Trigger.MEMBER_LEAVES:
            run.stopped.update(dict.fromkeys(change.before[subject], 0))
            run.say(0, subject, Phase.LEAVE_GROUP, "heartbeat with epoch -1")
            run.free(subject)
            return 0, {}
        case Trigger.SUBSCRIPTION_CHANGES:
            return 0, {subject: 0}
        case _:
            first = min(times.next_beat(member, 0, interval) for member in change.stays)
            run.say(first, "", Phase.METADATA, f"{subject} has more partitions")
            return first, {}


def _reconcile(run: _Run, bumped: int, first_beats: dict[str, int]) -> None:
    """Beat after beat until everybody owns its target."""
    interval, target = run.times.consumer_heartbeat_ms, run.change.after
    beats = [
        (first_beats.get(member, run.times.next_beat(member, bumped, interval)), member) for member in sorted(run.owned)
    ]
    heapq.heapify(beats)
    while any(run.owned[member] != set(target.get(member, ())) for member in run.owned):
        at, member = heapq.heappop(beats)
        heapq.heappush(beats, (_beat(run, at, member), member))


def _beat(run: _Run, at: int, member: str) -> int:
    """One heartbeat and its answer; returns the time of the next."""
    owned, target = run.owned[member], set(run.change.after.get(member, ()))
    for partition in [held for held, holder in run.held.items() if holder == member and held not in owned]:
        del run.held[partition]  # this beat acknowledges the revocation
    answered = at + run.times.round_trip_ms
    revoke = owned - target
    free = {partition for partition in target - owned if partition not in run.held}
    run.say(at, member, Phase.HEARTBEAT, "revoke" if revoke else "")
    if revoke:
        owned -= revoke
        run.stopped.update(dict.fromkeys(revoke, answered))
        run.say(answered, member, Phase.REVOKE, f"{len(revoke)} partitions")
        return answered
    if free:
        owned |= free
        run.held.update(dict.fromkeys(free, member))
        run.started.update(dict.fromkeys(free, answered))
        run.say(answered, member, Phase.ASSIGN, f"{len(free)} partitions more")
    return at + run.times.consumer_heartbeat_ms


def _static_restart(run: _Run) -> Timeline:
    """Leaves with epoch -2, which keeps its partitions for it; comes back under its instance id to the same ones."""
    change, times, member = run.change, run.times, run.change.subject
    run.stopped.update(dict.fromkeys(change.before[member], 0))
    run.say(0, member, Phase.LEAVE_GROUP, "heartbeat with epoch -2: its partitions are kept")
    run.say(times.restart_ms, member, Phase.FIND_COORDINATOR)
    run.say(times.restart_ms + times.round_trip_ms, member, Phase.HEARTBEAT, "joins under its instance id")
    back = times.restart_ms + 2 * times.round_trip_ms
    run.say(back, member, Phase.ASSIGN, f"{len(change.before[member])} partitions, as before")
    run.started.update(dict.fromkeys(change.before[member], back))
    return Timeline(in_order(run.events), pauses_between(change, run.stopped, run.started), 0)


def _coordinator_moves(run: _Run) -> Timeline:
    """No new epoch and no pause."""
    times = run.times
    for member in run.change.stays:
        beat = times.next_beat(member, 0, times.consumer_heartbeat_ms)
        run.say(beat, member, Phase.HEARTBEAT, "NOT_COORDINATOR")
        run.say(beat + times.round_trip_ms, member, Phase.FIND_COORDINATOR)
        run.say(beat + 2 * times.round_trip_ms, member, Phase.HEARTBEAT)
    return Timeline(in_order(run.events), (), 0)
