"""Part of the kill table in a fresh process: every n-th moment of each command, layout and strike.

Every 74th in `make test-all`, all by `make test-kill`.
"""

import sys
from subprocess import run

import pytest


@pytest.mark.slow
@pytest.mark.parametrize(("step", "least"), [(74, 75)])
def test_a_kill_a_full_disk_or_ctrl_c_leaves_the_old_advisory_or_the_new_one(step: int, least: int) -> None:
    line = [sys.executable, "-m", "tests.unit.publish.kill_table", "--step", str(step), "--least", str(least + 1)]
    done = run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
