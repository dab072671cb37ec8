"""Every page with its pictures in chromium: nothing that axe-core calls grave, in light and dark, and none scrolls
sideways on a phone.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from rebalance_advisor.page.access import Access
from rebalance_advisor.page.app import make_app
from tests.chromium import NARROW, WIDE, chromium, grave_faults, new_page, served
from tests.sql.page import large_cluster
from tests.sql.page.conftest import readable
from tests.sql.page.large_cluster import SAMPLE
from tests.sql.page.test_pages_at_size import addresses

pytestmark = [pytest.mark.stack, pytest.mark.browser, pytest.mark.timeout(600)]
SHOWN = ("fleet", "cluster", "plan, its first moves", "history", "broker", "topic", "group")
VIEWS: tuple[dict[str, Any], ...] = (
    {"viewport": WIDE}, {"viewport": WIDE, "color_scheme": "dark"}, {"viewport": NARROW}
)  # fmt: skip


def test_pictures_are_for_all_who_see_or_hear_them_and_fit_a_phone(connection, reader) -> None:
    large_cluster.fill(connection, SAMPLE, datetime.now(UTC).replace(microsecond=0))
    app = make_app(reader, Access(user=lambda: "all", readable=readable))
    faults, wide, drawn = [], [], set()
    with served(app) as address, chromium() as browser:
        for view in VIEWS:
            page = new_page(browser, **view)
            for name in SHOWN:
                page.goto(address + addresses(SAMPLE)[name])
                faults += [(name, view, *fault) for fault in grave_faults(page)]
                if page.evaluate("document.documentElement.scrollWidth") > view["viewport"]["width"]:
                    wide.append((name, view))
                if page.locator("svg").count():
                    drawn.add(name)
    assert (faults, wide) == ([], [])
    assert drawn == set(SHOWN)
