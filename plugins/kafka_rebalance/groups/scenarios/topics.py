"""Scenarios in which a group gets more to read: a topic with more partitions, one more topic, or a changed snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kafka_rebalance.arrays import Floats, Longs
from kafka_rebalance.coordinator.timeline import Trigger
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_input import GroupInput
from kafka_rebalance.groups.scenarios.members import Stage, Variant
from kafka_rebalance.groups.scenarios.state import Event, GroupState
from kafka_rebalance.scenarios.new_topics import drawn_topic_id, free_name, spread_over_all
from kafka_rebalance.scoring.assignment_scores import PartitionRates

_NEW = -1


def partitions_added(stage: Stage) -> Iterator[Variant]:
    """The topic with the most partitions gets twice as many; what is written to it spreads over all of them.

    Keys go to other partitions then, so no partition's rate stays: each gets the topic's mean. Lag stays where it is.
    """
    before = stage.today.group_input
    if not len(before.topics) or before.partition_counts.max() <= 0:
        return
    topic = int(np.argmax(before.partition_counts))
    count = int(before.partition_counts[topic])
    rows, first = [], before.first_row
    for number in range(len(before.topics)):
        rows.append(np.arange(first[number], first[number + 1], dtype=np.int64))
        if number == topic:
            rows.append(np.full(count, _NEW, dtype=np.int64))
    counts = before.partition_counts.copy()
    counts[topic] *= 2
    begins = int(first[topic])
    after = _with_rows(before, np.concatenate(rows), partition_counts=counts)
    for rate in (after.rates.in_bytes_per_s, after.rates.in_messages_per_s):
        spread_over_all(rate[begins : begins + 2 * count], count)
    after.rates.lag_messages[begins + count : begins + 2 * count] = 0
    grows = fact(
        FactCode.TOPIC_GROWS, topic=before.topics[topic], partitions_before=count, partitions=2 * count
    )  # fmt: skip
    yield Variant(grows, (_event(stage, after, rows),))


def topic_added(stage: Stage) -> Iterator[Variant]:
    """One more topic like the one in the middle by partitions; all members subscribe to it."""
    before = stage.today.group_input
    there = np.flatnonzero(before.partition_counts > 0)
    if not len(there):
        return
    like = int(there[np.argsort(before.partition_counts[there], kind="stable")[len(there) // 2]])
    count, name = int(before.partition_counts[like]), free_name(before.topics, before.topics[like])
    place = sum(topic < name for topic in before.topics)
    first = before.first_row
    begins = int(first[place])
    rows = [np.arange(begins, dtype=np.int64), np.full(count, _NEW), np.arange(begins, first[-1], dtype=np.int64)]
    after = _with_rows(
        before,
        np.concatenate(rows),
        topics=(*before.topics[:place], name, *before.topics[place:]),
        partition_counts=np.insert(before.partition_counts, place, count).astype(np.int32),
        topic_ids=(*before.topic_ids[:place], drawn_topic_id(stage.lots("topic_added")), *before.topic_ids[place:])
        if before.topic_ids
        else (),
    )
    old = slice(int(first[like]), int(first[like + 1]))
    after.rates.in_bytes_per_s[begins : begins + count] = before.rates.in_bytes_per_s[old]
    after.rates.in_messages_per_s[begins : begins + count] = before.rates.in_messages_per_s[old]
    after.rates.lag_messages[begins : begins + count] = 0
    subscriptions = tuple(
        (*(topic + (topic >= place) for topic in topics), place) for topics in stage.today.subscriptions
    )
    grows = fact(FactCode.TOPIC_GROWS, topic=name, partitions_before=0, partitions=count)
    yield Variant(grows, (_event(stage, after, rows, subscriptions),))


def _event(
    stage: Stage, after: GroupInput, rows: list[Longs], subscriptions: tuple[tuple[int, ...], ...] | None = None
) -> Event:
    members = np.arange(len(stage.today.members), dtype=np.int32)
    state = GroupState(after, stage.today.subscriptions if subscriptions is None else subscriptions)
    return Event(Trigger.PARTITION_COUNT_CHANGES, state, members, np.concatenate(rows))


def _with_rows(before: GroupInput, rows: Longs, **changes: Any) -> GroupInput:
    """What is known of each partition, from its row before; a new one has no rate and no racks yet."""
    rates = PartitionRates(*(_taken(getattr(before.rates, name), rows) for name in _RATES))
    if before.rack_offsets is None:
        return replace(before, rates=rates, **changes)
    widths = np.where(rows == _NEW, 0, np.diff(before.rack_offsets)[np.maximum(rows, 0)])
    offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(widths)))
    racks = tuple(
        rack
        for row in rows.tolist()
        if row != _NEW
        for rack in before.racks[before.rack_offsets[row] : before.rack_offsets[row + 1]]
    )
    told = before.leader_racks
    leaders = tuple(told[row] if row != _NEW else None for row in rows.tolist()) if told else ()
    changes |= {"rack_offsets": offsets.astype(np.int64), "racks": racks, "leader_racks": leaders}
    return replace(before, rates=rates, **changes)


_RATES = ("in_bytes_per_s", "in_messages_per_s", "lag_messages", "read_messages_per_s")


def _taken(values: Floats, rows: Longs) -> Floats:
    return np.where(rows == _NEW, np.nan, values[np.maximum(rows, 0)])
