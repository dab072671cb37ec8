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
import signal
import time
from pathlib import Path

class Loops:
    name = "loops"

    def assign_members(self, members, topics):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})
        reads, writes = os.pipe()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:  # an orphan in a session of its own, deaf to all but SIGKILL
                os.write(writes, str(os.getpid()).encode())
            else:
                os._exit(0)
        else:
            orphan = os.read(reads, 20).decode()
            file = Path(__file__).with_suffix(".new")
            file.write_text(f"{os.getpid()} {orphan}")
            file.rename(Path(__file__).with_suffix(".pid"))
        while True:
            time.sleep(1)
"""
CASE = '{"id": 1, "strategy": "own:loops", "input": {"topics": [], "members": [{"id": "a", "topics": []}]}}'


@pytest.mark.slow
def test_a_strategy_and_what_it_started_end_soon_after_the_advisor_that_was_killed(tmp_path: Path) -> None:
    file, pid_file = tmp_path / "loops.py", tmp_path / "loops.pid"
    file.write_text(LOOPS)
    (tmp_path / "case").write_text(CASE)
    arguments = ["replay", "--own-strategy", f"{file}:Loops", "--own-strategy-seconds", "600"]
    with (tmp_path / "case").open() as case:
        advisor = subprocess.Popen([sys.executable, "-m", "rebalance_advisor.cli.main", *arguments], stdin=case)
    wait_for("the strategy's process ids", pid_file.exists)
    processes = [int(pid) for pid in pid_file.read_text().split()]
    assert [is_running(pid) for pid in processes] == [True, True]
    os.kill(advisor.pid, signal.SIGKILL)
    advisor.wait()
    wait_for("the strategy's processes to end", lambda: not any(is_running(pid) for pid in processes))
