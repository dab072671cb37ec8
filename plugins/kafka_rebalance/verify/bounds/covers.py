"""Covers of a plan's proof of bytes, recomputed: a set of replicas that does not fit on one broker.

For a set S of replicas that a broker may hold, with a ``surplus`` of weight beyond what its band has room for:

    Σ over S of min(weight, surplus) · (1 - is there)  >=  surplus

Either one as heavy as the surplus is not there, which alone is enough; or of what is not there no weight was cut down,
and that weighs the surplus at least, for the rest must fit. At any price >= 0 it may be added to the Lagrangian
(``prices.py``).

Who is in S: replicas there today that may stay there, of partitions that may be touched, but those of ``gone``; and
copies of what ``come`` names. Leaders' loads count nothing here, which makes surpluses smaller. Of a broker that
leaves covers say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.bounds.counting import touchable
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Flags, Floats
from kafka_rebalance.verify.cluster.resource_bands import Band, wanted_rf
from kafka_rebalance.verify.cluster.resource_weights import Longs, weights_of
from kafka_rebalance.verify.faults import FaultList

# Loads beyond their bands by rounding are inside: of a set's weight so much is no surplus.
_ROUNDING = 1e-8
# Prices beyond this would be added up to infinity, which proves nothing.
_GREATEST = 1e300


Cover = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Surcharge:
    """What one cover adds: ``amount`` float64[n] for a replica of ``row`` int64[n], in order, on ``broker``, and
    ``constant`` once.
    """

    broker: int
    row: Longs
    amount: Floats
    constant: float

    def of_slice(self, rows: Longs) -> tuple[Longs, Floats]:
        """Places in ``rows`` int64[M], in order, of those that are among them, and their amounts."""
        place = np.minimum(np.searchsorted(rows, self.row), len(rows) - 1)
        found = rows[place] == self.row
        return place[found], self.amount[found]


def surcharges_of(
    covers: Sequence[Cover], bands: Mapping[str, Band], cluster: ClusterArrays, parameters: PlanOptions
) -> list[Surcharge]:
    """Of the covers that say something; ``check_covers`` names those that are of nothing."""
    found = []
    for cover in covers:
        name, broker = cover["resource"], cluster.index_of.get(cover["broker"])
        if name in bands and broker is not None and cluster.stays[broker] and cover["price"] > 0:
            highest = float(bands[name].high[broker])
            charge = _surcharge(cover, broker, highest, cluster, parameters)
            found += [] if charge is None else [charge]
    return found


def check_covers(
    covers: Sequence[Cover], place: str, resources: Sequence[str], cluster: ClusterArrays, faults: FaultList
) -> None:
    """Whatever sets they name, the bound stands; but they name what is there, once, at a price."""
    for number, cover in enumerate(covers):
        if cover["broker"] not in cluster.index_of or cover["resource"] not in resources or not cover["price"] > 0:
            faults.add("certificate", f"{place}[{number}]", "is of no broker or balanced resource, or has no price")
        gone, come = rows_named(cover["gone"], cluster), rows_named(cover["come"], cluster)
        named = sum(map(len, [*cover["gone"].values(), *cover["come"].values()]))
        if len(np.union1d(gone, come)) < named:
            faults.add("certificate", f"{place}[{number}]", "names a partition that is not there, or one twice")


def rows_named(named: Mapping[str, Sequence[int]], cluster: ClusterArrays) -> Longs:
    """int64[n] rows of partitions by topic, in order; without those that are not there."""
    found = [np.zeros(0, dtype=np.int64)]
    for topic, numbers in named.items():
        if topic in cluster.topic_names:
            rows = np.flatnonzero(cluster.topic == cluster.topic_names.index(topic))
            found.append(rows[np.isin(cluster.partition[rows], numbers)])
    return np.sort(np.concatenate(found))


def _surcharge(
    cover: Cover, broker: int, highest: float, cluster: ClusterArrays, parameters: PlanOptions
) -> Surcharge | None:
    """None where the set fits below ``highest``, but for rounding."""
    name, rf = cover["resource"], wanted_rf(cluster, parameters)
    free = touchable(cluster, rf)
    per_replica, per_leader = weights_of(name, rf, cluster)
    weight, own = per_replica.copy(), _own(name, per_replica, cluster)
    there = cluster.now == broker
    stays = (there & ~cluster.must_leave).any(axis=1) & cluster.stays[broker] & free
    weight[stays] = own[stays][there[stays]]
    is_in = stays.copy()
    is_in[rows_named(cover["gone"], cluster)] = False
    is_in[rows_named(cover["come"], cluster)] = True
    row = np.flatnonzero(is_in & free & (weight > 0))
    surplus = float(weight[row].sum()) * (1 - _ROUNDING) + _left_there(own, per_leader, broker, free, cluster) - highest
    if not 0 < surplus < np.inf:
        return None
    counted = np.minimum(weight[row], surplus)
    price, total = float(cover["price"]), float(counted.sum())
    if price * total > _GREATEST:
        return None
    return Surcharge(broker, row, price * counted, price * (surplus - total))


def _own(name: str, per_replica: Floats, cluster: ClusterArrays) -> Floats:
    """float64[P, W]: what today's replicas weigh where they are."""
    weight = np.repeat(per_replica[:, None], cluster.now.shape[1], axis=1)
    return np.where(np.isnan(cluster.own_bytes), weight, cluster.own_bytes) if name == "disk" else weight


def _left_there(own: Floats, per_leader: Floats, broker: int, free: Flags, cluster: ClusterArrays) -> float:
    """What partitions that nobody may touch put on the broker."""
    there = (cluster.now == broker) & ~free[:, None]
    return float(own[there].sum() + per_leader[(cluster.leader == broker) & ~free].sum())
