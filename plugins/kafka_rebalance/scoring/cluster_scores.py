"""What is scored of a cluster: every broker, rack and resource, as rows (their fields are the store's columns)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Flags, Floats
from kafka_rebalance.facts import Fact
from kafka_rebalance.resources import UNITS
from kafka_rebalance.scoring.levels import plain_mean


@dataclass(frozen=True, slots=True)
class BrokerScore:
    """One broker and resource. ``over_mean`` = level / plain mean; ``fair_share`` is the level that racks allow."""

    broker: int
    rack: str | None
    resource: str
    unit: str
    load: float
    capacity: float | None
    level: float
    over_mean: float
    fair_share: float | None
    source: str | None
    stays: bool


@dataclass(frozen=True, slots=True)
class RackScore:
    """One rack and resource: the sum over its brokers that stay."""

    rack: str
    resource: str
    unit: str
    brokers: int
    load: float
    capacity: float | None
    level: float
    over_mean: float


@dataclass(frozen=True, slots=True)
class ResourceScore:
    """One resource of the whole cluster, over the brokers that stay."""

    resource: str
    unit: str
    source: str | None
    known_share: float | None
    total: float
    plain_mean: float
    skew: float
    worst_broker: int | None


@dataclass(frozen=True, slots=True)
class ClusterScores:
    """All scores of a cluster; ``left_out`` says why a resource has none."""

    brokers: tuple[BrokerScore, ...]
    racks: tuple[RackScore, ...]
    resources: tuple[ResourceScore, ...]
    left_out: Mapping[str, Fact] = field(default_factory=dict)

    def resource(self, name: str) -> ResourceScore | None:
        """The score of one resource, ``None`` where nobody measured it."""
        return next((resource for resource in self.resources if resource.resource == name), None)

    def of_resource(self, name: str) -> tuple[BrokerScore, ...]:
        """One resource's broker scores."""
        return tuple(broker for broker in self.brokers if broker.resource == name)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BrokerLoads:
    """B brokers, D resources. ``load``, ``fair_share`` (as load; nan where undefined) and ``capacity`` float64[B, D].

    ``has_capacity`` bool[D]: the capacities of this resource are known; else they are 1 each. ``rack`` by broker.
    """

    broker_ids: npt.NDArray[np.int64]
    rack: tuple[str | None, ...]
    stays: Flags
    resources: tuple[str, ...]
    load: Floats
    capacity: Floats
    has_capacity: Flags
    fair_share: Floats
    sources: Mapping[str, str]
    known_shares: Mapping[str, float]


def scores_of(loads: BrokerLoads, left_out: Mapping[str, Fact]) -> ClusterScores:
    """Scores of all brokers, racks and resources. O(B·D)."""
    brokers: list[BrokerScore] = []
    racks: list[RackScore] = []
    resources: list[ResourceScore] = []
    for d, resource in enumerate(loads.resources):
        mean = plain_mean(loads.load[loads.stays, d], loads.capacity[loads.stays, d])
        brokers += _broker_scores(loads, d, mean)
        racks += _rack_scores(loads, d, mean)
        resources.append(_resource_score(loads, d, resource, mean))
    return ClusterScores(tuple(brokers), tuple(racks), tuple(resources), dict(left_out))


def _broker_scores(loads: BrokerLoads, d: int, mean: float) -> list[BrokerScore]:
    resource = loads.resources[d]
    level = loads.load[:, d] / loads.capacity[:, d]
    fair = loads.fair_share[:, d] / loads.capacity[:, d]
    return [
        BrokerScore(
            broker=int(broker),
            rack=loads.rack[b],
            resource=resource,
            unit=UNITS[resource],
            load=float(loads.load[b, d]),
            capacity=float(loads.capacity[b, d]) if loads.has_capacity[d] else None,
            level=float(level[b]),
            over_mean=float(level[b]) / mean if mean > 0 else 0.0,
            fair_share=None if np.isnan(fair[b]) else float(fair[b]),
            source=loads.sources.get(resource),
            stays=bool(loads.stays[b]),
        )
        for b, broker in enumerate(loads.broker_ids)
    ]


def _rack_scores(loads: BrokerLoads, d: int, mean: float) -> list[RackScore]:
    names = sorted({rack for rack, stays in zip(loads.rack, loads.stays, strict=True) if rack is not None and stays})
    scores = []
    for name in names:
        inside = np.array([rack == name for rack in loads.rack]) & loads.stays
        load, capacity = float(loads.load[inside, d].sum()), float(loads.capacity[inside, d].sum())
        scores.append(
            RackScore(
                rack=name,
                resource=loads.resources[d],
                unit=UNITS[loads.resources[d]],
                brokers=int(inside.sum()),
                load=load,
                capacity=capacity if loads.has_capacity[d] else None,
                level=load / capacity,
                over_mean=load / capacity / mean if mean > 0 else 0.0,
            )
        )
    return scores


def _resource_score(loads: BrokerLoads, d: int, resource: str, mean: float) -> ResourceScore:
    staying = np.flatnonzero(loads.stays)
    level = loads.load[staying, d] / loads.capacity[staying, d]
    worst = int(staying[level.argmax()]) if len(staying) else None
    return ResourceScore(
        resource=resource,
        unit=UNITS[resource],
        source=loads.sources.get(resource),
        known_share=loads.known_shares.get(resource),
        total=float(loads.load[staying, d].sum()),
        plain_mean=mean,
        skew=float(level.max()) / mean if mean > 0 else 0.0,
        worst_broker=None if worst is None else int(loads.broker_ids[worst]),
    )
