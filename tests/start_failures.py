"""The last lines of a test run name what did not start: pytest cuts its summary at the width of the terminal."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from stack.waiting import StartError

_IS_TOLD = pytest.StashKey[bool]()
_NAME = f"{StartError.__module__}.{StartError.__qualname__}: "


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    yield
    if terminalreporter.config.stash.setdefault(_IS_TOLD, False):
        return
    terminalreporter.config.stash[_IS_TOLD] = True
    told = {}
    for report in [*terminalreporter.getreports("error"), *terminalreporter.getreports("failed")]:
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is not None and crash.message.startswith(_NAME):
            told[crash.message.removeprefix(_NAME).splitlines()[0]] = None
    for line in told:
        terminalreporter.line(line, red=True)
