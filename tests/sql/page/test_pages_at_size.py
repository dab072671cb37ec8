"""Pages of a large cluster come quickly, and none grows with it; `make test-page-size` prints its table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from statistics import median
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from rebalance_advisor.page.access import Access
from rebalance_advisor.page.queries import LIST_ROWS
from rebalance_advisor.page.routes import make_app
from tests.chromium import chromium, new_page, served
from tests.sql.page import large_cluster
from tests.sql.page.conftest import readable
from tests.sql.page.large_cluster import CLUSTER, SAMPLE, WHOLE, Size

pytestmark = [pytest.mark.stack, pytest.mark.timeout(600)]
_HOME = f"/clusters/{CLUSTER}"
PAGES = {
    "fleet": "/",
    "cluster": _HOME,
    "plan, its first moves": f"{_HOME}/plan",
    "plan, moves by bytes": f"{_HOME}/plan?sort=bytes&down=true",
    "plan, moves of some topics": f"{_HOME}/plan?topic=.events-0000",
    "plan, moves of one broker": f"{_HOME}/plan?broker=3",
    "plan, its last moves": f"{_HOME}/plan?page={{last}}",
    "history": f"{_HOME}/history",
    "brokers": f"{_HOME}/brokers",
    "topics": f"{_HOME}/topics",
    "groups": f"{_HOME}/groups",
    "broker": f"{_HOME}/broker?id=3",
    "topic": f"{_HOME}/topic?name={large_cluster.topic_name(7)}",
    "group": f"{_HOME}/group?name={large_cluster.group_name(7)}",
    "search": "/search?text=order",
}
SERVER_SECONDS, BROWSER_SECONDS, PAGE_BYTES = 1.0, 2.0, 150_000
_REPEATED = 5


def addresses(size: Size) -> dict[str, str]:
    return {name: path.format(last=size.moves // 50) for name, path in PAGES.items()}


def test_every_page_of_a_large_cluster_shows_a_page_of_it(connection, open_page) -> None:
    large_cluster.fill(connection, SAMPLE, datetime.now(UTC).replace(microsecond=0))
    client = open_page()
    for name, path in addresses(SAMPLE).items():
        answer = client.get(path)
        assert answer.status_code == 200, (name, answer.text[-500:])
        assert len(answer.content) < PAGE_BYTES, name
    assert "1,500 moves" in client.get(f"{_HOME}/plan").text
    assert "Page 30 of 30" in client.get(f"{_HOME}/plan?page=30").text
    text = client.get("/search?text=.").text
    assert text.count(' class="short">topic</td>') == LIST_ROWS
    assert 'href="/search?text=.&amp;page=2" rel="next"' in text
    assert 'page=1" rel="prev"' in client.get("/search?text=.&page=2").text


def test_the_state_of_waves_takes_the_moves_of_the_newest_plan_and_of_no_other(connection) -> None:
    large_cluster.fill(connection, SAMPLE, datetime.now(UTC).replace(microsecond=0))
    connection.execute("ANALYZE")
    query = "SELECT wave, applied_count FROM advisor.wave_status_latest WHERE cluster = %s"
    explained = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}", [CLUSTER]).fetchone()[0]
    joined = [node["Actual Rows"] for node in _nodes(explained[0]["Plan"]) if "Join Type" in node]
    assert max(joined) == SAMPLE.moves  # two advisories have as many moves each


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


@pytest.fixture
def whole(connection, reader) -> FastAPI:
    """The app over the largest cluster; whoever asks may read it."""
    large_cluster.fill(connection, WHOLE, datetime.now(UTC).replace(microsecond=0))
    connection.execute("ANALYZE")
    return make_app(reader, Access(user=lambda: "all", readable=readable))


@pytest.mark.matrix
@pytest.mark.browser
def test_the_first_screen_is_small_and_its_milliseconds_are_printed(whole) -> None:
    """After one visit of each: the first one of a process also loads the library that draws."""
    lines, slow, large = [], [], []
    with served(whole) as address, chromium() as browser, TestClient(whole) as client:
        page = new_page(browser)
        for name, path in addresses(WHOLE).items():
            first = _seconds(client, path)
            server = median(_seconds(client, path) for _ in range(_REPEATED))
            drawn = median(_drawn_seconds(page, address + path) for _ in range(_REPEATED))
            size = len(client.get(path).content)
            lines.append(
                f"| {name} | {size / 1024:.0f} | {1000 * first:.0f} | {1000 * server:.0f} | {1000 * drawn:.0f} |"
            )
            if server >= SERVER_SECONDS or drawn >= BROWSER_SECONDS:
                slow.append(name)
            if size >= PAGE_BYTES:
                large.append(name)
    print("\n| page | KiB | first, ms | server, ms | browser, ms |\n|---|---|---|---|---|\n" + "\n".join(lines))
    print(f"slower than {SERVER_SECONDS} s, or than {BROWSER_SECONDS} s when drawn: {', '.join(slow) or 'none'}")
    assert large == []


def _seconds(client: TestClient, path: str) -> float:
    begin = time.perf_counter()
    answer = client.get(path)
    assert answer.status_code == 200, (path, answer.text[-500:])
    return time.perf_counter() - begin


def _drawn_seconds(page: Any, address: str) -> float:
    """From the click to the end of loading, its style sheet too: what is above the fold is drawn by then."""
    page.goto(address)
    result = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    return max(float(result), float(painted)) / 1000
