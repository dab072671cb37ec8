"""What it takes Airflow to know the DAGs of many clusters: parse time of each file, memory, CPU while nothing runs.

    python -m tests.benchmarks.bench_dag_parse [--clusters 50 1000] [--idle 120]

A real Airflow with a ``clusters.toml`` of that many tables and no schedule. Told: seconds until all DAGs are known,
each DAG file's last parse, and then, for ``--idle`` seconds, the components' CPU a minute and the most they held.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psycopg2

from stack.machine import Machine
from tests.benchmarks.process_watch import ProcessWatch

_KNOWN_SECONDS = 1_800
_PURPOSES = 4  # advise, apply, collect, what_if
_KINDS = ("api-server", "scheduler", "dag-processor", "postgres")
_FILES = """
    SELECT d.relative_fileloc, count(*), max(d.last_parse_duration), coalesce(sum(s.bytes), 0)
      FROM dag d
      LEFT JOIN (SELECT dag_id, max(pg_column_size(data)) AS bytes FROM serialized_dag GROUP BY dag_id) s USING (dag_id)
     GROUP BY 1 ORDER BY 1"""


def main(argv: Sequence[str] | None = None) -> int:
    """A table a number of clusters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clusters", type=int, nargs="+", default=[50, 1000])
    parser.add_argument("--idle", type=float, default=120.0, metavar="SECONDS")
    parser.add_argument("--setting", action="append", default=[], metavar="VARIABLE=VALUE", help="of Airflow")
    arguments = parser.parse_args(argv)
    for clusters in arguments.clusters:
        with tempfile.TemporaryDirectory(prefix="advisor-parse-") as folder:
            Path(folder).chmod(0o755)
            given = dict(setting.split("=", 1) for setting in arguments.setting)
            _measure(Machine(Path(folder), settings={"ADVISOR_SCHEDULES": "off"} | given), clusters, arguments.idle)
    return 0


def _measure(machine: Machine, clusters: int, idle_s: float) -> None:
    tables = "\n".join(f'[clusters.fleet-{number:04}]\nfile = "fleet-{number:04}.json"' for number in range(clusters))
    machine.clusters_file.write_text(tables + "\n", encoding="utf-8")
    try:
        machine.start()
        roots = {program.pid: name for name, program in machine.airflow.programs.items()}
        if machine.server is not None:
            roots[machine.server.pid] = "postgres"
        with ProcessWatch({pid: kind for pid, kind in roots.items() if pid is not None}, 0.5) as watch:
            known_s = _until_known(machine, _PURPOSES * clusters)
            from_s = time.time()
            time.sleep(idle_s)
            until_s = time.time()
        files = _rows(machine, _FILES)
    finally:
        machine.stop()
    lines = [f"\n{clusters} clusters: known {known_s:.0f} s after Airflow was healthy; load {os.getloadavg()[0]:.1f}"]
    lines.append(f"{'file':<24}{'dags':>6}{'parse_s':>9}{'stored_mib':>12}")
    lines += [f"{name:<24}{count:>6}{seconds or 0:>9.1f}{size / 2**20:>12.2f}" for name, count, seconds, size in files]
    lines.append(f"{'component':<24}{'cpu_s a minute':>16}{'peak_mib':>10}")
    for kind in _KINDS:
        cpu_s, held = watch.cpu_s(from_s, until_s, kind), watch.peak_bytes(kind=kind)
        lines.append(f"{kind:<24}{60 * cpu_s / idle_s:>16.1f}{held / 2**20:>10,.0f}")
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _until_known(machine: Machine, dags: int) -> float:
    """Seconds from now. Raises TimeoutError with what is known."""
    begin = time.monotonic()
    while True:
        ((known,),) = _rows(machine, "SELECT count(*) FROM dag WHERE dag_id ~ '^(advise|apply|collect)_'")
        waited_s = time.monotonic() - begin
        if known >= dags:
            return waited_s
        if waited_s > _KNOWN_SECONDS:
            raise TimeoutError(f"{known} of {dags} DAGs are known after {waited_s:.0f} s")
        time.sleep(1)


def _rows(machine: Machine, question: str) -> list[tuple]:
    connection = psycopg2.connect(machine.dsn("airflow"))
    try:
        with connection.cursor() as cursor:
            cursor.execute(question)
            return cursor.fetchall()
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())
