"""What compiled kernels read: records of numbers."""

from __future__ import annotations

from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.parameters import Parameters


class KernelParams(Parameters, ByReference):
    """Parameters that compiled kernels read: numbers and other such records only."""

    def __post_init__(self) -> None:
        """Check the numbers, then lay them out in memory."""
        Parameters.__post_init__(self)
        ByReference.__post_init__(self)
