"""A snapshot with the loads of a window: of each partition the mean, the 95th percentile, or what the cluster's busiest
hours had of it.

Disk is what it is now: sizes are a state, and a plan copies today's bytes. A rate of which no hour was seen stays what
the newest reading says (its source, too); a partition that was not seen in the window keeps the newest reading's
figure, and how many these are is told.

``peak`` is the mean of the busiest twentieth of the window's hours, busiest by what the whole cluster carried (of each
kind: hours of much reading need not be those of much writing). Each partition's own busiest hour would be another one
for every partition: no broker ever carries their sum, and a topic that bursts an hour a week would outweigh all others.
One single hour holds one accident; several do not (docs/loads.md has the figures of all three).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.history.hourly_loads import HourlyLoads, hourly_loads
from kafka_rebalance.snapshot.history.reading import HOUR_S, MeasuredReading, Rates
from kafka_rebalance.snapshot.load import LoadColumn, PartitionLoads
from kafka_rebalance.snapshot.load_kind import LoadStatistic
from kafka_rebalance.snapshot.model import ClusterSnapshot, CoverageGap

_P95 = 0.95
# Of the hours that are known, at least one.
_BUSY_SHARE = 0.05


def over_window(
    snapshot: ClusterSnapshot, readings: Iterable[MeasuredReading], statistic: LoadStatistic, hours: int
) -> tuple[ClusterSnapshot, HourlyLoads]:
    """``snapshot`` with the loads of the ``hours`` before it, and these hours. ``readings`` oldest first.

    Raises InvalidInputError where it has no time, or no hour was seen.
    """
    hourly = hourly_loads(snapshot, readings, hours)
    return with_window_loads(snapshot, hourly, statistic), hourly


def with_window_loads(snapshot: ClusterSnapshot, hourly: HourlyLoads, statistic: LoadStatistic) -> ClusterSnapshot:
    """``snapshot`` with the rates of the window in place of the last reading's.

    Raises InvalidInputError where no hour was seen: then there is nothing to plan on.
    """
    if not hourly.seen.any():
        problem = f"none of the last {hourly.hours} hours of cluster {snapshot.cluster} was measured"
        raise InvalidInputError.at("history", problem, "give readings that are at most a day apart, or ask for no load")
    columns = dict(snapshot.loads.columns)
    unseen = 0
    for kind, values in hourly.values.items():
        figures = statistic_of(values, statistic)
        if np.isnan(figures).all():
            continue
        latest = snapshot.loads.values(kind, len(figures))
        unseen = max(unseen, int((np.isnan(figures) & ~np.isnan(latest)).sum()))
        figures = np.where(np.isnan(figures), latest, figures)
        columns[kind] = LoadColumn(figures, statistic.source, hourly.hours * HOUR_S)
    gaps = _gaps(snapshot, hourly, unseen)
    return replace(snapshot, loads=PartitionLoads(columns), coverage=(*snapshot.coverage, *gaps))


def statistic_of(values: Rates, statistic: LoadStatistic) -> Floats:
    """float64[P] of float32[H, P]: over the hours that are known, nan where none is."""
    ordered = np.sort(values.astype(np.float64), axis=0)  # nan last
    known = (~np.isnan(values)).sum(axis=0)
    column = np.arange(values.shape[1])
    result = np.full(values.shape[1], np.nan)
    there = known > 0
    if statistic is not LoadStatistic.P95:
        np.divide(np.nansum(ordered, axis=0), known, out=result, where=there)
        return result if statistic is LoadStatistic.MEAN else _of_busiest_hours(values, result)
    # Between the two nearest hours, as everybody's percentile does; of 168 hours, p95 is above all but nine.
    place = (known[there] - 1) * _P95
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, known[there] - 1)
    low, high = ordered[below, column[there]], ordered[above, column[there]]
    result[there] = low + (high - low) * (place - below)
    return result


def _of_busiest_hours(values: Rates, usual: Floats) -> Floats:
    """float64[P]: the mean over the hours in which the cluster carried most; the ``usual`` where none of them is known.

    What is not known of an hour is taken for usual, so that an hour is not called quiet for its holes.
    """
    hours = values.astype(np.float64)
    is_seen = ~np.isnan(hours).all(axis=1)
    total = np.where(is_seen, np.nansum(np.where(np.isnan(hours), usual, hours), axis=1), -np.inf)
    count = max(1, math.ceil(_BUSY_SHARE * int(is_seen.sum())))
    busy = hours[np.argsort(-total, kind="stable")[:count]]
    known = (~np.isnan(busy)).sum(axis=0)
    result = usual.copy()
    np.divide(np.nansum(busy, axis=0), known, out=result, where=known > 0)
    return result


def _gaps(snapshot: ClusterSnapshot, hourly: HourlyLoads, unseen: int) -> list[CoverageGap]:
    """Return what of the window was not seen."""
    seen, flattened = int(hourly.seen.sum()), int(hourly.flattened.sum())
    if seen >= hourly.hours and not flattened and not unseen:
        return []
    reason = fact(
        FactCode.HOURS_NOT_MEASURED, seen=seen, hours=hourly.hours, flattened=flattened, unseen_partitions=unseen
    )
    return [CoverageGap("cluster", snapshot.cluster, fact(FactCode.LACKS_HOURS), reason)]
