"""The answer of a what-if: a table for people, and a document; neither is a plan that a tool would take."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_rebalance.advisory.what_if import Level, Outcome, levels, what_if_document
from kafka_rebalance.amounts import format_amount, format_bytes, format_seconds
from kafka_rebalance.facts import Fact
from kafka_rebalance.render import render, with_texts
from kafka_rebalance.scoring.scores import GroupScore
from rebalance_advisor.publish.folders import replace_folder

JSON_FILE, TEXT_FILE = "what_if.json", "what_if.txt"
NOTE = "what if: nothing here is a plan to execute; the cluster that it is for does not exist"
NOTHING_CHANGED = "what-if: nothing is published, nothing was changed"
_SHOWN_BROKERS = 5
_SHOWN_GROUPS = 20
_NONE = "-"


def what_if_answer(outcomes: tuple[Outcome, ...], seed: int) -> dict[str, Any]:
    return {"note": NOTE, **with_texts(what_if_document(outcomes, seed))}


def write_what_if(out: Path, document: Mapping[str, Any], lines: Sequence[str]) -> Path:
    """Replace the folder whole. Raises UsageError for a foreign one."""
    text = json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")
    table = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    return replace_folder(out, {JSON_FILE: text, TEXT_FILE: table}, hashlib.sha256(text).hexdigest())


def what_if_rows(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Return the table: its first row names the columns."""
    return [["", *(outcome.name for outcome in outcomes)], *_cluster_rows(outcomes), *_plan_rows(outcomes)]


def what_if_lines(outcomes: Sequence[Outcome]) -> list[str]:
    rows = what_if_rows(outcomes)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [NOTE, *table, *(line for outcome in outcomes for line in _group_lines(outcome))]


def _cluster_rows(outcomes: Sequence[Outcome]) -> list[list[str]]:
    rows = [
        ["brokers in service", *(f"{outcome.brokers_in_service:,}" for outcome in outcomes)],
        ["partitions without a leader", *(f"{outcome.partitions_without_leader:,}" for outcome in outcomes)],
    ]
    by_outcome = [{level.resource: level for level in levels(outcome.scores)} for outcome in outcomes]
    for resource in dict.fromkeys(resource for by_resource in by_outcome for resource in by_resource):
        row = [by_resource.get(resource) for by_resource in by_outcome]
        rows.append([f"{resource}: highest", *(_highest(level) for level in row)])
        if any(level is not None and level.capacity is not None for level in row):
            rows.append([f"{resource}: above capacity", *(_above(level) for level in row)])
        if any(level is not None and level.fullest_rack is not None for level in row):
            rows.append([f"{resource}: fullest rack", *(_rack(level) for level in row)])
    return rows


def _highest(level: Level | None) -> str:
    if level is None:
        return "unknown"
    load = format_amount(level.highest, level.unit)
    return f"{load} on {level.broker}, {level.over_mean:.3f} x mean"


def _above(level: Level | None) -> str:
    if level is None or level.capacity is None:
        return "unknown"
    brokers = ", ".join(str(broker) for broker in level.above_capacity[:_SHOWN_BROKERS])
    more = len(level.above_capacity) - _SHOWN_BROKERS
    return (f"{brokers} and {more} more" if more > 0 else brokers) or "none"


def _rack(level: Level | None) -> str:
    if level is None or level.fullest_rack is None or level.fullest_rack_over_mean is None:
        return "unknown"
    return f"{level.fullest_rack}, {level.fullest_rack_over_mean:.3f} x mean"


def _plan_rows(outcomes: Sequence[Outcome]) -> list[list[str]]:
    plans = [outcome.plan for outcome in outcomes if outcome.plan is not None]
    if len(plans) != len(outcomes):
        return []
    return [
        ["plan", *(f"what if: {plan.verdict.value.replace('_', ' ')}" for plan in plans)],
        ["plan: bytes", *(format_bytes(plan.cost.bytes) for plan in plans)],
        ["plan: replicas moved", *(f"{plan.cost.replica_moves:,}" for plan in plans)],
        ["plan: leader changes", *(f"{plan.cost.leader_changes:,}" for plan in plans)],
        ["plan: time", *(_seconds(plan.cost.seconds) for plan in plans)],
    ]


def _seconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else format_seconds(seconds)


def _group_lines(outcome: Outcome) -> list[str]:
    first: dict[str, list[GroupScore]] = {}
    for row in outcome.groups:
        first.setdefault(row.group_id, []).append(row)
    most = sorted(first.values(), key=lambda rows: (-(rows[0].partitions_moved or 0), rows[0].group_id))
    lines = [_group_line(outcome.name, rows) for rows in most[:_SHOWN_GROUPS]]
    if len(most) > _SHOWN_GROUPS:
        lines.append(f"{outcome.name}: and {len(most) - _SHOWN_GROUPS} more groups, in what_if.json")
    return lines


def _group_line(name: str, rows: Sequence[GroupScore]) -> str:
    own, answered = rows[0], [row for row in rows if row.error is None]
    group_label = f"{name}: group {own.group_id} ({_rendered(own.subject)})"
    if not answered:
        return f"{group_label}: {_rendered(own.error)}"
    fewest = min(answered, key=lambda row: row.partitions_moved or 0)
    line = f"{group_label}: {_strategy(own)}"
    if fewest is own or (own.error is None and own.partitions_moved == fewest.partitions_moved):
        return line
    return f"{line}; fewest: {_strategy(fewest)}"


def _rendered(fact: Fact | None) -> str:
    return "" if fact is None else render(fact)


def _strategy(row: GroupScore) -> str:
    if row.error is not None:
        return f"{row.assignor} refuses: {render(row.error)}"
    pause = "without end" if row.longest_pause_ms is None else format_seconds(row.longest_pause_ms / 1_000)
    skew = _NONE if row.skew_count is None else f"{row.skew_count:.2f}"
    return f"{row.assignor} moves {row.partitions_moved or 0:,}, skew {skew}, longest pause {pause}"
