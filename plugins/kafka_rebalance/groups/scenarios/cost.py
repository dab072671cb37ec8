"""How much work it is to lead one group through scenarios: in units of which only ratios count, for packing.

Each event is one call of each strategy: a fixed part, and one that grows with partitions and members. Measured with
12 members and 128 partitions: 0.2 ms a call, half of it fixed.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafka_rebalance.groups.scenarios.catalogue import STRATEGY_CHANGES, TODAY, most_variants

_FIXED = 140.0
_EVENTS = {"member_joins": (5, 0), "member_leaves": (0, 1), "member_crashes": (0, 0.3), "static_restart": (0, 0.1),
           "rolling_restart": (0, 2), "rolling_restart_static": (0, 0.1), "rack_lost": (3, 0)}  # fmt: skip
_OTHER = (1, 0)


def estimated_cost(members: int, partitions: int, scenarios: Sequence[str] = ()) -> float:
    """Of today's replay and these scenarios; every unit of a group that is split does today's again."""
    picked = min(members, most_variants(members + partitions))
    calls = sum(_calls(scenario, picked) for scenario in (TODAY, *scenarios))
    return calls * (_FIXED + members + partitions)


def split(scenarios: Sequence[str], members: int, partitions: int, parts: int) -> list[tuple[str, ...]]:
    """The scenarios of one group in so many parts of about the same cost; those that need each other stay together."""
    picked = min(members, most_variants(members + partitions))
    loads: list[tuple[float, list[str]]] = [(0.0, []) for _ in range(parts)]
    for scenario in sorted(scenarios, key=lambda name: -_calls(name, picked)):
        place = 0 if scenario == STRATEGY_CHANGES else min(range(parts), key=lambda number: loads[number][0])
        if scenario == "rolling_restart":
            place = 0  # what a change of the strategy is made of
        loads[place] = (loads[place][0] + _calls(scenario, picked), [*loads[place][1], scenario])
    return [tuple(name for name in scenarios if name in names) for _, names in loads if names]


def _calls(scenario: str, picked: int) -> float:
    fixed, by_member = _EVENTS.get(scenario, _OTHER)
    return fixed + by_member * picked
