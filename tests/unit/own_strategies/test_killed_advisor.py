"""An advisor that is killed leaves no strategy behind that loops for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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


def waited_for(condition, seconds: float = 60.0) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    return bool(condition())


@pytest.mark.slow
def test_a_strategy_ends_soon_after_the_advisor_that_was_killed(tmp_path: Path) -> None:
    file, told = tmp_path / "loops.py", tmp_path / "loops.pid"
    file.write_text(LOOPS)
    (tmp_path / "case").write_text(CASE)
    words = ["replay", "--own-strategy", f"{file}:Loops", "--own-strategy-seconds", "1"]
    with (tmp_path / "case").open() as case:
        advisor = subprocess.Popen([sys.executable, "-m", "rebalance_advisor.cli.main", *words], stdin=case)
    assert waited_for(lambda: told.exists() and told.read_text())
    os.kill(advisor.pid, signal.SIGKILL)
    advisor.wait()
    assert waited_for(lambda: not is_running(int(told.read_text())))
