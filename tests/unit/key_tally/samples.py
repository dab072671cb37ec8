"""Keys in batches, and what is obvious about them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_rebalance.key_tally.plan import TallyPlan, batch_of_keys
from kafka_rebalance.key_tally.tally import KeyTally

Keys = Sequence[bytes | None]


def tally_of(keys: Keys, plan: TallyPlan, batches: int = 1) -> KeyTally:
    """The keys counted in so many batches of about one size."""
    tally = KeyTally.none(plan)
    size = -(-len(keys) // batches) or 1
    for start in range(0, len(keys), size):
        tally = tally.added(batch_of_keys(KeyColumn.of(keys[start : start + size]), plan.hashes))
    return tally


def skewed(seed: int, records: int, different: int) -> list[bytes | None]:
    """Few keys have most records; some records have an empty key or none."""
    draw = random.Random(seed)
    numbers = (int(different * draw.random() ** 4) for _ in range(records))
    return [None if n % 29 == 7 else b"" if n % 31 == 5 else b"k-%d" % n for n in numbers]
