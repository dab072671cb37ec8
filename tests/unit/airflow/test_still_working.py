import logging
import re

import pytest

from rebalance_advisor.airflow.running import still_working
from stack.waiting import wait_for

LOG = logging.getLogger("tests.still_working")


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == LOG.name]


def test_it_says_what_it_is_at_again_and_again_and_how_long_it_took(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), still_working(LOG, "reading orders", every_seconds=0.05):
        wait_for("three lines", lambda: said(caplog), until=lambda lines: len(lines) >= 3)
    first, *again, last = said(caplog)
    assert first == "reading orders"
    assert all(re.fullmatch(r"reading orders: still at it after \d+ s", line) for line in again)
    assert re.fullmatch(r"reading orders: \d+\.\d s", last)


def test_what_fails_is_not_said_to_have_ended_and_says_no_more(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.INFO),
        pytest.raises(ValueError, match="gone"),
        still_working(LOG, "reading", every_seconds=60),
    ):
        raise ValueError("gone")
    assert said(caplog) == ["reading"]
