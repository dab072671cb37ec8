from __future__ import annotations

from dataclasses import dataclass

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.options.values import Window, read_value
from kafka_rebalance.snapshot.history import HourlyLoads, over_window
from kafka_rebalance.snapshot.load_kind import LoadStatistic
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.store.load_history import load_readings
from rebalance_advisor.store.run import Run
from rebalance_advisor.store.schema.connection import Connection
from rebalance_advisor.store.snapshot_load import load_snapshot


@dataclass(frozen=True, slots=True, eq=False)
class RunInput:
    snapshot: ClusterSnapshot
    hourly: HourlyLoads | None = None


def load_run_input(connection: Connection, run: Run) -> RunInput:
    return snapshot_over_window(connection, run.snapshot_id, run.parameters.get("load"), run.parameters.get("window"))


def snapshot_over_window(
    connection: Connection, snapshot_id: str, load: str | None, window_text: str | None
) -> RunInput:
    """``window_text``: for example ``7d``. Raises StoreError or InvalidInputError."""
    snapshot = load_snapshot(connection, snapshot_id)
    if load is None or window_text is None:
        return RunInput(snapshot)
    if snapshot.captured_at is None:
        raise InvalidInputError.at("history", "the reading has no time", "advise on one that has (captured_at)")
    hours = read_value(Window, window_text)
    readings = load_readings(connection, snapshot.cluster, snapshot.captured_at, hours)
    return RunInput(*over_window(snapshot, readings, LoadStatistic(load), hours))
