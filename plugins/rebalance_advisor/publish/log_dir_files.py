"""A plan between log dirs as files: ``log_dirs.json``, Kafka's own JSON for each wave and its way back, commands."""

from __future__ import annotations

import json
from collections.abc import Sequence

from kafka_assignors.visible_text import visible_json
from kafka_rebalance.amounts import bytes_in_words, seconds_in_words
from kafka_rebalance.log_dir_plans.plan import ANY, LogDirMove, LogDirPlan
from kafka_rebalance.render import render_all
from rebalance_advisor.publish.escape import markdown_text

JSON_FILE, COMMANDS_FILE = "log_dirs.json", "commands.md"
_LEAST_DIGITS = 2
_HEAD = """# Commands of plan {plan_id} between log dirs

{reasons}

The commands are Kafka's own (2.6 or newer). Run them from this folder, wave after wave, each once the one before is
done: a disk must have room for both copies. Nothing is sent over the network. While partitions are reassigned between
brokers (`--list` names them), Kafka's tool refuses `--execute`: wait until that is done, or add `--additional`.

```sh
BOOTSTRAP=broker:9092
CONFIG=             # e.g. "--command-config client.properties"
```
"""
_WAVE = """## {title}

{count:,} partitions, {amount}, {time} at the throttle.

```sh
# writes: starts the copies and limits each broker's (replica.alter.log.dirs.io.max.bytes.per.second):
{reassign} --execute --replica-alter-log-dirs-throttle {throttle}
# until it says that all are completed; then it writes: it takes the limit off again:
{reassign} --verify
```

To stop it:

```sh
# writes: what is not completed stays in its dir; takes the limit off:
{reassign} --cancel
```
"""


def log_dir_files(plan: LogDirPlan) -> dict[str, bytes]:
    """Each file by its path in the folder. ``rollback/01.json`` undoes the last wave."""
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
    """Kafka's format; ``any`` leaves a replica in its dir."""
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
        count=len(wave.moves),
        amount=bytes_in_words(wave.dir_bytes),
        time=seconds_in_words(wave.seconds),
        reassign=reassign,
        throttle=plan.parameters["throttle_bytes_per_s"],
    )
