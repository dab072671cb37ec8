"""The suites that mutants and coverage are asked of, and which lines each of their tests reaches.

``INTERPRETED``: small cases with kernels as plain Python, the only way to look into a kernel, or to change it without
compiling. ``COMPILED``: the fast tests of what the targets do, as ``make test`` runs them, for all that is no kernel.
``make test-all`` adds ``SLOW``, the slow tests with the whole search, and ``GATES``, for mutants of the gates alone, on
a real PostgreSQL with Great Expectations.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import coverage

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".run" / "coverage"
MARKS = "not live and not stack and not slow and not matrix"
PLUGIN = ("-p", "no:cacheprovider", "-p", "tests.mutation.contexts")


@dataclass(frozen=True)
class Suite:
    """Tests that run together, with kernels compiled or as plain Python."""

    name: str
    is_interpreted: bool
    source: str
    tests: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    subject: str | tuple[str, ...] = "plugins"
    marks: str = MARKS
    is_in_make_test: bool = True

    @property
    def arguments(self) -> tuple[str, ...]:
        """What pytest gets beside paths: ``make test`` searches briefly."""
        return (*PLUGIN, *(("--brief-search",) if self.is_in_make_test else ()), "-m", self.marks)

    def is_asked_of(self, path: str, *, is_in_kernel: bool) -> bool:
        """Whether its tests can say something of a change there: a kernel that is compiled stays what it was."""
        return path.startswith(self.subject) and (self.is_interpreted or not is_in_kernel)

    @property
    def data(self) -> Path:
        """Where coverage keeps what it saw."""
        return KEPT / f"{self.name}.data"

    @property
    def seconds(self) -> Path:
        """Where the plugin keeps how long each test took."""
        return KEPT / f"{self.name}.json"


# Whole clusters are too large to be interpreted: these have a handful of brokers and partitions. Of the tests of plans,
# one file of which takes more than ten minutes, only those of waves are among them: the rest of plans has no kernel.
INTERPRETED = Suite(
    "interpreted",
    is_interpreted=True,
    subject=tuple(f"plugins/kafka_rebalance/{name}" for name in ("planner", "scoring", "groups")),  # these have kernels
    source="plugins/kafka_rebalance,plugins/rebalance_advisor",
    tests=(
        "tests/interpreted", "tests/unit/verify", "tests/unit/findings",
        "tests/unit/scoring", "tests/unit/assignors", "tests/unit/coordinator", "tests/unit/dumps",
        "tests/unit/partitioners", "tests/unit/placement", "tests/unit/cluster_arrays",
        "tests/unit/java", "tests/unit/snapshot", "tests/unit/groups", "tests/unit/planner", "tests/unit/plans/waves",
    ),
    left_out=(
        "tests/unit/findings/test_demo_findings.py", "tests/unit/findings/test_findings_agree_with_plan.py",
        "tests/unit/planner/test_anneal.py", "tests/unit/planner/test_annealed.py",
        "tests/unit/planner/test_edge_cases.py", "tests/unit/planner/test_linear_program.py",
        "tests/unit/planner/test_restricted.py", "tests/unit/planner/test_widening_steps.py",
        "tests/unit/planner/survive/test_search.py",
        "tests/unit/planner/test_sorting.py",  # compares with numba's own sort
        "tests/unit/verify/test_forgeries.py", "tests/unit/verify/test_observers.py",
        "tests/unit/verify/test_plan_folder.py", "tests/unit/verify/test_verify_plan.py",
        # Minutes each, and no line of a kernel is reached by them alone.
        "tests/unit/planner/test_program_steps.py", "tests/unit/findings/consumers/test_followable_advice.py",
    ),
)  # fmt: skip
COMPILED = Suite(
    "compiled",
    is_interpreted=False,
    source=",".join(
        f"plugins/kafka_rebalance/{name}"
        for name in ("planner", "verify", "scoring", "findings", "groups", "plans")
    ),
    tests=(
        "tests/unit/verify", "tests/unit/findings", "tests/unit/scoring", "tests/unit/plans", "tests/unit/planner",
        "tests/unit/groups", "tests/unit/placement", "tests/unit/snapshot/test_rates.py", "tests/unit/log_dir_plans",
        "tests/unit/request", "tests/unit/cluster_arrays", "tests/properties",
    ),
)  # fmt: skip
SLOW = Suite(
    "slow",
    is_interpreted=False,
    source=COMPILED.source,
    tests=COMPILED.tests,
    marks="slow and not live and not stack and not matrix",
    is_in_make_test=False,
)
# What ``make test-all`` runs of these. Half an hour: no mutant is put to it, so the share killed is that of ``SLOW``.
WHOLE = replace(SLOW, name="whole", marks="(slow or planned) and not live and not stack and not matrix")
GATES = Suite(
    "gates",
    is_interpreted=False,
    is_in_make_test=False,
    source="plugins/rebalance_advisor/gates",
    tests=("tests/sql/test_gates.py", "tests/sql/test_expectations.py"),
    subject="plugins/rebalance_advisor/gates",
    marks="not live and not slow and not matrix",
)
# Those of ``make test`` first.
SUITES = (COMPILED, INTERPRETED, SLOW, GATES)


@dataclass(frozen=True)
class Reached:
    """``tests``: file → line → node ids, "" among them where import runs it; ``lines``: file → (statements, missed)."""

    suite: Suite
    tests: dict[str, dict[int, list[str]]]
    lines: dict[str, tuple[list[int], list[int]]]
    seconds: dict[str, float]


def run(suite: Suite = INTERPRETED) -> int:
    """Run them all once under coverage; returns pytest's exit code."""
    gone = [path for path in suite.left_out if not (ROOT / path).exists()]  # pytest says nothing of these
    if gone:
        raise SystemExit(f"{suite.name} leaves out tests that are not there: {', '.join(gone)}")
    KEPT.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ, "PYTHONPATH": f"plugins{os.pathsep}.{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "ADVISOR_TEST_SECONDS": str(suite.seconds),
    }  # fmt: skip
    if suite.is_interpreted:
        environment["NUMBA_DISABLE_JIT"] = "1"
    command = [
        sys.executable, "-m", "coverage", "run", f"--data-file={suite.data}", f"--source={suite.source}",
        "-m", "pytest", "-q", *suite.arguments,
        *[f"--ignore={path}" for path in suite.left_out], *suite.tests,
    ]  # fmt: skip
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def reached(suite: Suite = INTERPRETED) -> Reached:
    """What the last run reached; a new run where none is kept, or a source or test is newer."""
    newest = max(path.stat().st_mtime for folder in ("plugins", "tests") for path in (ROOT / folder).rglob("*.py"))
    if not suite.data.exists() or suite.data.stat().st_mtime < newest:
        run(suite)
    return kept(suite)


def kept(suite: Suite = INTERPRETED) -> Reached:
    """What the last run reached."""
    measured = coverage.Coverage(data_file=str(suite.data))
    measured.load()
    data = measured.get_data()
    seconds = json.loads(suite.seconds.read_text())
    tests, lines = {}, {}
    for name in sorted(name for name in data.measured_files() if name.endswith(".py")):  # templates run, too
        path = str(Path(name).relative_to(ROOT))
        tests[path] = {
            line: [node for node in nodes if not node or node in seconds]
            for line, nodes in data.contexts_by_lineno(name).items()
        }
        _, statements, _, missing, _ = measured.analysis2(name)
        lines[path] = (statements, missing)
    return Reached(suite, tests, lines, seconds)
