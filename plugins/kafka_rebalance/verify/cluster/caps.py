"""What each broker may carry at most: the lower of its cap and of what headroom leaves of its capacity."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster.arrays import Floats


def cap_of(name: str, capacity: Floats | None, brokers: int, parameters: PlanOptions) -> Floats | None:
    """float64[B]; None where neither is given, or where a headroom is and nobody knows of what."""
    cap, share = parameters.caps.get(name), parameters.headroom.get(name)
    if cap is None and (share is None or capacity is None):
        return None
    most = np.full(brokers, np.inf if cap is None else float(cap))
    if share is not None and capacity is not None:
        most = np.minimum(most, capacity - share * capacity)
    return most
