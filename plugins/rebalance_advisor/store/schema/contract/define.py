"""How a view of the contract is described: as a SQLAlchemy Core table that nobody creates; SQL files make the views."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Column, DateTime, MetaData, Table, Text

CONTRACT = MetaData(schema="advisor")
MOMENT = DateTime(timezone=True)
_LATEST, _HISTORY = "_latest", "history"
# A part of a column's name → its unit (units stand in names). What has none is a count, a name or a level.
UNITS = {
    "bytes_per_s": "bytes/s", "messages_per_s": "messages/s", "bytes_per_day": "bytes/day", "bytes": "bytes",
    "messages": "messages", "seconds": "seconds", "window_s": "seconds", "percent": "percent", "ratio": "ratio",
    "days": "days",
}  # fmt: skip


def view(name: str, comment: str, *columns: Column[object], latest: str | None = None) -> Table:
    """Enter a view into the contract. ``latest``: what its twin NAME_latest, with the same columns, says of itself."""
    table = Table(name, CONTRACT, *columns, comment=comment)
    if latest is not None:
        twin = table.to_metadata(CONTRACT, name=name + _LATEST)
        twin.comment, twin.info = latest, {_HISTORY: name}
    return table


def columns_of(table: Table, *, without: Collection[str]) -> tuple[Column[object], ...]:
    """The columns of a view for another one that leaves some out."""
    return tuple(
        Column(column.name, column.type, comment=column.comment) for column in table.c if column.name not in without
    )


def of_reading() -> tuple[Column[object], ...]:
    """The columns that every view of readings begins with."""
    return (_time("When the cluster was read."), _cluster(), _text("snapshot_id", "sha256 of the reading's content."))


def of_advisory() -> tuple[Column[object], ...]:
    """The columns that every view of advisories begins with."""
    return (_time("When the advisory was started."), _cluster(), _text("run_id", "The advisory that says so."))


def unit_of(column: Column[object]) -> str | None:
    """``bytes/s`` for ``in_bytes_per_s``; None where the name tells none."""
    if isinstance(column.type, (Text, DateTime)):
        return None
    return next((unit for part, unit in UNITS.items() if f"_{part}_" in f"_{column.name}_"), None)


def history_of(table: Table) -> str | None:
    """The view whose twin this is: ``broker`` for ``broker_latest``; None for a view of its own."""
    history: str | None = table.info.get(_HISTORY)
    return history


def _time(comment: str) -> Column[object]:
    return Column("time", MOMENT, comment=comment)


def _cluster() -> Column[object]:
    return _text("cluster", "Name of the cluster, as clusters.toml or the snapshot gives it.")


def _text(name: str, comment: str) -> Column[object]:
    return Column(name, Text(), comment=comment)
