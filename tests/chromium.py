"""Debian's chromium under Playwright, and what people see in it; none is fetched."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stack.waiting import PATIENCE_S, StartError, start_twice, wait_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 400, "height": 800}
_GRAVE = ("serious", "critical")
_SEEN = """() => [...document.querySelectorAll('body *')]
    .filter(e => [...e.childNodes].some(part => part.nodeType === 3 && part.textContent.trim()))
    .filter(e => { const r = e.getBoundingClientRect(); return r.height && r.bottom <= innerHeight && r.top >= 0 })
    .map(e => e.innerText).join('\\n')"""

# Tables that scroll (the matrix of a topic may), and cells whose label is not the heading above them.
_NOT_CARDS = """() => [
    ...[...document.querySelectorAll('.wide:has(table)')].filter(e => e.scrollWidth > e.clientWidth),
    ...[...document.querySelectorAll('table')].flatMap(table => [...table.tBodies].flatMap(body => [...body.rows]
        .filter(row => row.cells.length > 1).flatMap(row => [...row.cells].filter((cell, at) => {
            const heading = table.tHead.rows[0].cells[at];
            return (cell.dataset.label ?? '') !== (heading.querySelector('.unseen') ? '' : heading.textContent.trim());
        })))),
].map(e => e.outerHTML.slice(0, 160))"""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A started browser. Raises StartError when it does not start in two tries."""
    from playwright.sync_api import Error, Playwright, sync_playwright

    program = shutil.which("chromium")
    if program is None:
        raise StartError("chromium", "is not installed", "apt-get install chromium")

    def launch(playwright: Playwright) -> Browser:
        options: dict[str, Any] = {"executable_path": program, "args": ["--no-sandbox"], "timeout": 1000 * PATIENCE_S}
        try:
            return playwright.chromium.launch(**options)
        except Error as error:
            raise StartError("chromium", "did not start", str(error)) from None

    with sync_playwright() as playwright:
        started = start_twice("chromium", lambda: launch(playwright))
        yield started
        started.close()


def new_page(browser: Browser, **how: Any) -> Page:
    """A page in a context of its own; every wait on it has the limit of a busy machine."""
    page = browser.new_context(**({"viewport": WIDE} | how)).new_page()
    page.set_default_timeout(1000 * PATIENCE_S)
    return page


@contextmanager
def served(app: Any) -> Iterator[str]:
    """An app on a free port of loopback; yields its address."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for("the app's server to start or end", lambda: server.started or not thread.is_alive())
    assert server.started, "the app's server ended while starting"
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_S)


def in_view(page: Page) -> str:
    """What can be read without scrolling."""
    return str(page.evaluate(_SEEN))


def grave_faults(page: Page) -> list[tuple[str, str]]:
    """What axe-core calls serious or critical: each rule, and the first element that breaks it."""
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [(fault["id"], fault["nodes"][0]["html"][:160]) for fault in violations if fault["impact"] in _GRAVE]


def document_width(page: Page) -> int:
    """Pixels; more than the viewport has means that the page scrolls sideways."""
    return int(page.evaluate("document.documentElement.scrollWidth"))


def not_cards_in(page: Page) -> list[str]:
    """Tables that scroll within themselves on a phone, and cells whose label is not the heading of their column."""
    return list(page.evaluate(_NOT_CARDS))
