"""Scores of a group in plain dicts and sets: slow, obvious, and not a line of it shared with what it checks.

Asked of the program are only the strategies themselves, the replay of a rebalance, which members a scenario draws, and
which strategies a group could run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np

from kafka_assignors.contract import AssignmentRequest, MapOrder, MemberColumns, TopicColumns
from kafka_assignors.coordinator.pauses import replay_chain
from kafka_assignors.coordinator.timeline import Change, Phase, Protocol, Times, Trigger, stagger
from kafka_assignors.errors import AssignorError
from kafka_assignors.java.keys import uuid_columns
from kafka_assignors.registry import by_name
from kafka_assignors.releases import seen_release
from kafka_assignors.string_column import StringColumn
from kafka_rebalance.facts import Fact, FactCode, fact, refusal_of
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.member_clients import group_client
from kafka_rebalance.groups.request_frame import feeding_order
from kafka_rebalance.groups.scenarios import STRATEGY_CHANGES, Event, GroupState, Variant, stage_of, variants_of
from kafka_rebalance.groups.strategies import Candidate, candidates
from kafka_rebalance.groups.subscriptions import hypotheses
from kafka_rebalance.snapshot.model import Member
from tests.unit.assignors.groups import offsets_of

Pair = tuple[str, int]
Readers = dict[Pair, str]  # partition → member's id
Row = dict[str, Any]
GONE, NEW = "gone", "new"
_COMMIT_S = 5.0


@dataclass(frozen=True)
class PlainGroup:
    """Members in their order, topics by name: how many partitions (-1: not there), who subscribes, what is known."""

    members: tuple[Member, ...]
    topics: Mapping[str, int]
    reads: Mapping[str, tuple[str, ...]]  # member's id → topics, in its order
    written: Mapping[Pair, float]  # bytes/s
    messages: Mapping[Pair, float]
    lag: Mapping[Pair, float]
    read: Mapping[Pair, float]
    racks: Mapping[Pair, tuple[str | None, ...]] | None
    leaders: Mapping[Pair, str | None] | None
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    kafka_version: str | None = None

    @property
    def ids(self) -> list[str]:
        return [member.id for member in self.members]

    @property
    def pairs(self) -> list[Pair]:
        return [(topic, partition) for topic, count in self.topics.items() for partition in range(count)]


def plain_group(given: GroupInput, subscriptions: Sequence[Sequence[int]]) -> PlainGroup:
    """The same group."""
    topics = {topic: int(count) for topic, count in zip(given.topics, given.partition_counts, strict=True)}
    pairs = [(topic, partition) for topic, count in topics.items() for partition in range(count)]

    def along(values: Sequence[Any]) -> dict[Pair, Any]:
        return dict(zip(pairs, values, strict=True))

    rates, offsets, members = given.rates, given.rack_offsets, given.group.members
    return PlainGroup(
        members, topics,
        {member.id: tuple(given.topics[t] for t in own) for member, own in zip(members, subscriptions, strict=True)},
        along(rates.in_bytes_per_s.tolist()), along(rates.in_messages_per_s.tolist()),
        along(rates.lag_messages.tolist()), along(rates.read_messages_per_s.tolist()),
        None if offsets is None else along([given.racks[offsets[i]:offsets[i + 1]] for i in range(len(pairs))]),
        along(given.leader_racks) if given.leader_racks else None,
        dict(zip(given.topics, given.topic_ids, strict=True)) if given.topic_ids else {}, given.kafka_version,
    )  # fmt: skip


def readers_today(group: PlainGroup) -> Readers:
    """As the members say."""
    return {
        (topic, partition): member.id
        for member in group.members
        for topic, partitions in member.assigned
        for partition in partitions
        if partition < group.topics[topic]
    }


def request_to(group: PlainGroup, owned: Mapping[str, Sequence[Pair]], *, is_server: bool) -> AssignmentRequest:
    """What a strategy is told: topics that somebody subscribes to, of the coordinator's those that exist."""
    names, members = list(group.topics), group.members
    reads = {
        member: [topic for topic in topics if not is_server or group.topics[topic] >= 0]
        for member, topics in group.reads.items()
    }
    heard = {topic for topics in reads.values() for topic in topics}
    rows = [pair for pair in group.pairs if pair[0] in heard]
    racks = {rack for replicas in (group.racks or {}).values() for rack in replicas if rack}
    racks |= {member.rack for member in members if member.rack}
    rack = {name: number for number, name in enumerate(sorted(racks))}
    weights = [group.written[pair] for pair in rows]
    replicas = [] if group.racks is None else [[rack.get(name or "", -1) for name in group.racks[p]] for p in rows]
    lists = [[names.index(topic) for topic in reads[member.id]] for member in members]
    own = [[(names.index(topic), p) for topic, p in owned.get(member.id, ())] for member in members]
    flat = np.array([pair for pairs in own for pair in pairs], np.int32).reshape(-1, 2)
    high, low = uuid_columns(tuple(group.topic_ids.values())) if group.topic_ids else (None, None)
    columns = MemberColumns.of(
        StringColumn.of(group.ids), offsets_of(lists), np.array([t for topics in lists for t in topics], np.int32),
        instances=[member.instance_id for member in members],
        racks=np.array([rack.get(member.rack or "", -1) for member in members], np.int32),
        owned=(offsets_of(own), flat[:, 0].copy(), flat[:, 1].copy()),
    )  # fmt: skip
    generations = np.ones(len(members), np.int32)
    return AssignmentRequest(
        topics=TopicColumns.of(
            StringColumn.of(names), np.array([group.topics[t] if t in heard else -1 for t in names], np.int32),
            rack_offsets=None if group.racks is None else offsets_of(replicas),
            racks=np.array([code for codes in replicas for code in codes], np.int32),
            uuid_msb=high, uuid_lsb=low,
        ),
        members=replace(columns, generations=generations, data_generations=generations),
        rack_names=tuple(sorted(racks)),
        order=MapOrder.LEADER,
        weights=np.array(weights, float) if any(weights) and not any(map(isnan, weights)) else None,
        member_order=feeding_order(members, seen_release(group.kafka_version), is_server=is_server),
    )  # fmt: skip


def asked(release: str, group: PlainGroup, owned: Mapping[str, Sequence[Pair]], *, is_server: bool) -> Readers:
    """Whom the strategy gives each partition, now or in the next round. Of no members it is not asked."""
    if not group.members:
        return {}
    answer = by_name(release).assign(request_to(group, owned, is_server=is_server))
    names, readers = list(group.topics), {}
    for number, member in enumerate(group.ids):
        for topic, partition in answer.of_member(number):
            readers[names[topic], int(partition)] = member
    late = answer.withheld
    for topic, partition, number in zip(late.topics, late.partitions, late.members, strict=True):
        readers[names[topic], int(partition)] = group.ids[number]
    return readers


def owned_under(group: PlainGroup, readers: Readers, *, is_server: bool = False) -> dict[str, list[Pair]]:
    """Each member's partitions in the order of topics; a coordinator's as its members list them today, others last."""
    listed = [(topic, p) for m in group.members for topic, runs in m.owns(is_server=True) for p in runs]
    index = {pair: number for number, pair in reversed(list(enumerate(listed)))} if is_server else {}
    pairs = sorted(group.pairs, key=lambda pair: index.get(pair, len(listed)))
    return {member: [pair for pair in pairs if readers.get(pair) == member] for member in group.ids}


def row_of(group: PlainGroup, assignor: str, readers: Readers, before: Readers, capacity: float) -> Row:
    """Everything that one assignment is scored by."""
    mine = owned_under(group, readers)
    moved = [pair for pair, member in before.items() if readers.get(pair) != member]
    total = sum(group.written.values())
    counts = [float(len(pairs)) for pairs in mine.values()]
    rates = [sum(group.written[pair] for pair in pairs) for pairs in mine.values()]
    lags = [sum(group.lag[pair] for pair in pairs) for pairs in mine.values()]
    same, led = in_rack(group, readers)
    seconds, behind = drained(group, mine, readers, capacity)
    return {
        "assignor": assignor, "scenario": "today", "members": len(group.members), "partitions": len(group.pairs),
        "error": None, "idle_members": counts.count(0), "skew_count": skew(counts), "cv_count": deviation(counts),
        "skew_rate": skew(rates), "cv_rate": deviation(rates), "skew_lag": skew(lags),
        "partitions_moved": len(moved), "partitions_without_reader": len(group.pairs) - len(readers),
        "moved_rate_ratio": known(sum(group.written[p] for p in moved) / total if total > 0 else 0.0 * total),
        "same_rack_ratio": same, "leader_in_rack_ratio": led, "drain_seconds": seconds,
        "members_falling_behind": behind, "least_skew_count": least(group, dict.fromkeys(group.pairs, 1.0)),
        "least_skew_rate": least(group, group.written),
    }  # fmt: skip


def known(value: float) -> float | None:
    return None if isnan(value) else value


def skew(loads: Sequence[float]) -> float | None:
    """The highest over the mean; nothing carried is even."""
    return known(max(loads) * len(loads) / sum(loads) if sum(loads) > 0 else sum(loads))


def deviation(loads: Sequence[float]) -> float | None:
    if not sum(loads) > 0:
        return known(sum(loads))
    mean = sum(loads) / len(loads)
    return sqrt(sum((load - mean) ** 2 for load in loads) / len(loads)) / mean


def least(group: PlainGroup, weights: Mapping[Pair, float]) -> float | None:
    """The heaviest partition; what only an audience may read, over it; k+1 of the k·n+1 heaviest meet at one."""
    audiences = {topic: {m for m, topics in group.reads.items() if topic in topics} for topic in group.topics}
    rows = [pair for pair in group.pairs if audiences[pair[0]]]
    if any(isnan(weights[pair]) for pair in rows):
        return None
    heavy = sorted((weights[pair] for pair in rows), reverse=True)
    readers = {member for pair in rows for member in audiences[pair[0]]}
    # Members whose topics hold no partition are readers, too, if the cluster has the topic.
    readers |= {member for topic, count in group.topics.items() if count >= 0 for member in audiences[topic]}
    if not heavy or not sum(heavy) > 0:
        return 0.0
    bounds = [heavy[0], sum(heavy) / len(readers)]
    k = 1
    while k * len(readers) + 1 <= len(heavy):
        bounds.append(sum(heavy[k * len(readers) - k : k * len(readers) + 1]))
        k += 1
    bounds += [
        sum(weights[pair] for pair in rows if audiences[pair[0]] <= audience) / len(audience)
        for audience in audiences.values()
        if audience
    ]
    return max(bounds) * len(group.members) / sum(heavy)


def in_rack(group: PlainGroup, readers: Readers) -> tuple[float | None, float | None]:
    """Share of what is read by members with a rack that has a replica there, and that is led there."""
    rack_of = {member.id: member.rack for member in group.members}
    counted = [pair for pair in group.pairs if group.racks and group.racks[pair] and rack_of.get(readers.get(pair, ""))]
    if group.racks is None or not counted:
        return None, None
    weight: Callable[[Pair], float] = group.written.__getitem__
    if not sum(map(weight, counted)) > 0:
        weight = dict.fromkeys(counted, 1.0).__getitem__
    total = sum(map(weight, counted))
    same = sum(weight(pair) for pair in counted if rack_of[readers[pair]] in group.racks[pair]) / total
    if group.leaders is None:
        return same, None
    return same, sum(weight(pair) for pair in counted if rack_of[readers[pair]] == group.leaders[pair]) / total


def drained(
    group: PlainGroup, mine: Mapping[str, Sequence[Pair]], readers: Readers, capacity: float
) -> tuple[float | None, int | None]:
    """Seconds until the last member has read its backlog, and how many never will."""
    backlog = {pair: behind(group.lag[pair], group.messages[pair]) for pair in group.pairs}
    alone = sum(backlog[pair] for pair in group.pairs if pair not in readers)
    seconds = [inf if alone > 0 else alone]
    for pairs in mine.values():
        lag, written = sum(backlog[pair] for pair in pairs), sum(group.messages[pair] for pair in pairs)
        if lag == 0:
            seconds.append(0.0)
        elif isnan(lag) or isnan(capacity):
            seconds.append(nan)
        else:
            seconds.append(lag / (capacity - written) if written < capacity else inf)
    if any(map(isnan, seconds)) or not group.pairs:
        return None, None
    return None if max(seconds) == inf else max(seconds), seconds[1:].count(inf)


def behind(lag: float, written: float) -> float:
    """Unknown where one of the two is."""
    backlog = lag - _COMMIT_S * written
    return 0.0 if backlog < 0 else backlog


def capacity_of(group: PlainGroup, readers: Readers) -> float:
    seen = [sum(group.read[pair] for pair in pairs) for pairs in owned_under(group, readers).values() if pairs]
    return max((rate for rate in seen if not isnan(rate)), default=nan)


def after(event: Event, before: PlainGroup) -> PlainGroup:
    """The members are drawn by the scenario; what became of topics is worked out here."""
    state = event.after
    names = state.group_input.topics
    group = replace(
        before, members=state.members,
        reads={m.id: tuple(names[t] for t in own) for m, own in zip(state.members, state.subscriptions, strict=True)},
    )  # fmt: skip
    if event.trigger is not Trigger.PARTITION_COUNT_CHANGES:
        return group
    added = [topic for topic in names if topic not in before.topics]
    if added:
        return with_topic(group, added[0], dict(zip(names, state.group_input.topic_ids, strict=False)))
    return with_twice_the_partitions(group)


def with_topic(group: PlainGroup, name: str, ids: Mapping[str, str]) -> PlainGroup:
    """Like the one in the middle by partitions (of an even number the upper), of like ones the later by name."""
    there = [topic for topic, count in group.topics.items() if count > 0]
    like = sorted(there, key=lambda topic: group.topics[topic])[len(there) // 2]
    assert name.startswith(f"{like}.new")
    topics = dict(sorted({**group.topics, name: group.topics[like]}.items()))
    old = {(name, partition): (like, partition) for partition in range(group.topics[like])}
    return replace(
        group, topics=topics, topic_ids=ids,
        written={**group.written, **{new: group.written[pair] for new, pair in old.items()}},
        messages={**group.messages, **{new: group.messages[pair] for new, pair in old.items()}},
        lag={**group.lag, **dict.fromkeys(old, 0.0)}, read={**group.read, **dict.fromkeys(old, nan)},
        racks=None if group.racks is None else {**group.racks, **dict.fromkeys(old, ())},
        leaders=None if group.leaders is None else {**group.leaders, **dict.fromkeys(old)},
    )  # fmt: skip


def with_twice_the_partitions(group: PlainGroup) -> PlainGroup:
    """Of the largest topic, the first by name of like ones; all of them get its mean rate."""
    largest = max(group.topics, key=lambda topic: group.topics[topic])
    count = group.topics[largest]
    new = [(largest, partition) for partition in range(count, 2 * count)]
    every = [(largest, partition) for partition in range(2 * count)]

    def mean(values: Mapping[Pair, float]) -> dict[Pair, float]:
        return {**values, **dict.fromkeys(every, sum(values[pair] for pair in every[:count]) / (2 * count))}

    return replace(
        group, topics={**group.topics, largest: 2 * count}, written=mean(group.written), messages=mean(group.messages),
        lag={**group.lag, **dict.fromkeys(new, 0.0)}, read={**group.read, **dict.fromkeys(new, nan)},
        racks=None if group.racks is None else {**group.racks, **dict.fromkeys(new, ())},
        leaders=None if group.leaders is None else {**group.leaders, **dict.fromkeys(new)},
    )  # fmt: skip


@dataclass(frozen=True)
class PlainStanding:
    """A strategy, the class that is asked, and whom it gives what today."""

    candidate: Candidate
    release: str
    readers: Readers

    @property
    def protocol(self) -> Protocol:
        if self.candidate.is_server:
            return Protocol.CONSUMER
        return Protocol.COOPERATIVE if self.candidate.name == "cooperative-sticky" else Protocol.EAGER


@dataclass(frozen=True)
class PlainEnd:
    """What a variant leaves behind: ``moved`` and the pauses (unread, revoked, longest, sum) over all its events."""

    subject: Fact
    group: PlainGroup
    before: Readers
    readers: Readers
    moved: int
    pauses: tuple[int, int, float, int]


def plain_rows(
    given: GroupInput, strategies: Sequence[str] | None, scenarios: Sequence[str], seed: int
) -> tuple[list[Row], list[Row]]:
    """Rows of today, and those of the scenarios."""
    possible = candidates(given.group.type, given.group.protocol_type, given.kafka_version, group_client(given.group))
    own = next((row for row in possible if row.name == given.group.protocol and row.releases), None)
    subscriptions, fitting = settled(given, own)
    group = plain_group(given, subscriptions)
    today = readers_today(group)
    owned = {
        m.id: [(topic, p) for topic, partitions in m.assigned for p in partitions if p < group.topics[topic]]
        for m in group.members
    }
    capacity = capacity_of(group, today)
    rows = [row_of(group, given.group.protocol or "unknown", today, today, capacity)]
    standings = [PlainStanding(own, fitting[0], today)] if own is not None and fitting else []
    for item in possible:
        if (item is own and fitting) or (strategies is not None and item.name not in strategies):
            continue
        if not item.releases:
            strategy = item.name.removeprefix("consumer/")
            why = fact(FactCode.STRATEGY_NOT_MODELLED, strategy=strategy, modelled_since=item.modelled_since)
            rows.append(refusal(group, item.name, why))
            continue
        try:
            readers = asked(item.releases[0], group, owned, is_server=item.is_server)
        except AssignorError as error:
            rows.append(refusal(group, item.name, refusal_of(error)))
            continue
        rows.append(row_of(group, item.name, readers, today, capacity))
        standings.append(PlainStanding(item, item.releases[0], readers))
    if any(
        given.topics and member.subscription is None and not member.assigned and not topics
        for member, topics in zip(given.group.members, subscriptions, strict=True)
    ):  # only that it reads nothing hides what it subscribes to: no bound holds
        rows = [row | {"least_skew_count": None, "least_skew_rate": None} for row in rows]
    stage = stage_of(GroupState(given, tuple(map(tuple, subscriptions))), seed)
    results: list[Row] = []
    for scenario in scenarios:
        variants = () if scenario == STRATEGY_CHANGES else tuple(variants_of(scenario, stage))
        results += [scenario_row(scenario, variants, group, standing, capacity) for standing in standings if variants]
    mine = next((standing for standing in standings if standing.candidate.name == given.group.protocol), None)
    if STRATEGY_CHANGES in scenarios and mine is not None:
        restarts = tuple(variants_of("rolling_restart", stage))
        bounces = {id(standing): scenario_row("", restarts, group, standing, capacity) for standing in standings}
        for item in standings:
            if item is not mine:
                results.append(change_row(group, today, mine, item, (bounces[id(mine)], bounces[id(item)]), capacity))
    return rows, results


def settled(given: GroupInput, own: Candidate | None) -> tuple[Sequence[Sequence[int]], list[str]]:
    """Subscriptions under which the group's strategy gives what is read today, and its classes that do."""
    possible = [subscriptions for _, subscriptions in hypotheses(given)]
    for subscriptions in possible if own else ():
        group, fitting = plain_group(given, subscriptions), []
        today = readers_today(group)
        owned = {m.id: [(t, p) for t, ps in m.assigned for p in ps if p < group.topics[t]] for m in group.members}
        for release in own.releases if own else ():
            try:
                if asked(release, group, owned, is_server=bool(own and own.is_server)) == today:
                    fitting.append(release)
            except AssignorError:
                continue
        if fitting:
            return subscriptions, fitting
    return possible[0], []


def refusal(group: PlainGroup, name: str, error: Fact) -> Row:
    return {
        "assignor": name, "scenario": "today", "members": len(group.members), "partitions": len(group.pairs),
        "error": error,
    }  # fmt: skip


def scenario_row(
    scenario: str, variants: Sequence[Variant], group: PlainGroup, standing: PlainStanding, capacity: float
) -> Row:
    """Of the variants the one in which most moves; of like ones where more is unread, then the first."""
    ends: list[PlainEnd] = []
    name = standing.candidate.name
    for variant in variants:
        try:
            ends.append(played(variant, group, standing))
        except AssignorError as error:
            last = group
            for event in variant.events:
                last = after(event, last)
            return {**refusal(last, name, refusal_of(error)), "scenario": scenario, "subject": variant.subject}
    worst = ends[0]
    for end in ends:
        if (end.moved, end.pauses[3]) > (worst.moved, worst.pauses[3]):
            worst = end
    row = row_of(worst.group, name, worst.readers, worst.before, capacity)
    if any(len(variant.events) > 1 for variant in variants if variant.subject == worst.subject):
        row["moved_rate_ratio"] = None  # of several events there is no one share
    return {
        **row, **pause_columns(worst.pauses),
        "scenario": scenario, "subject": worst.subject, "variants": len(ends), "partitions_moved": worst.moved,
        "mean_partitions_moved": sum(end.moved for end in ends) / len(ends),
    }  # fmt: skip


def change_row(
    group: PlainGroup, today: Readers, own: PlainStanding, other: PlainStanding, bounces: tuple[Row, Row],
    capacity: float,
) -> Row:  # fmt: skip
    """All restart once under each of the two strategies; partitions move once."""
    name = other.candidate.name
    errors = [bounce["error"] for bounce in bounces if bounce["error"]]
    if errors:
        return {**refusal(group, name, errors[0]), "scenario": STRATEGY_CHANGES}
    row = row_of(group, name, other.readers, today, capacity)
    pauses = together([tuple_of(bounce) for bounce in bounces])
    change = fact(FactCode.STRATEGY_CHANGES, strategy=own.candidate.name)
    return {
        **row, **pause_columns(pauses), "scenario": STRATEGY_CHANGES, "subject": change,
        "variants": 1, "mean_partitions_moved": float(row["partitions_moved"]),
    }  # fmt: skip


def played(variant: Variant, group: PlainGroup, standing: PlainStanding) -> PlainEnd:
    """Its events in turn; a leave and the join that follows are one restart to the clocks."""
    readers, before, moved = standing.readers, standing.readers, 0
    changes: list[tuple[Change, list[str]]] = []
    for event in variant.events:
        earlier, group = group, after(event, group)
        before = readers
        if event.trigger is not Trigger.STATIC_RESTART:
            stay = {pair: member for pair, member in readers.items() if member in group.ids}
            owned = owned_under(group, stay, is_server=standing.candidate.is_server)
            readers = asked(standing.release, group, owned, is_server=standing.candidate.is_server)
        moved += sum(readers.get(pair) != member for pair, member in before.items())
        changes.append(change_of(event, earlier, group, before, readers))
    parts = [pauses_in(standing.protocol, chain) for chain in chains(changes)]
    unread, revoked, longest, unread_ms = together(parts)
    share = variant.share
    scaled = (round(unread / share), round(revoked / share), longest, round(unread_ms / share))
    return PlainEnd(variant.subject, group, before, readers, round(moved / share), scaled)


def chains(changes: Sequence[tuple[Change, list[str]]]) -> Iterator[list[tuple[Change, list[str]]]]:
    """What the coordinator meets together: one change, or a leave and the join after it."""
    left = list(changes)
    while left:
        is_restart = len(left) > 1 and left[0][0].trigger is Trigger.MEMBER_LEAVES
        yield left[: 1 + is_restart]
        left = left[1 + is_restart :]


def change_of(
    event: Event, earlier: PlainGroup, later: PlainGroup, before: Readers, readers: Readers
) -> tuple[Change, list[str]]:
    """By numbers as names; all that are gone, or all that are new, are one member: the last."""
    index = {member: number for number, member in enumerate(m for m in earlier.ids if m in later.ids)}
    subject, size = len(index), len(index)
    if event.trigger is Trigger.STATIC_RESTART:
        subject = event.subject
    elif event.trigger is not Trigger.PARTITION_COUNT_CHANGES:
        size += 1
    names = [f"m{number:05}" for number in range(size)]

    def held(column: Readers, ids: Sequence[str], *, is_there: bool) -> dict[str, frozenset[Pair]]:
        known_names = names if is_there else names[:-1]
        sets: dict[str, set[Pair]] = {name: set() for name in known_names}
        for pair, member in column.items():
            sets[names[index.get(member, size - 1)]].add(pair)
        return {name: frozenset(pairs) for name, pairs in sets.items()}

    joins = event.trigger is Trigger.MEMBER_JOINS
    goes = event.trigger in (Trigger.MEMBER_LEAVES, Trigger.MEMBER_DIES)
    change = Change(
        event.trigger, names[subject] if subject < size else "", held(before, earlier.ids, is_there=not joins),
        held(readers, later.ids, is_there=not goes), names[0], is_static=event.is_static,
    )  # fmt: skip
    return change, names


def pauses_in(protocol: Protocol, chain: Sequence[tuple[Change, list[str]]]) -> tuple[int, int, float, int]:
    """Summed up from the replay, event by event."""
    times = Times()
    names = chain[0][1]
    changes = [replace(change, at_ms=number * times.restart_ms) for number, (change, _) in enumerate(chain)]
    timeline = replay_chain(protocol, changes, stagger(protocol, times, names))
    away = changes[0].subject if changes[0].trigger not in _ALL_STAY else None
    revoked = sum(event.partitions for event in timeline.events if event.phase is Phase.REVOKE and event.member != away)
    lengths = [inf if pause.to_ms is None else pause.to_ms - pause.from_ms for pause in timeline.pauses]
    total = int(sum(length for length in lengths if length < inf))
    return len(lengths), revoked, max(lengths, default=0), total


_ALL_STAY = (Trigger.MEMBER_JOINS, Trigger.PARTITION_COUNT_CHANGES)


def together(parts: Sequence[tuple[int, int, float, int]]) -> tuple[int, int, float, int]:
    """Sums; the longest of all."""
    unread, revoked, longest, total = zip(*parts, strict=True)
    return sum(unread), sum(revoked), max(longest), sum(total)


def pause_columns(pauses: tuple[int, int, float, int]) -> Row:
    unread, revoked, longest, total = pauses
    return {
        "partitions_unread": unread, "partitions_revoked": revoked,
        "longest_pause_ms": None if longest == inf else longest, "unread_partition_ms": total,
    }  # fmt: skip


def tuple_of(row: Row) -> tuple[int, int, float, int]:
    longest = row["longest_pause_ms"]
    return (
        row["partitions_unread"], row["partitions_revoked"], inf if longest is None else longest,
        row["unread_partition_ms"],
    )  # fmt: skip


def as_row(score: Any) -> Row:
    """A row of the program, but for ``version`` and what is advised."""
    names = (item.name for item in fields(score) if item.name not in ("version", "is_advised"))
    return {name: getattr(score, name) for name in names}
