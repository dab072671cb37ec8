"""The page inside Airflow: made late, and its trouble is nobody else's."""

import json

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from rebalance_advisor.airflow.page.mounted import LateApp, external_views

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


def test_it_is_made_once_and_at_the_first_request():
    made = []

    def make():
        made.append(1)
        return PlainTextResponse("here")

    client = TestClient(LateApp(make))
    assert made == []
    assert [client.get("/").text for _ in range(3)] == ["here"] * 3
    assert made == [1]


def test_what_fails_is_told_without_its_reason_and_tried_again(caplog):
    tries = []

    def make():
        tries.append(1)
        if len(tries) == 1:
            raise ImportError("secret words")
        return PlainTextResponse("here")

    client = TestClient(LateApp(make))
    refused = client.get("/")
    assert refused.status_code == 503
    assert "advisor_reader" in refused.text
    assert "secret words" not in refused.text
    assert "secret words" in caplog.text
    assert client.get("/").text == "here"


def test_its_places_are_below_the_path_that_airflow_is_served_under():
    nav, tab = external_views("https://example.org/air/")
    assert nav["href"] == "/air/advisor/"
    assert (tab["href"], tab["destination"]) == ("/air/advisor/run?dag_id={DAG_ID}&run_id={RUN_ID}", "dag_run")
    assert external_views("/")[0]["href"] == "/advisor/"


def test_the_readers_address_keeps_its_role(monkeypatch):
    from rebalance_advisor.airflow.connections import reader_dsn

    known = {"conn_type": "postgres", "login": "r", "host": "db", "extra": {"options": "-c role=advisor_reader"}}
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_READER", json.dumps(known))
    assert reader_dsn() == "postgresql://r@db:5432/advisor?options=-c%20role%3Dadvisor_reader"


def test_airflows_auth_manager_decides_who_reads_which_cluster(monkeypatch):
    from rebalance_advisor.airflow.page import airflow_access

    class OnlyOne:
        """Lets everybody read one DAG."""

        def is_authorized_dag(self, *, method, details, user):
            return (method, details.id, user) == ("GET", "advise_mine", "somebody")

    monkeypatch.setattr(airflow_access, "get_auth_manager", OnlyOne)
    monkeypatch.setattr("airflow.models.dag.DagModel.get_team_name", lambda dag_id: None)
    assert airflow_access.readable_clusters("somebody", ["mine", "theirs"]) == {"mine"}
    assert airflow_access.readable_clusters("stranger", ["mine", "theirs"]) == set()
