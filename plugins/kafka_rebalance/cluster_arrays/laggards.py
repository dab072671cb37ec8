"""What becomes of partitions with a replica that is out of sync on a broker that stays.

Kafka completes a reassignment only when every replica of the target list is in sync (KAFKA-16218, KAFKA-19975), and
a replica that lags may not lead. So, in this order:

1. A replica out of sync never leads, and is never part of a list whose replicas change.
2. It is dropped where a smaller list is wanted and the replicas in sync fill that list.
3. It is replaced by a copy elsewhere where another replica cannot stay (its broker leaves or is dead, its log dir has
   failed, its topic may not be there) and enough brokers, on enough racks, can take the copies.
4. Else its partition waits: it is left as it is until the replica has caught up.

Example, ``--replication-factor 2``: [2, 3, 1] with 2 and 3 in sync becomes [2, 3]; with 2 alone in sync it waits.
``--remove-broker 3`` on brokers 1 to 5: [2, 3, 1] with 2 and 3 in sync becomes [2, 4, 5]; on brokers 1 to 3 it waits.
Where leaders alone may change no list gets another replica: a partition waits if its first replica lags, which will
lead again. O(P·W), and O(W + B) a partition of 3.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Ints
from kafka_rebalance.cluster_arrays.broker_arrays import BrokerArrays
from kafka_rebalance.cluster_arrays.broker_sets import BrokerSets
from kafka_rebalance.cluster_arrays.fair_share import distinct_racks


def laggards_of(replicas: Ints, leader: Ints, in_sync: Flags, must_leave: Flags, stays: Flags) -> Flags:
    """bool[P, W]: replicas out of sync that could stay. Without a leader the ISR is the last one known: no laggards."""
    there = (replicas >= 0) & stays[replicas] & ~must_leave
    return np.asarray(there & ~in_sync & (leader != NOBODY)[:, None] & (replicas != leader[:, None]))


def waits_and_leaves(
    replicas: Ints,
    laggards: Flags,
    must_leave: Flags,
    target_rf: Ints,
    broker_arrays: BrokerArrays,
    sets: BrokerSets | None,
) -> tuple[Flags, Flags]:
    """Which partitions wait, bool[P], and which laggards must leave, bool[P, W]."""
    arrays = broker_arrays.arrays
    there = replicas >= 0
    kept = there & arrays.stays[replicas] & ~must_leave & ~laggards
    lags = laggards.any(axis=1)
    is_filled = lags & (kept.sum(axis=1) >= target_rf)
    is_urgent = lags & ~is_filled & (there & (~arrays.stays[replicas] | must_leave)).any(axis=1)
    is_replaced = np.zeros(len(replicas), dtype=np.bool_)
    rack = distinct_racks(arrays.rack)
    takes = arrays.takes_replicas[None, :] if sets is None else arrays.takes_replicas & sets.brokers
    for p in np.flatnonzero(is_urgent).tolist():
        allowed = np.flatnonzero(takes[0 if sets is None else int(sets.of_partition[p])])
        held = replicas[p][kept[p]]
        usable = np.concatenate([held, np.setdiff1d(allowed, replicas[p][there[p]])])
        most_racks = min(int(target_rf[p]), len(np.unique(rack[allowed])))
        is_replaced[p] = len(usable) >= target_rf[p] and len(np.unique(rack[usable])) >= most_racks
    leaves = laggards & (is_filled | is_replaced)[:, None]
    return lags & ~is_filled & ~is_replaced, np.asarray(leaves)
