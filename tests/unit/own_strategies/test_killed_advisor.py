"""An advisor that is killed leaves no strategy behind that loops for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stack.waiting import wait_for
from tests.unit.own_strategies.test_isolated import is_running

LOOPS = """
import os
from pathlib import Path

class Loops:
    name = "loops"

    def assign_members(self, members, topics):
        Path(__file__).with_suffix(".pid").write_text(str(os.getpid()))
        while True:
            pass
"""
CASE = '{"id": 1, "strategy": "own:loops", "input": {"topics": [], "members": [{"id": "a", "topics": []}]}}'


@pytest.mark.slow
def test_a_strategy_ends_soon_after_the_advisor_that_was_killed(tmp_path: Path) -> None:
    file, told = tmp_path / "loops.py", tmp_path / "loops.pid"
    file.write_text(LOOPS)
    (tmp_path / "case").write_text(CASE)
    words = ["replay", "--own-strategy", f"{file}:Loops", "--own-strategy-seconds", "1"]
    with (tmp_path / "case").open() as case:
        advisor = subprocess.Popen([sys.executable, "-m", "rebalance_advisor.cli.main", *words], stdin=case)
    wait_for("the strategy's process id", lambda: told.exists() and told.read_text())
    os.kill(advisor.pid, signal.SIGKILL)
    advisor.wait()
    wait_for("the strategy to end", lambda: not is_running(int(told.read_text())))
