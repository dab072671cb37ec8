"""The page over a store that is slow, down, silent or frozen, beside an API that shares its process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from http.client import HTTPConnection
from time import monotonic, sleep

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import func, select

from rebalance_advisor import store
from rebalance_advisor.page import reader as reader_module
from rebalance_advisor.page.access import Access
from rebalance_advisor.page.reader import Reader
from rebalance_advisor.page.routes import make_app
from rebalance_advisor.page.threads import PageThreads
from stack.waiting import frozen
from tests.sql.page.conftest import caller, readable, served

pytestmark = pytest.mark.stack
REQUESTS = 60  # more than the 40 threads that the apps of a process share
PLACES = 12
GENEROUS = 120.0
ACCESS = Access(user=caller, readable=readable)

Answer = tuple[int, str | None, str]


def get(port: int, path: str) -> Answer:
    """Status, Retry-After and text."""
    connection = HTTPConnection("127.0.0.1", port, timeout=GENEROUS)
    connection.request("GET", path, headers={"x-caller": "all"})
    answer = connection.getresponse()
    got = answer.status, answer.headers["Retry-After"], answer.read().decode()
    connection.close()
    return got


def until(is_so: Callable[[], bool], text: str) -> None:
    end = monotonic() + GENEROUS
    while not is_so():
        assert monotonic() < end, f"waited {GENEROUS} s for: {text}"
        sleep(0.02)


@contextmanager
def beside_an_api(page: FastAPI) -> Iterator[int]:
    """Airflow's api-server in small: the page under its prefix, and a plain function of another app's."""
    api = FastAPI()

    @api.get("/plain")
    def plain() -> str:
        return "here"

    api.mount("/advisor", page)
    with served(api) as port:
        yield port


def assert_only_the_page_waits(port: int, path: str, may_go_on: Callable[[], None]) -> None:
    """While some wait, the surplus is refused and the API answers; afterwards they are answered, as are new ones."""
    with ThreadPoolExecutor(REQUESTS) as clients:
        asked: list[Future[Answer]] = [clients.submit(get, port, path) for _ in range(REQUESTS)]
        try:
            until(lambda: sum(answer.done() for answer in asked) >= REQUESTS - PLACES, "surplus requests are refused")
            refused = [answer.result() for answer in asked if answer.done()]
            assert {(status, retry) for status, retry, _ in refused} == {(503, "5")}
            assert "as many requests as it can" in refused[0][2]
            assert get(port, "/plain") == (200, None, '"here"')
            assert sum(not answer.done() for answer in asked) == PLACES  # the API was quicker
        finally:
            may_go_on()
        wait(asked, GENEROUS)
        assert [answer.result()[0] for answer in asked].count(200) == PLACES
    assert get(port, path)[0] == 200


def test_a_locked_table_holds_up_the_page_alone(dsn, reader, connection, monkeypatch) -> None:
    monkeypatch.setattr(reader_module, "_SESSION", "-c default_transaction_read_only=on")  # wait until it is unlocked
    patient = Reader(f"{dsn}{'&' if '?' in dsn else '?'}options=-c%20role%3Dadvisor_reader")
    with store.connect(dsn) as locker, beside_an_api(make_app(patient, ACCESS, PageThreads(seconds=GENEROUS))) as port:
        assert get(port, "/advisor/")[0] == 200
        locker.execute("BEGIN")
        locker.execute("LOCK TABLE store.run IN ACCESS EXCLUSIVE MODE")
        assert_only_the_page_waits(port, "/advisor/", lambda: locker.execute("ROLLBACK"))
    patient.close()


def test_an_access_check_that_hangs_holds_up_the_page_alone(reader) -> None:
    may_end = threading.Event()

    def hangs(user: str, clusters) -> frozenset[str]:
        assert may_end.wait(GENEROUS)
        return frozenset(clusters)

    page = make_app(reader, Access(user=caller, readable=hangs), PageThreads(seconds=GENEROUS))
    with beside_an_api(page) as port:
        assert_only_the_page_waits(port, "/advisor/", may_end.set)


def test_a_lock_is_waited_for_a_few_seconds_and_no_longer(connection, open_page) -> None:
    with connection.transaction():
        connection.execute("LOCK TABLE store.run IN ACCESS EXCLUSIVE MODE")
        answer = open_page().get("/")  # it would wait for ever: the lock ends after it
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert open_page().get("/").status_code == 200


def test_sessions_have_limits_on_both_sides(dsn, reader) -> None:
    with reader._engine.connect() as opened:
        raw = opened.connection.dbapi_connection
        limits = raw.execute("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')").fetchone()
        given = raw.info.get_parameters()
    assert limits == ("3s", "15s")
    assert {"connect_timeout", "tcp_user_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count"} <= (
        given.keys()
    )
    own = Reader(f"{dsn}{'&' if '?' in dsn else '?'}connect_timeout=77")
    with own._engine.connect() as opened:
        assert opened.connection.dbapi_connection.info.get_parameters()["connect_timeout"] == "77"
    own.close()


def test_a_store_that_is_down_is_told_without_its_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert_told_without_address(f"host=127.0.0.1 port={port} user=somebody password=secret dbname=advisor_db", port)


def test_a_store_that_takes_a_connection_and_says_nothing_is_told_without_its_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert_told_without_address(f"postgresql://somebody:secret@127.0.0.1:{port}/advisor_db?connect_timeout=2", port)


def assert_told_without_address(dsn: str, port: int) -> None:
    away = Reader(dsn)
    answer = TestClient(make_app(away, ACCESS), headers={"x-caller": "all"}).get("/")
    away.close()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    for secret in ("127.0.0.1", "somebody", "secret", "advisor_db", str(port), "Traceback"):
        assert secret not in answer.text


def test_a_store_that_freezes_is_not_waited_for(reader, connection) -> None:
    """No limit of the server's own ends a statement whose process is stopped, or waits for a disk that is gone."""
    page = make_app(reader, ACCESS, PageThreads(at_once=1, waiting=0, seconds=2.0))
    client = TestClient(page, headers={"x-caller": "all"})
    backend = reader.rows(select(func.pg_backend_pid().label("pid")))[0]["pid"]
    with frozen(backend):
        answer = client.get("/")
        assert answer.status_code == 503
        assert "not made within 2 s" in answer.text
        assert "as many requests as it can" in client.get("/").text  # its thread is still taken
    until(lambda: page.state.threads._slots._value == 1, "the thread is free")
    assert TestClient(make_app(reader, ACCESS), headers={"x-caller": "all"}).get("/").status_code == 200
