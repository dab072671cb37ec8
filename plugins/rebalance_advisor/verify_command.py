"""Recompute everything that PLAN says from INPUT alone, and name each fault.

PLAN is plan.json or the folder that holds it; the wave, rollback and election files beside it are judged as well.
INPUT is what the plan was made from. Exit codes: 0 all right, 1 faults or bad input, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from kafka_rebalance.verify import Verification
from rebalance_advisor.input_options import add_input_options
from rebalance_advisor.plan_options import read_plan
from rebalance_advisor.progress import Progress

EXIT_RIGHT, EXIT_FAULTS = 0, 1
_FOLDERS = ("waves", "rollback", "elections")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of ``rebalance-advisor verify``."""
    parser.add_argument("plan", metavar="PLAN", type=Path)
    parser.add_argument("input", metavar="INPUT", type=Path)
    parser.add_argument("--json", action="store_true", help="print faults and recomputed bounds as JSON")
    add_input_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read both, verify, tell."""
    from kafka_rebalance.verify import verify_plan
    from rebalance_advisor.dumps import read_input

    say = Progress()
    document = read_plan(arguments.plan)
    files = _files_beside(arguments.plan)
    say("reading")
    snapshot = read_input(arguments.input, max_bytes=arguments.max_input_bytes)
    say("verifying")
    verification = verify_plan(document, snapshot, files)
    _tell(verification, document, as_json=arguments.json)
    return EXIT_RIGHT if verification.is_right else EXIT_FAULTS


def _files_beside(path: Path) -> dict[str, Any] | None:
    """Parsed JSON of the plan's folders, None where there are none; a file that is no JSON is its text."""
    folder = path if path.is_dir() else path.parent
    if not any((folder / name).is_dir() for name in _FOLDERS):
        return None
    files: dict[str, Any] = {}
    for name in _FOLDERS:
        for file in sorted((folder / name).glob("*.json")):
            text = file.read_text(encoding="utf-8", errors="replace")
            try:
                files[f"{name}/{file.name}"] = json.loads(text)
            except json.JSONDecodeError:
                files[f"{name}/{file.name}"] = text
    return files


def _tell(verification: Verification, document: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        outcome = {
            "is_right": verification.is_right,
            "faults": [{"code": f.code, "place": f.place, "message": f.message} for f in verification.faults],
            "counts": dict(verification.counts),
            "bounds": dict(verification.bounds),
        }
        sys.stdout.write(json.dumps(outcome, ensure_ascii=False) + "\n")
    elif verification.is_right:
        sys.stdout.write(f"plan {str(document['plan_id'])[:12]} is right: {len(document['moves']):,} moves\n")
        for name, value in verification.bounds.items():
            sys.stdout.write(f"  {name}: at least {value:,.0f}, the plan takes {document['cost'][name]:,.0f}\n")
        for note in verification.faults:
            sys.stdout.write(f"  note: {note}\n")
    else:
        for fault in verification.faults:
            sys.stdout.write(f"{fault}\n")
        more = sum(verification.counts.values()) - len(verification.faults)
        if more:
            sys.stdout.write(f"and {more} more of the same kinds\n")
