"""What no broker may carry more of after the plan: absolute caps, and what headroom leaves of each broker's capacity.

Example: ``--headroom disk=20%`` on disks of 10 and 5 TB: caps of 8 and 4 TB.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Floats
from kafka_rebalance.cluster_arrays.broker_arrays import BrokerArrays
from kafka_rebalance.options.plan_options import PlanOptions


def broker_caps(options: PlanOptions, brokers: BrokerArrays) -> dict[str, Floats]:
    """Resource → float64[B], the lower of the two where both are given; nothing of capacities that are not known."""
    capacity, count = brokers.arrays.capacity, len(brokers.brokers)
    caps = {name: np.full(count, float(cap)) for name, cap in options.caps.items()}
    for name, share in options.headroom.items():
        if name in capacity:
            left = (1 - share) * capacity[name]
            caps[name] = np.minimum(caps[name], left) if name in caps else left
    return caps
