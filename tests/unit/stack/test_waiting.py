from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stack import waiting
from stack.installed_code import CHECKOUT
from stack.waiting import StartError, WaitError, start_twice, wait_for, wait_started

NEVER = """
import pytest
from stack.waiting import StartError
from tests.start_failures import pytest_terminal_summary

@pytest.fixture(scope="session")
def broker():
    with open("starts", "a") as starts:
        starts.write("x")
    raise StartError("Kafka broker 2", "did not start within 300 s", "listening\\n" + 200 * "out of memory ")
"""


def test_the_first_good_value_is_returned() -> None:
    values = iter(["", "", "here", "later"])
    assert wait_for("a value", lambda: next(values), every_s=0) == "here"


def test_a_value_that_changes_is_waited_for_until_it_rests() -> None:
    seen = [1, 2, 3]

    def look() -> int:
        return seen.pop(0) if len(seen) > 1 else seen[0]

    assert wait_for("a value at rest", look, unchanged_s=0.05, every_s=0.01) == 3


def test_a_pause_is_at_least_as_long_as_the_look_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a cluster again and again would keep a processor busy."""
    now, looks, pauses = 0.0, iter([3.0, 0.5, 2.0]), []

    def look() -> float:
        nonlocal now
        took = next(looks)
        now += took
        return took

    monkeypatch.setattr(waiting.time, "monotonic", lambda: now)
    monkeypatch.setattr(waiting.time, "sleep", pauses.append)
    assert wait_for("the third look", look, until=lambda took: took == 2.0, every_s=1.0) == 2.0
    assert pauses == [3.0, 1.0]


def test_what_was_waited_for_in_vain_is_named_with_what_was_seen_last() -> None:
    text = r"^waited \d+ s for three members; seen last: \['a', 'b'\]$"
    with pytest.raises(WaitError, match=text):
        wait_for("three members", lambda: ["a", "b"], until=lambda seen: len(seen) == 3, seconds=0, every_s=0)


def test_a_look_that_takes_all_of_the_time_and_finds_it_is_enough() -> None:
    assert wait_for("anything", lambda: True, seconds=0)


@pytest.mark.parametrize(
    ("ended", "message"), [(True, "ended while starting"), (False, "did not start within 0 s")], ids=["ended", "silent"]
)
def test_the_first_line_names_a_program_that_did_not_start_and_its_last_words(*, ended: bool, message: str) -> None:
    log = "begins\nBindException: port 9092 is taken\n\tat Server.java\nends\n\n"
    with pytest.raises(StartError) as raised:
        wait_started("Kafka broker 2", lambda: False, ended=lambda: ended, log=lambda: log, seconds=0)
    first, *rest = str(raised.value).splitlines()
    assert first == f"Kafka broker 2 {message}: BindException: port 9092 is taken"
    assert rest == [line for line in log.splitlines() if line]


def test_without_an_error_in_its_log_the_last_line_is_told_and_without_a_log_that() -> None:
    assert str(StartError("Airflow", "ended", "begins\nwaits\n")).startswith("Airflow ended: waits\n")
    assert str(StartError("Airflow", "ended", "")) == "Airflow ended: (it wrote nothing)"


def test_it_is_started_twice_and_then_never_again() -> None:
    tries: list[int] = []

    def fail() -> None:
        tries.append(1)
        raise StartError("broker", "ended", f"try {len(tries)}")

    for _ in range(3):
        with pytest.raises(StartError, match=r"^broker ended: try 2\n"):
            start_twice("a thing that never starts", fail)
    assert len(tries) == 2


def test_a_second_try_that_succeeds_is_enough() -> None:
    tries: list[int] = []

    def start() -> str:
        tries.append(1)
        if len(tries) == 1:
            raise StartError("broker", "ended", "port taken")
        return "up"

    assert start_twice("a thing that starts at last", start) == "up"


def test_a_fixture_that_did_not_start_fails_each_test_at_once_and_is_named_in_the_last_lines(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(NEVER)
    (tmp_path / "test_it.py").write_text("".join(f"def test_{n}(broker):\n    pass\n\n" for n in range(3)))
    environment = {**os.environ, "PYTHONPATH": f"{CHECKOUT / 'plugins'}{os.pathsep}{CHECKOUT}", "COLUMNS": "80"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-ra",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        ".",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    *_, last, count = done.stdout.splitlines()
    assert last.startswith("Kafka broker 2 did not start within 300 s: out of memory out of memory")
    assert re.search(r"3 errors in", count), done.stdout
    assert (tmp_path / "starts").read_text() == "x"
