import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interpreted.answers import answers

ROOT = Path(__file__).parents[3]


def interpreted(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with kernels left as they are written."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"plugins{os.pathsep}."}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=1200)


@pytest.mark.slow  # the steps below are interpreted in `make check` as well
@pytest.mark.usefixtures("whole_search")
def test_small_cases_have_the_same_answers_interpreted() -> None:
    done = interpreted("-W", "error::RuntimeWarning", "-m", "tests.interpreted.answers")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == answers()


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param("not bounds and not edge and not whole", id="most", marks=pytest.mark.slow),
        pytest.param("bounds or edge or whole", id="long", marks=pytest.mark.matrix),
    ],
)
def test_the_planners_pinned_answers_are_the_same_interpreted(chosen: str) -> None:
    """``make check`` runs them with compiled kernels."""
    asked = ("tests/unit/planner/test_pinned_answers.py", "-k", chosen)
    done = interpreted("-m", "pytest", "-q", "-p", "no:cacheprovider", *asked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_each_step_of_the_search_answers_as_worked_out_by_hand() -> None:
    done = interpreted("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/interpreted")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
