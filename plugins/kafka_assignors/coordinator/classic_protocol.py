"""Replay of the classic protocol: FindCoordinator, JoinGroup, SyncGroup, Heartbeat; eager or cooperative.

Promises, in order: requests come in Kafka's order; no partition is read twice; a pause starts when the old reader stops
and ends when the new reader has its SyncGroup answer. O(events · members + partitions).

- The coordinator is empty, prepares (waits for JoinGroups), completes (waits for SyncGroups) or is stable.
- Members learn of a rebalance at a heartbeat, rejoin at their next poll, and count heartbeats anew from JoinGroup's
  answer.
- An empty group waits ``initial_delay_ms`` after the first join, and again if another member has joined.
- The coordinator waits for a dead member within its session; a trigger while it prepares joins that rebalance.
- Cooperative: free partitions are assigned at once. Members that revoke rejoin; others learn of it at a heartbeat.

Example (eager, a third member joins, A's next beat at 1 s, B's at 2 s): the coordinator prepares at 0; A revokes all
and rejoins at 1 s, B at 2 s; then the leader assigns: A's partitions pause 1 s, B's none.

Sources: ConsumerCoordinator, AbstractCoordinator (clients), ClassicGroup, GroupMetadataManager (coordinator), KIP-62,
KIP-134, KIP-345, KIP-394, KIP-429.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
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


class _State(StrEnum):
    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"


@dataclass(slots=True)
class _Member:
    is_in_group: bool = False
    is_alive: bool = True
    has_joined: bool = False
    is_rejoining: bool = False
    is_static: bool = False
    first_beat_ms: int | None = None
    change: int | None = None


@dataclass(slots=True)
class _Run(Run):
    is_cooperative: bool
    members: dict[str, _Member]
    state: _State = _State.STABLE
    prepared_ms: int = 0
    is_delayed: bool = False
    is_joined_in_delay: bool = False
    known_changes: set[int] = field(default_factory=set)
    rebalances: int = 0

    def stop(self, at_ms: int, member: str, partitions: Iterable[Partition]) -> None:
        if count := self.reading.stop(at_ms, member, partitions):
            self.say(at_ms, member, Phase.REVOKE, f"{count} partitions", count)

    def stop_all(self, at_ms: int, member: str) -> None:
        self.stop(at_ms, member, tuple(self.reading.owned[member]))

    def next_beat(self, member: str, at_ms: int) -> int:
        first, interval = self.members[member].first_beat_ms, self.times.heartbeat_ms
        if first is None:
            return self.times.next_beat(member, at_ms, interval)
        return first + max(0, -(-(at_ms - first) // interval)) * interval

    def expires(self, member: str, silent_ms: int) -> int:
        return self.next_beat(member, silent_ms) - self.times.heartbeat_ms + self.times.session_ms

    @property
    def eager_members(self) -> frozenset[str]:
        return self.changes[0].eager_members

    @property
    def joined_in(self) -> list[str]:
        return sorted(name for name, member in self.members.items() if member.is_in_group)

    def target(self) -> Holding:
        last = max(self.known_changes, default=-1)
        if self.known_changes != set(range(last + 1)):
            missing = min(set(range(last + 1)) - self.known_changes)
            raise InvalidInputError.at(
                f"change {missing}",
                f"{self.changes[missing].trigger} is learned of after the next one",
                "put it behind",
            )
        return self.changes[last].after if self.known_changes else self.changes[0].before


def replay_classic(changes: Sequence[Change], times: Times, *, is_cooperative: bool) -> Timeline:
    """Of a group that is stable at first, or empty.

    Raises InvalidInputError for a member that polls only after the rebalance timeout (describe it as ``member_dies``),
    and as ``chain_of``.
    """
    chain = chain_of(changes, times, times.heartbeat_ms)
    before = chain[0].before
    run = _Run(
        chain, times, Reading({name: set(held) for name, held in before.items()}), is_cooperative,
        {name: _Member(is_in_group=True) for name in sorted(before)},
    )  # fmt: skip
    if not before:
        run.state = _State.EMPTY
    for number, change in enumerate(chain):
        run.at(change.at_ms, partial(_trigger, run, number))
    while run.agenda:
        run.act()
    return run.timeline(run.rebalances)


def _trigger(run: _Run, number: int, at_ms: int) -> None:
    change, times, subject = run.changes[number], run.times, run.changes[number].subject
    run.reading.wait(at_ms, change.owner_after.keys() - change.owner_before.keys())
    match change.trigger:
        case Trigger.MEMBER_JOINS:
            _arrive(run, number, at_ms)
        case Trigger.MEMBER_DIES:
            _fall_silent(run, number, at_ms)
        case Trigger.MEMBER_LEAVES if change.is_static:
            _fall_silent(run, number, at_ms)  # KIP-345: no LeaveGroup
        case Trigger.MEMBER_LEAVES:
            run.stop_all(at_ms, subject)
            _leave(run, number, at_ms)
        case Trigger.MEMBER_STALLS:
            run.stop_all(at_ms, subject)
            run.members[subject].is_rejoining = True  # it learns of the rebalance but does not poll
            gives_up = _fall_silent if change.is_static else _leave
            run.at(at_ms + times.poll_interval_ms, partial(gives_up, run, number))
        case Trigger.STATIC_RESTART:
            run.known_changes.add(number)
            run.members[subject].is_alive = False
            had = frozenset(run.reading.owned[subject])
            run.stop_all(at_ms, subject)
            run.at(at_ms + times.restart_ms, partial(_static_return, run, subject, had))
        case Trigger.SUBSCRIPTION_CHANGES:
            if run.is_cooperative and subject not in run.eager_members:
                dropped = [owned for owned in run.reading.owned[subject] if owned[0] in change.dropped_topics]
                run.stop(at_ms, subject, dropped)
            _join(run, subject, number, at_ms)
        case Trigger.PARTITION_COUNT_CHANGES:
            run.at(at_ms + times.metadata_max_age_ms, partial(_refresh, run, number))
        case _:
            run.known_changes.add(number)
            _look_up_again(run, change, at_ms)


def _arrive(run: _Run, number: int, at_ms: int) -> None:
    """A new member sends JoinGroup twice (KIP-394), a static one once."""
    change, wait = run.changes[number], run.times.round_trip_ms
    run.members[change.subject] = _Member(is_static=change.is_static)
    run.reading.owned.setdefault(change.subject, set())
    run.say(at_ms, change.subject, Phase.FIND_COORDINATOR)
    if not change.is_static:
        run.say(at_ms + wait, change.subject, Phase.JOIN_GROUP, "no member id yet: MEMBER_ID_REQUIRED")
        wait *= 2
    run.at(at_ms + wait, partial(_join, run, change.subject, number))


def _fall_silent(run: _Run, number: int, at_ms: int) -> None:
    change = run.changes[number]
    member = run.members[change.subject]
    member.is_alive, member.is_static, member.change = False, change.is_static, number
    run.stop_all(at_ms, change.subject)
    run.at(run.expires(change.subject, at_ms), partial(_expire, run, change.subject))


def _expire(run: _Run, member: str, at_ms: int) -> None:
    if run.members[member].is_in_group and not run.members[member].is_alive:
        run.say(at_ms, member, Phase.SESSION_EXPIRED)
        _remove(run, member, at_ms)


def _leave(run: _Run, number: int, at_ms: int) -> None:
    run.members[run.changes[number].subject].change = number
    run.say(at_ms, run.changes[number].subject, Phase.LEAVE_GROUP)
    _remove(run, run.changes[number].subject, at_ms)


def _refresh(run: _Run, number: int, at_ms: int) -> None:
    change = run.changes[number]
    run.say(at_ms, change.leader, Phase.METADATA, f"{change.subject} has more partitions")
    _join(run, change.leader, number, at_ms)


def _static_return(run: _Run, name: str, had: frozenset[Partition], at_ms: int) -> None:
    """KIP-345: within its session a static member keeps its partitions; a stable group does not rebalance."""
    wait = run.times.round_trip_ms
    run.say(at_ms, name, Phase.FIND_COORDINATOR)
    run.members[name].is_alive = True
    if run.state is not _State.STABLE:
        run.at(at_ms + wait, partial(_join, run, name, None))
        return
    run.say(at_ms + wait, name, Phase.JOIN_GROUP)
    run.say(at_ms + 2 * wait, name, Phase.SYNC_GROUP)
    run.members[name].first_beat_ms = at_ms + 2 * wait
    run.at(at_ms + 3 * wait, partial(_read_as_before, run, name, had))


def _read_as_before(run: _Run, member: str, partitions: frozenset[Partition], at_ms: int) -> None:
    run.say(at_ms, member, Phase.ASSIGN, f"{len(partitions)} partitions, as before", len(partitions))
    run.reading.start(at_ms, member, partitions)


def _join(run: _Run, name: str, number: int | None, at_ms: int) -> None:
    member = run.members[name]
    if not member.is_alive:
        return
    if number is not None:
        run.known_changes.add(number)
    if not run.is_cooperative or name in run.eager_members:
        run.stop_all(at_ms, name)
    run.say(at_ms, name, Phase.JOIN_GROUP)
    was_empty = run.state is _State.EMPTY
    run.is_joined_in_delay |= run.is_delayed and not member.is_in_group
    member.is_in_group = member.has_joined = True
    member.is_rejoining = False
    if run.state is not _State.PREPARING:
        _prepare(run, at_ms)
        if was_empty:
            run.is_delayed = True
            delay = run.times.initial_delay_ms
            run.at(at_ms + delay, partial(_delay_over, run, max(run.times.rebalance_ms - delay, 0)))
    _complete_if_all_joined(run, at_ms)


def _delay_over(run: _Run, remaining_ms: int, at_ms: int) -> None:
    """If another member has joined, wait as long again, within the rebalance timeout."""
    if run.is_joined_in_delay and remaining_ms:
        run.is_joined_in_delay = False
        delay = min(run.times.initial_delay_ms, remaining_ms)
        run.at(at_ms + delay, partial(_delay_over, run, remaining_ms - delay))
        return
    run.is_delayed = run.is_joined_in_delay = False
    _complete_if_all_joined(run, at_ms)


def _prepare(run: _Run, at_ms: int) -> None:
    run.state, run.prepared_ms = _State.PREPARING, at_ms
    for name in run.joined_in:
        if not run.members[name].has_joined:
            run.at(run.next_beat(name, at_ms), partial(_hear, run, name))
    run.at(at_ms + run.times.rebalance_ms, partial(_time_out, run, at_ms))


def _hear(run: _Run, name: str, at_ms: int) -> None:
    member, times = run.members[name], run.times
    if run.state is not _State.PREPARING or not member.is_alive or member.has_joined or member.is_rejoining:
        return
    run.say(at_ms, name, Phase.HEARTBEAT, "REBALANCE_IN_PROGRESS")
    polls = at_ms + times.poll_delay_ms.get(name, 0)
    if polls - run.prepared_ms > times.rebalance_ms:
        raise InvalidInputError.at(
            f"member {name}",
            f"polls {polls - run.prepared_ms} ms after the rebalance began, later than {times.rebalance_ms} ms",
            "the coordinator removes it: replay that as member_dies",
        )
    member.is_rejoining = True
    run.at(polls + times.round_trip_ms, partial(_rejoin, run, name, member))


def _rejoin(run: _Run, name: str, member: _Member, at_ms: int) -> None:
    if run.members[name] is member and member.is_in_group:
        _join(run, name, None, at_ms)


def _time_out(run: _Run, prepared_ms: int, at_ms: int) -> None:
    if run.state is not _State.PREPARING or run.prepared_ms != prepared_ms:
        return
    for name in run.joined_in:
        if not run.members[name].has_joined and not run.members[name].is_static:
            _remove(run, name, at_ms)


def _remove(run: _Run, name: str, at_ms: int) -> None:
    member = run.members[name]
    if not member.is_in_group:
        return
    member.is_in_group = member.has_joined = False
    if member.change is not None:
        run.known_changes.add(member.change)
    if run.state is _State.PREPARING:
        _complete_if_all_joined(run, at_ms)
    elif run.joined_in:
        _prepare(run, at_ms)
    else:
        run.state = _State.EMPTY


def _complete_if_all_joined(run: _Run, at_ms: int) -> None:
    names = run.joined_in
    if run.state is not _State.PREPARING or run.is_delayed or not all(run.members[name].has_joined for name in names):
        return
    run.state = _State.COMPLETING if names else _State.EMPTY
    if not names:
        return
    run.rebalances += 1
    answered = at_ms + run.times.round_trip_ms
    for name in names:
        run.members[name].has_joined = False
        run.members[name].first_beat_ms = answered
    run.at(answered, partial(_sync, run, run.rebalances, run.target()))


def _sync(run: _Run, generation: int, target: Holding, at_ms: int) -> None:
    if run.state is not _State.COMPLETING or run.rebalances != generation:
        return
    run.state = _State.STABLE
    for name in run.joined_in:
        # A heartbeat of this time was answered before, even with trips of 0 ms.
        run.members[name].first_beat_ms = at_ms + run.times.heartbeat_ms
        run.say(at_ms, name, Phase.SYNC_GROUP)
    run.at(at_ms + run.times.round_trip_ms, partial(_assign, run, target))


def _assign(run: _Run, target: Holding, at_ms: int) -> None:
    names = [name for name in run.joined_in if run.members[name].is_alive]
    free = {name: _free_to_take(run, name, target) for name in names}
    for name in names:
        count = run.reading.start(at_ms, name, free[name])
        more = " more" if run.is_cooperative else ""
        run.say(at_ms, name, Phase.ASSIGN, f"{count} partitions{more}", count)
    rejoining = []
    for name in names:
        if moved := run.reading.owned[name] - target.get(name, frozenset()):
            run.stop(at_ms, name, moved)
            rejoining.append(name)
    for name in rejoining:
        _join(run, name, None, at_ms)


def _free_to_take(run: _Run, name: str, target: Holding) -> frozenset[Partition]:
    held = {
        partition
        for other, owned in run.reading.owned.items()
        if other != name and run.members[other].is_in_group
        for partition in owned
    }
    return target.get(name, frozenset()) - held


def _look_up_again(run: _Run, change: Change, at_ms: int) -> None:
    wait = run.times.round_trip_ms
    for member in change.stays:
        beat = run.next_beat(member, at_ms)
        run.say(beat, member, Phase.HEARTBEAT, "NOT_COORDINATOR")
        run.say(beat + wait, member, Phase.FIND_COORDINATOR)
        run.say(beat + 2 * wait, member, Phase.HEARTBEAT)
