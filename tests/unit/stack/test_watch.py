import itertools
import os
import signal
import sys
import threading
import time
from functools import partial

import pytest

from stack.processes import Program, stop
from stack.watch import Part, of_program, watch

SLEEPER = [sys.executable, "-c", "import time; print('asleep', flush=True); time.sleep(600)"]


def wait_for(what, condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.02)


@pytest.fixture
def watched():
    """Watches parts in a thread until the test ends; gives the lines of its log."""
    is_over, threads = threading.Event(), []

    def begin(parts, **seconds):
        lines = []
        threads.append(threading.Thread(target=watch, args=(parts, lines.append, is_over, 0.02), kwargs=seconds))
        threads[-1].start()
        return lines

    def end():
        is_over.set()
        for thread in threads:
            thread.join(60)

    begin.end = end
    yield begin
    end()


def test_a_killed_program_runs_again_and_the_log_says_so(watched, tmp_path):
    programs = {name: Program(name, tmp_path / f"{name}.pid", tmp_path / f"{name}.log") for name in ("one", "two")}
    starts = {name: partial(program.start, SLEEPER, os.environ) for name, program in programs.items()}
    try:
        for name, program in programs.items():
            starts[name]()
            wait_for(f"{name} to speak", lambda program=program: program.log_tail() == "asleep")
        lines = watched({name: of_program(program, starts[name]) for name, program in programs.items()})
        for _ in range(2):
            before = {name: program.pid for name, program in programs.items()}
            os.kill(before["two"], signal.SIGKILL)
            wait_for("two to run again", lambda before=before: programs["two"].pid not in (None, before["two"]))
            assert programs["one"].pid == before["one"]
        assert [line.partition(";")[0] for line in lines] == ["two ended and is started again"] * 2
        assert lines[0].endswith("its last words: asleep")
    finally:
        watched.end()  # else it starts again what is stopped here
        stop(programs.values(), 5)


def test_a_part_that_cannot_be_started_waits_longer_each_time_and_keeps_no_other_waiting(watched):
    tries, well = [], []

    def fail():
        tries.append(time.monotonic())
        raise OSError("no port is free")

    parts = {
        "odd": Part(lambda: False, fail, lambda: ""),
        "well": Part(lambda: bool(well), lambda: well.append(1), str),
    }
    lines = watched(parts)
    wait_for("four tries", lambda: len(tries) >= 4)
    assert well == [1]
    assert lines[:2] == [
        "odd ended and is started again; its last words: none",
        "odd could not be started: no port is free",
    ]
    pauses = [later - earlier for earlier, later in itertools.pairwise(tries)]
    assert pauses[0] >= 0.02
    assert pauses[1] >= 0.06
    assert pauses[2] >= 0.14


def test_a_part_that_runs_and_does_not_report_is_ended_and_started_again(watched):
    """Airflow's scheduler that lost Postgres may run for ever. One that reports again in time is left alone."""
    state, done = {"stuck": "running", "slow": "running"}, []
    silent = {"stuck": itertools.repeat(True), "slow": itertools.cycle([True, False])}

    def part(name):
        def start():
            done.append(("start", name))
            state[name], silent[name] = "running", itertools.repeat(False)

        def end():
            done.append(("end", name))
            state[name] = "ended"

        return Part(lambda: state[name] == "running", start, lambda: "waiting", lambda: next(silent[name]), end)

    lines = watched({name: part(name) for name in state}, ask_seconds=0.02, stuck_seconds=1.0)
    wait_for("the stuck part to run again", lambda: ("start", "stuck") in done)
    wait_for("some more questions", lambda: next(silent["slow"]) is False)
    assert done == [("end", "stuck"), ("start", "stuck")]
    assert lines == [
        "stuck has not reported for 1 s and is ended",
        "stuck ended and is started again; its last words: waiting",
    ]
