"""How uneven a reading is, kept with it; that and how far its groups are behind per hour and day, for longer.

The levels are those that an advisory on the reading would score (``scoring.score_cluster``), so that a curve of
readings and the points of advisories are the same numbers.
"""

from __future__ import annotations

from typing import Any

from kafka_rebalance.scoring.placement_scores import ClusterScores
from rebalance_advisor.store.rows.copy_rows import Column, constant, copy_columns, flag, plain, text
from rebalance_advisor.store.schema.connection import Connection, named
from rebalance_advisor.store.statistics import analyze_copied

_BROKER = {name: name for name in ("broker", "rack", "resource", "unit", "load", "capacity", "level")} | {
    "level_to_mean_ratio": "over_mean", "remains_in_cluster": "stays",
}  # fmt: skip
_RESOURCE = {name: name for name in ("resource", "unit", "total", "skew", "worst_broker")}
_ROLL_UPS = ("roll_up_skew_hour", "roll_up_skew_day", "roll_up_broker_day", "roll_up_lag_hour", "roll_up_lag_day")


def save_levels(connection: Connection, scores: ClusterScores, snapshot_key: int, moment: object) -> None:
    """Levels of brokers, skew of resources, in the caller's transaction. ``moment``: the time of the reading's rows."""
    head = (snapshot_key, str(moment))
    tables = {
        "broker_level": _columns(scores.brokers, _BROKER, *head),
        "resource_skew": _columns(scores.resources, _RESOURCE, *head),
    }
    copied = {table: copy_columns(connection, table, columns) for table, columns in tables.items()}
    analyze_copied(connection, copied, moment)


def roll_up(connection: Connection, snapshot_id: str) -> None:
    """Make the hour and the day of a reading anew, from all that passed the gate. In the caller's transaction.

    Hours and days of which readings were pruned since keep what they say.
    """
    found = connection.execute(named("lock_roll_ups"), {"snapshot_id": snapshot_id}).fetchone()
    if found is None:
        return
    keys = {"cluster": found[0], "captured_at": found[1]}
    for query in _ROLL_UPS:
        connection.execute(named(query), keys)


def _columns(
    rows: tuple[Any, ...], attributes: dict[str, str], snapshot_key: int, captured_at: str
) -> dict[str, Column]:
    columns: dict[str, Column] = {
        "snapshot_key": constant(snapshot_key, len(rows)), "captured_at": constant(captured_at, len(rows))
    }  # fmt: skip
    for name, attribute in attributes.items():
        values = [getattr(row, attribute) for row in rows]
        as_column = text if name in ("rack", "resource", "unit") else flag if name == "remains_in_cluster" else plain
        columns[name] = as_column(values)
    return columns
