import asyncio
import inspect
import json
import threading

import anyio
import pytest
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient
from psycopg.conninfo import conninfo_to_dict
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from rebalance_advisor.airflow.page import LateApp, VisiblePaths, external_views, fastapi_apps, root_middlewares

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
    assert conninfo_to_dict(reader_dsn()) == {
        "host": "db", "user": "r", "dbname": "advisor", "options": "-c role=advisor_reader",
    }  # fmt: skip


def test_airflows_auth_manager_decides_who_reads_which_cluster(monkeypatch):
    from rebalance_advisor.airflow import page_access

    class OnlyOne:
        """Allows every user one DAG."""

        def is_authorized_dag(self, *, method, details, user):
            return (method, details.id, user) == ("GET", "advise_mine", "somebody")

    monkeypatch.setattr(page_access, "get_auth_manager", OnlyOne)
    monkeypatch.setattr("airflow.models.dag.DagModel.get_team_name", lambda dag_id: None)
    assert page_access.readable_clusters("somebody", ["mine", "theirs"]) == {"mine"}
    assert page_access.readable_clusters("stranger", ["mine", "theirs"]) == set()
    assert inspect.iscoroutinefunction(page_access.airflow_access().user)  # otherwise it blocks a thread of the API


def test_all_requests_wait_for_the_one_try_in_no_thread_of_airflows():
    tries = []
    begun, may_end = threading.Event(), threading.Event()

    def make():
        tries.append(1)
        begun.set()
        assert may_end.wait(60)
        return PlainTextResponse("here")

    async def ask():
        late = LateApp(make)
        async with AsyncClient(transport=ASGITransport(late), base_url="http://here") as client:
            asked = [asyncio.create_task(client.get("/")) for _ in range(60)]
            assert await asyncio.to_thread(begun.wait, 60)
            borrowed = anyio.to_thread.current_default_thread_limiter().borrowed_tokens
            may_end.set()
            return borrowed, {answer.text for answer in await asyncio.gather(*asked)}

    assert asyncio.run(ask()) == (0, {"here"})
    assert tries == [1]


def test_a_try_that_does_not_end_is_not_waited_for():
    may_end = threading.Event()

    def make():
        assert may_end.wait(60)
        return PlainTextResponse("here")

    async def ask():
        async with AsyncClient(transport=ASGITransport(LateApp(make, seconds=0.1)), base_url="http://here") as client:
            refused = await client.get("/")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
            may_end.set()
            for _ in range(600):
                if (answer := await client.get("/")).status_code == 200:
                    break
            return answer.text

    assert asyncio.run(ask()) == "here"


def test_paths_with_control_characters_reach_the_page_and_no_log_as_they_came():
    from airflow.api_fastapi.common.http_access_log import HttpAccessLogMiddleware

    airflow = FastAPI()
    for app in fastapi_apps():
        airflow.mount(app["url_prefix"], PlainTextResponse("the page, which asks for a login"))

    @airflow.get("/{rest:path}")
    def web(rest: str):
        return "Airflow's own"

    for given in root_middlewares():
        airflow.add_middleware(given["middleware"])
    airflow.add_middleware(HttpAccessLogMiddleware)
    client = TestClient(airflow)
    with capture_logs() as logged:
        for text in ("%0a", "a%0ab", "%0aclusters/prod", "clusters/%0a/plan", "%0d%0a", "%00", "%1b%5b2J", "%c2%9b"):
            assert client.get(f"/advisor/{text}").text.startswith("the page"), text
    assert len(logged) == 8
    assert not [entry for entry in logged if not entry["path"].isprintable()]
    below = TestClient(airflow, root_path="/air")
    assert below.get("/air/advisor/%0a").text.startswith("the page")
    assert client.get("/dags/a%09b").text == '"Airflow\'s own"'


def test_airflow_gets_the_apps_and_the_middleware_from_the_plugin():
    from rebalance_advisor.airflow.plugin import AdvisorPlugin

    assert [app["url_prefix"] for app in AdvisorPlugin.fastapi_apps] == ["/advisor"]
    assert [given["middleware"] for given in AdvisorPlugin.fastapi_root_middlewares] == [VisiblePaths]


def test_the_answer_of_a_what_if_is_what_its_task_returned(tmp_path, monkeypatch):
    from airflow.models.xcom import XComModel
    from sqlalchemy import create_engine
    from sqlalchemy.orm import sessionmaker

    from rebalance_advisor.airflow.page_access import ANSWERING_TASK, airflow_access
    from rebalance_advisor.airflow.tasks import compare

    assert compare.function.__name__ == ANSWERING_TASK
    engine = create_engine(f"sqlite:///{tmp_path}/airflow.db")
    XComModel.__table__.create(engine)
    monkeypatch.setattr("airflow.settings.Session", sessionmaker(engine))
    held = {"a": {"table": []}, "elsewhere": "s3://bucket/answer"}
    with sessionmaker(engine)() as session:
        for number, (run_id, value) in enumerate(held.items()):
            for key in ("return_value", "other"):
                row = {
                    "task_id": ANSWERING_TASK,
                    "map_index": -1,
                    "key": key,
                    "dag_id": "what_if_prod",
                    "run_id": run_id,
                }
                session.add(XComModel(dag_run_id=number, value=value if key == "return_value" else {}, **row))
        session.commit()
    answer = airflow_access().what_if
    assert answer("what_if_prod", "a") == {"table": []}
    assert [
        answer(*asked) for asked in (("what_if_prod", "elsewhere"), ("what_if_prod", "b"), ("advise_prod", "a"))
    ] == [None] * 3
    engine.dispose()
