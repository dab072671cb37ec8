"""``plan A B C … --out DIR``: a plan of each cluster, each in its own folder of DIR, side by side on all cores.

The folder of a cluster has the name of its INPUT without ``.json`` and ``.gz``. DIR also gets ``fleet.json`` and
``fleet.txt``, one line a cluster. The exit code is the gravest of all: 1 (no plan of one of them) before 2, 4, 3 and 0.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import UsageError
from rebalance_advisor.cli.fleet.row import FleetRow, fleet_lines, worst_exit_code
from rebalance_advisor.publish.folders.folder_marker import MARKER
from rebalance_advisor.publish.folders.whole_file import replace_file
from rebalance_advisor.publish.folders.whole_folder import check_folder
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.terminal import write_json, write_lines

JSON_FILE, TEXT_FILE = "fleet.json", "fleet.txt"
# -P: not from the folder that somebody happens to stand in
_CHILD = (sys.executable, "-P", "-m", "rebalance_advisor.cli.fleet.child")


def run_fleet(arguments: argparse.Namespace, request: RunRequest) -> int:
    """Raises UsageError for what is one cluster's alone, and for two clusters of one name."""
    names = fleet_names(arguments.inputs)
    require_fleet(arguments, request, names)
    asks = [_ask(arguments, request, name, source) for name, source in names.items()]
    with ThreadPoolExecutor(min(len(asks), _processors())) as pool:
        rows = list(pool.map(_row, asks))
    lines, document = fleet_lines(rows), {"clusters": [row.document() for row in rows]}
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    replace_file(out / JSON_FILE, text.encode("utf-8", "backslashreplace"))
    replace_file(out / TEXT_FILE, "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
    if arguments.json:
        write_json(sys.stdout, document | {"folder": str(out)})
    else:
        write_lines(sys.stdout, *lines, f"written to {out}")
    return worst_exit_code(rows)


def fleet_names(inputs: Sequence[Path]) -> dict[str, Path]:
    """Name → INPUT. Raises UsageError where two have one name, or a name is one of the table's files."""
    names: dict[str, Path] = {}
    for source in inputs:
        name = source.resolve().name
        for ending in (".gz", ".json"):
            name = name.removesuffix(ending)
        if name in names:
            problem = f"has the same name as {names[name]}: both plans would go to {name!r}"
            raise UsageError.at(str(source), problem, "give files of different names")
        if not name or name in (JSON_FILE, TEXT_FILE, MARKER):
            raise UsageError.at(str(source), f"{name!r} cannot be the name of a plan's folder", "rename it")
        names[name] = source
    return names


def require_fleet(arguments: argparse.Namespace, request: RunRequest, names: Mapping[str, Path]) -> None:
    """Before anything is read."""
    for flag, given in (
        ("--previous", arguments.previous), ("--history", arguments.history), ("--scenario", request.own_scenarios),
    ):  # fmt: skip
        if given:
            raise UsageError.at(flag, "is about one cluster", f"{len(names)} were given: call plan for each")
    out: Path = arguments.out
    if (out / MARKER).exists():
        raise UsageError.at(str(out), "holds the plan of one cluster", "give a folder for the fleet beside it")
    for name in names:
        check_folder(out / name)


def _ask(arguments: argparse.Namespace, request: RunRequest, name: str, source: Path) -> dict[str, Any]:
    return {
        "name": name,
        "input": str(source),
        "out": str(arguments.out / name),
        "capacity": None if arguments.capacity is None else str(arguments.capacity),
        "max_input_bytes": arguments.max_input_bytes,
        "strict": getattr(arguments, "strict", False),
        "request": {key: value for key, value in request.document().items() if value is not None},
    }


def _row(ask: dict[str, Any]) -> FleetRow:
    """What the child says; where it cannot say anything, what became of it."""
    done = subprocess.run(_CHILD, input=json.dumps(ask), capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return FleetRow.from_document(json.loads(done.stdout.splitlines()[-1]))
    said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
    ended = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
    return FleetRow.failed(ask["name"], ask["input"], 1, f"its process ended with {ended}: {said[0]}")


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
