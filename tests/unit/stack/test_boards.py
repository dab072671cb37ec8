from __future__ import annotations

import json
import re
from collections import Counter

import pytest
import yaml

from stack.grafana.cluster import CLUSTER
from stack.grafana.dashboard_json import DATASOURCE_TYPE, DATASOURCE_UID, dashboard_json
from stack.grafana.fleet import FLEET
from stack.grafana.groups import GROUPS
from stack.grafana.panel import Board
from stack.grafana.plans import PLANS
from stack.grafana.write_boards import BOARDS, ROOT, files

FOLDER = ROOT / "docker" / "grafana"


def test_what_is_committed_is_what_the_code_gives() -> None:
    for file, text in files().items():
        assert file.read_text() == text, "run: python -m stack.grafana.write_boards"
    assert {file.stem for file in (FOLDER / "dashboards").iterdir()} == {board.uid for board in BOARDS}


def test_each_of_the_ten_questions_has_its_panel() -> None:
    asked = Counter(panel.question for board in BOARDS for panel in board.panels if panel.question)
    assert asked.keys() == set(range(1, 11))
    assert BOARDS == (FLEET, CLUSTER, GROUPS, PLANS)


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_a_board_is_grafanas_json_with_every_panel_in_place(board: Board) -> None:
    document = json.loads(dashboard_json(board))
    assert (document["uid"], document["title"]) == (board.uid, board.title)
    assert [panel["title"] for panel in document["panels"]] == [panel.title for panel in board.panels]
    assert len({panel.title for panel in board.panels}) == len(board.panels)
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in document["panels"]}
    assert len(places) == len(board.panels)
    for panel in document["panels"]:
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        assert panel["datasource"] == {"type": DATASOURCE_TYPE, "uid": DATASOURCE_UID}
        (target,) = panel["targets"]
        assert target["datasource"]["uid"] == DATASOURCE_UID
        assert target["format"] == ("time_series" if panel["type"] in ("timeseries", "state-timeline") else "table")
    variables = [item["name"] for item in document.get("templating", {}).get("list", [])]
    assert variables == ["airflow", *(["cluster"] if board.of_one_cluster else [])]


def test_links_limits_and_bars_are_of_columns_that_the_panel_has() -> None:
    marked = [panel for board in BOARDS for panel in board.panels if panel.limits or panel.pages or panel.gauges]
    assert len(marked) >= 8
    for panel in marked:
        for column in {*panel.limits, *panel.gauges, *panel.pages} - {""}:
            assert re.search(rf"\b{column}\b", panel.sql), (panel.title, column)
    links = [
        link["url"]
        for board in BOARDS
        for panel in json.loads(dashboard_json(board))["panels"]
        for override in panel.get("fieldConfig", {}).get("overrides", [])
        for item in override["properties"]
        if item["id"] == "links"
        for link in item["value"]
    ]
    assert "${airflow}/advisor/clusters/${__data.fields.cluster:percentencode}" in links
    assert "${airflow}/advisor/clusters/${cluster:percentencode}/broker?id=${__value.text:percentencode}" in links
    assert all(url.startswith("${airflow}/advisor/clusters/${") for url in links)


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid)
def test_panels_read_views_alone_and_each_is_of_the_boards_cluster(board: Board) -> None:
    assert board.panels
    for panel in board.panels:
        assert "store." not in panel.sql
        assert re.search(r"FROM advisor\.\w+", panel.sql)
        assert ("${cluster:sqlstring}" in panel.sql) == board.of_one_cluster


def test_grafana_is_provisioned_with_the_reader_and_these_boards() -> None:
    (source,) = yaml.safe_load((FOLDER / "provisioning/datasources/advisor.yaml").read_text())["datasources"]
    assert (source["uid"], source["type"], source["user"]) == (DATASOURCE_UID, DATASOURCE_TYPE, "advisor_reader")
    (provider,) = yaml.safe_load((FOLDER / "provisioning/dashboards/advisor.yaml").read_text())["providers"]
    compose = re.sub(r"\$\{[^}]+\}", "x", (ROOT / "docker-compose.yml").read_text())
    grafana = yaml.safe_load(compose)["services"]["grafana"]
    mounts = dict(mount.split(":")[:2] for mount in grafana["volumes"])
    assert mounts["./docker/grafana/dashboards"] == provider["options"]["path"]
    assert mounts["./docker/grafana/provisioning"] == "/etc/grafana/provisioning"
    assert "ADVISOR_READER_PASSWORD" in grafana["environment"]
    assert not [name for name in grafana["environment"] if "WRITER" in name or "OWNER" in name]
