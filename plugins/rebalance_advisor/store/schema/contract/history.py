"""Views of history: how uneven each reading was, and roll-ups that stay longer than readings."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, Text

from rebalance_advisor.store.schema.contract.define import MOMENT, of_reading, view

_CLUSTER = "Name of the cluster, as clusters.toml or the snapshot gives it."
_HOUR, _DAY = "Begin of the hour (UTC).", "Begin of the day (UTC)."


def _head(comment: str) -> tuple[Column[object], ...]:
    return Column("time", MOMENT, comment=comment), Column("cluster", Text(), comment=_CLUSTER)


def _skew() -> tuple[Column[object], ...]:
    return (
        Column("resource", Text(), comment="Resource."),
        Column("unit", Text(), comment="Unit of total."),
        Column("reading_count", Integer(), comment="Readings that it is made of."),
        Column("total", Double(), comment="Load of the whole cluster, mean of the readings."),
        Column("skew", Double(), comment="Highest level over the mean level, mean of the readings."),
        Column("highest_skew", Double(), comment="The highest of the readings."),
        Column("worst_broker", Integer(), comment="Whose level that was; NULL where all are alike."),
    )


def _lag() -> tuple[Column[object], ...]:
    return (
        Column("group_id", Text(), comment="Group."),
        Column("reading_count", Integer(), comment="Readings that it is made of."),
        Column("lag_messages", Double(), comment="Lag in all its topics, mean of the readings."),
        Column("highest_lag_messages", BigInteger(), comment="The highest of the readings."),
    )


BROKER_LEVEL = view(
    "broker_level",
    "Load and level of each broker and resource, in every reading: as an advisory on it would score them.",
    *of_reading(),
    Column("broker", Integer(), comment="Broker id."),
    Column("rack", Text(), comment="Rack; NULL where the broker has none."),
    Column("resource", Text(), comment="Resource."),
    Column("unit", Text(), comment="Unit of load."),
    Column("load", Double(), comment="What it carries."),
    Column("capacity", Double(), comment="What it can carry; NULL where nobody said for every broker."),
    Column("level", Double(), comment="Load over capacity, or the load itself without capacities."),
    Column("over_mean", Double(), comment="How many times the mean level that is."),
    Column("stays", Boolean(), comment="The broker is alive and not about to leave."),
    latest="Load and level of each broker and resource, in the newest reading of each cluster.",
)

RESOURCE_SKEW = view(
    "resource_skew",
    "Skew of each resource over the whole cluster, in every reading.",
    *of_reading(),
    Column("resource", Text(), comment="Resource."),
    Column("unit", Text(), comment="Unit of total."),
    Column("total", Double(), comment="Load of the whole cluster."),
    Column("skew", Double(), comment="Highest level over the mean level."),
    Column("worst_broker", Integer(), comment="Whose level that is; NULL where all are alike."),
    latest="Skew of each resource over the whole cluster, in the newest reading of each cluster.",
)

SKEW_BY_HOUR = view("skew_by_hour", "Skew of each resource by the hour; pruning keeps it.", *_head(_HOUR), *_skew())
SKEW_BY_DAY = view("skew_by_day", "Skew of each resource by the day; pruning keeps it.", *_head(_DAY), *_skew())

BROKER_LEVEL_BY_DAY = view(
    "broker_level_by_day",
    "Load and level of each broker and resource by the day; pruning keeps it.",
    *_head(_DAY),
    Column("broker", Integer(), comment="Broker id."),
    Column("resource", Text(), comment="Resource."),
    Column("unit", Text(), comment="Unit of load."),
    Column("reading_count", Integer(), comment="Readings that it is made of."),
    Column("load", Double(), comment="What it carried, mean of the readings."),
    Column("level", Double(), comment="Load over capacity, mean of the readings."),
    Column("over_mean", Double(), comment="How many times the mean level that was, mean of the readings."),
    Column("highest_over_mean", Double(), comment="The highest of the readings."),
)

GROUP_LAG_BY_HOUR = view(
    "group_lag_by_hour", "How far each group was behind by the hour; pruning keeps it.", *_head(_HOUR), *_lag()
)
GROUP_LAG_BY_DAY = view(
    "group_lag_by_day", "How far each group was behind by the day; pruning keeps it.", *_head(_DAY), *_lag()
)
