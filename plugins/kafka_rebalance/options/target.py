"""A resource's LOW..HIGH, in place of the band."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Target:
    """LOW..HIGH as multiples of the plain mean; ``None`` = no limit on that side."""

    low: float | None
    high: float | None

    def __post_init__(self) -> None:
        for value in (self.low, self.high):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InvalidInputError.at("target", f"{value} is no multiple of the mean", "give LOW..HIGH or HIGH")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InvalidInputError.at("target", f"low {self.low} is above high {self.high}")
