"""Moves between the dirs of one broker: ``plan --balance-log-dirs 10%``, ``plan --remove-log-dir BROKER:/path``.

DIR gets ``log_dirs.json``, Kafka's JSON of each wave and rollback, and ``commands.md``. ``verify DIR INPUT`` recomputes
it, ``check DIR SNAPSHOT`` shows its progress.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import visible_json
from kafka_rebalance.amounts import counted, format_bytes, format_seconds
from kafka_rebalance.errors import UsageError
from kafka_rebalance.log_dir_plans.plan import ANY, LogDirMove, LogDirPlan
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import BrokerId, Share
from kafka_rebalance.render import render_all
from rebalance_advisor.cli.arguments import argument_of, read_given, read_plan_input
from rebalance_advisor.cli.exit_codes import EXIT_CANNOT_TELL, EXIT_DONE
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.input_bytes import ByteBudget, read_bytes
from rebalance_advisor.publish.escape import markdown_text
from rebalance_advisor.publish.folders import replace_folder
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.terminal import write_json, write_lines
from rebalance_advisor.version import advisor_version

JSON_FILE, COMMANDS_FILE = "log_dirs.json", "commands.md"
_LEAST_DIGITS = 2
_HEAD = """# Commands of plan {plan_id} between log dirs

{reasons}

The commands are Kafka's own (2.6 or newer). Run them from this folder, wave after wave, each once the one before is
done: a disk must have room for both copies. Nothing is sent over the network. While partitions are reassigned between
brokers (`--list` names them), Kafka's tool refuses `--execute`: wait until that is done, or add `--additional`.

```sh
BOOTSTRAP=broker:9092
CONFIG=             # e.g. "--command-config operator.properties": a login that may write
```
"""
_WAVE = """## {title}

{partitions}, {amount}, {time} at the throttle.

```sh
# writes: starts the copies and limits each broker's (replica.alter.log.dirs.io.max.bytes.per.second):
{reassign} --execute --replica-alter-log-dirs-throttle {throttle}
# run it again until all are completed; it then writes: it takes the limit off:
{reassign} --verify
```

To stop it:

```sh
# writes: what is not completed stays in its dir; takes the limit off:
{reassign} --cancel
```
"""


def log_dir_files(plan: LogDirPlan) -> dict[str, bytes]:
    digits = max(_LEAST_DIGITS, len(str(len(plan.waves))))
    files: dict[str, bytes] = {}
    for number, wave in enumerate(plan.waves, start=1):
        moves = [plan.moves[m] for m in wave.moves]
        back = len(plan.waves) + 1 - number
        files[f"waves/{number:0{digits}d}.json"] = _reassignment(moves, is_back=False)
        files[f"rollback/{back:0{digits}d}.json"] = _reassignment(moves, is_back=True)
    files[COMMANDS_FILE] = _commands(plan, digits).encode()
    text = json.dumps(plan.document(), indent=1, sort_keys=True, ensure_ascii=False)
    files[JSON_FILE] = f"{visible_json(text)}\n".encode()
    return files


def _reassignment(moves: Sequence[LogDirMove], *, is_back: bool) -> bytes:
    """``any`` leaves a replica in its dir."""
    rows = [
        {
            "topic": move.topic,
            "partition": move.partition,
            "replicas": list(move.replicas),
            "log_dirs": [ANY if path is None else path for path in (move.dirs_from if is_back else move.dirs_to)],
        }
        for move in moves
    ]
    lines = [visible_json(json.dumps(row, ensure_ascii=False)) for row in rows]
    return ('{"version":1,"partitions":[\n' + ",\n".join(lines) + "\n]}\n").encode()


def _commands(plan: LogDirPlan, digits: int) -> str:
    if not plan.moves:
        reasons = markdown_text(". ".join(render_all(plan.reasons)))
        return f"# Plan {plan.plan_id} between log dirs\n\nNothing has to be executed: {plan.verdict}. {reasons}\n"
    head = _HEAD.format(plan_id=plan.plan_id[:12], reasons=markdown_text(". ".join(render_all(plan.reasons))))
    names = [f"{number:0{digits}d}" for number in range(1, len(plan.waves) + 1)]
    waves = [_wave(plan, int(name), f"Wave {name}", f"waves/{name}.json") for name in names]
    back = [
        _wave(plan, int(undone), f"Rollback {name} (undoes wave {undone})", f"rollback/{name}.json")
        for name, undone in zip(names, reversed(names), strict=True)
    ]
    return "\n".join([head, *waves, *back])


def _wave(plan: LogDirPlan, number: int, title: str, file: str) -> str:
    wave = plan.waves[number - 1]
    reassign = (
        f"kafka-reassign-partitions.sh --bootstrap-server $BOOTSTRAP $CONFIG \\\n    --reassignment-json-file {file}"
    )
    return _WAVE.format(
        title=title,
        partitions=counted(len(wave.moves), "partition"),
        amount=format_bytes(wave.dir_bytes),
        time=format_seconds(wave.seconds),
        reassign=reassign,
        throttle=plan.parameters["throttle_bytes_per_s"],
    )


if TYPE_CHECKING:
    from kafka_rebalance.log_dir_plans.plan import LogDirPlan

BALANCE, REMOVE = "--balance-log-dirs", "--remove-log-dir"


def add_log_dir_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("disks within a broker, instead of a plan between brokers")
    help_text = "no disk's used share further than this from its broker's, e.g. 10%% for ten points of a hundred"
    group.add_argument(BALANCE, type=argument_of(Share), metavar="10%", help=help_text)
    help_text = "a dir of a broker that is to be empty, as 3:/data/2; repeatable"
    group.add_argument(REMOVE, type=_removed, action="append", default=[], metavar="BROKER:PATH", help=help_text)


def asks_for_log_dirs(arguments: argparse.Namespace) -> bool:
    return arguments.balance_log_dirs is not None or bool(arguments.remove_log_dir)


def run_log_dirs(arguments: argparse.Namespace, request: RunRequest) -> int:
    """Raises UsageError, and InfeasibleError when a dir cannot be emptied."""
    from kafka_rebalance.log_dir_plans.make import LogDirRequest, make_log_dir_plan
    from kafka_rebalance.verify.log_dirs import check_log_dir_plan

    require_log_dirs_alone(arguments, request)
    given = read_plan_input(arguments, request, Progress())
    log_dir_request = LogDirRequest(
        within=arguments.balance_log_dirs,
        removed=frozenset(arguments.remove_log_dir),
        throttle_bytes_per_s=request.options.throttle_bytes_per_s,
        partitions_per_wave=request.options.partitions_per_wave,
    )
    plan = make_log_dir_plan(given.snapshot, log_dir_request, advisor_version=advisor_version())
    files = log_dir_files(plan)
    beside = {name: content for name, content in files.items() if name != JSON_FILE}
    if wrong := check_log_dir_plan(plan.document(), given.snapshot, beside):
        raise AdvisorError(f"the plan did not pass its own verification and is not written: {wrong[0]}")
    with taken_back_on_interrupt():
        folder = replace_folder(arguments.out, files, plan.plan_id)
    if arguments.json:
        fields = (
            "plan_id",
            "verdict",
            "reasons",
            "replica_moves",
            "dir_bytes",
            "lower_bound_bytes",
            "seconds",
            "brokers",
        )
        document = plan.document()
        write_json(sys.stdout, {name: document[name] for name in fields} | {"folder": str(folder)})
    else:
        write_lines(sys.stdout, *log_dir_lines(plan), f"written to {folder}")
    return EXIT_CANNOT_TELL if plan.verdict == "cannot_tell" else EXIT_DONE


def require_log_dirs_alone(arguments: argparse.Namespace, request: RunRequest) -> None:
    """Only throttle and wave size may be beside it."""
    defaults = PlanOptions()
    options = replace(
        request.options,
        throttle_bytes_per_s=defaults.throttle_bytes_per_s,
        partitions_per_wave=defaults.partitions_per_wave,
        with_frontier=True,
    )
    is_alone = options == defaults and not request.own_scenarios and arguments.capacity is None
    if not is_alone or arguments.previous is not None or request.load or arguments.new_topic:
        problem = "only moves replicas between log dirs of their own broker"
        hint = "leave all but --throttle and --partitions-per-wave out: what is to change its broker is another plan"
        raise UsageError.at(REMOVE if arguments.remove_log_dir else BALANCE, problem, hint)


def log_dir_lines(plan: LogDirPlan) -> list[str]:
    from kafka_rebalance.render import render_all

    first, *others = render_all(plan.reasons)
    lines = [f"{plan.verdict}: {first}", *(f"  {reason}" for reason in others)]
    for broker in plan.brokers:
        for volume in broker.places:
            paths = " and ".join(volume.paths)
            if volume.total_bytes and volume.used_before is not None and volume.used_after is not None:
                before, after = volume.used_before / volume.total_bytes, volume.used_after / volume.total_bytes
                lines.append(f"  broker {broker.broker} {paths}: {before:.1%} used → {after:.1%}")
            else:
                lines.append(f"  broker {broker.broker} {paths}: {volume.held_before:,} bytes → {volume.held_after:,}")
    return lines


def _removed(text: str) -> tuple[int, str]:
    broker, _, path = text.partition(":")
    if not path:
        raise argparse.ArgumentTypeError(f"{text!r} is no dir of a broker: give BROKER:PATH, e.g. 3:/data/2")
    return argument_of(BrokerId)(broker), path


VALID, STALE, DONE = 0, 10, 11
_WORDS = {VALID: "valid", STALE: "stale", DONE: "not worth it"}


def is_log_dir_plan(path: Path) -> bool:
    return path.name == JSON_FILE or (
        path.is_dir() and (path / JSON_FILE).is_file() and not (path / "plan.json").exists()
    )


def verify_log_dirs(arguments: argparse.Namespace) -> int:
    from kafka_rebalance.verify.log_dirs import check_log_dir_plan

    _refuse_policy(arguments)
    folder, document = _read(arguments.plan)
    snapshot = read_given(arguments.input, arguments)
    beside = [folder / COMMANDS_FILE, *(file for name in ("waves", "rollback") for file in (folder / name).glob("*"))]
    files = {file.relative_to(folder).as_posix(): read_bytes(file, ByteBudget()) for file in beside if file.is_file()}
    faults = check_log_dir_plan(document, snapshot, files)
    if arguments.json:
        rows = [{"code": fault.code, "place": fault.location, "message": fault.message} for fault in faults]
        write_json(sys.stdout, {"is_right": not faults, "files_beside": sorted(files), "faults": rows})
    elif faults:
        write_lines(sys.stdout, *map(str, faults))
    else:
        write_lines(
            sys.stdout,
            f"plan {document['plan_id'][:12]} is right: {counted(document['replica_moves'], 'move')} between log dirs",
            f"  bytes: at least {document['lower_bound_bytes']:,}, the plan takes {document['dir_bytes']:,}",
        )
    return 1 if faults else 0


def check_log_dirs(arguments: argparse.Namespace) -> int:
    """0 the rest can be done, 10 another tool moved some of it, 11 done."""
    from kafka_rebalance.log_dir_plans.plan import DirMoveState, progress_of, require_log_dir_plan

    _refuse_policy(arguments)
    document = require_log_dir_plan(_read(arguments.plan)[1], str(arguments.plan))
    progress = progress_of(document, read_given(arguments.snapshot, arguments))
    strangers = {DirMoveState.ELSEWHERE, DirMoveState.GONE, DirMoveState.UNKNOWN}
    code = DONE if progress.is_done else STALE if strangers & set(progress.states) else VALID
    counts = {state.value: count for state, count in progress.counts.items()}
    if arguments.json:
        write_json(sys.stdout, {"status": _WORDS[code], "replicas": counts, "not_empty": list(progress.not_empty)})
    else:
        states = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "nothing to move"
        outcome = "done" if progress.is_done else _WORDS[code]
        write_lines(sys.stdout, f"plan {document['plan_id'][:12]} is {outcome}: {states}")
        write_lines(sys.stdout, *(f"  to be emptied: {text}" for text in progress.not_empty))
    return code


def _refuse_policy(arguments: argparse.Namespace) -> None:
    if arguments.policy is not None:
        raise UsageError.at("--policy", "limits plans between brokers", "leave it out for a plan between log dirs")


def _read(path: Path) -> tuple[Path, Any]:
    from rebalance_advisor.dumps.input_file import read_json

    file = path / JSON_FILE if path.is_dir() else path
    return file.parent, read_json(file)
