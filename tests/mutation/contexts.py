"""A pytest plugin: every line that is reached is put down to the test that is running, and how long each one takes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import coverage
import pytest

_seconds: dict[str, float] = {}
_failed: set[str] = set()


def plain(node: str) -> str:
    """The test without its parameters: one more or less is not told apart."""
    return node.partition("[")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Setup and call belong to the test, also what a module-wide fixture does for the first one that asks for it."""
    measured = coverage.Coverage.current()
    if measured is not None:
        measured.switch_context(plain(item.nodeid))
    try:
        return (yield)
    finally:
        if measured is not None:
            measured.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Added up over parameters."""
    if report.failed:
        _failed.add(plain(report.nodeid))
    _seconds[plain(report.nodeid)] = _seconds.get(plain(report.nodeid), 0.0) + report.duration


def pytest_sessionfinish() -> None:
    """For those who choose the quickest tests: of those that passed."""
    kept = os.environ.get("ADVISOR_TEST_SECONDS")
    if kept:
        passed = {node: seconds for node, seconds in _seconds.items() if node not in _failed}
        Path(kept).write_text(json.dumps(passed))
