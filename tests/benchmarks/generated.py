"""Random clusters of any size: lognormal or zipf topics on racks, three ways to be uneven.

``skewed`` brokers of unequal popularity, ``newbrokers`` a tenth of the brokers empty, ``drain`` one in fifty leaving.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.cluster_arrays.problem import MeasuredLoads
from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement

RF = 3


def generated(
    brokers: int, partitions: int, racks: int, *, seed: int = 0, sigma: float = 1.2, variant: str = "skewed",
    sizes: str = "lognormal",
) -> tuple[Brokers, Placement]:  # fmt: skip
    """A cluster of the given shape; the same arguments give the same cluster."""
    rng = np.random.default_rng(seed)
    topic = _topics(rng, partitions)
    loads = loads_of(rng, topic, brokers, sigma, sizes)
    rack = (np.arange(brokers) % racks).astype(np.int32)
    popularity = np.ones(brokers)
    is_new = np.zeros(brokers, dtype=bool)
    if variant == "newbrokers":
        is_new[max(brokers - max(racks if brokers >= 3 * racks else 1, brokers // 10), racks) :] = True
        popularity[is_new] = 0
    if variant == "skewed":
        popularity = rng.lognormal(0, 0.25, brokers)
    replicas = _placed(rng, rack, popularity, partitions)
    stays = np.ones(brokers, dtype=bool)
    if variant == "drain":
        stays[: max(1, brokers // 50)] = False
    flags = Brokers(
        ids=np.arange(brokers, dtype=np.int64), rack=rack, stays=stays, takes_replicas=stays, takes_leaders=stays,
        keeps_leaders=stays, is_new=is_new,
    )  # fmt: skip
    return flags, Placement(replicas=replicas, leader=replicas[:, 0].copy(), topic=topic, loads=loads)


def _topics(rng: np.random.Generator, partitions: int) -> np.ndarray:
    count = max(8, partitions // 25)
    per_topic = np.full(count, max(1, partitions // count), dtype=np.int64)
    while per_topic.sum() < partitions:
        per_topic[rng.integers(0, count, min(int(partitions - per_topic.sum()), count))] += 1
    return np.repeat(np.arange(count), per_topic)[:partitions].astype(np.int32)


def loads_of(
    rng: np.random.Generator, topic: np.ndarray, brokers: int, sigma: float = 1.2, sizes: str = "lognormal"
) -> MeasuredLoads:
    """Rates and sizes of each partition, alike within a topic."""
    topics, partitions = int(topic.max()) + 1, len(topic)
    if sizes == "lognormal":
        rate = rng.lognormal(0, sigma, topics)
    else:
        rate = 1.0 / (rng.permutation(topics) + 1.0) ** 0.9 * topics / 10
    in_rate = rate[topic] * rng.lognormal(0, 0.5, partitions)
    kept = rng.lognormal(0, 0.8, topics)[topic] * rng.lognormal(0, 0.2, partitions)
    size = in_rate * kept
    fan_out = rng.lognormal(0.3, 0.7, topics)[topic]
    for column in (in_rate, size):
        # Nothing larger than a quarter of a mean broker: bigger items make any bound moot.
        np.minimum(column, column.sum() * RF / brokers / 4, out=column)
    scale = 1e9 / size.mean()
    return MeasuredLoads(
        disk_bytes=size * scale, in_bytes_per_s=in_rate * 1e5, out_bytes_per_s=in_rate * fan_out * 1e5, cpu_percent=None
    )


def _placed(rng: np.random.Generator, rack: np.ndarray, popularity: np.ndarray, partitions: int) -> np.ndarray:
    """Weighted choice of distinct racks, then of a broker in each."""
    racks = int(rack.max()) + 1
    weight = np.array([popularity[rack == k].sum() for k in range(racks)])
    key = np.log(weight)[None, :] + rng.gumbel(size=(partitions, racks))
    chosen = np.argsort(-key, axis=1)[:, :RF]
    replicas = np.empty((partitions, RF), dtype=np.int32)
    for k in range(racks):
        members = np.flatnonzero((rack == k) & (popularity > 0))
        share = popularity[members] / popularity[members].sum()
        mask = chosen == k
        replicas[mask] = rng.choice(members, int(mask.sum()), p=share)
    return replicas
