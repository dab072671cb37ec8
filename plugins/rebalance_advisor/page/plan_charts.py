"""The report's chart of brokers before and after, from the rows of the public views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rebalance_advisor.page.reader import Row
from rebalance_advisor.publish.charts import MOST_BROKERS, band_of, broker_levels_chart, broker_rows, svg_of


@dataclass(frozen=True, slots=True)
class ResourceChart:
    """One balanced resource: its chart as SVG, and how many brokers it leaves out."""

    resource: str
    svg: str
    left_out_count: int


def resource_charts(resources: Sequence[Row], brokers: Sequence[Row]) -> list[ResourceChart]:
    """A chart for each resource that the plan balances; at most ``MOST_BROKERS`` brokers in each."""
    return [_chart(resource, brokers) for resource in resources if resource["exclusion_reason_code"] is None]


def _chart(resource: Row, brokers: Sequence[Row]) -> ResourceChart:
    name = resource["resource"]
    loads = {str(row["broker"]): row for row in brokers if row["resource"] == name}
    is_sized = bool(loads) and all(row["capacity"] is not None for row in loads.values())
    plan = {
        "before": {
            name: {broker: row["load_before"] for broker, row in loads.items() if row["load_before"] is not None}
        },
        "after": {name: {broker: row["load_after"] for broker, row in loads.items() if row["load_after"] is not None}},
    }
    outcome: dict[str, Any] = {
        "resource": name,
        "mean_level": resource["mean_level"],
        "capacity": {broker: row["capacity"] for broker, row in loads.items()} if is_sized else None,
        "band_asked": (resource["band_asked_low"], resource["band_asked_high"]),
        "widened_to": (resource["widened_low"], resource["widened_high"]),
    }
    drawn = broker_rows(plan, outcome)
    label = f"Brokers before and after the plan by {name}, as multiples of the mean"
    svg = svg_of(broker_levels_chart(drawn, band_of(outcome)), label) if drawn else ""
    return ResourceChart(name, svg, max(0, len(loads) - MOST_BROKERS))
