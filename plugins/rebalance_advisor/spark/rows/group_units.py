"""Units of work of the groups' replay: a group with all of its scenarios, or a part of them where it is a giant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from kafka_rebalance.groups.scenarios.cost import estimated_cost, split
from kafka_rebalance.snapshot.group import Group


@dataclass(frozen=True, slots=True, eq=False)
class GroupUnits:
    """``rows``: those of ``pack_groups`` with ``scenarios`` list<string> and ``part`` int32 beside, and their costs."""

    rows: pa.Table
    costs: list[float]

    @property
    def what(self) -> str:
        """What a row is, for the log that counts them."""
        return "pieces of groups" if any(self.rows.column("part").to_pylist()) else "groups"


def group_units(rows: pa.Table, groups: Sequence[Group], scenarios: Sequence[str], bins: int) -> GroupUnits:
    """A group that costs more than a bin's share of all is split into parts, one a bin at most."""
    partitions = [sum(max(count, 0) for count in counts) for counts in rows.column("partition_count").to_pylist()]
    members = [len(group.members) for group in groups]
    whole = [estimated_cost(m, p, scenarios) for m, p in zip(members, partitions, strict=True)]
    fair = sum(whole) / bins
    places: list[int] = []
    asked: list[tuple[str, ...]] = []
    parts: list[int] = []
    for place, cost in enumerate(whole):
        count = min(bins, int(cost // fair)) if fair else 0
        shares = split(scenarios, members[place], partitions[place], count) if count > 1 and scenarios else []
        for part, share in enumerate(shares or [tuple(scenarios)]):
            places.append(place)
            asked.append(share)
            parts.append(part)
    units = rows.take(pa.array(places, pa.int64()))
    units = units.append_column("scenarios", pa.array([list(share) for share in asked], pa.list_(pa.string())))
    units = units.append_column("part", pa.array(parts, pa.int32()))
    costs = [
        estimated_cost(members[place], partitions[place], share) for place, share in zip(places, asked, strict=True)
    ]
    return GroupUnits(units, costs)
