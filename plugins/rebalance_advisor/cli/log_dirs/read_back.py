"""``verify`` and ``check`` of a plan between log dirs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import UsageError
from rebalance_advisor.cli.input_arguments import read_given
from rebalance_advisor.input_bytes import ByteBudget, read_bytes
from rebalance_advisor.publish.log_dir_files import COMMANDS_FILE, JSON_FILE
from rebalance_advisor.terminal import write_json, write_lines

VALID, STALE, DONE = 0, 10, 11
_WORDS = {VALID: "valid", STALE: "stale", DONE: "not worth it"}


def is_log_dir_plan(path: Path) -> bool:
    """The file itself, or a folder with it and no plan between brokers."""
    return path.name == JSON_FILE or (
        path.is_dir() and (path / JSON_FILE).is_file() and not (path / "plan.json").exists()
    )


def verify_log_dirs(arguments: argparse.Namespace) -> int:
    """Exit code 0: right, 1: faults."""
    from kafka_rebalance.verify.log_dirs import check_log_dir_plan

    _refuse_policy(arguments)
    folder, document = _read(arguments.plan)
    snapshot = read_given(arguments.input, arguments)
    beside = [folder / COMMANDS_FILE, *(file for name in ("waves", "rollback") for file in (folder / name).glob("*"))]
    files = {file.relative_to(folder).as_posix(): read_bytes(file, ByteBudget()) for file in beside if file.is_file()}
    faults = check_log_dir_plan(document, snapshot, files)
    if arguments.json:
        told = [{"code": fault.code, "place": fault.place, "message": fault.message} for fault in faults]
        write_json(sys.stdout, {"is_right": not faults, "files_beside": sorted(files), "faults": told})
    elif faults:
        write_lines(sys.stdout, *map(str, faults))
    else:
        write_lines(
            sys.stdout,
            f"plan {document['plan_id'][:12]} is right: {document['replica_moves']:,} moves between log dirs",
            f"  bytes: at least {document['lower_bound_bytes']:,}, the plan takes {document['dir_bytes']:,}",
        )
    return 1 if faults else 0


def check_log_dirs(arguments: argparse.Namespace) -> int:
    """Exit codes of ``check``: 0 what is left can be done, 10 somebody else moved some of it, 11 all is done."""
    from kafka_rebalance.log_dir_plans.progress import DirMoveState, progress_of, require_log_dir_plan

    _refuse_policy(arguments)
    document = require_log_dir_plan(_read(arguments.plan)[1], str(arguments.plan))
    progress = progress_of(document, read_given(arguments.snapshot, arguments))
    strangers = {DirMoveState.ELSEWHERE, DirMoveState.GONE, DirMoveState.UNKNOWN}
    code = DONE if progress.is_done else STALE if strangers & set(progress.states) else VALID
    counts = {state.value: count for state, count in progress.counts.items()}
    if arguments.json:
        write_json(sys.stdout, {"status": _WORDS[code], "replicas": counts, "not_empty": list(progress.not_empty)})
    else:
        told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing to move"
        said = "done" if progress.is_done else _WORDS[code]
        write_lines(sys.stdout, f"plan {document['plan_id'][:12]} is {said}: {told}")
        write_lines(sys.stdout, *(f"  to be emptied: {words}" for words in progress.not_empty))
    return code


def _refuse_policy(arguments: argparse.Namespace) -> None:
    if arguments.policy is not None:
        raise UsageError.at("--policy", "limits plans between brokers", "leave it out for a plan between log dirs")


def _read(path: Path) -> tuple[Path, Any]:
    """Folder and document."""
    from rebalance_advisor.dumps.files.input_file import read_json

    file = path / JSON_FILE if path.is_dir() else path
    return file.parent, read_json(file)
