"""A board as Grafana's JSON, by Grafana's SDK, for Grafana 11.6 and newer."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from grafana_foundation_sdk.builders import bargauge, common, dashboard, statetimeline, table, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models.common import BarGaugeDisplayMode, VisibilityMode, VizOrientation
from grafana_foundation_sdk.models.dashboard import (
    DataSourceRef,
    DynamicConfigValue,
    Threshold,
    ThresholdsMode,
    ValueMap,
    ValueMappingResult,
)

from stack.grafana.panel import SEVERITIES, Board, BoardPanel, Kind

DATASOURCE_UID = "advisor-postgres"  # as in docker/grafana/provisioning/datasources
DATASOURCE_TYPE = "grafana-postgresql-datasource"
CLUSTERS = "SELECT cluster FROM advisor.cluster_latest ORDER BY cluster"
_MOST_BARS = 100
_SOURCE = DataSourceRef(type_val=DATASOURCE_TYPE, uid=DATASOURCE_UID)


class SqlQuery(Dataquery, Builder[Dataquery]):
    def __init__(self, sql: str, result_format: str) -> None:
        self._sql, self._format = sql, result_format

    def build(self) -> Dataquery:
        return self

    def to_json(self) -> dict[str, object]:
        return {
            "refId": "A", "datasource": {"type": DATASOURCE_TYPE, "uid": DATASOURCE_UID}, "editorMode": "code",
            "format": self._format, "rawQuery": True, "rawSql": self._sql,
        }  # fmt: skip


def dashboard_json(board: Board) -> str:
    made = (
        dashboard.Dashboard(board.title)
        .uid(board.uid)
        .description(board.description)
        .tags(["kafka", "rebalance-advisor"])
        .time("now-30d", "now")
        .timezone("browser")
        .readonly()
    )
    made.with_variable(dashboard.TextBoxVariable("airflow").label("Airflow").default_value("http://localhost:8080"))
    if board.of_one_cluster:
        made.with_variable(dashboard.QueryVariable("cluster").label("Cluster").query(CLUSTERS).datasource(_SOURCE))
    for panel in board.panels:
        made.with_panel(_panel(panel, "${cluster" if board.of_one_cluster else "${__data.fields.cluster"))
    return json.dumps(made.build(), cls=JSONEncoder, indent=2, sort_keys=True) + "\n"


def panel_sql(panel: BoardPanel) -> str:
    return textwrap.dedent(panel.sql).strip()


_MADE: dict[Kind, Any] = {
    Kind.TABLE: table.Panel, Kind.TIME_SERIES: timeseries.Panel, Kind.STATES: statetimeline.Panel,
    Kind.BARS: bargauge.Panel,
}  # fmt: skip


def _panel(panel: BoardPanel, cluster: str) -> Any:
    """``cluster``: the beginning of the variable that names the cluster of a row."""
    made: Any = _MADE[panel.kind]()
    result_format = "time_series" if panel.kind in (Kind.TIME_SERIES, Kind.STATES) else "table"
    if panel.kind is Kind.STATES:
        named = {str(key): ValueMappingResult(text=text, color=color) for key, (text, color) in SEVERITIES.items()}
        made.mappings([ValueMap(options=named)]).show_value(VisibilityMode.NEVER)
    if panel.kind is Kind.BARS:
        made.reduce_options(common.ReduceDataOptions().values(True).limit(_MOST_BARS))
        made.orientation(VizOrientation.HORIZONTAL).display_mode(BarGaugeDisplayMode.BASIC).min(0).max(1)
    if "" in panel.units or panel.kind is Kind.TIME_SERIES:
        made.unit(panel.units.get("", "short"))
    if "" in panel.limits:
        made.thresholds(dashboard.ThresholdsConfig().mode(ThresholdsMode.ABSOLUTE).steps(_steps(panel.limits[""])))
    for column in dict.fromkeys((*panel.units, *panel.limits, *panel.gauges, *panel.pages)):
        if column:
            made.override_by_name(column, _column(panel, column, cluster))
    question = f" Question {panel.question} of docs/sql-and-grafana.md." if panel.question else ""
    return (
        made.title(panel.title)
        .description(panel.description + question)
        .datasource(_SOURCE)
        .span(panel.width)
        .height(panel.height)
        .with_target(SqlQuery(panel_sql(panel), result_format))
    )


def _column(panel: BoardPanel, column: str, cluster: str) -> list[DynamicConfigValue]:
    """Unit, limits, bar and link of one column of a table."""
    properties: dict[str, Any] = {}
    if column in panel.units:
        properties["unit"] = panel.units[column]
    if column in panel.limits:
        properties["thresholds"] = {"mode": "absolute", "steps": _steps(panel.limits[column])}
        properties["custom.cellOptions"] = {"type": "color-text"}
    if column in panel.gauges:
        properties |= {"min": 0, "max": 1, "custom.cellOptions": {"type": "gauge", "mode": "basic"}}
    if column in panel.pages:
        # The page reads the value from its address; a name may hold any character.
        path = panel.pages[column].replace("VALUE", "${__value.text:percentencode}")
        url = f"${{airflow}}/advisor/clusters/{cluster}:percentencode}}{path}"
        properties["links"] = [{"title": "Open the advisor's page", "url": url, "targetBlank": True}]
    return [DynamicConfigValue(id_val=name, value=value) for name, value in properties.items()]


def _steps(limits: tuple[float, float]) -> list[Threshold]:
    """Green, orange from the first limit, red from the second."""
    orange, red = limits
    colors = (None, "green"), (orange, "orange"), (red, "red")
    return [Threshold(value=value, color=color) for value, color in colors]
