"""A board as Grafana's JSON, by Grafana's own SDK. Grafana 11.6 and newer read it."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from grafana_foundation_sdk.builders import dashboard, table, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.dashboard import DataSourceRef, DynamicConfigValue

from stack.grafana.panel import Board, BoardPanel, Kind

DATASOURCE_UID = "advisor-postgres"  # docker/grafana/provisioning/datasources has the same
DATASOURCE_TYPE = "grafana-postgresql-datasource"
CLUSTERS = "SELECT cluster FROM advisor.cluster_latest ORDER BY cluster"
_SOURCE = DataSourceRef(type_val=DATASOURCE_TYPE, uid=DATASOURCE_UID)


class SqlQuery(Dataquery, Builder[Dataquery]):
    """A query of Grafana's PostgreSQL data source, for which the SDK has no class of its own."""

    def __init__(self, sql: str, result_format: str) -> None:
        self._sql, self._format = sql, result_format

    def build(self) -> Dataquery:
        """Itself: nothing is left to be set."""
        return self

    def to_json(self) -> dict[str, object]:
        """As Grafana's own editor writes it."""
        return {
            "refId": "A", "datasource": {"type": DATASOURCE_TYPE, "uid": DATASOURCE_UID}, "editorMode": "code",
            "format": self._format, "rawQuery": True, "rawSql": self._sql,
        }  # fmt: skip


def dashboard_json(board: Board) -> str:
    """The file that Grafana provisions."""
    made = (
        dashboard.Dashboard(board.title)
        .uid(board.uid)
        .description(board.words)
        .tags(["kafka", "rebalance-advisor"])
        .time("now-30d", "now")
        .timezone("browser")
        .readonly()
    )
    if board.of_one_cluster:
        made.with_variable(dashboard.QueryVariable("cluster").label("Cluster").query(CLUSTERS).datasource(_SOURCE))
    for panel in board.panels:
        made.with_panel(_panel(panel))
    return json.dumps(made.build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


def panel_sql(panel: BoardPanel) -> str:
    """Its query as Grafana gets it."""
    return textwrap.dedent(panel.sql).strip()


def _panel(panel: BoardPanel) -> Any:
    if panel.kind is Kind.TIME_SERIES:
        made: Any = timeseries.Panel().unit(panel.units.get("", "short"))
        result_format = "time_series"
    else:
        made, result_format = table.Panel(), "table"
        for column, unit in panel.units.items():
            made.override_by_name(column, [DynamicConfigValue(id_val="unit", value=unit)])
    question = f" Question {panel.question} of docs/questions.md." if panel.question else ""
    return (
        made.title(panel.title)
        .description(panel.words + question)
        .datasource(_SOURCE)
        .span(panel.width)
        .height(panel.height)
        .with_target(SqlQuery(panel_sql(panel), result_format))
    )
