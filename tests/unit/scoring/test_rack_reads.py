from __future__ import annotations

from math import nan
from random import Random

import numpy as np

from kafka_assignors.arrays import ABSENT
from kafka_rebalance.scoring.rack_traffic import RackRatios, rack_codes, rack_ratios
from tests.sample import for_each

Replicas = list[list[str | None]]


def ratios(reader: list[int], members: list[str | None], replicas: Replicas, leaders: list[str | None],
           rates: list[float]) -> RackRatios:  # fmt: skip
    offsets = np.cumsum([0, *(len(racks) for racks in replicas)], dtype=np.int64)
    codes = rack_codes(offsets, [rack for racks in replicas for rack in racks], leaders, members)
    return rack_ratios(np.array(reader, dtype=np.int32), codes, np.array(rates))


BOTH: Replicas = [["a", "b"], ["a", "b"]]


def test_the_worked_example_of_the_module() -> None:
    """Of 30 + 10 bytes/s the 30 have a replica in rack a; their leader is in b."""
    assert ratios([0, 1], ["a", "c"], BOTH, ["b", "b"], [30, 10]) == RackRatios(0.75, 0.0)
    assert ratios([0, 1], ["b", "c"], BOTH, ["b", "b"], [30, 10]) == RackRatios(0.75, 0.75)


def test_partitions_count_where_a_rate_is_unknown_or_nothing_is_written() -> None:
    assert ratios([0, 1], ["a", "c"], BOTH, ["a", "b"], [30, nan]) == RackRatios(0.5, 0.5)
    assert ratios([0, 1], ["a", "c"], BOTH, ["a", "b"], [0, 0]) == RackRatios(0.5, 0.5)


def test_who_says_no_rack_and_what_nobody_reads_do_not_count() -> None:
    """Nor do their unknown rates. A replica without a rack is in no member's."""
    three: Replicas = [*BOTH, [None, None]]
    assert ratios([0, 1, ABSENT], ["a", None], three, ["a", "a", None], [30, nan, nan]) == RackRatios(1.0, 1.0)
    assert ratios([0, 0, 0], ["", None], three, ["a", "a", None], [1, 1, 1]) == RackRatios(None, None)
    assert ratios([0, 0, 0], ["a", None], three, ["a", "a", None], [1, 1, 2]) == RackRatios(0.5, 0.5)
    assert ratios([1, 1, 1], ["a", None], three, ["a", "a", None], [1, 1, 1]) == RackRatios(None, None)


def test_a_partition_that_is_to_be_made_does_not_count() -> None:
    """Its replicas' racks are unknown."""
    assert ratios([0, 0, 0], ["a"], [["a"], ["b"], []], ["a", "b", None], [3, 1, nan]) == RackRatios(0.75, 0.75)
    assert ratios([0], ["a"], [[]], [None], [1]) == RackRatios(None, None)


def test_no_ratio_of_leaders_where_nobody_told_where_they_are() -> None:
    assert ratios([0, 0], ["a"], BOTH, [], [1, 1]) == RackRatios(1.0, None)


@for_each("seed", range(3))
def test_random_groups_as_a_plain_implementation_has_them(seed: int) -> None:
    draw = Random(seed)
    for _ in range(60):
        racks: list[str | None] = [None, "", "a", "b", "c"]
        members = [draw.choice(racks) for _ in range(draw.randint(1, 5))]
        count = draw.randint(1, 15)
        replicas: Replicas = [
            [draw.choice([None, "a", "b", "c"]) for _ in range(draw.randint(1, 3))] for _ in range(count)
        ]
        leaders = [draw.choice([None, *replica]) for replica in replicas]
        reader = [draw.choice([ABSENT, *range(len(members))]) for _ in range(count)]
        odd = draw.choice([0.0, 0.1])
        rates = [nan if draw.random() < odd else float(draw.randint(0, 3)) for _ in range(count)]
        counted = [row for row in range(count) if reader[row] != ABSENT and members[reader[row]]]
        weights = {row: rates[row] for row in counted}
        if not sum(weights.values()) > 0:
            weights = dict.fromkeys(counted, 1.0)
        same = [row for row in counted if members[reader[row]] in replicas[row]]
        led = [row for row in counted if members[reader[row]] == leaders[row]]
        total = sum(weights.values())
        expected = [sum(weights[row] for row in rows) / total if counted else None for rows in (same, led)]
        assert ratios(reader, members, replicas, leaders, rates) == RackRatios(*expected)
