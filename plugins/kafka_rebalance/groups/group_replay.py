"""Replay of a group under each strategy: skew, idle members, movement, and the recommended strategy.

Promises, in this order: today's row is the real assignment; a strategy's row is its exact answer; another strategy is
recommended only where it lowers the fullest member by the threshold and its assumption holds.

Example: range on 24 topics of one partition, 6 members: the first member reads all 24 (skew 6, 5 idle); round robin
gives 4 to each (skew 1), and 20 partitions move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isinf, isnan
from types import MappingProxyType

import numpy as np

from kafka_assignors.arrays import Ints
from kafka_assignors.contract import NO_RACK, AssignmentRequest
from kafka_assignors.coordinator.timeline import Times
from kafka_assignors.registry import by_name
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.answers import answer_of, empty_score, score_answer
from kafka_rebalance.groups.classic_streams import replay_classic_streams
from kafka_rebalance.groups.connect_workers import running_work
from kafka_rebalance.groups.group_input import GroupInput, group_inputs
from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.groups.member_clients import group_client, settings_of, strategies_of, with_clients
from kafka_rebalance.groups.motion import GroupMotion, MotionCode, motion_of
from kafka_rebalance.groups.request_frame import Subscriptions
from kafka_rebalance.groups.scenarios import (
    ROLLING_RESTART,
    SCENARIOS,
    ChangedGroup,
    GroupState,
    Standing,
    changed_scores,
    scenario_scores,
)
from kafka_rebalance.groups.strategies import MIGRATED, OWN, STRATEGIES, Candidate, candidates, release_spans
from kafka_rebalance.groups.streams_tasks import StreamsReplay, StreamsScenario, replay_streams_group
from kafka_rebalance.groups.subscriptions import SubscriptionBasis, has_unknown_subscription, hypotheses, request_of
from kafka_rebalance.options.values import ClientRule
from kafka_rebalance.scoring.assignment_scores import per_member
from kafka_rebalance.scoring.drain import drain, group_seconds_behind, member_capacity
from kafka_rebalance.scoring.scores import GroupScore, MemberScore
from kafka_rebalance.snapshot.group import Group, Tasks
from kafka_rebalance.snapshot.model import ClusterSnapshot, GroupType, Member

LEAST_GAIN = 1.25  # today's skew over the recommended one's
LIKE_RATIO = 0.05  # smaller differences are ties: rates change daily
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class GroupReplay:
    """``scores``: today first. ``members``: of today's and the recommended assignment.

    ``basis``: source of subscriptions. ``is_reproduced``: the group's strategy gives today's assignment on this basis;
    ``None`` where it is not replayed. ``lag_seconds``: of writing.
    """

    group_id: str
    basis: SubscriptionBasis
    is_reproduced: bool | None
    scores: tuple[GroupScore, ...]
    members: tuple[MemberScore, ...]
    advised: str | None
    scenarios: tuple[GroupScore, ...] = ()
    streams: StreamsReplay | None = None
    lag_seconds: float | None = None

    @property
    def today(self) -> GroupScore:
        return self.scores[0]

    def score(self, assignor: str) -> GroupScore | None:
        return next((score for score in self.scores[1:] if score.assignor == assignor), None)


def replay_group(
    group_input: GroupInput,
    strategies: Sequence[str] | None = None,
    least_gain: float = LEAST_GAIN,
    scenarios: Sequence[str] = (),
    seed: int = 0,
    changed: Mapping[str, ChangedGroup] = MappingProxyType({}),
) -> GroupReplay:
    """Score today's assignment and each possible strategy (or ``strategies``), custom assignors among them.

    A group that is not judged (``motion_of``) gets no advice, and its idle members are unknown. A refusal is a row, and
    so is a strategy that is not modelled. ``changed``: the group after custom scenarios, by name.
    """
    motion = motion_of(group_input.group)
    lag_seconds = group_seconds_behind(group_input.reader, group_input.rates)
    without = _without_strategies(group_input, motion)
    if without is not None:
        return replace(without, lag_seconds=lag_seconds)
    group, today, is_still = group_input.group, group_input.reader, motion is None
    protocol = group.protocol or _UNKNOWN
    possible = _possible(group_input, strategies)
    own = next((strategy for strategy in possible if strategy.name == protocol and strategy.releases), None)
    # A moving group's assignment is not its strategy's answer.
    basis, subscriptions, fitting, is_rackless = _settle(group_input, today, own if is_still else None)
    is_reproduced = bool(fitting) if own is not None and is_still else None
    state = GroupState(group_input, subscriptions)
    answers = _answers(possible, own, fitting, strategies, group_input, subscriptions)
    scores = answers.scores
    if own is not None and fitting:
        version = _version_of_today(own, fitting, answers.alike(protocol, today), is_rackless=is_rackless)
        scores[0] = replace(scores[0], version=version)
    rows = scenario_scores(state, answers.standings, scenarios, seed, Times())
    rows += changed_scores(state, answers.standings, changed, Times())
    advised = None
    if is_still and _is_judged(group, basis, is_reproduced=is_reproduced):
        own_names = [candidate.name for candidate in possible if candidate.is_own]
        advised = _recommend(group_input, scores, least_gain, own_names, _restarts(rows))
    if not is_still:
        scores[0] = _today_in_motion(group_input, scores[0])
    scores = _with_least_skews(scores, state, basis, is_reproduced=bool(is_reproduced))
    scores = [replace(row, is_advised=row.assignor == advised and not row.is_current) for row in scores]
    members = _member_scores(group_input, protocol, today, today, is_current=True)
    if advised is not None:
        members += _member_scores(group_input, advised, answers.readers[advised], today, is_current=False)
    return GroupReplay(group.id, basis, is_reproduced, tuple(scores), members, advised, rows, lag_seconds=lag_seconds)


def _without_strategies(group_input: GroupInput, motion: GroupMotion | None) -> GroupReplay | None:
    """Return the replay of a group to which no strategy applies, or ``None``."""
    group, today = group_input.group, group_input.reader
    protocol = group.protocol or _UNKNOWN
    if motion is not None and (motion.code is MotionCode.NOT_SHOWN or not group_input.topics):
        return _only_counted(group_input, protocol, motion)
    if not group.members:
        nobody = replace(score_answer(group_input, protocol, today, today), is_current=True)
        return GroupReplay(group.id, SubscriptionBasis.GIVEN, None, (nobody,), (), None)
    if not group.type.has_strategy:
        return _unassigned_replay(group_input, protocol)
    if kind_of(group) is GroupKind.CONNECT_WORKERS and any(member.worker for member in group.members):
        return _only_workers(group_input, protocol)
    return None


def _possible(group_input: GroupInput, strategies: Sequence[str] | None) -> tuple[Candidate, ...]:
    """Return the strategies that the group's members can use, then custom ones among ``strategies``."""
    group = group_input.group
    client = group_client(group)
    possible = candidates(group.type, group.protocol_type, group_input.kafka_version, client, group.protocol)
    possible_names = {candidate.name for candidate in possible}
    own = (name for name in strategies or () if name not in STRATEGIES and name not in possible_names)
    return possible + tuple(Candidate(name, (name,), is_own=True) for name in own)


def _is_judged(group: Group, basis: SubscriptionBasis, *, is_reproduced: bool | None) -> bool:
    """Return whether other strategies can be compared: with given subscriptions, or such that explain today.

    A coordinator's strategies do not depend on the leader's unknown input.
    """
    is_explained = bool(group.protocol) and is_reproduced is not False
    return basis is SubscriptionBasis.GIVEN or is_explained or group.type is GroupType.CONSUMER


def _today_in_motion(group_input: GroupInput, today: GroupScore) -> GroupScore:
    """Return today's row of a moving group: idle members unknown, and all else where no member shows a partition."""
    if not any(member.assigned for member in group_input.group.members):
        today = replace(empty_score(group_input, today.assignor), is_current=True)
    return replace(today, idle_members=None)


def _with_least_skews(
    scores: Sequence[GroupScore], state: GroupState, basis: SubscriptionBasis, *, is_reproduced: bool
) -> list[GroupScore]:
    is_unknown = has_unknown_subscription(state.group_input, basis)
    by_count, by_rate = (None, None) if is_unknown else state.least_skews
    answered = scores if is_reproduced else scores[1:]  # a group may leave partitions unread
    by_count = _proved_bound(by_count, [row.skew_count for row in answered])
    by_rate = _proved_bound(by_rate, [row.skew_rate for row in answered])
    return [row if row.error else replace(row, least_skew_count=by_count, least_skew_rate=by_rate) for row in scores]


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    scores: list[GroupScore]
    readers: dict[str, Ints]
    standings: list[Standing]

    def alike(self, protocol: str, today: Ints) -> list[str]:
        """Return other strategies whose answer is today's assignment too."""
        others = self.readers.keys() - {protocol, OWN, *MIGRATED}
        return [name for name in self.readers if name in others and bool((self.readers[name] == today).all())]


def _answers(
    possible: Sequence[Candidate], own: Candidate | None, fitting: Sequence[str], strategies: Sequence[str] | None,
    group_input: GroupInput, subscriptions: Subscriptions,
) -> _Answers:  # fmt: skip
    """Replay each strategy; the group's own keeps today's readers if reproduced (``fitting``)."""
    today, protocol = group_input.reader, group_input.group.protocol or _UNKNOWN
    current = replace(score_answer(group_input, protocol, today, today), is_current=True)
    answers = _Answers([current], {protocol: today}, [])
    if own is not None and fitting:
        answers.standings.append(Standing(own, fitting[0], today))
    for candidate in possible:
        is_reproduced = candidate is own and bool(fitting)
        if is_reproduced or not (strategies is None or candidate.name in strategies):
            continue
        score, reader = _replayed(candidate, group_input, subscriptions, today)
        answers.scores.append(score)
        if reader is not None:
            answers.readers[candidate.name] = reader
            answers.standings.append(Standing(candidate, candidate.releases[0], reader))
    return answers


def _proved_bound(least: float | None, reached: Sequence[float | None]) -> float | None:
    """Return the least skew, unless an answer is below: the bound counts only subscribed topics.

    Some clients give members others: KafkaJS the leader's, Java's sticky where a subscription is empty.
    """
    is_below = least is not None and any(skew is not None and skew < least * (1 - 1e-9) for skew in reached)
    return None if is_below else least


def _unassigned_replay(group_input: GroupInput, protocol: str) -> GroupReplay:
    """Replay of a group that no known strategy divides: no advice.

    Share group members read partitions together. A Streams member is idle without any task, standby included.
    """
    group, today = group_input.group, group_input.reader
    if group.type is GroupType.STREAMS:
        # The number of partitions is unknown for tasks without known topics.
        is_shown = all(member.assigned for member in group.members if member.tasks and member.tasks.active)
        score = score_answer(group_input, protocol, today, today) if is_shown else empty_score(group_input, protocol)
        idle = sum(member.tasks in (None, Tasks()) for member in group.members)
        score = replace(score, is_current=True, idle_members=idle)
        members = _member_scores(group_input, protocol, today, today, is_current=True)
    else:
        idle = sum(not member.assigned for member in group.members)
        score = replace(empty_score(group_input, protocol), is_current=True, idle_members=idle, partitions_moved=0)
        members = tuple(_share_member_score(group.id, protocol, member) for member in group.members)
    return GroupReplay(group.id, SubscriptionBasis.GIVEN, None, (score,), members, None)


def _only_workers(group_input: GroupInput, protocol: str) -> GroupReplay:
    """A worker of Connect without connector and task is idle."""
    group = group_input.group
    running = [None if member.worker is None else running_work(member.worker) for member in group.members]
    idle = None if None in running else sum(not work for work in running)
    score = replace(empty_score(group_input, protocol), is_current=True, idle_members=idle)
    members = tuple(_share_member_score(group.id, protocol, member) for member in group.members)
    return GroupReplay(group.id, SubscriptionBasis.GIVEN, None, (score,), members, None)


def _only_counted(group_input: GroupInput, protocol: str, motion: GroupMotion) -> GroupReplay:
    group = group_input.group
    counts = [
        sum(len(runs) for _, runs in member.assigned) if member.partition_count is None else member.partition_count
        for member in group.members
    ]
    is_every = 0 < len(counts) == motion.members
    score = replace(
        empty_score(group_input, protocol), is_current=True, members=motion.members,
        partitions=sum(counts) if is_every else 0,
        idle_members=counts.count(0) if is_every and motion.code is MotionCode.NOT_SHOWN else None,
        skew_count=max(counts) * len(counts) / sum(counts) if is_every and any(counts) else None,
    )  # fmt: skip
    members = tuple(
        replace(_share_member_score(group.id, protocol, member), partitions=count)
        for member, count in zip(group.members, counts, strict=True)
    )
    return GroupReplay(group.id, SubscriptionBasis.GIVEN, None, (score,), members, None)


def _share_member_score(group_id: str, assignor: str, member: Member) -> MemberScore:
    return MemberScore(
        group_id=group_id, assignor=assignor, is_current=True, is_advised=False, member_id=member.id,
        instance_id=member.instance_id, rack=member.rack, partitions=sum(len(runs) for _, runs in member.assigned),
        in_bytes_per_s=None, in_messages_per_s=None, lag_messages=None,
    )  # fmt: skip


def _settle(
    group_input: GroupInput, today: Ints, own: Candidate | None
) -> tuple[SubscriptionBasis, Subscriptions, tuple[str, ...], bool]:
    """Return the basis that reproduces today's assignment, its classes, newest first, and whether the first fits only
    without racks. Else the likeliest basis, and no class.

    Replicas may have changed racks since the last rebalance, so a fit without racks is no sign of an old release.
    """
    possible = hypotheses(group_input)
    if own is None:
        return *possible[0], (), False
    for basis, subscriptions in possible:
        request = request_of(group_input, subscriptions, is_server=own.is_server)
        fitting = _giving(own.releases, request, group_input, today)
        if fitting:
            newer = own.releases[: own.releases.index(fitting[0])] if (request.members.racks != NO_RACK).any() else ()
            rackless = _giving(newer, _without_racks(request), group_input, today)
            return basis, subscriptions, (*rackless, *fitting), bool(rackless)
    return *possible[0], (), False


def _giving(names: Sequence[str], request: AssignmentRequest, group_input: GroupInput, today: Ints) -> tuple[str, ...]:
    answers = {name: answer_of(name, request, group_input)[0] for name in names}
    return tuple(name for name, reader in answers.items() if reader is not None and bool((reader == today).all()))


def _without_racks(request: AssignmentRequest) -> AssignmentRequest:
    members = request.members
    return replace(request, members=replace(members, racks=np.full(len(members), NO_RACK, dtype=np.int32)))


def _replayed(
    candidate: Candidate, group_input: GroupInput, subscriptions: Subscriptions, today: Ints
) -> tuple[GroupScore, Ints | None]:
    empty = empty_score(group_input, candidate.name)
    if not candidate.releases:
        strategy = candidate.name.removeprefix("consumer/")
        why = fact(FactCode.STRATEGY_NOT_MODELLED, strategy=strategy, modelled_since=candidate.modelled_since)
        return replace(empty, error=why), None
    request = request_of(group_input, subscriptions, is_server=candidate.is_server)
    reader, error = answer_of(candidate.releases[0], request, group_input)
    version = _version_of(candidate, request, group_input, reader)
    if reader is None:
        return replace(empty, error=error, version=version), None
    return replace(score_answer(group_input, candidate.name, reader, today), version=version), reader


def _version_of(candidate: Candidate, request: AssignmentRequest, group_input: GroupInput, reader: Ints | None) -> Fact:
    if candidate.is_own or candidate.name == OWN:
        return _answer_of_assignor(candidate, gives_today=False)
    releases, basis = release_spans(candidate.releases[:1]), candidate.basis
    if candidate.is_server and basis is None and group_input.kafka_version is not None and len(candidate.releases) == 1:
        basis = fact(FactCode.RELEASE_OF_BROKERS, release=group_input.kafka_version)
        return fact(FactCode.ANSWER_OF_RELEASES, releases=releases, basis=basis, differing=())
    differing: list[str] = []
    is_asked = candidate.is_server or candidate.name == group_input.group.protocol
    for name in candidate.releases[1:] if is_asked else candidate.compared:
        other, _ = answer_of(name, request, group_input)
        if (other is None) != (reader is None) or (
            other is not None and reader is not None and not bool((other == reader).all())
        ):
            differing.append(name)
    return fact(FactCode.ANSWER_OF_RELEASES, releases=releases, basis=basis, differing=release_spans(differing))


def _version_of_today(own: Candidate, fitting: Sequence[str], alike: Sequence[str], *, is_rackless: bool) -> Fact:
    """Return the releases that give today's assignment (``fitting``), and those that do not.

    That is evidence only if no other strategy gives it (``alike``), and the strategy does not keep any even assignment.
    """
    if own.is_own:
        return _answer_of_assignor(own, gives_today=True)
    newest = own.releases[0]
    return fact(
        FactCode.GIVES_TODAY,
        releases=release_spans(fitting[:1] if fitting[0] == newest else fitting),
        differing=release_spans([name for name in own.releases if name not in fitting]),
        alike=tuple(alike),
        keeps_even=own.confirms_anything_even,
        basis=own.basis,
        is_rackless=is_rackless,
    )


def _answer_of_assignor(candidate: Candidate, *, gives_today: bool) -> Fact:
    versions = by_name(candidate.releases[0]).versions
    return fact(FactCode.ANSWER_OF_ASSIGNOR, versions=versions, gives_today=gives_today)


def _restarts(rows: Sequence[GroupScore]) -> dict[str, int]:
    return {row.assignor: row.unread_partition_ms or 0 for row in rows if row.scenario == ROLLING_RESTART}


def _recommend(
    group_input: GroupInput,
    scores: list[GroupScore],
    least_gain: float,
    own_names: Sequence[str],
    restarts: Mapping[str, int],
) -> str | None:
    """Return the strategy with the smallest fullest member, if smaller by ``least_gain``.

    Ties: no stop of all members, then fewest moves, then least unread time in ``restarts``, then order. Only strategies
    of the members' clients or custom assignors (``own_names``).

    A strategy less even by count is never recommended for its rates, which change daily. A KIP-848 group may get the
    coordinator's other strategy only, a share or Streams group none.
    """
    group = group_input.group
    if not kind_of(group).has_choice:
        return None
    if group.type is GroupType.CONSUMER:
        other = more_even_of_coordinator(scores, least_gain)
        return None if other is None else other.assignor
    if group.type not in (GroupType.CLASSIC, GroupType.UNKNOWN):
        return None
    today, settings = scores[0], settings_of(group_client(group))
    allowed = {*strategies_of(group), *own_names} - {OWN, *MIGRATED}
    others = [
        score
        for score in scores[1:]
        if score.error is None
        and score.assignor in allowed
        and (score.skew_count or 0) <= (today.skew_count or 0) + 1e-9
    ]
    is_rate = all(assignment.skew_rate is not None for assignment in (today, *others))

    def level(score: GroupScore) -> float:
        return float((score.skew_rate if is_rate else score.skew_count) or 0.0)

    def cost(score: GroupScore) -> tuple[bool, int, int]:
        can_roll = settings.can_roll(today.assignor, score.assignor)
        return not can_roll, score.partitions_moved or 0, restarts.get(score.assignor, 0)

    better = [other for other in others if level(other) > 0 and level(today) / level(other) >= least_gain]
    lowest = min((level(score) for score in better), default=0.0)
    alike = [score for score in better if level(score) <= lowest * (1 + LIKE_RATIO)]
    return min(alike, key=cost).assignor if alike else None


_OF_COORDINATOR = ("uniform", "range")


def more_even_of_coordinator(scores: Sequence[GroupScore], least_gain: float = LEAST_GAIN) -> GroupScore | None:
    """Return the coordinator's other strategy, if its fullest member is smaller by ``least_gain``.

    ``scores``: today's row first. Members choose it by ``group.remote.assignor``.
    """
    today = scores[0]
    for other in scores[1:]:
        if other.assignor not in _OF_COORDINATOR or other.assignor == today.assignor or other.error is not None:
            continue
        if (other.skew_count or 0) > (today.skew_count or 0) + 1e-9:
            continue
        is_rate = today.skew_rate is not None and other.skew_rate is not None
        before, after = (today.skew_rate, other.skew_rate) if is_rate else (today.skew_count, other.skew_count)
        if after and (before or 0) / after >= least_gain:
            return other
    return None


def _member_scores(
    group_input: GroupInput, assignor: str, reader: Ints, today: Ints, *, is_current: bool
) -> tuple[MemberScore, ...]:
    members, rates = group_input.group.members, group_input.rates
    capacity = member_capacity(today, rates.read_messages_per_s, len(members))
    seconds = drain(reader, len(members), rates, capacity).member_seconds.tolist()
    counts = per_member(reader, np.ones(len(reader)), len(members))
    columns = [
        per_member(reader, column, len(members))
        for column in (rates.in_bytes_per_s, rates.in_messages_per_s, rates.lag_messages)
    ]
    return tuple(
        MemberScore(
            group_id=group_input.group.id,
            assignor=assignor,
            is_current=is_current,
            is_advised=not is_current,
            member_id=member.id,
            instance_id=member.instance_id,
            rack=member.rack,
            partitions=int(counts[number]),
            in_bytes_per_s=_none_if_nan(columns[0][number]),
            in_messages_per_s=_none_if_nan(columns[1][number]),
            lag_messages=None if np.isnan(columns[2][number]) else int(columns[2][number]),
            drain_seconds=seconds[number] if isfinite(seconds[number]) else None,
            is_falling_behind=None if isnan(seconds[number]) else isinf(seconds[number]),
        )
        for number, member in enumerate(members)
    )


def _none_if_nan(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """``strategies``: default all possible. ``scenarios``: default none; ``seed`` draws their members."""

    clients: tuple[ClientRule, ...] = ()
    scenarios: tuple[str, ...] = ()
    seed: int = 0
    strategies: tuple[str, ...] | None = None

    def with_client_overrides(self, snapshot: ClusterSnapshot) -> ClusterSnapshot:
        return with_clients(snapshot, self.clients)

    def replay(self, group_input: GroupInput) -> GroupReplay:
        answer = replay_group(group_input, self.strategies, scenarios=self.scenarios, seed=self.seed)
        group = group_input.group
        if group.type is not GroupType.STREAMS and not any(member.tasks for member in group.members):
            return answer
        scenarios = () if self.strategies == () else tuple(StreamsScenario) if self.scenarios else _WITHOUT_EVENTS
        replay = replay_streams_group if group.type is GroupType.STREAMS else replay_classic_streams
        return replace(answer, streams=replay(group_input, self.seed, scenarios))

    def replays(self, snapshot: ClusterSnapshot) -> tuple[GroupReplay, ...]:
        return tuple(self.replay(group_input) for group_input in group_inputs(self.with_client_overrides(snapshot)))


_WITHOUT_EVENTS = (StreamsScenario.TODAY, StreamsScenario.NEXT_TARGET)
TODAY_ALONE = ReplayOptions()
EVERYTHING = ReplayOptions(scenarios=SCENARIOS)
