"""Each partition's hours of a window: readings laid over the hours that end with the newest one.

What it promises, in this order:

1. An hour that nobody saw is unknown, never 0: a reading that is missing leaves a hole, and at least half of an hour
   must have been seen of a partition.
2. No hour is negative, and none is larger than the largest rate that a reading measured in it: an hour is the mean of
   what was seen of it, weighted by time.
3. A topic that was deleted and created again is another one: its hours begin with it.

Hours are counted back from the newest reading (hour 0 ends there), so that readings an hour apart fall on them exactly.

Example: readings at 10:00 (40 bytes/s in the half hour before), 11:00 (10 in the hour before) and 12:00 (nothing
measured), window 3 h, the newest at 12:00: hour 0 is unknown, hour 1 is 10, and hour 2 (9:00 to 10:00), half seen, 40.

Complexity: O(P) for each hour that a reading covers, 8 bytes for each partition, hour and kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.snapshot.history.reading import HISTORY_KINDS, HOUR_S, MeasuredRates, MeasuredReading, Rates
from kafka_rebalance.snapshot.load_kind import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.rates import rows_of_same
from kafka_rebalance.snapshot.times import time_text

# Less of an hour than this says too little about it.
LEAST_SEEN_S = HOUR_S / 2
# A reading over more than this flattens the hours that it covers.
FLATTENED_S = 2 * HOUR_S


@dataclass(frozen=True, slots=True, eq=False)
class HourlyLoads:
    """``values``: float32[H, P] of each kind that was measured, nan where unknown; hour 0 ends at ``until``.

    ``flattened`` bool[H]: measured over more than two hours at a time, so that what happened within it was not seen.
    """

    until: datetime
    hours: int
    values: Mapping[LoadKind, Rates]
    flattened: npt.NDArray[np.bool_]

    @property
    def seen(self) -> npt.NDArray[np.bool_]:
        """bool[H]: something of the hour is known."""
        seen = np.zeros(self.hours, dtype=np.bool_)
        for values in self.values.values():
            seen |= ~np.isnan(values).all(axis=1)
        return seen


def hourly_loads(snapshot: ClusterSnapshot, readings: Iterable[MeasuredReading], hours: int) -> HourlyLoads:
    """The hours of ``snapshot``'s partitions until it was read. ``readings`` oldest first; later ones are left out, and
    of two at the same moment the second.

    Raises InvalidInputError where the snapshot has no time, or readings are not in order.
    """
    until = snapshot.captured_at
    if until is None:
        raise InvalidInputError.at("history", "the newest reading has no time", "say when it was taken (captured_at)")
    sums: dict[LoadKind, Rates] = {}
    seconds: dict[LoadKind, Rates] = {}
    flattened = np.zeros(hours, dtype=np.bool_)
    last: datetime | None = None
    for reading in readings:
        if last is not None and reading.until < last:
            problem = f"{time_text(reading.until)} comes after {time_text(last)}"
            raise InvalidInputError.at("history", problem, "give the oldest reading first")
        if reading.until == last or reading.until > until:
            continue
        last = reading.until
        row_before = rows_of_same(reading.partitions, snapshot)
        for kind in HISTORY_KINDS:
            if kind in reading.columns:
                shape = (hours, len(snapshot.partitions))
                into = sums.setdefault(kind, np.zeros(shape, np.float32))
                seen_s = seconds.setdefault(kind, np.zeros(shape, np.float32))
                age_s = (until - reading.until).total_seconds()
                _lay_over(reading.columns[kind], row_before, age_s, into, seen_s, flattened)
    values = {kind: _hours_of(sums[kind], seconds[kind]) for kind in sums}
    return HourlyLoads(until, hours, values, flattened)


def _lay_over(
    rates: MeasuredRates, row_before: npt.NDArray[np.int64], age_s: float, into: Rates, seen_s: Rates,
    flattened: npt.NDArray[np.bool_],
) -> None:  # fmt: skip
    """Add a reading's rates, by the seconds that it shares with each hour, to ``into`` and ``seen_s``, [H, P] each."""
    known = rates.values[row_before] if len(rates.values) else np.full(len(row_before), np.nan, np.float32)
    known = np.where(row_before >= 0, known, np.float32(np.nan))
    there = np.flatnonzero(~np.isnan(known))
    newest, oldest = age_s, age_s + rates.window_s
    for hour in range(int(newest // HOUR_S), min(int(np.ceil(oldest / HOUR_S)), len(into))):
        shared_s = np.float32(min(oldest, (hour + 1) * HOUR_S) - max(newest, hour * HOUR_S))
        into[hour, there] += known[there] * shared_s
        seen_s[hour, there] += shared_s
        flattened[hour] |= rates.window_s > FLATTENED_S


def _hours_of(sums: Rates, seen_s: Rates) -> Rates:
    result = np.full(sums.shape, np.nan, dtype=np.float32)
    np.divide(sums, seen_s, out=result, where=seen_s >= LEAST_SEEN_S)
    return result
