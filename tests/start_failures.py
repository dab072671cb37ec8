"""The last lines of a test run name what did not start: pytest cuts its summary at the width of the terminal."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from stack.jvm.maven import MavenError
from stack.waiting import StartError

_IS_TOLD = pytest.StashKey[bool]()
_NAMES = tuple(f"{kind.__module__}.{kind.__qualname__}: " for kind in (StartError, MavenError))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    yield
    if terminalreporter.config.stash.setdefault(_IS_TOLD, False):
        return
    terminalreporter.config.stash[_IS_TOLD] = True
    reported = {}
    for report in [*terminalreporter.getreports("error"), *terminalreporter.getreports("failed")]:
        crash = getattr(report.longrepr, "reprcrash", None)
        if crash is not None and crash.message.startswith(_NAMES):
            reported[crash.message.splitlines()[0].partition(": ")[2]] = None
    for line in reported:
        terminalreporter.line(line, red=True)
