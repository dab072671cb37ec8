"""Advisories through the real pipeline: Airflow, Spark, Postgres; wall and CPU seconds and peak memory of each task.

    make bench-pipeline                      the two smaller sizes
    python -m tests.benchmarks.bench_pipeline [--only 10k …] [--scenarios all] [--times 2] [--keep FOLDER]

Each size is advised ``--times`` times in one Airflow and the last run is told: kernels and DAG parsing are warm then.
CPU seconds are those of Airflow, Spark and Postgres together, whoever used them in that task's time; ``between`` is
what passes while no task runs. Only on a machine with nothing else to do are the wall seconds worth anything.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson

from kafka_rebalance.snapshot.codec import snapshot_to_document
from stack.airflow.cluster_entries import write_entry
from stack.machine import Machine
from tests.benchmarks.pipeline_snapshot import SIZES, PipelineSize, pipeline_snapshot
from tests.benchmarks.process_watch import SERVICES, ProcessWatch

_RUN_SECONDS = 3_600
BETWEEN = "between"
_KINDS = ("jvm", "driver", "workers", "postgres", "airflow")
_HEAD = f"{'task':<18}{'wall_s':>8}{'cpu_s':>8}" + "".join(f"{kind:>10}" for kind in _KINDS) + f"{'peak_mib':>10}"


@dataclass(frozen=True, slots=True)
class Span:
    """A task, or what lies between tasks, in seconds of the clock."""

    name: str
    from_s: float
    until_s: float


def main(argv: Sequence[str] | None = None) -> int:
    """A table a size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=[size.name for size in SIZES])
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--scenarios", choices=["today", "all"], default="today", help="what groups are asked about")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="all state of the stack; it stays there")
    arguments = parser.parse_args(argv)
    wanted = [size for size in SIZES if size.name in (arguments.only or ("10k", "100k"))]
    with tempfile.TemporaryDirectory(prefix="advisor-bench-") as scratch:
        folder = arguments.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        machine = Machine(folder, settings={"ADVISOR_SCHEDULES": "off"})
        for size in wanted:
            _write(machine, size)
        try:
            machine.start()
            for size in wanted:
                _advised(machine, size, arguments.scenarios, arguments.times)
        finally:
            machine.stop()
    return 0


def _write(machine: Machine, size: PipelineSize) -> None:
    file = machine.run / f"{size.name}.json"
    snapshot = pipeline_snapshot(size, datetime(2026, 11, 20, 12, tzinfo=UTC))
    file.write_bytes(orjson.dumps(snapshot_to_document(snapshot)))
    write_entry(machine.clusters_file, f"size-{size.name}", {"file": str(file), "age_limit": "3650d"})


def _advised(machine: Machine, size: PipelineSize, scenarios: str, times: int) -> None:
    client, dag_id = machine.airflow.client, f"advise_size-{size.name}"
    client.wait_for_dag(dag_id)
    server = machine.server
    roots = [program.pid for program in machine.airflow.programs.values()] + [server.pid if server else None]
    for time in range(times):
        with ProcessWatch({root: SERVICES for root in roots if root is not None}) as watch:
            run_id = client.trigger(dag_id, {"snapshot": "fresh", "scenarios": scenarios})
            for _ in client.follow(dag_id, run_id, _RUN_SECONDS):
                pass
            tasks = client.task_instances(dag_id, run_id)
        if client.run_state(dag_id, run_id) != "success":
            failed = next((task for task in tasks if task["state"] == "failed"), None)
            raise SystemExit(client.log(dag_id, run_id, failed)[-3000:] if failed else "no task ran")
        if time == times - 1:
            _tell(size, spans_of(tasks), watch)


def spans_of(tasks: Sequence[dict[str, Any]]) -> list[Span]:
    """Tasks in the order in which they ran, ``between`` put together at the end as one line for each gap."""
    ran = sorted(
        (Span(task["task_id"], _seconds(task["start_date"]), _seconds(task["end_date"])) for task in tasks),
        key=lambda span: span.from_s,
    )
    gaps = [Span(BETWEEN, before.until_s, after.from_s) for before, after in pairwise(ran)]
    return [*ran, *gaps]


def _tell(size: PipelineSize, spans: Sequence[Span], watch: ProcessWatch) -> None:
    lines = [f"\n{size.name}: {size.brokers} brokers, {size.partitions:,} partitions, {size.groups:,} groups", _HEAD]
    gaps = [_figures(span, watch) for span in spans if span.name == BETWEEN]
    figures = {span.name: _figures(span, watch) for span in spans if span.name != BETWEEN}
    figures[BETWEEN] = [sum(column) for column in zip(*gaps, strict=True)]
    figures["whole"] = _figures(
        Span("", min(span.from_s for span in spans), max(span.until_s for span in spans)), watch
    )
    for name, (wall_s, cpu_s, *of_kinds, peak_mib) in figures.items():
        kinds = "".join(f"{figure:>10.1f}" for figure in of_kinds)
        peak = "" if name == BETWEEN else f"{peak_mib:>10.0f}"
        lines.append(f"{name:<18}{wall_s:>8.1f}{cpu_s:>8.1f}{kinds}{peak}")
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _figures(span: Span, watch: ProcessWatch) -> list[float]:
    of_kinds = [watch.cpu_s(span.from_s, span.until_s, kind) for kind in (None, *_KINDS)]
    return [span.until_s - span.from_s, *of_kinds, watch.peak_bytes(span.from_s, span.until_s) / 2**20]


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


if __name__ == "__main__":
    sys.exit(main())
