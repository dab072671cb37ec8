"""What a task says while it works."""

import logging
import time

import pytest

from rebalance_advisor.airflow.still_working import still_working

LOG = logging.getLogger("tests.still_working")


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == LOG.name]


def test_it_says_what_it_is_at_again_and_again_and_how_long_it_took(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), still_working(LOG, "reading orders", every_seconds=0.05):
        deadline = time.monotonic() + 30
        while len(said(caplog)) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
    lines = said(caplog)
    assert lines[0] == "reading orders"
    assert lines[1] == "reading orders: still at it after 0 s"
    assert lines[-1].startswith("reading orders: 0.")
    assert lines[-1].endswith(" s")


def test_what_fails_is_not_said_to_have_ended_and_says_no_more(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.INFO),
        pytest.raises(ValueError, match="gone"),
        still_working(LOG, "reading", every_seconds=60),
    ):
        raise ValueError("gone")
    assert said(caplog) == ["reading"]
