"""The answer of a what-if: a table for people, and a document; neither is a plan that a tool would take."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_rebalance.advisory.what_if import Level, Outcome, levels, what_if_document
from kafka_rebalance.amounts import amount_in_words, bytes_in_words, seconds_in_words
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


def what_if_answer(found: tuple[Outcome, ...], seed: int) -> dict[str, Any]:
    return {"note": NOTE, **with_texts(what_if_document(found, seed))}


def write_what_if(out: Path, document: Mapping[str, Any], lines: Sequence[str]) -> Path:
    """Replace the folder whole. Raises UsageError for a foreign one."""
    text = json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")
    table = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    return replace_folder(out, {JSON_FILE: text, TEXT_FILE: table}, hashlib.sha256(text).hexdigest())


def what_if_rows(found: Sequence[Outcome]) -> list[list[str]]:
    """Return the table: its first row names the columns."""
    return [["", *(one.name for one in found)], *_cluster_rows(found), *_plan_rows(found)]


def what_if_lines(found: Sequence[Outcome]) -> list[str]:
    rows = what_if_rows(found)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [NOTE, *table, *(line for one in found for line in _group_lines(one))]


def _cluster_rows(found: Sequence[Outcome]) -> list[list[str]]:
    rows = [
        ["brokers in service", *(f"{one.brokers_in_service:,}" for one in found)],
        ["partitions without a leader", *(f"{one.partitions_without_leader:,}" for one in found)],
    ]
    by_outcome = [{level.resource: level for level in levels(one.scores)} for one in found]
    for resource in dict.fromkeys(resource for known in by_outcome for resource in known):
        row = [known.get(resource) for known in by_outcome]
        rows.append([f"{resource}: highest", *(_highest(level) for level in row)])
        if any(level is not None and level.capacity is not None for level in row):
            rows.append([f"{resource}: above capacity", *(_above(level) for level in row)])
        if any(level is not None and level.fullest_rack is not None for level in row):
            rows.append([f"{resource}: fullest rack", *(_rack(level) for level in row)])
    return rows


def _highest(level: Level | None) -> str:
    if level is None:
        return "unknown"
    load = amount_in_words(level.highest, level.unit)
    return f"{load} on {level.broker}, {level.over_mean:.3f} x mean"


def _above(level: Level | None) -> str:
    if level is None or level.capacity is None:
        return "unknown"
    shown = ", ".join(str(broker) for broker in level.above_capacity[:_SHOWN_BROKERS])
    more = len(level.above_capacity) - _SHOWN_BROKERS
    return (f"{shown} and {more} more" if more > 0 else shown) or "none"


def _rack(level: Level | None) -> str:
    if level is None or level.fullest_rack is None or level.fullest_rack_over_mean is None:
        return "unknown"
    return f"{level.fullest_rack}, {level.fullest_rack_over_mean:.3f} x mean"


def _plan_rows(found: Sequence[Outcome]) -> list[list[str]]:
    plans = [one.plan for one in found if one.plan is not None]
    if len(plans) != len(found):
        return []
    return [
        ["plan", *(f"what if: {plan.verdict.value.replace('_', ' ')}" for plan in plans)],
        ["plan: bytes", *(bytes_in_words(plan.cost.bytes) for plan in plans)],
        ["plan: replicas moved", *(f"{plan.cost.replica_moves:,}" for plan in plans)],
        ["plan: leader changes", *(f"{plan.cost.leader_changes:,}" for plan in plans)],
        ["plan: time", *(_seconds(plan.cost.seconds) for plan in plans)],
    ]


def _seconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else seconds_in_words(seconds)


def _group_lines(one: Outcome) -> list[str]:
    first: dict[str, list[GroupScore]] = {}
    for row in one.groups:
        first.setdefault(row.group_id, []).append(row)
    most = sorted(first.values(), key=lambda rows: (-(rows[0].partitions_moved or 0), rows[0].group_id))
    lines = [_group_line(one.name, rows) for rows in most[:_SHOWN_GROUPS]]
    if len(most) > _SHOWN_GROUPS:
        lines.append(f"{one.name}: and {len(most) - _SHOWN_GROUPS} more groups, in what_if.json")
    return lines


def _group_line(name: str, rows: Sequence[GroupScore]) -> str:
    own, answered = rows[0], [row for row in rows if row.error is None]
    place = f"{name}: group {own.group_id} ({_rendered(own.subject)})"
    if not answered:
        return f"{place}: {_rendered(own.error)}"
    fewest = min(answered, key=lambda row: row.partitions_moved or 0)
    words = f"{place}: {_strategy(own)}"
    if fewest is own or (own.error is None and own.partitions_moved == fewest.partitions_moved):
        return words
    return f"{words}; fewest: {_strategy(fewest)}"


def _rendered(found: Fact | None) -> str:
    return "" if found is None else render(found)


def _strategy(row: GroupScore) -> str:
    if row.error is not None:
        return f"{row.assignor} refuses: {render(row.error)}"
    pause = "without end" if row.longest_pause_ms is None else seconds_in_words(row.longest_pause_ms / 1_000)
    skew = _NONE if row.skew_count is None else f"{row.skew_count:.2f}"
    return f"{row.assignor} moves {row.partitions_moved or 0:,}, skew {skew}, longest pause {pause}"
