"""Every page with its pictures in chromium: nothing that axe-core calls grave, in light and dark; on a phone none
scrolls sideways and rows are cards.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from rebalance_advisor.page.access import Access
from rebalance_advisor.page.routes import make_app
from tests.chromium import NARROW, WIDE, chromium, grave_faults, in_view, new_page, not_cards_in, served
from tests.sql.page import large_cluster
from tests.sql.page.conftest import readable
from tests.sql.page.large_cluster import SAMPLE
from tests.sql.page.test_pages_at_size import addresses

pytestmark = [pytest.mark.stack, pytest.mark.browser, pytest.mark.timeout(600)]
SHOWN = (
    "fleet", "cluster", "plan, its first moves", "history", "brokers", "broker", "topics", "topic", "groups", "group",
    "search",
)  # fmt: skip
VIEWS: tuple[dict[str, Any], ...] = (
    {"viewport": WIDE}, {"viewport": WIDE, "color_scheme": "dark"}, {"viewport": NARROW}
)  # fmt: skip


def test_pictures_are_for_all_who_see_or_hear_them_and_fit_a_phone(connection, reader) -> None:
    large_cluster.fill(connection, SAMPLE, datetime.now(UTC).replace(microsecond=0))
    app = make_app(reader, Access(user=lambda: "all", readable=readable))
    faults, wide, drawn, not_cards = [], [], set(), []
    with served(app) as address, chromium() as browser:
        for view in VIEWS:
            page = new_page(browser, **view)
            for name in SHOWN:
                page.goto(address + addresses(SAMPLE)[name])
                faults += [(name, view, *fault) for fault in grave_faults(page)]
                if page.evaluate("document.documentElement.scrollWidth") > view["viewport"]["width"]:
                    wide.append((name, view))
                if view["viewport"] == NARROW:
                    not_cards += [(name, fault) for fault in not_cards_in(page)]
                if page.locator("svg").count():
                    drawn.add(name)
    assert (faults, wide, not_cards) == ([], [], [])
    assert drawn == set(SHOWN) - {"topics", "search"}


# The question of each page is in docs/read-an-advisory.md; this is its answer for the cluster of ``large_cluster``.
ANSWERS = {
    "fleet": (
        "What it needs first",
        "51 high, 99 medium or low",
        "Rebalance: a plan is ready",
        "1,500 replica moves, 12.3 TiB",
    ),
    "cluster": ("Rebalance: a plan is ready", "12.3 TiB", "1 h 0 min", "If nothing is done:", "disk 1.60 ×"),
    "plan, its first moves": ("replicas moved", "12.3 TiB", "1 h 0 min", "11.1 TiB", "Brokers before and after"),
    "brokers": ("60 brokers", "high broker disk over share", "50 %", "8.2 MiB/s 1.23 ×"),
    "broker": ("2.78 × the mean of leader in", "the largest part is topic team-24.", "The plan changes 160 partitions"),
    "topics": ("80 topics", "high rack violated", "27.5 GiB", "1.92 ×"),
    "topic": ("rack violated", "68.4 KiB/s", "8.8 GiB", "led in rack-0"),
    "groups": (
        "60 groups",
        "high idle members",
        "never: members fall behind",
        "range → cooperative-sticky",
        "team-00, #kafka",
    ),
    "group": ("No strategy was weighed for it", "idle members", "cooperative-sticky 3 partitions"),
    "history": ("The highest level over the mean, by the day", "last 3.11 ×"),
}
_REACHED = """() => {
    window.reached = new Map();
    const all = [...document.querySelectorAll('a[href], summary, button, input:not([type=hidden]), select, [tabindex]')]
        .filter(e => e.checkVisibility());
    document.addEventListener('focusin', event => {
        const look = getComputedStyle(event.target);
        reached.set(event.target, look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) > 0);
    });
    window.wanted = all;
    return all.length;
}"""
_MISSED = """() => wanted.filter(e => !reached.get(e)).map(e => e.outerHTML.slice(0, 120))"""


def test_the_first_screen_answers_and_the_keyboard_alone_reaches_everything(connection, reader) -> None:
    large_cluster.fill(connection, SAMPLE, datetime.now(UTC).replace(microsecond=0))
    app = make_app(reader, Access(user=lambda: "all", readable=readable))
    unanswered, missed = [], {}
    with served(app) as address, chromium() as browser:
        page = new_page(browser, viewport=WIDE)
        for name, text in ANSWERS.items():
            page.goto(address + addresses(SAMPLE)[name])
            seen = in_view(page)
            unanswered += [(name, word, seen) for word in text if word not in seen]
        for name in ("cluster", "plan, its first moves"):
            page.goto(address + addresses(SAMPLE)[name])
            for _ in range(page.evaluate(_REACHED)):
                page.keyboard.press("Tab")
            missed[name] = page.evaluate(_MISSED)
    assert unanswered == []
    assert missed == {"cluster": [], "plan, its first moves": []}
