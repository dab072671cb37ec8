"""A plan as files: ``plan.json``, Kafka's JSON for each wave, rollback and elections, commands, a table.

Run files in name order. ``rollback/01.json`` undoes the last wave. Run ``elections/NN.json`` after wave NN and after
its rollback: a reordered list alone moves no leader. Same plan, same bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from kafka_assignors.visible_text import visible, visible_json
from kafka_rebalance.amounts import counted, format_bytes, format_seconds
from kafka_rebalance.csv_text import guarded
from kafka_rebalance.plans.plan import Move, Plan, Wave
from kafka_rebalance.render import render, render_all
from kafka_rebalance.render.steps import StepFigures, step_figures, step_line, step_title, step_waves
from rebalance_advisor.publish.digest import render_digest
from rebalance_advisor.publish.escape import markdown_text
from rebalance_advisor.publish.folders import replace_folder
from rebalance_advisor.publish.report import render_report

_HEAD = """# Commands of plan {plan_id}

{summary}

The commands are Kafka's own (2.6 or newer); nothing else is needed. Run them from this folder, wave after wave. A
comment above each says whether it writes to the cluster. Set `BOOTSTRAP` to one of your brokers. On a secured cluster
set the other two to the properties of a login that may write. The advisor's login may not. The rights are Alter and
AlterConfigs on Cluster, Describe and AlterConfigs on Topic.

```sh
BOOTSTRAP=broker:9092
CONFIG=             # e.g. "--command-config operator.properties"
ELECTION_CONFIG=    # the same, or "--admin.config operator.properties" where the tool does not know --command-config
```

Ask first whether the plan still holds: `rebalance-advisor check plan.json NEW_SNAPSHOT.json`. A new snapshot is read by
`rebalance-advisor snapshot --bootstrap "$BOOTSTRAP" --out NEW_SNAPSHOT.json`, on a secured cluster with the advisor's
login (`--command-config client.properties`).
{preconditions}
"""
_BESIDE = """Other reassignments ran when the snapshot was taken ({partitions}). The waves start beside that
(`--additional`), and `--verify` leaves throttles on as long as anything is reassigned.
"""
_WAVE = """## {title}

{summary}

```sh
{commands}
```

To stop it:

```sh
{cancel}
```
"""
_ELECTIONS = """## {title}

{summary} No list is rewritten: nothing has to be reassigned.

```sh
# writes: leaders move to the first replica:
{commands}
```
"""
_LEADERS_STAY = """## {title}

There is nothing to undo: that wave changed no list, and Kafka elects the first replica of a list.
"""
_AFTERWARDS = """Afterwards: read a new snapshot, as above, and ask `check` again: it says *done*.
"""
_THROTTLES = """# Throttles

`--verify` takes them off once all of its file is done, `--cancel` at once (unless `--preserve-throttles` is given). A
shell that was closed before either leaves them on, and they slow every later replication down. See that none is left:

```sh
# reads: prints nothing where none is left; without `grep` it says on which brokers and topics:
{configs} --describe --entity-type brokers | grep throttled
{configs} --describe --entity-type topics | grep throttled
# reads: what is still being moved, whoever moves it:
kafka-reassign-partitions.sh --bootstrap-server $BOOTSTRAP $CONFIG --list
```

What was left is taken off once nothing is being moved, with `BROKER` and `TOPIC` as they were printed:

```sh
# writes: no throttle on this broker any more, none on this topic:
{configs} --alter --entity-type brokers --entity-name $BROKER \\
    --delete-config leader.replication.throttled.rate,follower.replication.throttled.rate
{configs} --alter --entity-type topics --entity-name $TOPIC \\
    --delete-config leader.replication.throttled.replicas,follower.replication.throttled.replicas
```
"""
_SIDES = ("leader", "follower")
_CONFIGS = "kafka-configs.sh --bootstrap-server $BOOTSTRAP $CONFIG"


def render_commands(plan: Plan) -> str:
    if not plan.moves:
        reasons = markdown_text(". ".join(render_all(plan.reasons)))
        return (
            f"# Plan {plan.plan_id}\n\nNothing has to be executed: {plan.verdict.value.replace('_', ' ')}. {reasons}\n"
        )
    preconditions = "\n".join(f"- {markdown_text(render(fact))}" for fact in plan.preconditions)
    parts = [
        _HEAD.format(
            plan_id=plan.plan_id[:12], summary=_cost(plan), preconditions=f"It holds as long as:\n\n{preconditions}"
        )
    ]
    parts += (
        [_BESIDE.format(partitions=counted(len(plan.seen.reassigning), "partition"))] if plan.seen.reassigning else []
    )
    changed = {m for m, move in enumerate(plan.moves) if move.leader_from != move.leader_to}
    beside, digits = bool(plan.seen.reassigning), _digits(plan)
    steps = step_figures(plan.document)
    begins = {step.first_wave: step for step in steps}
    for number, wave in enumerate(plan.waves, start=1):
        if number in begins:
            parts.append(_step(begins[number], is_last=begins[number] is steps[-1]))
        name = f"{number:0{digits}d}"
        elects = bool(changed.intersection(wave.moves))
        election = f"elections/{name}.json" if elects else None
        if election is not None and _elects_alone(plan, wave):
            summary = f"{counted(len(wave.moves), 'partition')}{_leaders(wave)}."
            parts.append(_ELECTIONS.format(title=f"Wave {name}", summary=summary, commands=_elect(election)))
            continue
        start = _start(plan, wave, f"waves/{name}.json", beside=beside)
        parts.append(_wave(f"Wave {name}", wave, f"waves/{name}.json", election, start))
    parts.append(_AFTERWARDS)
    parts.append(_rollback(plan, digits, changed, steps))
    parts.append(_THROTTLES.format(configs=_CONFIGS))
    return "\n".join(parts)


def _step(step: StepFigures, *, is_last: bool) -> str:
    waves = step_waves(step).capitalize()
    if is_last:
        return f"# Step {step_line(step)}\n\n{waves}; the plan ends with this step.\n"
    stop = "You may stop after this step: no broker is then above its capacity that is not above it today."
    return f"# Step {step_line(step)}\n\n{waves}. {stop}\n"


def _cost(plan: Plan) -> str:
    cost = plan.cost
    return (
        f"Copies {counted(cost.replica_moves, 'replica')} ({format_bytes(cost.bytes)}) and changes "
        f"{counted(cost.leader_changes, 'leader')}, in {counted(len(plan.waves), 'wave')} of together "
        f"{format_seconds(cost.seconds)} at the throttle."
    )


def _reassign(file: str) -> str:
    return f"kafka-reassign-partitions.sh --bootstrap-server $BOOTSTRAP $CONFIG \\\n    --reassignment-json-file {file}"


def _elect(file: str) -> str:
    return (
        "kafka-leader-election.sh --bootstrap-server $BOOTSTRAP $ELECTION_CONFIG \\\n"
        f"    --election-type preferred --path-to-json-file {file}"
    )


def _elects_alone(plan: Plan, wave: Wave) -> bool:
    moves = [plan.moves[m] for m in wave.moves]
    return all(move.from_replicas == move.to_replicas for move in moves)


def _start(plan: Plan, wave: Wave, file: str, *, beside: bool) -> list[str]:
    """Kafka's tool sets throttles on every broker of a list and fails after 1 min if one does not answer.

    Then throttles are first set on the others.
    """
    execute = f"{_reassign(file)} --execute{' --additional' if beside else ''}"
    moves, out_of_service = [plan.moves[m] for m in wave.moves], set(plan.seen.dead_brokers)
    brokers = {broker for move in moves for broker in (*move.from_replicas, *move.to_replicas)}
    if not brokers & out_of_service:
        return [
            "# writes: starts the moves and sets the throttles:",
            f"{execute} --throttle {wave.throttle_bytes_per_s}",
        ]
    rates = ",".join(f"{side}.replication.throttled.rate={wave.throttle_bytes_per_s}" for side in _SIDES)
    replicas = ",".join(f"{side}.replication.throttled.replicas=*" for side in _SIDES)
    topics = sorted({move.topic for move in moves if set(move.to_replicas) - set(move.from_replicas)})
    if not topics:
        return ["# writes: starts the moves, which copy nothing:", execute]
    missing = ", ".join(map(str, sorted(brokers & out_of_service)))
    return [
        f"# writes: throttles; the tool fails to set them while brokers do not answer (here: {missing}):",
        _for_each("BROKER", sorted(brokers - out_of_service), f"brokers --entity-name $BROKER --add-config {rates}"),
        _for_each("TOPIC", topics, f"topics --entity-name $TOPIC --add-config '{replicas}'"),
        "# writes: starts the moves:",
        execute,
    ]


def _for_each(name: str, values: Iterable[object], entity: str) -> str:
    loop = f"for {name} in {' '.join(map(str, values))}; do"
    return f"{loop} \\\n    {_CONFIGS} --alter --entity-type {entity}; done"


def _wave(title: str, wave: Wave, file: str, election: str | None, start: list[str]) -> str:
    reassign = _reassign(file)
    commands = [
        *start,
        "# run it again until all are completed; it then writes: it takes the throttles off. Only then go on:",
        f"{reassign} --verify",
    ]
    if election is not None:
        commands.append(f"# writes: leaders move to the first replica:\n{_elect(election)}")
    cancel = f"# writes: what is not completed goes back to where it was; takes the throttles off:\n{reassign} --cancel"
    needed = max(wave.free_disk_needed.values(), default=0)
    summary = f"{counted(len(wave.moves), 'partition')}, {format_bytes(wave.bytes)}, {format_seconds(wave.seconds)}"
    summary += f"; free disk needed on a broker at most {format_bytes(needed)}" if needed else ""
    summary += f"{_leaders(wave)}."
    return _WAVE.format(title=title, summary=summary, commands="\n".join(commands), cancel=cancel)


def _leaders(wave: Wave) -> str:
    if not wave.leader_changes:
        return ""
    rates = ((wave.leader_in_bytes_per_s, "written"), (wave.leader_out_bytes_per_s, "read"))
    rate_texts = [f"{format_bytes(rate)}/s {what}" for rate, what in rates if rate is not None]
    change = "changes, and with it its" if wave.leader_changes == 1 else "change, and with them their"
    rate = f" ({', '.join(rate_texts)})" if rate_texts else ""
    return f"; {counted(wave.leader_changes, 'leader')} {change} clients{rate}"


def _rollback(plan: Plan, digits: int, changed: set[int], steps: Sequence[StepFigures]) -> str:
    rollback = plan.rollback
    if rollback is None or not rollback.waves:
        return "## Rollback\n\nNothing of this plan can be taken back: its replicas left brokers that are gone.\n"
    cost = rollback.cost
    head = (
        "# Rollback\n\n"
        f"Takes back what was done, last wave first: {counted(cost.replica_moves, 'replica')} "
        f"({format_bytes(cost.bytes)}), {format_seconds(cost.seconds)}. Begin with the wave that was run last.\n"
    )
    parts = [head]
    if rollback.not_undone:
        parts.append(f"Not undone: {counted(len(rollback.not_undone), 'move')} from brokers that are gone.\n")
    owner = {m: number for number, wave in enumerate(plan.waves, start=1) for m in wave.moves}
    for number, wave in enumerate(rollback.waves, start=1):
        name, undone = f"{number:0{digits}d}", f"{owner[wave.moves[0]]:0{digits}d}"
        elects = bool(changed.intersection(plan.waves[int(undone) - 1].moves))
        file, election = f"rollback/{name}.json", f"elections/{undone}.json" if elects else None
        of_step = next((f" of step {s.step}, {step_title(s)}" for s in steps if int(undone) <= s.last_wave), "")
        title = f"Rollback {name} (undoes wave {undone}{of_step})"
        if _elects_alone(plan, wave):
            parts.append(_LEADERS_STAY.format(title=title))
            continue
        start = _start(plan, wave, file, beside=bool(plan.seen.reassigning))
        parts.append(_wave(title, wave, file, election, start))
    return "\n".join(parts)


_LEAST_DIGITS = 2
_TABLE_HEAD = (
    "wave", "topic", "partition", "kind", "from", "to", "leader_from", "leader_to", "bytes", "reason_code",
    "reason", "worse_without",
)  # fmt: skip


def _digits(plan: Plan) -> int:
    back = plan.rollback.waves if plan.rollback else ()
    return max(_LEAST_DIGITS, len(str(max(len(plan.waves), len(back)))))


def plan_files(plan: Plan) -> dict[str, bytes]:
    back, digits = plan.rollback.waves if plan.rollback else (), _digits(plan)
    files: dict[str, bytes] = {}
    for number, wave in enumerate(plan.waves, start=1):
        moves = [plan.moves[m] for m in wave.moves]
        files[f"waves/{number:0{digits}d}.json"] = _reassignment((move, move.to_replicas) for move in moves)
        changed = [move for move in moves if move.leader_from != move.leader_to]
        if changed:
            files[f"elections/{number:0{digits}d}.json"] = _election(changed)
    for number, wave in enumerate(back, start=1):
        moves = [plan.moves[m] for m in wave.moves]
        files[f"rollback/{number:0{digits}d}.json"] = _reassignment((move, move.from_replicas) for move in moves)
    files["commands.md"] = render_commands(plan).encode()
    files["moves.csv"] = _table(plan.moves)
    files["plan.json"] = plan_json(plan)
    return files


def plan_json(plan: Plan) -> bytes:
    document = plan.document
    parts = [f"{orjson.dumps(key).decode()}: {_value(document[key])}" for key in sorted(document)]
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def _value(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], Mapping | str):
        return "[\n" + ",\n".join(_line(element) for element in value) + "\n]"
    if isinstance(value, Mapping) and any(isinstance(element, Mapping) for element in value.values()):
        rows = [f"{orjson.dumps(key).decode()}: {_line(value[key])}" for key in sorted(value)]
        return "{\n" + ",\n".join(rows) + "\n}"
    return _line(value)


def _line(value: Any) -> str:
    return visible_json(orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode())


def _reassignment(rows: Iterable[tuple[Move, Sequence[int]]]) -> bytes:
    """``kafka-reassign-partitions.sh --reassignment-json-file``."""
    lines = [
        _line({"topic": move.topic, "partition": move.partition, "replicas": list(replicas)}) for move, replicas in rows
    ]
    return ('{"version":1,"partitions":[\n' + ",\n".join(lines) + "\n]}\n").encode()


def _election(moves: Iterable[Move]) -> bytes:
    """``kafka-leader-election.sh --path-to-json-file``."""
    lines = [_line({"topic": move.topic, "partition": move.partition}) for move in moves]
    return ('{"partitions":[\n' + ",\n".join(lines) + "\n]}\n").encode()


def _table(moves: Sequence[Move]) -> bytes:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_TABLE_HEAD)
    for move in moves:
        table.writerow(
            (
                move.wave,
                guarded(move.topic),
                move.partition,
                move.kind.value,
                " ".join(map(str, move.from_replicas)),
                " ".join(map(str, move.to_replicas)),
                "" if move.leader_from is None else move.leader_from,
                move.leader_to,
                "" if move.bytes is None else move.bytes,
                move.reason.code.value,
                guarded(visible(render(move.reason))),
                guarded(visible(render(move.worse_without))),
            )
        )
    return text.getvalue().encode()


def plan_folder_files(advisory: Mapping[str, Any], plan: Plan) -> dict[str, bytes]:
    texts = {"report.html": render_report(advisory), "digest.md": render_digest(advisory)}
    return {name: text.encode() for name, text in texts.items()} | plan_files(plan)


def write_plan_folder(folder: Path, advisory: Mapping[str, Any], plan: Plan) -> Path:
    return replace_folder(folder, plan_folder_files(advisory, plan), plan.plan_id)
