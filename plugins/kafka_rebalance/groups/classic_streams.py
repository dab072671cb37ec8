"""How a classic Streams group divides its tasks: today, and at rest after an instance dies or joins.

The leader runs ``HighAvailabilityTaskAssignor``. At rest, after all warm-ups, its answer follows from process ids,
threads, tasks, standbys and tags alone, without lags and warm-up settings. Promises, in this order: a foretold row is
that answer on every instance, or is left out; settings that no protocol carries are those that give exactly today's
tasks on every instance; rows on which several such settings disagree are left out.

Tried are: each number of standbys that today's allow, each set of client tags, and each subtopology of unknown state as
stateful and as stateless. Threads: as dealt if the group came to rest in one rebalance. Moves are between instances.

Example: instances p (active 0, 2) and q (active 1, 3) without standbys, all tasks stateful: 0 standbys give these
tasks, 1 does not. If q dies, p gets 1 and 3, and reads their state from the changelogs.

Complexity: settings × variants × the assignor's own; at most 64 settings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, islice, product

from kafka_assignors.errors import AssignorError, InvalidInputError
from kafka_assignors.high_availability import (
    HIGH_AVAILABILITY,
    LATEST_OFFSET,
    HighAvailabilityMember,
    HighAvailabilityRequest,
    HighAvailabilitySettings,
)
from kafka_assignors.streams import StreamsMember, StreamsRequest, StreamsSubtopology, Task
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.motion import motion_of
from kafka_rebalance.groups.streams_tasks import (
    DrawnChange,
    MissingPart,
    RestSettings,
    StreamsReplay,
    StreamsScenario,
    StreamsScore,
    drawn_changes,
    request_of,
    score,
    task_counts,
    todays_score,
)
from kafka_rebalance.groups.streams_user_data import StreamsSubscription, decode_streams_subscription
from kafka_rebalance.groups.subscriptions import OddBytesError
from kafka_rebalance.snapshot.group import Group, Member

_MOST_SETTINGS = 64
_LEAST_VERSION = 11  # of the user data: Kafka Streams 3.2; at rest 3.2 answers as 3.3
_ASSIGNOR = HIGH_AVAILABILITY[0]


@dataclass(frozen=True, slots=True)
class _Settings:
    stateful: frozenset[str]
    standbys: int
    tags: tuple[str, ...]


def replay_classic_streams(
    group_input: GroupInput, seed: int = 0, scenarios: Collection[StreamsScenario] = tuple(StreamsScenario)
) -> StreamsReplay:
    group = group_input.group
    subscriptions = {member.id: _subscription(member) for member in group.members}
    missing = tuple(_missing(group, subscriptions))
    if MissingPart.TASKS in missing:
        return StreamsReplay(group.id, missing, is_classic=True)
    today = request_of(group_input)
    row = todays_score(group_input, today, (*missing, MissingPart.TOPOLOGY))
    replay = StreamsReplay(
        group.id, missing, (row,), None, tuple(task_counts(member) for member in group.members), is_classic=True
    )
    if missing or not group.members:
        return replay
    streams_group = _Group(today, {name: entry for name, entry in subscriptions.items() if entry is not None})
    settings = streams_group.settings()
    if not settings:
        part = MissingPart.TASKS_AT_REST if settings == [] else MissingPart.APPLICATION_SETTINGS
        return replace(replay, missing=(part,), is_reproduced=False if settings == [] else None)
    rows: list[StreamsScore] = []
    unknown: list[StreamsScenario] = []
    for change in drawn_changes(streams_group.process_of, group.id, seed):
        if change.scenario in scenarios:
            answers = {streams_group.row(change, entry) for entry in settings}
            if len(answers) == 1:
                rows += answers
            else:
                unknown.append(change.scenario)
    at_rest = RestSettings(
        tuple(sorted({entry.standbys for entry in settings})),
        tuple(sorted({entry.tags for entry in settings})),
        tuple(dict.fromkeys(unknown)),
    )
    return replace(replay, rows=(row, *rows), is_reproduced=True, at_rest=at_rest)


def _subscription(member: Member) -> StreamsSubscription | None:
    try:
        return decode_streams_subscription(member.user_data) if member.user_data else None
    except OddBytesError:
        return None


def _missing(group: Group, subscriptions: Mapping[str, StreamsSubscription | None]) -> Iterator[MissingPart]:
    if motion_of(group) is not None:
        yield MissingPart.SETTLED_STATE
    if any(member.process_id is None for member in group.members):
        yield MissingPart.PROCESS_IDS
    if any(member.tasks is None for member in group.members):
        yield MissingPart.TASKS
    if any(subscription is None or subscription.version < _LEAST_VERSION for subscription in subscriptions.values()):
        yield MissingPart.CLIENT_RELEASE
    # The strategy needs a rack of every thread.
    if group.members and all(member.rack is not None for member in group.members):
        yield MissingPart.RACK_STRATEGY


class _Group:
    def __init__(self, today: StreamsRequest, subscriptions: Mapping[str, StreamsSubscription]) -> None:
        self._today, self._subscriptions = today, subscriptions
        self.process_of = {member.id: member.process_id for member in today.members}
        self._tasks = sorted({task for member in today.members for task in member.active})
        self._placed = _placement(today.members)

    def settings(self) -> list[_Settings] | None:
        """Return those that give today's tasks; None: too many to try."""
        tried = list(islice(self._possible(), _MOST_SETTINGS + 1))
        return None if len(tried) > _MOST_SETTINGS else [setting for setting in tried if self._is_today(setting)]

    def _is_today(self, settings: _Settings) -> bool:
        try:
            return _placement(self._after(self._members(), settings)) == self._placed
        except (AssignorError, InvalidInputError):
            return False  # tasks that no application has, such as half of a named topology

    def _possible(self) -> Iterator[_Settings]:
        standbys = Counter(task for member in self._today.members for task in member.standby)
        surely_stateful = {task.subtopology for task in standbys}
        for subscription in self._subscriptions.values():
            surely_stateful |= {subtopology for subtopology, _ in (*subscription.had.active, *subscription.had.standby)}
        every = {task.subtopology for task in self._tasks}
        most = max(standbys.values(), default=0)
        others = len(set(self.process_of.values())) - 1
        # As many as there are other instances may be fewer than the setting.
        counts = (most,) if most < others else (most, most + 1)
        tags = sorted({tag for subscription in self._subscriptions.values() for tag in subscription.tags})
        for some, count in product(_subsets(sorted(every - surely_stateful)), counts):
            stateful = frozenset(surely_stateful & every).union(some)
            if not stateful and count:
                continue
            for chosen in _subsets(tags) if count else ((),):
                yield _Settings(stateful, count, chosen)

    def row(self, change: DrawnChange, settings: _Settings) -> StreamsScore:
        """Return the score of a change. Standbys that are missing are unknown: the setting may be larger."""
        before = self._request(self._today.members, settings)
        members = [member for member in self._members() if member.process_id not in change.instances]
        like = next((member for member in members if member.process_id == change.like), None)
        tags = {} if like is None else like.tags
        members += [HighAvailabilityMember(id=name, process_id=change.instances[0], tags=tags) for name in change.ids]
        after = self._request(self._after(members, settings), settings)
        between = score(change.scenario, change.instances, _by_instance(before), _by_instance(after))
        return replace(
            score(change.scenario, change.instances, before, after),
            active_moved=between.active_moved, standbys_missing=None,
        )  # fmt: skip

    def _members(self) -> list[HighAvailabilityMember]:
        """All of a group at rest are caught up with what they have."""
        return [
            HighAvailabilityMember(
                id=member.id,
                process_id=member.process_id,
                offset_sums=dict.fromkeys(member.standby, 0) | dict.fromkeys(member.active, LATEST_OFFSET),
                tags=self._subscriptions[member.id].tags,
            )
            for member in self._today.members
        ]

    def _after(self, members: Sequence[HighAvailabilityMember], settings: _Settings) -> tuple[StreamsMember, ...]:
        """Return the tasks at rest: nothing lags, so nothing is warmed up."""
        request = HighAvailabilityRequest(
            end_offset_sums={task: 0 for task in self._tasks if task.subtopology in settings.stateful},
            stateless=tuple(task for task in self._tasks if task.subtopology not in settings.stateful),
            members=tuple(members),
            settings=HighAvailabilitySettings(standby_replicas=settings.standbys, rack_aware_tags=settings.tags),
        )
        pairs = zip(members, _ASSIGNOR.assign(request).members, strict=True)
        return tuple(
            StreamsMember(id=member.id, process_id=member.process_id, active=tasks.active, standby=tasks.standby)
            for member, tasks in pairs
        )

    def _request(self, members: Sequence[StreamsMember], settings: _Settings) -> StreamsRequest:
        counts = Counter(task.subtopology for task in self._tasks)
        parts = (StreamsSubtopology(name, count, name in settings.stateful) for name, count in sorted(counts.items()))
        return StreamsRequest(subtopologies=tuple(parts), members=tuple(members), standby_replicas=settings.standbys)


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(names, count) for count in range(len(names) + 1))


def _placement(members: Sequence[StreamsMember]) -> dict[tuple[str, str], frozenset[Task]]:
    placed: dict[tuple[str, str], frozenset[Task]] = {}
    for member in members:
        for kind, tasks in (("active", member.active), ("standby", member.standby)):
            key = member.process_id, kind
            placed[key] = placed.get(key, frozenset()).union(tasks)
    return placed


def _by_instance(request: StreamsRequest) -> StreamsRequest:
    placed = _placement(request.members)
    members = tuple(
        StreamsMember(
            id=process, process_id=process, active=tuple(placed[process, "active"]),
            standby=tuple(placed[process, "standby"]),
        )
        for process in sorted({member.process_id for member in request.members})
    )  # fmt: skip
    return replace(request, members=members)
