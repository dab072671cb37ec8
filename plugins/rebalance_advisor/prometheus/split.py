"""Rates by topic and broker → rates of partitions, and how sure that is.

What a broker counts of a topic is that of the partitions it leads. Where that is one partition it is exact; else it is
split by what is known of them, best first:

1. messages: how fast their end offsets grow;
2. size: what their logs hold (retention is the topic's, so a log is as large as it was written to);
3. evenly.

What brokers counted that lead nothing of the topic now is split over all its partitions where it was written (the
leader moved in the window), and left out where it was read (consumers fetch from followers: no leader carries that).
A partition whose end offset stands still was not written to, counted or not: brokers count a topic from its first byte.

Example: broker 1 leads a-0 and a-1 and counts 90 bytes/s of a; their offsets grow by 2 and 1 a second: 60 and 30.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.snapshot.model import ClusterSnapshot

TopicRates = Mapping[tuple[str, int], float]  # (topic, broker) → a second


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """``values`` float64[P] (nan: its topic has no series on its leader); the rest are shares of what was counted."""

    values: Floats
    total: float
    exact: float
    by_messages: float
    by_size: float
    evenly: float
    elsewhere: float  # counted on brokers that lead nothing of the topic
    spread: float | None  # share by which the splits by messages and by size differ, where both are known

    @property
    def shares(self) -> dict[str, float | None]:
        """Return how sure it is: the share of each way of splitting, and how far two of them differ."""
        names = ("exact", "by_messages", "by_size", "evenly", "elsewhere", "spread")
        shares = {name: getattr(self, name) for name in names}
        return {name: None if share is None else float(share) for name, share in shares.items()}


def split_over_partitions(
    snapshot: ClusterSnapshot, rates: TopicRates, messages: Floats, *, keeps_elsewhere: bool
) -> Split:
    """``messages`` float64[P] a second, nan where unknown. ``keeps_elsewhere``: see above, for what is written.

    O(P + series).
    """
    table, names = snapshot.partitions, [topic.name for topic in snapshot.topics]
    size = table.leader_log_bytes
    values = np.full(len(table), np.nan)
    shares = {"exact": 0.0, "by_messages": 0.0, "by_size": 0.0, "evenly": 0.0}
    total, elsewhere, differing, compared = sum(rates.values()), 0.0, 0.0, 0.0
    rows_of_topic = np.split(np.arange(len(table)), np.searchsorted(table.topic, np.arange(1, len(names))))
    by_topic: dict[str, dict[int, float]] = {}
    for (topic, broker), rate in rates.items():
        by_topic.setdefault(topic, {})[broker] = rate
    for rows, name in zip(rows_of_topic, names, strict=True):
        counted = by_topic.pop(name, {})
        for broker in sorted(set(table.leader[rows].tolist()) & counted.keys()):
            led, rate = rows[table.leader[rows] == broker], counted.pop(broker)
            how, weights = _weights(led, messages, size)
            values[led] = rate * weights
            shares[how] += rate
            if how == "by_messages" and _usable(size[led]):
                differing += rate * float(np.abs(weights - size[led] / size[led].sum()).sum()) / 2
                compared += rate
        rest = sum(counted.values())
        elsewhere += rest
        if keeps_elsewhere and rest > 0 and len(rows):
            _, weights = _weights(rows, messages, size)
            values[rows] = np.nan_to_num(values[rows]) + rest * weights
    values[np.isnan(values) & (messages == 0)] = 0.0
    elsewhere += sum(rate for counted in by_topic.values() for rate in counted.values())
    whole = total or 1.0
    parts = {how: rate / whole for how, rate in shares.items()}
    spread = differing / compared if compared > 0 else None
    return Split(values=values, total=total, elsewhere=elsewhere / whole, spread=spread, **parts)


def _weights(rows: np.ndarray, messages: Floats, size: Floats) -> tuple[str, Floats]:
    if len(rows) == 1:
        return "exact", np.ones(1)
    for how, known in (("by_messages", messages[rows]), ("by_size", size[rows])):
        if _usable(known):
            return how, known / known.sum()
    return "evenly", np.full(len(rows), 1 / len(rows))


def _usable(known: Floats) -> bool:
    """Known for every one of them, and something."""
    return not bool(np.isnan(known).any()) and float(known.sum()) > 0
