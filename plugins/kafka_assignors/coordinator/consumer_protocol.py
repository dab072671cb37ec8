"""Replay of KIP-848: each member reconciles with its target at its own heartbeats.

Promises, in order: a partition is assigned only after its old reader has acknowledged the revocation; a member revokes
before it gets anything; it beats again at once after a revocation, else at its interval. O(beats · members ·
partitions).

- A change of members raises the group epoch. The next heartbeat of any member computes the new target, from 4.3 on at
  least ``assignment_interval_ms`` after the last one (KIP-1263).
- A static member that leaves (epoch -2) keeps its partitions until its session ends.

Example (A and B hold two partitions each, C joins at 0 and gets one of each; A beats at 1 s, B at 4 s): A revokes at 1
s, B at 4 s; C beats at 5 s and gets both: pauses of 4 s and 1 s.

Sources: KIP-848, KIP-1263; GroupMetadataManager, CurrentAssignmentBuilder, ConsumerHeartbeatRequestManager (Kafka 4.x).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from kafka_assignors.coordinator.timeline import (
    Change,
    Holding,
    Partition,
    Phase,
    Reading,
    Run,
    Timeline,
    Times,
    Trigger,
    chain_of,
)
from kafka_assignors.errors import InvalidInputError

_NO_EPOCH = (Trigger.STATIC_RESTART, Trigger.COORDINATOR_MOVES)


@dataclass(slots=True)
class _Run(Run):
    held: dict[Partition, str]  # until a revocation is acknowledged
    target: Holding
    beating: dict[str, int] = field(default_factory=dict)
    pending_changes: dict[str, int] = field(default_factory=dict)  # change of a member's next heartbeat
    is_metadata_new: int | None = None  # topic change that the next heartbeat finds
    latest: int = -1
    computed: int = -1  # change of the present target
    computed_ms: int | None = None
    epochs: int = 0

    def stop_all(self, at_ms: int, member: str) -> None:
        self.reading.stop(at_ms, member, tuple(self.reading.owned[member]))

    def bump(self, number: int) -> None:
        for missing in range(self.latest + 1, number):
            if self.changes[missing].trigger in _NO_EPOCH:
                continue
            raise InvalidInputError.at(
                f"change {missing}",
                f"{self.changes[missing].trigger} is learned of after the next one",
                "put it behind",
            )
        self.latest = number
        self.epochs += 1

    def is_settled(self) -> bool:
        is_up_to_date = not self.pending_changes and self.is_metadata_new is None and self.computed == self.latest
        return is_up_to_date and all(
            self.reading.owned[name] == self.target.get(name, frozenset()) for name in self.beating
        )


def replay_consumer(changes: Sequence[Change], times: Times) -> Timeline:
    """Of a group that is stable at first, or empty; ``rebalances`` counts new group epochs."""
    chain = chain_of(changes, times, times.consumer_heartbeat_ms)
    before = chain[0].before
    run = _Run(
        chain, times, Reading({name: set(held) for name, held in before.items()}), dict(chain[0].owner_before), before
    )
    for name in sorted(before):
        run.beating[name] = times.next_beat(name, 0, times.consumer_heartbeat_ms)
    for number, change in enumerate(chain):
        run.at(change.at_ms, partial(_trigger, run, number))
    while run.agenda or (run.beating and not run.is_settled()):
        beat, member = min(((at_ms, name) for name, at_ms in run.beating.items()), default=(None, ""))
        if run.agenda and (beat is None or run.agenda[0][0] <= beat):
            run.act()
        elif beat is not None:
            run.beating[member] = _beat(run, beat, member)
    return run.timeline(run.epochs)


def _trigger(run: _Run, number: int, at_ms: int) -> None:
    change, times, subject = run.changes[number], run.times, run.changes[number].subject
    run.reading.wait(at_ms, change.owner_after.keys() - change.owner_before.keys())
    match change.trigger:
        case Trigger.MEMBER_JOINS:
            run.say(at_ms, subject, Phase.FIND_COORDINATOR)
            run.reading.owned[subject] = set()
            run.beating[subject] = at_ms + times.round_trip_ms
            run.pending_changes[subject] = number
        case Trigger.MEMBER_DIES:
            _fall_silent(run, number, at_ms)
        case Trigger.MEMBER_LEAVES:
            run.stop_all(at_ms, subject)
            _leave(run, number, at_ms)
        case Trigger.MEMBER_STALLS:
            run.stop_all(at_ms, subject)
            _give_up_beating(run, subject)
            run.at(at_ms + times.poll_interval_ms, partial(_leave, run, number))
        case Trigger.STATIC_RESTART:
            _static_restart(run, change, at_ms)
        case Trigger.SUBSCRIPTION_CHANGES:
            run.beating[subject] = at_ms
            run.pending_changes[subject] = number
        case Trigger.PARTITION_COUNT_CHANGES:
            run.is_metadata_new = number
        case _:
            _look_up_again(run, change, at_ms)


def _give_up_beating(run: _Run, member: str) -> None:
    run.beating.pop(member, None)
    run.pending_changes.pop(member, None)


def _fall_silent(run: _Run, number: int, at_ms: int) -> None:
    subject, times = run.changes[number].subject, run.times
    beat = run.beating.get(subject, times.next_beat(subject, at_ms, times.consumer_heartbeat_ms))
    run.stop_all(at_ms, subject)
    _give_up_beating(run, subject)
    run.at(beat - times.consumer_heartbeat_ms + times.session_ms, partial(_expire, run, number))


def _leave(run: _Run, number: int, at_ms: int) -> None:
    change = run.changes[number]
    if change.is_static:
        run.say(at_ms, change.subject, Phase.LEAVE_GROUP, "heartbeat with epoch -2: its partitions are kept")
        _fall_silent(run, number, at_ms)
        return
    run.say(at_ms, change.subject, Phase.LEAVE_GROUP, "heartbeat with epoch -1")
    _remove(run, number)


def _expire(run: _Run, number: int, at_ms: int) -> None:
    run.say(at_ms, run.changes[number].subject, Phase.SESSION_EXPIRED)
    _remove(run, number)


def _remove(run: _Run, number: int) -> None:
    subject = run.changes[number].subject
    _give_up_beating(run, subject)
    run.held = {partition: member for partition, member in run.held.items() if member != subject}
    run.bump(number)


def _beat(run: _Run, at_ms: int, member: str) -> int:
    owned, times = run.reading.owned[member], run.times
    for partition in [held for held, holder in run.held.items() if holder == member and held not in owned]:
        del run.held[partition]
    _learn(run, at_ms, member)
    target, answered = set(run.target.get(member, ())), at_ms + times.round_trip_ms
    revoke = owned - target
    free = {partition for partition in target - owned if partition not in run.held}
    if revoke:
        run.say(at_ms, member, Phase.HEARTBEAT, "revoke")
        run.at(answered, partial(_obey, run, member, owned, Phase.REVOKE, revoke))
        return answered
    run.say(at_ms, member, Phase.HEARTBEAT)
    if free:
        run.held.update(dict.fromkeys(free, member))
        run.at(answered, partial(_obey, run, member, owned, Phase.ASSIGN, free))
    return at_ms + times.consumer_heartbeat_ms


def _obey(run: _Run, member: str, owned: set[Partition], phase: Phase, partitions: set[Partition], at_ms: int) -> None:
    if member not in run.beating or run.reading.owned[member] is not owned:
        return
    if phase is Phase.REVOKE:
        run.reading.stop(at_ms, member, partitions)
        run.say(at_ms, member, phase, f"{len(partitions)} partitions", len(partitions))
    else:
        run.reading.start(at_ms, member, partitions)
        run.say(at_ms, member, phase, f"{len(partitions)} partitions more", len(partitions))


def _learn(run: _Run, at_ms: int, member: str) -> None:
    if run.is_metadata_new is not None:
        run.say(at_ms, "", Phase.METADATA, f"{run.changes[run.is_metadata_new].subject} has more partitions")
        run.bump(run.is_metadata_new)
        run.is_metadata_new = None
    if member in run.pending_changes:
        run.bump(run.pending_changes.pop(member))
    is_time = run.computed_ms is None or at_ms >= run.computed_ms + run.times.assignment_interval_ms
    if run.computed < run.latest and is_time:
        run.target, run.computed, run.computed_ms = run.changes[run.latest].after, run.latest, at_ms


def _static_restart(run: _Run, change: Change, at_ms: int) -> None:
    """Leaves with epoch -2, which keeps its partitions."""
    member, times = change.subject, run.times
    run.stop_all(at_ms, member)
    _give_up_beating(run, member)
    run.say(at_ms, member, Phase.LEAVE_GROUP, "heartbeat with epoch -2: its partitions are kept")
    run.say(at_ms + times.restart_ms, member, Phase.FIND_COORDINATOR)
    joins = at_ms + times.restart_ms + times.round_trip_ms
    run.say(joins, member, Phase.HEARTBEAT, "joins under its instance id")
    run.at(joins + times.round_trip_ms, partial(_read_as_before, run, member))


def _read_as_before(run: _Run, member: str, at_ms: int) -> None:
    kept = {partition for partition in run.target.get(member, ()) if run.held.get(partition) == member}
    run.say(at_ms, member, Phase.ASSIGN, f"{len(kept)} partitions, as before", len(kept))
    run.reading.start(at_ms, member, kept)
    run.beating[member] = at_ms - run.times.round_trip_ms + run.times.consumer_heartbeat_ms


def _look_up_again(run: _Run, change: Change, at_ms: int) -> None:
    times = run.times
    for member in change.stays:
        beat = times.next_beat(member, at_ms, times.consumer_heartbeat_ms)
        run.say(beat, member, Phase.HEARTBEAT, "NOT_COORDINATOR")
        run.say(beat + times.round_trip_ms, member, Phase.FIND_COORDINATOR)
        run.say(beat + 2 * times.round_trip_ms, member, Phase.HEARTBEAT)
