"""The outlook if nothing is done, from the stored plan and the stored forecast of disks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kafka_rebalance.advisory.advisory import DiskForecast, disk_outlook
from rebalance_advisor.page.reader import Row
from rebalance_advisor.publish.report import if_nothing_is_done as lines_of_advisory


def if_nothing_is_done(plan: Row, resources: Sequence[Row], disks: Sequence[Row], captured_at: datetime) -> list[str]:
    """The lines that the report has, but for what a lost broker leads to. Rows of ``plan``, ``plan_resource`` and
    ``broker_disk_forecast``: the plan's document may have megabytes.
    """
    forecasts = [
        DiskForecast(
            broker=disk["broker"],
            used_ratio=disk["used_ratio"] or 0.0,
            days_of_history=disk["days_of_history"] or 0,
            full_at=disk["reaches_85_percent_at"],
            full_at_with_plan=disk["reaches_85_percent_at_with_plan"],
        )
        for disk in disks
    ]
    outlook = [line.document() for line in disk_outlook(forecasts, captured_at)]
    balanced = [dict(resource) for resource in resources if resource["skew_before"] is not None]
    told: dict[str, Any] = {"moves": plan["replica_moves"] or plan["leader_changes"], "resources": balanced}
    return lines_of_advisory({"plan": told} | ({"outlook": outlook} if outlook else {}))
