"""How many replicas of a partition stand in each rack when they are spread as evenly as can be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def rack_counts(rf: int, brokers_in: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    """Replicas that each rack holds in any even spread of ``rf``, and how many are left for one rack each."""
    depth = 0
    while np.minimum(brokers_in, depth + 1).sum() <= rf and depth < brokers_in.max(initial=0):
        depth += 1
    held = np.minimum(brokers_in, depth)
    return held, int(min(rf - held.sum(), (brokers_in > depth).sum()))
