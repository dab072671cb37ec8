"""Parts of a board: panels with SQL and words, before JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    TABLE = "table"
    TIME_SERIES = "timeseries"  # columns: time, metric and value
    STATES = "state-timeline"  # the same; a value is a key of SEVERITIES
    BARS = "bargauge"  # columns: name and number


SEVERITIES = {
    0: ("none", "green"),
    1: ("low", "blue"),
    2: ("medium", "yellow"),
    3: ("high", "orange"),
    4: ("critical", "red"),
}
DISK = (0.85, 0.90)  # as on the page and in the findings


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPanel:
    """One panel.

    words      description: the answer it gives
    sql        over the views of ``advisor``, with Grafana's $__timeFilter, $__timeGroup and ${cluster:sqlstring}
    question   which of the ten questions (docs/sql-and-grafana.md) it answers; None: none of them
    width      of Grafana's 24 columns
    units      column → Grafana's unit name; "" is the unit of all values
    limits     column → (orange from, red from); "" are the limits of all values
    gauges     columns whose cells are bars from 0 to 1
    pages      column → the advisor's page that its cells link to, below the page of the cluster
    """

    title: str
    description: str
    sql: str
    kind: Kind = Kind.TABLE
    question: int | None = None
    width: int = 24
    height: int = 9
    units: dict[str, str] = field(default_factory=dict)
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    gauges: tuple[str, ...] = ()
    pages: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """One dashboard; ``uid`` never changes, since links contain it. ``of_one_cluster``: it has that variable."""

    uid: str
    title: str
    description: str
    panels: tuple[BoardPanel, ...]
    of_one_cluster: bool = True
