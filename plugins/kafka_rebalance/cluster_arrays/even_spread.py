"""How a partition's replicas spread over racks as evenly as racks allow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def even_spread(rf: int, rack_size: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    """What every rack holds of a partition anyway, and how many odd replicas go to one rack each.

    RF 3 on racks of 2, 2, 2, 2 brokers: ([0, 0, 0, 0], 3); RF 5 on racks of 1, 3, 3: ([1, 2, 2], 0).
    """
    held = np.zeros(len(rack_size), dtype=np.int64)
    while True:
        open_racks = held < rack_size
        if not open_racks.any() or held.sum() + open_racks.sum() > rf:
            return held, int(min(rf - held.sum(), open_racks.sum()))
        held += open_racks
