"""The demo's report as people open it: a file in a browser, light and dark, on a screen and on a phone."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from rebalance_advisor.cli.main import main as cli
from stack.demo.cluster import write_demo_cluster
from tests.brief_search import searching_briefly
from tests.chromium import NARROW, WIDE, chromium, document_width, grave_faults, in_view, new_page, not_cards_in

pytestmark = [pytest.mark.stack, pytest.mark.slow, pytest.mark.browser]
SCREENS = [
    pytest.param(scheme, size, id=f"{scheme}, {size['width']} px")
    for scheme, size in (("light", WIDE), ("dark", NARROW))
]
# All but the table of moves, whose thousand rows are like its first: axe-core looks at each by itself.
FOLDED = ".resources details, td details"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a reading that was taken now. What it looks like does not hang on how long was searched."""
    folder = tmp_path_factory.mktemp("report")
    moment = datetime.now(UTC).replace(microsecond=0).isoformat()
    dumps = write_demo_cluster(folder / "demo", captured_at=moment)
    with searching_briefly():
        assert cli(["advise", str(dumps), "--out", str(folder / "out")]) == 0
    return folder / "out" / "report.html"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


def opened(browser: Browser, report: Path, scheme: str, size: dict[str, int]) -> Page:
    page = new_page(browser, viewport=size, color_scheme=scheme)
    page.goto(report.as_uri())
    return page


def test_the_first_screen_answers_what_is_asked_first(browser: Browser, report: Path) -> None:
    seen = in_view(opened(browser, report, "light", WIDE))
    assert "Rebalance: a plan is ready" in seen  # should I move anything
    assert re.search(r"[\d.]+ TiB\ncopied", seen)  # what does it cost
    assert re.search(r"\d+ h \d+ min\nat the throttle", seen)
    assert "above what is provably needed" in seen
    assert re.search(r"If nothing is done: .*the most loaded brokers stay at .* × the mean", seen)
    assert re.search(r"read 20\d\d-\d\d-\d\d \d\d:\d\d UTC, holds until 20\d\d", seen)  # how old is this
    assert "does not cover parts of group courier-dispatch" in seen  # what was not seen
    assert "The disks of broker 9 are 93% full" in seen  # what is urgent
    assert "explains: broker disk over share (broker 9)" in seen


@pytest.mark.parametrize(("scheme", "size"), SCREENS)
def test_it_is_fit_for_every_screen_and_for_those_who_see_or_hear_it_otherwise(
    browser: Browser, report: Path, scheme: str, size: dict[str, int]
) -> None:
    page = opened(browser, report, scheme, size)
    for folded in page.locator(FOLDED).all():
        folded.evaluate("element => { element.open = true }")
    assert grave_faults(page) == []
    assert document_width(page) <= size["width"]
    if size == NARROW:
        assert not_cards_in(page) == []


def test_it_asks_nobody_for_anything_and_runs_no_script(browser: Browser, report: Path) -> None:
    asked: list[str] = []
    said: list[str] = []
    page = new_page(browser)
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(report.as_uri())
    page.wait_for_load_state("networkidle")
    assert asked == [report.as_uri()]
    assert said == []
    assert page.locator("script").count() == 0
    assert page.locator("svg").count() > 5
