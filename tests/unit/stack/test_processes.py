import json
import os
import signal
import sys

import pytest

from stack.processes import Program, session_members, stop
from stack.waiting import wait_for

SLEEPER = [sys.executable, "-c", "import time; time.sleep(3600)"]
# A parent that starts a child and prints its id; the child ignores SIGTERM.
_PARENT = """
import subprocess, sys, time
stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(3600)"
child = subprocess.Popen([sys.executable, "-c", stubborn], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(3600)
"""
FAMILY = [sys.executable, "-c", _PARENT]


@pytest.fixture
def program(tmp_path):
    made = Program("sleeper", tmp_path / "sleeper.pid", tmp_path / "sleeper.log")
    yield made
    stop([made], 5)


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_it_runs_in_a_session_of_its_own_and_is_found_by_its_record(program):
    program.start(SLEEPER, os.environ)
    result = Program(program.name, program.record, program.log)
    assert result.is_running
    assert os.getsid(result.pid) == result.pid


def test_starting_it_twice_starts_it_once(program):
    program.start(SLEEPER, os.environ)
    first = program.pid
    program.start(SLEEPER, os.environ)
    assert program.pid == first


def test_stopping_ends_what_it_started_too(program):
    program.start(FAMILY, os.environ)
    wait_for("the child's number", lambda: program.log_tail().strip().isdigit())
    child = int(program.log_tail())
    assert session_members(program.pid) == [child]
    stop([program], 5)
    wait_for("the child to end", lambda: not is_alive(child))
    assert not program.is_running
    assert not program.record.exists()


def test_what_a_killed_one_left_behind_is_ended_before_it_starts_again(program):
    program.start(FAMILY, os.environ)
    wait_for("the child's number", lambda: program.log_tail().strip().isdigit())
    child = int(program.log_tail())
    os.kill(program.pid, signal.SIGKILL)
    wait_for("the program to end", lambda: not program.is_running)
    assert is_alive(child)
    program.start(SLEEPER, os.environ)
    wait_for("the child to end", lambda: not is_alive(child))
    assert program.is_running


def test_a_number_that_somebody_else_has_now_is_never_signalled(program):
    program.record.write_text(json.dumps({"pid": os.getpid(), "born": "1"}))
    assert not program.is_running
    stop([program], 1)  # this very process would be gone


def test_one_that_ended_by_itself_is_not_running(program):
    program.start([sys.executable, "-c", "print('bye')"], os.environ)
    wait_for("the program to end", lambda: not program.is_running)
    assert program.log_tail() == "bye"
