from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from stack.demo.run_progress import COMPILING, RunProgress, Task


def _task(name: str, state: str, **more: Any) -> dict[str, Any]:
    return {"task_id": f"advise_cluster.{name}", "state": state, "duration": None, "start_date": None, **more}


class Terminal:
    """Printed lines, a manual clock, and given logs."""

    def __init__(self, log: str = "") -> None:
        self.lines: list[str] = []
        self.now, self.log = 0.0, log
        self.progress = RunProgress(self.lines.append, self._log_of, lambda: self.now)

    def _log_of(self, _: Task) -> str:
        if not self.log:
            raise OSError("no log yet")
        return self.log


def test_a_task_is_told_when_it_has_ended_and_not_when_it_starts() -> None:
    terminal = Terminal()
    terminal.progress.changed(_task("replay", "queued"))
    terminal.progress.changed(_task("replay", "running"))
    terminal.progress.changed(_task("replay", "success", duration=38.44))
    assert terminal.lines == ["replay           success (38.4 s)"]


def test_after_twenty_seconds_of_silence_it_says_what_is_under_way_and_what_it_waits_for() -> None:
    started = (datetime.now(UTC) - timedelta(seconds=50, milliseconds=100)).isoformat()
    running = [_task("check_input", "success"), _task("replay", "running", start_date=started)]
    terminal = Terminal(f"a line\n{COMPILING}: and more\nanother")
    terminal.now = 19.9
    terminal.progress.look(running)
    assert terminal.lines == []
    terminal.now = 20.0
    terminal.progress.look(running)
    (line,) = terminal.lines
    match = re.fullmatch(rf"replay           under way for (\d+) s; {re.escape(COMPILING)}", line)
    assert match is not None
    assert int(match[1]) >= 50  # more on a machine that takes its time
    terminal.now = 39.9  # last printed 19.9 s ago
    terminal.progress.look(running)
    assert len(terminal.lines) == 1


def test_a_log_that_cannot_be_read_and_a_run_in_which_nothing_runs_are_no_reason_to_be_silent() -> None:
    terminal = Terminal()
    terminal.now = 20.0
    terminal.progress.look([_task("replay", "running")])
    terminal.now = 40.0
    terminal.progress.look([_task("replay", "queued")])
    assert terminal.lines == ["replay           under way", "waiting for Airflow to start the next task"]


def test_the_words_it_looks_for_are_those_that_a_worker_writes() -> None:
    from rebalance_advisor.compiling import first_compile

    assert COMPILING in first_compile._NOTICE.format(what="step")
