"""Every page says the same of a cluster with a hostile name in every place as of one with a plain name.

The same elements with the same attributes, the same text but for the name, which is text; and a name leads through its
own links to its own page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from fastapi.testclient import TestClient

from kafka_assignors.visible_text import is_hidden
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.codec import snapshot_from_document
from rebalance_advisor import store
from tests.sample import for_each
from tests.sql.sample_clusters import small_plan
from tests.unit.cli.hostile.cluster import cluster_document
from tests.unit.cli.hostile.names import HARMLESS, HOSTILE
from tests.unit.cli.hostile.readers import Page, without_name

pytestmark = pytest.mark.stack
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOME = "/clusters/prod"
STRATEGIES = ("range", "roundrobin")
PAGES = {
    "fleet": ("/", {}),
    "cluster": (HOME, {}),
    "plan": (f"{HOME}/plan", {}),
    "moves of a topic": (f"{HOME}/plan", {"topic": "NAME"}),
    "history": (f"{HOME}/history", {}),
    "brokers": (f"{HOME}/brokers", {}),
    "topics": (f"{HOME}/topics", {"search": "NAME"}),
    "groups": (f"{HOME}/groups", {"search": "NAME"}),
    "broker": (f"{HOME}/broker", {"id": "4"}),
    "topic": (f"{HOME}/topic", {"name": "orders"}),
    "group": (f"{HOME}/group", {"name": "NAME-dead"}),
    "search": ("/search", {"text": "NAME"}),
    "no such topic": (f"{HOME}/topic", {"name": "NAME-gone"}),
    "no such group": (f"{HOME}/group", {"name": "NAME-gone"}),
    "no such run": (f"{HOME}/plan", {"run": "NAME"}),
    "no such gates": (f"{HOME}/gates", {"run": "NAME"}),
    "no such page": ("/NAME", {}),
}
"""Path and query; NAME stands for the name."""
# One of each kind of border in the normal run; all of them by `make test-page-size`.
IN_NORMAL = ("one-byte CSI", "CR LF", "override", "attribute", "entity", "template", "percent", "formula quote")
NAMES = for_each("name", HOSTILE.values(), [HOSTILE[kind] for kind in IN_NORMAL], pytest.mark.matrix)


class Links(HTMLParser):
    """Each element with the names of its attributes, and where each link leads."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.queries: list[dict[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attributes)))
        for name, value in attributes:
            if name in ("href", "action"):
                parts = urlsplit(value or "")
                assert not parts.scheme, value
                assert not parts.netloc, value
                self.queries.append(dict(parse_qsl(parts.query)))


def publish(connection: store.Connection, name: str) -> None:
    """One advisory of a cluster with ``name`` wherever Kafka takes free text; no topic has such a name, for Kafka takes
    none, but the plan moves one.
    """
    snapshot = replace(snapshot_from_document(cluster_document(name)), cluster="prod", captured_at=NOW)
    snapshot_id = store.save_snapshot(connection, snapshot)
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    run_id = f"run {name}"
    connection.execute("SELECT store.ensure_week(%s)", (NOW,))
    store.start_run(connection, run_id=run_id, cluster="prod", snapshot_id=snapshot_id)
    scores = score_cluster(snapshot)
    replays = [replay_group(group_input, STRATEGIES) for group_input in group_inputs(snapshot)]
    store.save_scores(connection, run_id, "broker_score", scores.brokers)
    store.save_scores(connection, run_id, "resource_score", scores.resources)
    store.save_findings(connection, run_id, evaluate_rules(snapshot, scores, replays))
    store.save_scores(connection, run_id, "group_score", [score for replay in replays for score in replay.scores])
    plan = small_plan(snapshot_id)
    rack_empty = fact(FactCode.RACK_EMPTY, rack=name)
    why = fact(FactCode.HAS_TOPIC_LEADERS, broker=1, topic=name, wanted=2)
    moves = tuple(replace(move, topic=f"{name}-t", reason=why) for move in plan.moves)
    named = replace(
        plan, moves=moves, reasons=(rack_empty,), left_out={"cpu": fact(FactCode.FIGURE_NOT_MEASURED, figure=name)}
    ).sealed()
    store.save_plan(connection, run_id, named)
    store.publish_run(connection, run_id)


def pages_of(client: TestClient, name: str) -> dict[str, str]:
    """The text of each page; what is found is 200, the others are 404."""
    results = {}
    for page, (path, query) in PAGES.items():
        asked = {key: value.replace("NAME", name) for key, value in query.items()}
        answer = client.get(path.replace("NAME", quote(name, safe="")), params=asked)
        assert answer.status_code == (404 if page.startswith("no such") else 200), (page, answer.text[-600:])
        results[page] = answer.text
    return results


@pytest.fixture
def plain(connection, open_page) -> Iterator[dict[str, str]]:
    """Pages of the harmless name, in a database that has nothing else."""
    publish(connection, HARMLESS)
    return pages_of(open_page(), HARMLESS)


def test_the_plain_pages_name_it_everywhere(plain: dict[str, str]) -> None:
    for page in PAGES.keys() - {"fleet", "no such page", "no such run", "no such gates"}:
        assert HARMLESS in plain[page], page
    for text in ("harmless-static-0", "harmless-gap", "harmless denied", "harmless-dead"):
        assert text in plain["cluster"], text


def forget(connection: store.Connection) -> None:
    """An empty store again, as a new database would be."""
    tables: list[Any] = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'store' AND tablename NOT LIKE '%migration%'"
    ).fetchall()
    connection.execute(f"TRUNCATE {', '.join(f'store.{table}' for (table,) in tables)} CASCADE")


@NAMES
def test_a_name_is_text_on_every_page(name: str, plain: dict[str, str], connection, open_page) -> None:
    forget(connection)
    publish(connection, name)
    pages = pages_of(open_page(), name)
    assert {page: fault for page, text in pages.items() if (fault := fault_of(text, plain[page], name))} == {}


def fault_of(text: str, plain: str, name: str) -> str:
    """What differs from the page of the plain name, if anything does."""
    if [character for character in text if character != "\n" and is_hidden(character)]:
        return "a hidden character"
    result, expected = Links(text), Links(plain)
    if result.elements != expected.elements:
        return "other elements"
    targets = [{key: value.replace(HARMLESS, name) for key, value in query.items()} for query in expected.queries]
    if in_any_order(result.queries) != in_any_order(targets):
        return "other links"
    reported = in_any_order(without_name(message, name) for message in Page(text).text)
    wanted = in_any_order(without_name(message, HARMLESS) for message in Page(plain).text)
    if reported != wanted:
        return f"other words: {reported - wanted} for {wanted - reported}"
    return ""


def in_any_order(values: Iterable[Any]) -> Counter[str]:
    """Rows that are sorted by name stand elsewhere."""
    return Counter(map(str, values))


def test_every_route_that_shows_a_page_is_among_them(open_page) -> None:
    asked = {re.sub(r"^/clusters/prod", "/clusters/{cluster}", path) for path, _ in PAGES.values()}
    routes = {route.path for route in open_page().app.routes}
    files = {f"/clusters/{{cluster}}/{name}" for name in ("plan.json", "commands.md")}  # as published
    others = {"/run", "/page.css", "/{path:anything}", "/docs", "/redoc"} | files
    assert {route for route in routes if route not in others} <= asked
