"""The page as people see it: a browser, a real Airflow, the demo's advisory. Runs after the pipeline's own tests."""

from __future__ import annotations

import hashlib
import json
import re
import urllib.error
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from rebalance_advisor.airflow.page import PREFIX
from rebalance_advisor.page.access import Access
from rebalance_advisor.page.reader import Reader
from rebalance_advisor.page.routes import make_app
from stack.demo import history
from stack.demo import pipeline as demo
from stack.demo.small_clusters import BLIND, HEALTHY
from stack.installed_code import CHECKOUT
from tests.chromium import NARROW, chromium, document_width, grave_faults, in_view, new_page, not_cards_in
from tests.stack.conftest import GUEST

pytestmark = [pytest.mark.stack, pytest.mark.slow, pytest.mark.browser]

CLUSTER = f"{PREFIX}/clusters/demo"
PAGES = (
    f"{PREFIX}/", CLUSTER, f"{CLUSTER}/plan", f"{CLUSTER}/history", f"{CLUSTER}/brokers", f"{CLUSTER}/topics",
    f"{CLUSTER}/groups", f"{CLUSTER}/broker?id=9", f"{CLUSTER}/topic?name=clickstream.raw",
    f"{CLUSTER}/group?name=clickstream-enricher",
)  # fmt: skip


@pytest.fixture(scope="module")
def address(machine):
    """Airflow's, once the demo is published there, with the clusters beside it."""
    demo.write_small_clusters(machine)
    if not (machine.published / "demo" / "latest").exists():
        demo.write_demo(machine)
        history.fill(machine.dsn("advisor"), machine.run / "demo", datetime.now(UTC))
        demo.advise(machine.airflow.client, "demo", print)
    for cluster in (HEALTHY, BLIND):  # the page asks Airflow who may read them
        machine.airflow.client.wait_for_dag(f"advise_{cluster}")
    return machine.airflow.client.address


@pytest.fixture(scope="module")
def browser():
    """Debian's chromium; none is fetched."""
    with chromium() as started:
        yield started


def logged_in(browser: Browser, machine, address: str, user: str = "admin", **how) -> Page:
    passwords = json.loads((machine.run / "airflow" / "passwords.json").read_text())
    page = new_page(browser, **how)
    page.goto(f"{address}/auth/login")
    page.fill("input[name=username]", user)
    page.fill("input[name=password]", passwords[user])
    page.click("button[type=submit]")
    page.wait_for_url(lambda url: "/auth/login" not in url)
    return page


@pytest.fixture(scope="module")
def page(browser, machine, address):
    return logged_in(browser, machine, address)


def test_airflow_shows_it_in_its_navigation(page: Page, address: str) -> None:
    page.goto(address)
    page.get_by_role("link", name="Advisor").first.click()
    frame = page.frame_locator("iframe")
    frame.get_by_role("heading", name="Clusters").wait_for()
    assert "demo" in frame.locator("body").inner_text()


# Rows of the table in docs/read-an-advisory.md: the page, and its answer as patterns.
ANSWERS = {
    "Fleet": (
        f"{PREFIX}/",
        ("The disks of broker 9 are 93% full", "93 %, broker 9", "Rebalance: a plan is ready", "Cannot tell whether",
         r"\d+ replica moves, [\d.]+ TiB", r"\d+ medium or low", "last 30 days"),
    ),
    "Cluster": (
        CLUSTER,
        ("Urgent: The disks of broker 9 are 93% full", "Rebalance: a plan is ready", r"[\d.]+ TiB", "at the throttle",
         r"The snapshot is .+ old", "things that could not be read: 1", "If nothing is done:",
         "the most loaded brokers stay at"),
    ),
    "Plan": (
        f"{CLUSTER}/plan",
        (r"[\d.]+ TiB", "at the throttle", r"1\. Elect preferred leaders", r"\d\. Relieve broker 9", r"93 % → \d+ % of",
         "not started", "Not to be executed after", "Who is affected", "warehouse.export", "crm-loader"),
    ),
    "Brokers": (f"{CLUSTER}/brokers", ("12 brokers", "93 %", "61 %", "broker disk full")),
    "Broker": (
        f"{CLUSTER}/broker?id=9",
        ("1.68 × the mean of disk", "the largest part is topic warehouse.export", r"The plan changes \d+ partitions"),
    ),
    "Topics": (f"{CLUSTER}/topics", ("166 topics", "hot partition", "rack violated")),
    "Topic": (
        f"{CLUSTER}/topic?name=clickstream.raw",
        ("clickstream.raw-17 carries", "the median of its topic", "led in rack-a"),
    ),
    "Groups": (f"{CLUSTER}/groups", ("49 groups", "dead static member", "never: members fall behind", "→")),
    "Group": (
        f"{CLUSTER}/group?name=clickstream-enricher",
        ("Keep uniform", "only moves the hot spot"),  # the hot partition explains what no strategy mends
    ),
    "History": (f"{PREFIX}/clusters/{HEALTHY}/history", ("an upright line a plan that was applied", "last 1.10 ×")),
    "Search": (f"{PREFIX}/search?text=warehouse", ("warehouse.export",)),
}  # fmt: skip


def test_every_question_of_the_manual_is_answered_on_the_first_screen_of_its_page(page: Page, address: str) -> None:
    table = (CHECKOUT / "docs" / "read-an-advisory.md").read_text().partition("| page | question |")[2].split("\n\n")[0]
    named = [row.split("|")[1] for row in table.splitlines()[2:]]
    assert [name.strip() for names in named for name in names.split(",")] == list(ANSWERS)
    unanswered = []
    for path, patterns in ANSWERS.values():
        page.goto(f"{address}{path}")
        seen = in_view(page)
        unanswered += [(path, pattern, seen) for pattern in patterns if not re.search(pattern, seen)]
    assert unanswered == []
    page.goto(f"{address}{PREFIX}/")
    assert "Nothing has to move" in page.inner_text("body")  # what needs nothing comes last


def test_three_clicks_lead_to_the_full_disk_its_cost_who_is_affected_and_the_first_command(
    page: Page, address: str
) -> None:
    page.goto(f"{address}{PREFIX}/")
    assert "The disks of broker 9 are 93% full" in in_view(page)
    page.get_by_role("link", name="demo", exact=True).click()
    seen = in_view(page)
    assert re.search(r"1\. Elect preferred leaders\n.*\d\. Relieve broker 9\n.*\d TiB\n.*\d h \d+ min", seen, re.DOTALL)
    page.get_by_role("link", name="Plan and moves").click()
    affected = page.get_by_role("region", name="Who is affected").inner_text()
    assert re.search(r"Relieve broker 9\s+warehouse\.export", affected)
    assert "crm-loader" in affected
    page.get_by_role("link", name="Commands", exact=True).click()
    first = page.inner_text("body").partition("# Step 1.")[2]
    assert first.index("kafka-leader-election.sh") < first.index("# Step 2.")


def test_moves_are_sorted_filtered_and_those_of_the_plan_that_is_downloaded(page: Page, address: str) -> None:
    page.goto(f"{address}{CLUSTER}/plan")
    with page.expect_download() as download:
        page.click("#download")
    content = Path(download.value.path()).read_bytes()
    assert hashlib.sha256(content).hexdigest() == page.inner_text("#sha256")
    plan = json.loads(content)
    assert plan["plan_id"] in page.inner_text("body")
    page.fill("input[name=topic]", "warehouse")
    page.select_option("select[name=kind]", "replica")
    page.select_option("select[name=sort]", "bytes")
    page.select_option("select[name=down]", "true")
    page.click("form.filters button")
    wanted = [move for move in plan["moves"] if "warehouse" in move["topic"] and move["kind"] == "replica"]
    wanted.sort(key=lambda move: (-move["bytes"], plan["moves"].index(move)))
    assert page.inner_text("#totals").startswith(f"{len(wanted)} moves")
    table = page.locator("section, div").filter(has=page.locator("th a", has_text="Copied")).last
    shown = [row.split("\t")[:2] for row in table.locator("tbody").inner_text().splitlines() if "\t" in row]
    assert shown == [[move["topic"], str(move["partition"])] for move in wanted[: len(shown)]]
    assert len(shown) == min(len(wanted), 50)


def test_a_viewer_may_look_and_nobody_else(browser: Browser, machine, address: str) -> None:
    guest = logged_in(browser, machine, address, GUEST)
    for path in PAGES:
        answer = guest.goto(f"{address}{path}")
        assert answer.status == 200, path
    assert "demo" in guest.inner_text("body")
    app = make_app(Reader("postgresql://nobody@127.0.0.1:1/none"), Access(user=lambda: None, readable=frozenset))
    routes = [route.path.replace("{cluster}", "demo").replace("{path:anything}", "x/y") for route in app.routes]
    assert len(routes) > 10
    for path in (*PAGES, *(PREFIX + route for route in routes)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"{address}{path}", timeout=300)
        assert refused.value.code == 401, path
        assert b"warehouse" not in refused.value.read()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_fault_for_those_who_see_or_hear_it_otherwise(
    browser: Browser, machine, address: str, scheme: str
) -> None:
    page, faults = logged_in(browser, machine, address, color_scheme=scheme), []
    for path in PAGES:
        page.goto(f"{address}{path}")
        faults += [(path, *fault) for fault in grave_faults(page)]
    assert faults == []


def test_nothing_scrolls_sideways_on_a_phone(browser: Browser, machine, address: str) -> None:
    page, wide = logged_in(browser, machine, address, viewport=NARROW), []
    for path in PAGES:
        page.goto(f"{address}{path}")
        if (width := document_width(page)) > NARROW["width"]:
            wide.append((path, width))
        wide += [(path, fault) for fault in not_cards_in(page)]
    assert wide == []
