"""Return a plan as files: ``plan.json``, Kafka's JSON for each wave, its rollback and elections, commands, a table.

Numbers begin at 01 and have as many digits as the last one needs: run in order of their names. ``rollback/01.json``
undoes the last wave. ``elections/NN.json`` is run after wave NN, and again after its rollback: a reordered list alone
moves no leader. Nothing here decides anything; a plan that is written twice gives the same bytes. A plan without an
advisory gets report and digest without findings.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from kafka_assignors.visible_text import visible, visible_json
from kafka_rebalance.advisory.advisory import advisory_document
from kafka_rebalance.csv_text import guarded
from kafka_rebalance.plans.hours_outside import HoursOutside
from kafka_rebalance.plans.plan import Move, Plan
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.publish.commands import render_commands
from rebalance_advisor.publish.digest import render_digest
from rebalance_advisor.publish.folders import replace_folder
from rebalance_advisor.publish.report import render_report

_LEAST_DIGITS = 2
_TABLE_HEAD = (
    "wave", "topic", "partition", "kind", "from", "to", "leader_from", "leader_to", "bytes", "reason_code",
    "reason", "worse_without",
)  # fmt: skip


def plan_files(plan: Plan) -> dict[str, bytes]:
    """Each file by its path in the folder."""
    back = plan.rollback.waves if plan.rollback else ()
    digits = max(_LEAST_DIGITS, len(str(max(len(plan.waves), len(back)))))
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
    files["commands.md"] = render_commands(plan, digits).encode()
    files["moves.csv"] = _table(plan.moves)
    files["plan.json"] = plan_json(plan)
    return files


def plan_json(plan: Plan) -> bytes:
    """``plan.json``: keys in order, one line for each entry of a long list."""
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
    """Kafka's format of ``kafka-reassign-partitions.sh --reassignment-json-file``."""
    lines = [
        _line({"topic": move.topic, "partition": move.partition, "replicas": list(replicas)}) for move, replicas in rows
    ]
    return ('{"version":1,"partitions":[\n' + ",\n".join(lines) + "\n]}\n").encode()


def _election(moves: Iterable[Move]) -> bytes:
    """Kafka's format of ``kafka-leader-election.sh --path-to-json-file``."""
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


def plan_folder_files(snapshot: ClusterSnapshot, plan: Plan, hours: HoursOutside | None = None) -> dict[str, bytes]:
    """Each file by its path in the folder."""
    advisory = advisory_document(snapshot, plan, (), (), hours=hours)
    texts = {"report.html": render_report(advisory), "digest.md": render_digest(advisory)}
    return {name: text.encode() for name, text in texts.items()} | plan_files(plan)


def write_plan_folder(folder: Path, snapshot: ClusterSnapshot, plan: Plan, hours: HoursOutside | None = None) -> Path:
    """Replace the folder whole, once everything is rendered; returns where its files are to be read."""
    return replace_folder(folder, plan_folder_files(snapshot, plan, hours), plan.plan_id)
