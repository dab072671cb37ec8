"""The key that a sample of records found heaviest in a partition: what ``rebalance-advisor keys`` wrote of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.limits import MOST_PARTITION
from kafka_rebalance.visible_text import excerpt


@dataclass(frozen=True, slots=True)
class HeavyKeyOf:
    """``key``: its text where it may be shown, else its identity. ``share``: of its partition's sample, at least."""

    topic: str
    partition: int
    key: str
    share: float

    def __post_init__(self) -> None:
        """Raises InvalidInputError for what cannot be."""
        for name in ("topic", "key"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise InvalidInputError.at(f"heavy key, {name}", f"{excerpt(getattr(self, name))} is no text")
        is_whole = isinstance(self.partition, int) and not isinstance(self.partition, bool)
        if not is_whole or not 0 <= self.partition <= MOST_PARTITION:
            raise InvalidInputError.at("heavy key, partition", f"{excerpt(self.partition)} is no partition's number")
        is_number = isinstance(self.share, int | float) and not isinstance(self.share, bool)
        if not is_number or not math.isfinite(self.share) or not 0 < self.share <= 1:
            raise InvalidInputError.at("heavy key, share", f"{excerpt(self.share)} is no share from 0 to 1")
