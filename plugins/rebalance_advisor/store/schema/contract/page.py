"""The contract as Markdown: what stands in ``sql/README.md`` between two markers; ``dump_schema`` writes it."""

from __future__ import annotations

import re

from sqlalchemy import Dialect, Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import TypeEngine

from rebalance_advisor.store.schema.contract import advisories, answers, history, own_health, readings
from rebalance_advisor.store.schema.contract.define import CONTRACT, history_of, unit_of

BEGIN, END = "<!-- begin of the contract, written by dump_schema -->", "<!-- end of the contract -->"
_PARTS = {
    "Readings": readings,
    "Advisories": advisories,
    "Answers": answers,
    "History": history,
    "The advisor itself": own_health,
}
_DIALECT: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
_SHORT = {"timestamp with time zone": "timestamptz", "double precision": "double"}


def with_contract(page: str) -> str:
    """``page`` with what stands between its markers made anew. Raises ValueError where it has none."""
    made, count = re.subn(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n{markdown()}\n{END}", page, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"the page needs the markers {BEGIN} and {END} once")
    return made


def markdown() -> str:
    """A table for each kind of view: name, what it holds, columns with type and, where the name tells one, unit."""
    lines: list[str] = []
    for title, module in _PARTS.items():
        tables = [value for value in vars(module).values() if isinstance(value, Table)]
        lines += [f"## {title}", "| view | what | columns |", "|---|---|---|", *map(_row, tables), ""]
    return "\n".join(lines).rstrip()


def type_text(kind: TypeEngine[object]) -> str:
    """As PostgreSQL's format_type says it."""
    return kind.compile(dialect=_DIALECT).lower()


def _row(table: Table) -> str:
    names = [table.name, *(twin.name for twin in CONTRACT.sorted_tables if history_of(twin) == table.name)]
    columns = []
    for column in table.columns:
        kind, unit = type_text(column.type), unit_of(column)
        columns.append(f"{column.name} {_SHORT.get(kind, kind)}" + (f" ({unit})" if unit else ""))
    return f"| {' '.join(f'`{name}`' for name in names)} | {table.comment} | {', '.join(columns)} |"
