"""A part of the kill table, anew in a process of its own: every n-th moment of each command, layout and strike."""

import re
import sys
from subprocess import run

STEP = 37


def test_a_kill_a_full_disk_or_ctrl_c_leaves_the_old_advisory_or_the_new_one() -> None:
    line = [sys.executable, "-m", "tests.unit.publish.kill_table", "--step", str(STEP)]
    done = run(line, capture_output=True, text=True, check=False)
    told = re.search(r"(\d+) moments, (\d+) wrong", done.stdout)
    assert told, done.stdout + done.stderr
    assert int(told[1]) > 150
    assert (int(told[2]), done.returncode) == (0, 0), done.stdout
