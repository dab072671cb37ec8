"""Every panel's query, its macros expanded as Grafana does, answers the reader with a row or more over 90 days."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from rebalance_advisor import store
from stack.grafana.dashboard_json import CLUSTERS, panel_sql
from stack.grafana.panel import BoardPanel, Kind
from stack.grafana.write_boards import BOARDS
from tests.sample import for_each
from tests.sql.server_seconds import cpu_seconds

pytestmark = pytest.mark.stack
PANELS = [panel for board in BOARDS for panel in board.panels]
MACRO = re.compile(r"\$__(\w+)\(([^()]*)\)|\$\{cluster:sqlstring\}")


def expanded(sql: str, cluster: str, since: datetime, until: datetime) -> str:
    """As Grafana's PostgreSQL data source writes it. Raises KeyError for a macro that no panel has had yet."""

    def replaced(match: re.Match[str]) -> str:
        if match[1] is None:
            return "'" + cluster.replace("'", "''") + "'"
        arguments = [part.strip() for part in match[2].split(",")]
        if match[1] == "timeFilter":
            return f"{arguments[0]} BETWEEN '{since.isoformat()}' AND '{until.isoformat()}'"
        seconds = {"'1d'": 86_400, "'1h'": 3_600}[{"timeGroup": arguments[-1]}[match[1]]]
        return f"floor(extract(epoch from {arguments[0]})/{seconds})*{seconds}"

    made = MACRO.sub(replaced, sql)
    assert "$" not in made, made
    return made


def ask(dsn: str, panel: BoardPanel, cluster: str) -> tuple[list[str], list[tuple[object, ...]], float]:
    """Columns, rows and CPU seconds of the server."""
    now = datetime.now(UTC)
    with store.connect(dsn) as connection:
        connection.execute("SET max_parallel_workers_per_gather = 0")
        connection.execute("SET ROLE advisor_reader")
        begin = cpu_seconds(connection)
        cursor = connection.execute(expanded(panel_sql(panel), cluster, now - timedelta(days=90), now))  # type: ignore[arg-type]
        rows = cursor.fetchall()
        assert cursor.description is not None
        return [column.name for column in cursor.description], rows, cpu_seconds(connection) - begin


@for_each("panel", PANELS)
def test_a_panel_has_rows_and_no_empty_column(ninety_days: str, panel: BoardPanel) -> None:
    columns, rows, _ = ask(ninety_days, panel, "cluster-02")
    assert rows
    assert [name for index, name in enumerate(columns) if all(row[index] is None for row in rows)] == []
    assert panel.units.keys() - {""} <= set(columns), "a unit of a column that is not there"
    if panel.kind is Kind.TIME_SERIES:
        assert columns == ["time", "metric", "value"]
        assert rows == sorted(rows, key=lambda row: row[0])


@pytest.mark.matrix
@for_each("panel", PANELS)
def test_a_panel_has_rows_of_twelve_clusters(twelve_clusters: str, panel: BoardPanel) -> None:
    _, rows, seconds = min((ask(twelve_clusters, panel, "cluster-07") for _ in range(2)), key=lambda item: item[2])
    print(f"| {panel.title} | {len(rows):,} | {1000 * seconds:.0f} |")
    assert rows


def test_the_variable_lists_every_cluster(ninety_days: str) -> None:
    with store.connect(ninety_days) as connection:
        connection.execute("SET ROLE advisor_reader")
        assert connection.execute(CLUSTERS).fetchall() == [("cluster-01",), ("cluster-02",)]


def test_a_cluster_of_a_hostile_name_is_text(ninety_days: str) -> None:
    """Kafka knows no names of clusters; what a file of ours calls one goes through ${cluster:sqlstring}."""
    hostile = "x' OR '1'='1"
    for board in BOARDS:
        for panel in board.panels:
            if board.of_one_cluster:
                assert ask(ninety_days, panel, hostile)[1] == []
