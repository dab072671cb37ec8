"""The key that a sample of records found heaviest in a partition: what ``rebalance-advisor keys`` wrote of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict
from pydantic.dataclasses import dataclass

from kafka_rebalance.options.limits import MOST_PARTITION
from kafka_rebalance.options.option import Checked
from kafka_rebalance.options.values import CHECKED, Text, Value


@dataclass(frozen=True, config=CHECKED)
class HeavyKeyOf(Checked):
    """``key``: its text where it may be shown, else its identity. ``share``: of its partition's sample, at least."""

    topic: Text
    partition: Annotated[int, Strict(), Field(ge=0, le=MOST_PARTITION), Value("is no partition's number")]
    key: Text
    share: Annotated[float, Strict(), Field(gt=0, le=1), Value("is no share from 0 to 1")]
