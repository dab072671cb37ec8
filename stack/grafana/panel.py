"""What a board is made of: panels with their SQL, in the field's words; no JSON yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """How a panel shows what its query returns."""

    TABLE = "table"
    TIME_SERIES = "timeseries"  # the query returns time, metric and value


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPanel:
    """One panel.

    words      what it answers, as its description
    sql        over the views of ``advisor``, with Grafana's $__timeFilter, $__timeGroup and ${cluster:sqlstring}
    question   which of the ten questions (docs/questions.md) it answers; None: none of them
    width      of Grafana's 24 columns
    units      column → Grafana's name of its unit; of a time series the key "" is the unit of all
    """

    title: str
    words: str
    sql: str
    kind: Kind = Kind.TABLE
    question: int | None = None
    width: int = 24
    height: int = 9
    units: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """One dashboard; ``uid`` stays the same for good, since links have it. ``of_one_cluster``: it has that variable."""

    uid: str
    title: str
    words: str
    panels: tuple[BoardPanel, ...]
    of_one_cluster: bool = True
