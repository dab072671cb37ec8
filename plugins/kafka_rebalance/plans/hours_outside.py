"""Hours of a window of history in which brokers were outside their bands, before and after the plan.

An hour is outside where a remaining broker's in, out or CPU is outside the plan's band, scaled to the hour's total. An
unknown hour of a partition counts as its mean. An hour with most partitions unknown is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from kafka_assignors.arrays import Flags, Floats, Ints
from kafka_rebalance.cluster_arrays.bands import BAND_ROUNDING
from kafka_rebalance.cluster_arrays.problem import DEFAULTS as MODEL
from kafka_rebalance.cluster_arrays.problem import Columns, MeasuredLoads, columns_of
from kafka_rebalance.facts import Fact, FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.draft import Bands, bands_of
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.plans.request import PlanRequest, build_request
from kafka_rebalance.resources import ROWS
from kafka_rebalance.snapshot.figures import LoadKind, LoadStatistic
from kafka_rebalance.snapshot.history import HISTORY_KINDS, HOUR_S, HourlyLoads, statistic_of
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.times import time_text


@dataclass(frozen=True, slots=True)
class HourStanding:
    """Brokers outside their band before and after the plan; the hour by its end."""

    until: str
    brokers_outside_before: int
    brokers_outside_after: int


@dataclass(frozen=True, slots=True)
class HoursOutside:
    """Judged hours, oldest first; ``hours`` is the window's length."""

    hours: int
    judged: tuple[HourStanding, ...]

    @property
    def before(self) -> int:
        return sum(hour.brokers_outside_before > 0 for hour in self.judged)

    @property
    def after(self) -> int:
        return sum(hour.brokers_outside_after > 0 for hour in self.judged)

    @property
    def mean_brokers(self) -> tuple[float, float]:
        count = max(len(self.judged), 1)
        before = sum(hour.brokers_outside_before for hour in self.judged)
        return before / count, sum(hour.brokers_outside_after for hour in self.judged) / count

    @property
    def gain(self) -> float:
        return max(0.0, 1 - self.after / self.before) if self.before else 0.0

    @property
    def fact(self) -> Fact:
        before, after = self.mean_brokers
        return Fact(
            FactCode.HOURS_OUTSIDE_BAND,
            {
                "hours": self.hours, "judged": len(self.judged), "outside_before": self.before,
                "outside_after": self.after, "mean_brokers_before": before, "mean_brokers_after": after,
            },
        )  # fmt: skip

    def document(self) -> dict[str, Any]:
        return {
            "hours": self.hours, "hours_judged": len(self.judged), "hours_outside_before": self.before,
            "hours_outside_after": self.after, "fact": self.fact.document(),
            "by_hour": [
                {
                    "until": hour.until, "brokers_outside_before": hour.brokers_outside_before,
                    "brokers_outside_after": hour.brokers_outside_after,
                }
                for hour in self.judged
            ],
        }  # fmt: skip


def hours_outside(snapshot: ClusterSnapshot, plan: Plan, hourly: HourlyLoads | None) -> HoursOutside | None:
    """None without history or bands. ``snapshot`` is the plan's."""
    options = PlanOptions.from_document(plan.parameters)
    if hourly is None or options.band is None:
        return None
    plan_request = build_request(snapshot, options)
    resources = tuple(name for name in plan_request.resources if ROWS[name].load in HISTORY_KINDS)
    if not resources or not len(snapshot.partitions):
        return None
    problem = plan_request.problem(options.band)
    bands, columns = bands_of(problem), [problem.resources.index(name) for name in resources]
    judge = _Judge(resources, Bands(bands.low[:, columns], bands.high[:, columns], bands.mean[columns]), plan_request)
    placed = plan_request.partitions.placement
    today, planned = _placed(judge, placed.replicas, placed.leader), _placed(judge, *_after(plan_request, plan))
    usual = {kind: statistic_of(values, LoadStatistic.MEAN) for kind, values in hourly.values.items()}
    kinds = tuple(dict.fromkeys(kind for name in resources for kind in ROWS[name].rests_on))
    judged = []
    for hour in reversed(range(hourly.hours)):
        loads = _loads_of(hourly, hour, kinds, usual)
        if loads is not None:
            until = time_text(hourly.until - timedelta(seconds=hour * HOUR_S))
            judged.append(HourStanding(until, judge.outside(today(loads)), judge.outside(planned(loads))))
    return HoursOutside(hourly.hours, tuple(judged)) if judged else None


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    resources: tuple[str, ...]
    bands: Bands
    plan_request: PlanRequest

    @property
    def stays(self) -> Flags:
        return self.plan_request.brokers.arrays.stays

    def outside(self, load: Floats) -> int:
        capacity = self.plan_request.brokers.arrays.capacity
        is_outside = np.zeros(len(load), dtype=np.bool_)
        for d, name in enumerate(self.resources):
            whole = float(capacity.get(name, np.ones(len(load)))[self.stays].sum())
            mean = float(load[:, d].sum()) / whole if whole > 0 else 0.0
            if mean <= 0 or self.bands.mean[d] <= 0:
                continue
            level = mean / float(self.bands.mean[d])
            low, high = self.bands.low[:, d] * level, self.bands.high[:, d] * level
            is_outside |= (load[:, d] > high * (1 + BAND_ROUNDING)) | (load[:, d] < low * (1 - BAND_ROUNDING))
        return int((is_outside & self.stays).sum())


def _placed(judge: _Judge, replicas: Ints, leader: Ints) -> Callable[[MeasuredLoads], Floats]:
    brokers = len(judge.plan_request.brokers.brokers)
    rows, cells = np.nonzero(replicas >= 0)
    led = np.flatnonzero(leader >= 0)
    holds = coo_array((np.ones(len(rows)), (replicas[rows, cells], rows)), shape=(brokers, len(replicas))).tocsr()
    leads = coo_array((np.ones(len(led)), (leader[led], led)), shape=(brokers, len(replicas))).tocsr()
    factors = (replicas >= 0).sum(axis=1).astype(np.int32)

    def carried(loads: MeasuredLoads) -> Floats:
        columns: Columns = columns_of(loads, factors, judge.resources)
        return np.asarray(holds @ columns.follower_load + leads @ columns.leader_extra, dtype=np.float64)

    return carried


def _after(plan_request: PlanRequest, plan: Plan) -> tuple[Ints, Ints]:
    placed, row_of = plan_request.partitions.placement, plan_request.snapshot.row_of
    width = max([placed.replicas.shape[1], *(len(move.to_replicas) for move in plan.moves)])
    replicas = np.pad(placed.replicas, ((0, 0), (0, width - placed.replicas.shape[1])), constant_values=-1)
    leader = placed.leader.copy()
    index = plan_request.brokers.index_of
    for move in plan.moves:
        row = row_of[move.topic, move.partition]
        replicas[row] = -1
        replicas[row, : len(move.to_replicas)] = [index[broker] for broker in move.to_replicas]
        leader[row] = index[move.leader_to]
    return replicas, leader


def _loads_of(
    hourly: HourlyLoads, hour: int, kinds: tuple[LoadKind, ...], usual: Mapping[LoadKind, Floats]
) -> MeasuredLoads | None:
    """None where too many are unknown."""
    figures: dict[LoadKind, Floats] = {}
    for kind in kinds:
        if kind not in hourly.values:
            return None
        values = hourly.values[kind][hour].astype(np.float64)
        if 1 - np.isnan(values).mean() < MODEL.least_known:
            return None
        figures[kind] = np.where(np.isnan(values), np.nan_to_num(usual[kind]), values)
    return MeasuredLoads.by_kind(figures)
