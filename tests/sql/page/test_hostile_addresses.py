"""Every route with hostile addresses, with and without a login: answered in words, never by a fault."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from itertools import product
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from kafka_assignors.visible_text import is_hidden
from rebalance_advisor.page.access import Access
from rebalance_advisor.page.reader import Reader
from rebalance_advisor.page.rendering import HEADERS
from rebalance_advisor.page.routes import make_app
from tests.sql.page.conftest import caller, readable, served
from tests.unit.cli.hostile.names import HOSTILE

pytestmark = pytest.mark.stack
# Percent-encoded as they travel: no client may mend them.
TEXTS = (
    *(quote(name, safe="") for name in HOSTILE.values()),
    *("%00", "a%00b", "%0a", "%0d", "%0d%0aSet-Cookie:%20a=b", "%1b%5b2J", "%7f", "%c2%9b", "a%0a", "%0ab"),
    *("%ff%fe", "%ed%a0%80", "%f4%90%80%80", "%c0%af", "%", "%zz", "%u0041", "%25%30%30"),
    *("..", "%2e%2e", "..%2f..%2f", "%2f%2fexample.org", "%5c%5cexample.org", "https:%2f%2fexample.org", "."),
    "a" * 50_000,
)
FREE_TEXT = ("search", "name", "run", "topic", "dag_id", "run_id", "unknown")
NUMBERS = ("page", "id", "wave", "broker")
ANSWERS = frozenset({200, 303, 400, 403, 404, 422})


def paths(client: TestClient) -> list[str]:
    """All routes; ``{cluster}`` and ``{path:anything}`` stand in them."""
    results = [route.path for route in client.app.routes]
    assert len(results) >= 14
    return results


def filled(path: str, text: str) -> str:
    return path.replace("{cluster}", text).replace("{path:anything}", text)


def hostile_addresses(client: TestClient) -> Iterator[str]:
    """Each text in the path of each route that has a name in it, and in each parameter of free text of each route."""
    for path, text in product(paths(client), TEXTS):
        if "{" in path:
            yield filled(path, text)
        query = text if len(text) < 1000 else text[:8000]  # of seven parameters
        asked = "&".join(f"{name}={query}" for name in FREE_TEXT)
        yield f"{filled(path, 'prod')}?{asked}"
    for kind in ("advise", "what_if"):
        yield from (f"/run?dag_id={kind}_{text}&run_id={text}" for text in TEXTS if len(text) < 1000)


def test_without_a_login_no_address_is_answered_but_by_401(open_page) -> None:
    nobody = open_page(None)
    for address in hostile_addresses(nobody):
        answer = nobody.get(address, follow_redirects=False)
        assert answer.status_code == 401, (address[:200], answer.status_code)
        assert_is_safe(answer, address)


def test_with_a_login_each_address_is_answered_in_words(open_page) -> None:
    client = open_page()
    for address in hostile_addresses(client):
        answer = client.get(address, follow_redirects=False)
        assert answer.status_code in ANSWERS, (address[:200], answer.status_code)
        assert_is_safe(answer, address)


def assert_is_safe(answer, address: str) -> None:
    for name, value in HEADERS.items():
        is_style = name == "Cache-Control" and address.startswith("/page.css")
        assert is_style or answer.headers[name] == value, (address[:200], name)
    assert "etag" not in answer.headers
    assert "set-cookie" not in answer.headers
    assert not [character for character in answer.text if character != "\n" and is_hidden(character)], address[:200]
    assert "Traceback" not in answer.text
    assert "<script" not in answer.text
    if answer.status_code == 303:
        assert answer.headers["location"].startswith("/clusters/"), address[:200]


def test_a_nul_is_refused_in_words_wherever_it_is(open_page) -> None:
    client = open_page()
    for path in paths(client):
        for address in (
            f"{filled(path, 'prod')}?x=%00",
            f"{filled(path, 'prod')}?%00=x",
            f"{filled(path, 'a%00')}?y=%00",
        ):
            answer = client.get(address)
            assert (answer.status_code, "NUL character" in answer.text) == (400, True), address


def test_numbers_that_cannot_be_are_refused_in_words(open_page) -> None:
    client = open_page()
    wrong = ("-1e9", str(2**63), str(2**64), "9" * 5000, "-99999", "1.5", "NaN", "0x10", "1;2", "%2b", "one", "1&{}=x")
    pages = {"page": "topics", "id": "broker", "wave": "plan", "broker": "plan"}
    for name, value in product(NUMBERS, wrong):
        answer = client.get(f"/clusters/prod/{pages[name]}?{name}={value.replace('{}', name)}")
        assert answer.status_code == 422, (name, value[:20])
        assert "Not understood" in answer.text
        assert f"{name} is " in answer.text
        assert answer.headers["content-type"].startswith("text/html")
    for asked in ("sort=version();--", "sort=", "kind=none", "down=perhaps", "page=0", "page=1&page=x"):
        assert client.get(f"/clusters/prod/plan?{asked}").status_code == 422, asked
    assert client.get("/clusters/prod/topics?page=x&page=1").status_code == 200  # the last of several counts


def test_head_answers_as_get_does_and_without_a_body(reader) -> None:
    page = make_app(reader, Access(user=caller, readable=readable))
    addresses = [filled(route.path, "prod") for route in page.routes] + ["/run?dag_id=advise_prod&run_id=a", "/%00"]
    with served(page) as port:
        for address, user in product(addresses, ("all", "other", None)):
            (status, headers, body), (head_status, head_headers, head_body) = (
                exchange(port, method, address, user) for method in ("GET", "HEAD")
            )
            assert (head_status, head_headers, head_body) == (status, headers, b""), (address, user)
            assert body or status == 303


def exchange(port: int, method: str, target: str, user: str | None) -> tuple[int, list[str], bytes]:
    """Status, headers but for the date, and all bytes after them."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        who = f"x-caller: {user}\r\n" if user else ""
        client.sendall(f"{method} {target} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n{who}\r\n".encode("latin-1"))
        answer = b""
        while piece := client.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    return int(first.split()[1]), sorted(line for line in lines if not line.startswith("date:")), body


def test_no_hidden_character_of_an_address_reaches_a_log(caplog) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    away = Reader(f"postgresql://127.0.0.1:{port}/nowhere")
    hidden = [text for text in TEXTS if len(text) < 1000]
    with caplog.at_level(logging.INFO), served(make_app(away, Access(user=caller, readable=readable))) as server:
        for text in hidden:
            for address in (f"/clusters/{text}", f"/clusters/prod/topic?name={text}", f"/{text}"):
                assert exchange(server, "GET", address, "all")[0] in (400, 404, 503), address
        for raw in ("\x1b[2J", "\x9b31m", "a\x00b", "a\x7f"):  # no browser sends them
            assert exchange(server, "GET", f"/clusters/{raw}", "all")[0] in (400, 404, 503), raw
    ours = [record for record in caplog.records if record.name == "rebalance_advisor.page.routes"]
    assert len(ours) > len(hidden)
    for line in (line for record in caplog.records for line in record.getMessage().split("\n")):
        assert not [character for character in line if is_hidden(character)], line


def test_a_fault_of_ours_is_told_without_its_reason_and_logged_with_it(reader, caplog) -> None:
    def fails(user: str, clusters) -> frozenset[str]:
        raise RuntimeError("secret\x1b[2J\rwords")

    page = make_app(reader, Access(user=caller, readable=fails))
    answer = TestClient(page, headers={"x-caller": "all"}).get("/clusters/prod")
    assert (answer.status_code, "secret" in answer.text) == (500, False)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert "RuntimeError: secret\\x1b[2J\\rwords" in caplog.text
    assert "Traceback" in caplog.text
