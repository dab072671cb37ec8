"""The four pictures of the README, drawn anew: ``python -m tests.stack.pictures`` (chromium is needed).

The demo goes through a real Airflow in ``.run/pictures``; a browser that is logged in there draws its page and report.
"""

from __future__ import annotations

import sys

from playwright.sync_api import Browser, Page

from stack.demo import pipeline as demo
from stack.installed_code import CHECKOUT
from stack.machine import Machine
from tests.chromium import NARROW, WIDE, chromium, new_page
from tests.stack.conftest import remove
from tests.stack.test_seen_in_airflow import CLUSTER, logged_in

IMAGES = CHECKOUT / "docs" / "images"
_MOVES = "kind=replica&sort=bytes&down=true"


def main() -> int:
    """Write them."""
    machine = Machine(CHECKOUT / ".run" / "pictures")
    remove(machine)
    machine.run.mkdir(parents=True)
    try:
        machine.start(print)
        demo.write_demo(machine)
        demo.advise(machine.airflow.client, "demo", print)
        with chromium() as browser:
            address = machine.airflow.client.address
            light, dark = (logged_in(browser, machine, address, color_scheme=scheme) for scheme in ("light", "dark"))
            _draw(light, f"{address}{CLUSTER}", "page-cluster-light")
            _draw(dark, f"{address}{CLUSTER}/plan?{_MOVES}", "page-moves-dark", at="#totals")
            report = (machine.published / "demo" / "latest" / "report.html").as_uri()
            _draw(_opened(browser, "light", WIDE), report, "report-light")
            _draw(_opened(browser, "dark", NARROW), report, "report-phone-dark")
    finally:
        remove(machine)
    return 0


def _opened(browser: Browser, scheme: str, size: dict[str, int]) -> Page:
    return new_page(browser, viewport=size, color_scheme=scheme, device_scale_factor=1)


def _draw(page: Page, address: str, name: str, at: str | None = None) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    if at is not None:
        page.evaluate("(at) => document.querySelector(at).scrollIntoView({block: 'center'})", at)
    page.screenshot(path=IMAGES / f"{name}.png")
    sys.stdout.write(f"{IMAGES / name}.png\n")


if __name__ == "__main__":
    sys.exit(main())
