"""The band of each broker for one resource: asked for, rounded for counts, widened where the plan says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats
from kafka_rebalance.verify.cluster.caps import cap_of
from kafka_rebalance.verify.cluster.resource_weights import (
    COUNTS,
    OF_LEADERS,
    OF_LEADERS_ALONE,
    Longs,
    weights_of,
)
from kafka_rebalance.verify.cluster.shares import fair_share_of

_SLACK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """float64[B] lowest and highest load that is inside."""

    low: Floats
    high: Floats


def band_of(
    outcome: Mapping[str, Any],
    before: Floats,
    capacity: Floats | None,
    cluster: ClusterArrays,
    parameters: PlanOptions,
) -> Band:
    """The band in force: the one asked for, widened to where the plan says so."""
    asked, plain = asked_band(outcome, before, capacity, cluster, parameters)
    widened_low, widened_high = outcome["widened_to"]
    low, high = asked.low, asked.high
    if widened_high is not None:
        high = np.where(cluster.stays, np.maximum(high, widened_high * plain), high)
    if widened_low is not None:
        low = np.where(cluster.stays, np.minimum(low, widened_low * plain), low)
    return Band(low, high)


def asked_band(
    outcome: Mapping[str, Any],
    before: Floats,
    capacity: Floats | None,
    cluster: ClusterArrays,
    parameters: PlanOptions,
) -> tuple[Band, Floats]:
    """The band asked for and the plain mean times each broker's capacity, float64[B].

    Brokers that leave have [0, 0]; who cannot be given more need not have more than what it holds today weighs
    afterwards (a leader sends less where fewer replicas follow). Its mean counts every replica at its leader's size.
    """
    name = outcome["resource"]
    broker_capacity = np.where(cluster.stays, 1.0 if capacity is None else capacity, 0.0)
    rf = wanted_rf(cluster, parameters)
    per_replica, per_leader = weights_of(name, rf, cluster)
    plain = (
        float((per_replica * rf).sum() + per_leader.sum()) / max(float(broker_capacity.sum()), 1e-300) * broker_capacity
    )
    basis = plain if outcome["basis"] == "plain_mean" else fair_share(name, broker_capacity, cluster, parameters)
    low, high = np.zeros(len(broker_capacity)), np.full(len(broker_capacity), np.inf)
    asked_low, asked_high = outcome["band_asked"]
    if asked_high is not None:
        high = asked_high * basis
    if asked_low is not None:
        low = asked_low * basis
    if name in COUNTS:
        low, high = _rounded(low, high, basis, is_target=outcome["basis"] == "plain_mean")
    if (cap := cap_of(name, capacity, len(low), parameters)) is not None:
        low, high = np.minimum(low, cap), np.minimum(high, cap)
    low, high = np.where(cluster.stays, low, 0.0), np.where(cluster.stays, high, 0.0)
    held = before if name == "disk" else _held(per_replica, per_leader, cluster)
    return Band(_reachable(name, low, held, cluster), high), plain


def _held(per_replica: Floats, per_leader: Floats, cluster: ClusterArrays) -> Floats:
    """float64[B]: today's replicas and leaders at the weights of the replication factor that is wanted."""
    held, led = cluster.now >= 0, cluster.leader >= 0
    weight = np.broadcast_to(per_replica[:, None], held.shape)
    return np.asarray(
        np.bincount(cluster.now[held], weights=weight[held], minlength=len(cluster.ids))
        + np.bincount(cluster.leader[led], weights=per_leader[led], minlength=len(cluster.ids))
    )


def _rounded(low: Floats, high: Floats, basis: Floats, *, is_target: bool) -> tuple[Floats, Floats]:
    """Counts may be rounded either way; a target only where no whole number is inside."""
    is_open = np.ceil(low - _SLACK) > np.floor(high + _SLACK) if is_target else np.ones(len(basis), dtype=np.bool_)
    low = np.where(is_open, np.minimum(low, np.floor(basis + _SLACK)), low)
    return low, np.where(is_open & np.isfinite(high), np.maximum(high, np.ceil(basis - _SLACK)), high)


def _reachable(name: str, low: Floats, held: Floats, cluster: ClusterArrays) -> Floats:
    if name not in OF_LEADERS_ALONE:
        low = np.where(cluster.takes_replicas, low, np.minimum(low, held))
    if name in OF_LEADERS:
        low = np.where(cluster.takes_leaders, low, np.minimum(low, held))
        low = np.where(cluster.keeps_leaders, low, 0.0)
    return np.asarray(low)


def fair_share(name: str, broker_capacity: Floats, cluster: ClusterArrays, parameters: PlanOptions) -> Floats:
    """The share of DESIGN §9: what replicas carry as they can be held, what leaders carry level among who may lead."""
    rf = wanted_rf(cluster, parameters)
    per_replica, per_leader = weights_of(name, rf, cluster)
    may_lead = cluster.keeps_leaders | cluster.takes_leaders
    if name in OF_LEADERS_ALONE:
        broker_capacity = np.where(may_lead, broker_capacity, 0.0)
    share = fair_share_of(cluster, rf, per_replica, broker_capacity)
    leading = np.where(may_lead, broker_capacity, 0.0)
    leading = leading if leading.any() else broker_capacity
    return np.asarray(share + leading * (float(per_leader.sum()) / max(float(leading.sum()), 1e-300)))


def wanted_rf(cluster: ClusterArrays, parameters: PlanOptions) -> Longs:
    """int64[P]: the replication factor asked for.

    What is left alone keeps its own, and counts where it lies on brokers that stay: elsewhere nobody can share it.
    """
    there = cluster.now >= 0
    rf = there.sum(axis=1)
    if parameters.replication_factor is not None and parameters.moves_replicas:
        rf = np.full(len(rf), parameters.replication_factor)
    return np.asarray(np.where(cluster.left_alone, (there & cluster.stays[cluster.now]).sum(axis=1), rf))
