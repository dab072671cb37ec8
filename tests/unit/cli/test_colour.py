from __future__ import annotations

import io

import pytest

from rebalance_advisor.cli.arguments import VERDICT_TONES
from rebalance_advisor.terminal import Tone, write_lines

LINES = (
    "Verdict: rebalance: move 2 replicas",
    "  urgent: disk",
    "  high, new: topic high: a",
    "  a high: wall",
    "nothing",
)
RED, YELLOW, PLAIN = "\x1b[1;31m", "\x1b[1;33m", "\x1b[0m"


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def written(stream: io.StringIO) -> list[str]:
    write_lines(stream, *LINES, tones=VERDICT_TONES)
    return stream.getvalue().splitlines()


def test_verdict_and_severity_have_a_colour_on_a_terminal() -> None:
    assert written(Screen()) == [
        f"{YELLOW}Verdict: rebalance{PLAIN}: move 2 replicas",
        f"  {RED}urgent:{PLAIN} disk",
        f"  {RED}high,{PLAIN} new: topic high: a",
        "  a high: wall",
        "nothing",
    ]


def test_a_file_or_a_pipe_gets_none() -> None:
    assert written(io.StringIO()) == list(LINES)


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_it_can_be_switched_off(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert written(Screen()) == list(LINES)


def test_an_empty_wish_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    assert written(Screen()) != list(LINES)


def test_a_name_brings_no_colour_of_its_own() -> None:
    screen = Screen()
    write_lines(screen, "high: \x1b[32mgreen", tones={"high:": Tone.BAD})
    assert screen.getvalue() == f"{RED}high:{PLAIN} \\x1b[32mgreen\n"
