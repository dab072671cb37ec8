"""The views as they are made: what each selects by its SQL file, comments and the twins NAME_latest by the contract."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rebalance_advisor.store.schema import sql_files
from rebalance_advisor.store.schema.sql_files import SqlFilesError

if TYPE_CHECKING:
    from sqlalchemy import Table

# The table that holds all of something → the internal view of the newest of each cluster.
_NEWEST = {"run": "newest_run", "snapshot": "newest_snapshot"}


@dataclass(frozen=True, slots=True)
class View:
    """A view and its comments. Those with a leading underscore are internal."""

    name: str
    text: str
    needs: frozenset[str]

    @property
    def is_internal(self) -> bool:
        """Part of schema ``store``, not of the contract."""
        return self.name.startswith("_")


def views() -> tuple[View, ...]:
    """All views, each after those that it reads. Raises SqlFilesError where files and contract do not go together."""
    from rebalance_advisor.store.schema.contract import CONTRACT, history_of

    texts = sql_files.view_texts()
    tables = {table.name: table for table in CONTRACT.sorted_tables}
    for name, table in tables.items():
        history = history_of(table)
        if name not in texts and history is not None and history in texts:
            texts[name] = latest_twin(texts[history], history)
    strangers = sorted({name for name in texts if not name.startswith("_")} ^ tables.keys())
    if strangers:
        raise SqlFilesError(f"view {strangers[0]} needs both a file in sql/views and an entry in store/schema/contract")
    return in_order({name: texts[name] + comments(tables.get(name)) for name in texts})


def in_order(texts: Mapping[str, str]) -> tuple[View, ...]:
    """Each view after those that it reads. Raises SqlFilesError where they read each other."""
    found = {name: View(name, text, _read_by(text) - {name}) for name, text in sorted(texts.items())}
    placed: list[View] = []
    while len(placed) < len(found):
        known = {view.name for view in placed}
        ready = [view for view in found.values() if view.name not in known and view.needs & found.keys() <= known]
        if not ready:
            raise SqlFilesError(f"views read each other in a circle: {sorted(found.keys() - known)}")
        placed.extend(ready)
    return tuple(placed)


def latest_twin(text: str, name: str) -> str:
    """NAME_latest of a view of history: the same columns, of the newest reading or published advisory of each cluster.

    Raises SqlFilesError where the view does not begin at all runs or all snapshots.
    """
    source = next((table for table in _NEWEST if f"\nFROM store.{table}\n" in text), None)
    if source is None:
        raise SqlFilesError(f"sql/views/{name}.sql is FROM neither store.run nor store.snapshot: write its twin")
    twin = text.replace(f"advisor.{name} ", f"advisor.{name}_latest ", 1)
    twin = re.sub(rf"\nWHERE {source}\.status = '\w+'( AND NOT {source}\.is_pruned)?", "", twin)
    twin = twin.replace(f"\nFROM store.{source}\n", f"\nFROM store.{_NEWEST[source]} AS newest\n")
    return re.sub(rf"(?<![\w.]){source}\.", "newest.", twin)


def comments(table: Table | None) -> str:
    """The COMMENTs of a view and its columns; nothing for an internal view."""
    if table is None:
        return ""
    lines = [f"COMMENT ON VIEW {table.fullname} IS {_quoted(table.comment)};"]
    lines += [f"COMMENT ON COLUMN {table.fullname}.{one.name} IS {_quoted(one.comment)};" for one in table.columns]
    return "\n" + "\n".join(lines) + "\n"


def _read_by(text: str) -> frozenset[str]:
    internal = {f"_{name}" for name in re.findall(r"\bstore\.(\w+)", text)}
    return frozenset(internal | set(re.findall(r"\badvisor\.(\w+)", text)))


def _quoted(text: str | None) -> str:
    return "'" + (text or "").replace("'", "''") + "'"
