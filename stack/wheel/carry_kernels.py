"""Compile the kernels for a baseline processor and put them into the package: ``python -m stack.wheel.carry_kernels``.

``make wheel`` calls it, and the wheel carries them. They fit the Python that this runs with; another one wants a wheel
made with that. A process of its own, with an empty cache, runs what calls the kernels on the dumps of the demo cluster;
then each kernel's code is copied from there.
"""

from __future__ import annotations

import gzip
import io
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from kafka_assignors.errors import AdvisorError
from kafka_assignors.kernels import carried_code
from kafka_assignors.kernels.carried_code import BASELINE, FEATURES_TEXT
from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.verified_plan import verified
from rebalance_advisor.cli.replay import answer_lines
from rebalance_advisor.compiling.compile_ahead import compile_planner
from rebalance_advisor.dumps import read_input
from stack.demo.cluster import write_demo_cluster
from stack.wheel.collect_kernels import collect_kernels

PACKAGE = Path(carried_code.__file__).parents[1]

# Each calls kernels in another way, or with other types.
OPTIONS = (
    PlanOptions(),
    PlanOptions(within=0.03),
    PlanOptions(leaders_only=True),
    PlanOptions(preferred_election=True),
    PlanOptions(remove_brokers=frozenset({1})),
    PlanOptions(add_brokers={91: "rack-a"}),
    PlanOptions(demote_brokers=frozenset({2}), exclude_brokers=frozenset({3})),
    PlanOptions(replication_factor=2),
    PlanOptions(max_moves=50, max_leader_changes=20, moves_per_broker=3),
    PlanOptions(max_move_bytes=10 * 2**30, throttle_bytes_per_s=2**20),
)
# Recorded cases of every strategy.
CASES = Path(__file__).parents[2] / "tests" / "conformance" / "vectors"


def main() -> None:
    """Make the folder anew."""
    folder = PACKAGE / carried_code.FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        environment = {
            **os.environ,
            "NUMBA_CPU_NAME": BASELINE,
            "NUMBA_CPU_FEATURES": FEATURES_TEXT,
            "NUMBA_CACHE_DIR": f"{scratch}/cache",
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        subprocess.run([sys.executable, "-m", "stack.wheel.carry_kernels", scratch], env=environment, check=True)
        shutil.copytree(Path(scratch) / carried_code.FOLDER, folder)
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    _tell(f"{len(files)} files, {size / 2**20:.1f} MiB, in {folder}")


def run_and_collect(scratch: Path) -> None:
    """In the process of its own: call the kernels, then copy what was compiled into a folder in ``scratch``."""
    _call_kernels(scratch)
    collect_kernels(scratch)


def _call_kernels(scratch: Path) -> None:
    dumps, unsized = scratch / "dumps", scratch / "unsized"
    write_demo_cluster(dumps)
    shutil.copytree(dumps, unsized, ignore=shutil.ignore_patterns("kafka-log-dirs.txt"))
    compile_planner(with_search=True)
    for folder in (dumps, unsized):
        snapshot = read_input(folder)
        advise(snapshot, AdviceRequest())
        for number, options in enumerate(OPTIONS):
            _tell(f"{folder.name}, options {number + 1} of {len(OPTIONS)}")
            try:
                verified(make_plan(snapshot, replace(options, with_frontier=False)), snapshot)
            except AdvisorError as error:
                _tell(f"refused: {error}")
    for path in sorted(CASES.iterdir()):
        _tell(path.name)
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            answer_lines(lines, io.StringIO())


def _tell(text: str) -> None:
    print(f"carry_kernels: {text}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        run_and_collect(Path(sys.argv[1]))
    else:
        main()
