"""The tests that run with interpreted kernels, and which lines each of them reaches.

``make coverage`` runs them, prints the lines that none reaches, and keeps by line which tests do: ``make mutate`` asks
only those about a mutant of that line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import coverage

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".run" / "coverage"
DATA, SECONDS = KEPT / "data", KEPT / "seconds.json"
# Whole clusters are too large to be interpreted: these have a handful of brokers and partitions.
SMALL = (
    "tests/interpreted", "tests/unit/plans", "tests/unit/verify/test_cluster_rules.py",
    "tests/unit/verify/test_document_rules.py", "tests/unit/verify/test_move_rules.py",
    "tests/unit/verify/test_commands_rules.py", "tests/unit/findings",
    "tests/unit/scoring", "tests/unit/waves", "tests/unit/assignors", "tests/unit/coordinator", "tests/unit/dumps",
    "tests/unit/partitioners", "tests/unit/placement", "tests/unit/test_cluster_arrays.py",
    "tests/unit/java", "tests/unit/codec",
    "tests/unit/planner/test_leader_steps.py", "tests/unit/planner/test_bound_steps.py",
    "tests/unit/planner/test_program_steps.py",
    "tests/unit/planner/test_evacuate.py", "tests/unit/test_group_replay.py", "tests/unit/test_topic_replay.py",
    "tests/unit/test_rates.py", "tests/unit/test_value_ranges.py",
)  # fmt: skip
TOO_LARGE = ("tests/unit/findings/test_demo_findings.py", "tests/unit/findings/test_findings_agree_with_plan.py")
MARKS = "not live and not stack and not slow and not matrix"


@dataclass(frozen=True)
class Reached:
    """``tests``: file → line → node ids; ``lines``: file → (statements, those that nothing reached)."""

    tests: dict[str, dict[int, list[str]]]
    lines: dict[str, tuple[list[int], list[int]]]
    seconds: dict[str, float]


def run() -> int:
    """Run them all once under coverage; returns pytest's exit code."""
    KEPT.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": f"plugins{os.pathsep}.{os.pathsep}{_python_path()}",
        "ADVISOR_TEST_SECONDS": str(SECONDS),
    }  # fmt: skip
    command = [
        sys.executable, "-m", "coverage", "run", f"--data-file={DATA}",
        "--source=plugins/kafka_rebalance,plugins/rebalance_advisor",
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutation.contexts", "-m", MARKS,
        *[f"--ignore={path}" for path in TOO_LARGE], *SMALL,
    ]  # fmt: skip
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def reached() -> Reached:
    """What the last run reached; a new run where none is kept, or a source or test is newer."""
    newest = max(path.stat().st_mtime for folder in ("plugins", "tests") for path in (ROOT / folder).rglob("*.py"))
    if not DATA.exists() or DATA.stat().st_mtime < newest:
        run()
    return kept()


def kept() -> Reached:
    """What the last run reached."""
    measured = coverage.Coverage(data_file=str(DATA))
    measured.load()
    data = measured.get_data()
    seconds = json.loads(SECONDS.read_text())
    tests, lines = {}, {}
    for name in data.measured_files():
        path = str(Path(name).relative_to(ROOT))
        tests[path] = {
            line: [node for node in nodes if node in seconds] for line, nodes in data.contexts_by_lineno(name).items()
        }
        _, statements, _, missing, _ = measured.analysis2(name)
        lines[path] = (statements, missing)
    return Reached(tests, lines, seconds)


def _python_path() -> str:
    return os.environ.get("PYTHONPATH", "")
