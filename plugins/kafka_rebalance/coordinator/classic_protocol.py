"""The classic protocol: FindCoordinator, JoinGroup, SyncGroup, Heartbeat; eager (stop the world) or cooperative.

Promises, in order: the requests come in the order in which Kafka sends them; no partition is read twice; a pause
starts when its old reader stops and ends when its new reader has its SyncGroup answer.

Worked example (eager, a third member joins, heartbeats every 3 s, A's next beat at 1 s, B's at 2 s): the coordinator
prepares at 0; A hears of it at 1 s, B at 2 s, each revokes all and rejoins; at 2 s everybody is there, the leader
assigns, all read again: A's partitions pause 1 s, B's none. Complexity O(members + partitions).

Sources: ConsumerCoordinator, AbstractCoordinator (clients), ClassicGroup (coordinator), KIP-62, KIP-345, KIP-394,
KIP-429.
"""

from __future__ import annotations

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
from kafka_rebalance.errors import InvalidInputError


@dataclass(slots=True)
class _Run:
    """The replay so far; lives inside one call."""

    change: Change
    times: Times
    is_cooperative: bool
    events: list[Event] = field(default_factory=list)
    stopped: dict[Partition, int] = field(default_factory=dict)
    started: dict[Partition, int] = field(default_factory=dict)
    rebalances: int = 0

    def say(self, at_ms: int, member: str, phase: Phase, detail: str = "") -> None:
        self.events.append(Event(at_ms, member, phase, detail))

    def stop(self, at_ms: int, member: str, partitions: frozenset[Partition]) -> None:
        for partition in sorted(partitions - self.stopped.keys()):
            self.stopped[partition] = at_ms
        if partitions:
            self.say(at_ms, member, Phase.REVOKE, f"{len(partitions)} partitions")

    def timeline(self) -> Timeline:
        pauses = pauses_between(self.change, self.stopped, self.started)
        return Timeline(in_order(self.events), pauses, self.rebalances)


def replay_classic(change: Change, times: Times, *, is_cooperative: bool) -> Timeline:
    """The timeline of one trigger in a stable classic group.

    Raises InvalidInputError for a static restart that outlives the session (two triggers: dies, joins) and for a
    member that polls only after the rebalance timeout (it is removed: describe it as ``member_dies``).
    """
    run = _Run(change, times, is_cooperative)
    if change.trigger is Trigger.COORDINATOR_MOVES:
        return _coordinator_moves(run)
    if change.trigger is Trigger.STATIC_RESTART:
        return _static_restart(run)
    first_join = _start(run)
    for partition in change.owner_after.keys() - change.owner_before.keys():
        run.stopped.setdefault(partition, 0)
    synced = _round(run, first_join, change.stays)
    if is_cooperative:
        _hand_over(run, synced)
    else:
        _assign_all(run, synced)
    return run.timeline()


def _start(run: _Run) -> dict[str, int]:
    """What happens before the coordinator prepares: member → when it sends JoinGroup on its own account."""
    change, times, subject = run.change, run.times, run.change.subject
    owned = frozenset(change.before.get(subject, frozenset()))
    match change.trigger:
        case Trigger.MEMBER_JOINS:
            run.say(0, subject, Phase.FIND_COORDINATOR)
            run.say(times.round_trip_ms, subject, Phase.JOIN_GROUP, "no member id yet: MEMBER_ID_REQUIRED")
            return {subject: 2 * times.round_trip_ms}
        case Trigger.MEMBER_DIES:
            run.stop(0, subject, owned)
            expires = times.next_beat(subject, 0, times.heartbeat_ms) - times.heartbeat_ms + times.session_ms
            run.say(expires, subject, Phase.SESSION_EXPIRED)
            return {"": expires}
        case Trigger.MEMBER_LEAVES:
            run.stop(0, subject, owned)
            run.say(0, subject, Phase.LEAVE_GROUP)
            return {"": 0}
        case Trigger.SUBSCRIPTION_CHANGES:
            if run.is_cooperative:
                run.stop(
                    0, subject, frozenset(partition for partition in owned if partition[0] in change.dropped_topics)
                )
            return {subject: 0}
        case _:
            run.say(times.metadata_max_age_ms, change.leader, Phase.METADATA, f"{change.subject} has more partitions")
            return {change.leader: times.metadata_max_age_ms}


def _round(run: _Run, first_join: dict[str, int], members: tuple[str, ...]) -> int:
    """One rebalance: everybody joins, the leader assigns, everybody syncs. Returns when SyncGroup is answered."""
    change, times = run.change, run.times
    prepared = min(first_join.values())
    joins = {member: at for member, at in first_join.items() if member}
    for member in members:
        if member not in joins:
            beat = times.next_beat(member, prepared, times.heartbeat_ms)
            run.say(beat, member, Phase.HEARTBEAT, "REBALANCE_IN_PROGRESS")
            delay = times.poll_delay_ms.get(member, 0)
            if beat + delay - prepared > times.rebalance_ms:
                raise InvalidInputError.at(
                    f"member {member}",
                    f"polls {beat + delay - prepared} ms after the rebalance began, later than {times.rebalance_ms} ms",
                    "the coordinator removes it: replay that as member_dies",
                )
            joins[member] = beat + times.round_trip_ms + delay
    for member, at in sorted(joins.items(), key=lambda item: (item[1], item[0])):
        if not run.is_cooperative:
            run.stop(at, member, frozenset(change.before.get(member, frozenset())))
        run.say(at, member, Phase.JOIN_GROUP)
    run.rebalances += 1
    joined = max(joins.values())
    for member in sorted(joins):
        run.say(joined + times.round_trip_ms, member, Phase.SYNC_GROUP)
    return joined + 2 * times.round_trip_ms


def _assign_all(run: _Run, synced: int) -> None:
    for member in sorted(run.change.after):
        run.say(synced, member, Phase.ASSIGN, f"{len(run.change.after[member])} partitions")
    run.started.update(dict.fromkeys(run.change.owner_after, synced))


def _hand_over(run: _Run, synced: int) -> None:
    """Cooperative: what is free is given at once; what must move is revoked now and given in a second rebalance."""
    before, after = run.change.owner_before, run.change.owner_after
    free = {partition for partition in after if partition in run.stopped}
    moving = {partition for partition in after if partition not in free and before[partition] != after[partition]}
    dropped = {partition for partition in before if partition not in after and partition not in run.stopped}
    run.started.update(dict.fromkeys(free, synced))
    for member in sorted(run.change.after):
        given = sum(after[partition] == member for partition in free)
        run.say(synced, member, Phase.ASSIGN, f"{given} partitions more")
    rejoins: dict[str, int] = {}
    for member in sorted({before[partition] for partition in moving | dropped}):
        run.stop(synced, member, frozenset(partition for partition in moving | dropped if before[partition] == member))
        rejoins[member] = synced
    if not rejoins:
        return
    second = _round(run, rejoins, tuple(sorted(run.change.after)))
    run.started.update(dict.fromkeys(moving, second))
    for member in sorted({after[partition] for partition in moving}):
        run.say(
            second, member, Phase.ASSIGN, f"{sum(after[partition] == member for partition in moving)} partitions more"
        )


def _static_restart(run: _Run) -> Timeline:
    """KIP-345: back within the session, under its instance id: the same assignment, no rebalance."""
    change, times, member = run.change, run.times, run.change.subject
    expires = times.next_beat(member, 0, times.heartbeat_ms) - times.heartbeat_ms + times.session_ms
    if times.restart_ms >= expires:
        raise InvalidInputError.at(
            f"static member {member}", f"is away for {times.restart_ms} ms, its session ends after {expires} ms",
            "replay that as member_dies, then member_joins",
        )  # fmt: skip
    run.stop(0, member, frozenset(change.before[member]))
    at = times.restart_ms
    for phase in (Phase.FIND_COORDINATOR, Phase.JOIN_GROUP, Phase.SYNC_GROUP):
        run.say(at, member, phase)
        at += times.round_trip_ms
    run.say(at, member, Phase.ASSIGN, f"{len(change.before[member])} partitions, as before")
    run.started.update(dict.fromkeys(change.before[member], at))
    return run.timeline()


def _coordinator_moves(run: _Run) -> Timeline:
    """No rebalance and no pause: members learn of it at a heartbeat, look the coordinator up and go on."""
    times = run.times
    for member in run.change.stays:
        beat = times.next_beat(member, 0, times.heartbeat_ms)
        run.say(beat, member, Phase.HEARTBEAT, "NOT_COORDINATOR")
        run.say(beat + times.round_trip_ms, member, Phase.FIND_COORDINATOR)
        run.say(beat + 2 * times.round_trip_ms, member, Phase.HEARTBEAT)
    return run.timeline()
