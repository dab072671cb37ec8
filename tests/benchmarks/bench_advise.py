"""CPU seconds of each step of ``rebalance-advisor advise``, in one process, kernels warm.

    python -m tests.benchmarks.bench_advise [--only 10k|100k|333k …] [--all-scenarios] [--keep FOLDER]

One line of a Markdown table a step: what the command tells when it begins, and the CPU seconds (user and system, of the
process and its children) until the next one. Clusters are those of ``bench_pipeline``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import orjson

from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.groups.group_replay import EVERYTHING, TODAY_ALONE
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.dumps import read_input
from rebalance_advisor.publish.advisory_files import write_advisory
from tests.benchmarks.pipeline_snapshot import SIZES, PipelineSize, pipeline_snapshot

CAPTURED_AT = datetime(2026, 11, 20, 6, tzinfo=UTC)


class Steps:
    """Called with each step as it begins; ``seconds`` are (step, CPU seconds) of those that ended."""

    def __init__(self) -> None:
        self.seconds: list[tuple[str, float]] = []
        self._step, self._began = "", cpu_s()

    def __call__(self, step: str) -> None:
        now = cpu_s()
        if self._step:
            self.seconds.append((self._step, now - self._began))
        self._step, self._began = step, now


def cpu_s() -> float:
    """Of this process and of its children that ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table of each size; the smallest one goes first and unseen, so that kernels are loaded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=[size.name for size in SIZES])
    parser.add_argument("--all-scenarios", action="store_true")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where snapshot files stay for the next time")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        steps_of(SIZES[0], folder, Path(scratch), all_scenarios=arguments.all_scenarios)
        for size in SIZES:
            if size.name in (arguments.only or ("10k", "100k")):
                _print(size, steps_of(size, folder, Path(scratch), all_scenarios=arguments.all_scenarios))
    return 0


def steps_of(size: PipelineSize, folder: Path, scratch: Path, *, all_scenarios: bool) -> list[tuple[str, float]]:
    """The steps of one advisory from a file to a folder of files; the file is made where it is not there."""
    file = folder / f"{size.name}.json"
    if not file.exists():
        file.write_bytes(orjson.dumps(snapshot_to_document(pipeline_snapshot(size, CAPTURED_AT))))
    say = Steps()
    say("reading")
    snapshot = read_input(file)
    asked = EVERYTHING if all_scenarios else TODAY_ALONE
    advice = advise(snapshot, AdviceRequest(replay=asked), progress=say)
    say("one document of it")
    document = advice.document()
    say("writing")
    write_advisory(scratch / size.name, document, advice.plan)
    say("")
    return say.seconds


def _print(size: PipelineSize, steps: Sequence[tuple[str, float]]) -> None:
    lines = [
        f"{size.brokers} brokers, {size.partitions:,} partitions, {size.groups:,} groups",
        "",
        "| step | CPU s |",
        "|---|---|",
        *(f"| {step} | {seconds:.2f} |" for step, seconds in steps),
        f"| all | {sum(seconds for _, seconds in steps):.1f} |",
        "",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
