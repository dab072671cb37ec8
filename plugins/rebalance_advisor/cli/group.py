"""Show what each strategy would do with one group of INPUT, and the cost when a pod dies or all of them restart.

INPUT is a snapshot or a folder of dumps, as for ``advise``. Exit codes: 0 done, 1 bad input or no such group, 2 wrong
usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kafka_assignors.errors import UnknownNameError
from kafka_rebalance.amounts import counted, format_bytes, format_seconds
from kafka_rebalance.groups.connect_workers import ConnectReplay, replay_connect_group
from kafka_rebalance.groups.fixed_readers import (
    FixedReadersScore,
    ReaderKind,
    read_fixed_readers,
    score_fixed_readers,
)
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.groups.motion import MotionCode, motion_of
from kafka_rebalance.groups.strategies import OWN
from kafka_rebalance.render import render
from kafka_rebalance.scoring.scores import GroupScore
from kafka_rebalance.snapshot.group import Group
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.cli.arguments import add_input_options, read_given
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.dumps.input_file import read_json
from rebalance_advisor.terminal import write_json, write_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="INPUT", type=Path)
    parser.add_argument("group", metavar="GROUP", help="its id")
    parser.add_argument(
        "--to", metavar="STRATEGY", help="the way to this one of the table, as consumer/uniform (what is advised)"
    )
    parser.add_argument(
        "--readers", type=Path, metavar="FILE", help="GROUP is a Flink job or a MirrorMaker connector of this JSON file"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="draws the members that join (0)")
    parser.add_argument("--json", action="store_true", help="print every row of every scenario as JSON")
    add_input_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from kafka_rebalance.advisory.advisory import rollover_steps, streams_facts
    from kafka_rebalance.findings.group_rules import findings_by_group, group_advice
    from kafka_rebalance.findings.rules import evaluate_rules
    from kafka_rebalance.groups.group_replay import EVERYTHING
    from kafka_rebalance.render import render, render_all, with_texts
    from kafka_rebalance.scoring.snapshot_scores import score_cluster
    from rebalance_advisor.compiling.first_compile import tell_of_first_compile

    tell_of_first_compile()
    say = Progress()
    say("reading")
    snapshot = read_given(arguments.input, arguments)
    if arguments.readers is not None:
        return _tell_fixed_readers(arguments, snapshot)
    groups = [group for group in snapshot.groups if group.id == arguments.group]
    if not groups:
        raise UnknownNameError.among("group", arguments.group, [group.id for group in snapshot.groups])
    say("replaying")
    alone = replace(snapshot, groups=tuple(groups))
    (answer,) = replace(EVERYTHING, seed=arguments.seed).replays(alone)
    names = [score.assignor for score in answer.scores]
    if arguments.to is not None and arguments.to not in names:
        raise UnknownNameError.among("strategy", arguments.to, names)
    if arguments.json:
        rows: dict[str, Any] = {
            name: [row.document() for row in getattr(answer, name)] for name in ("scores", "scenarios")
        }
        workers = replay_connect_group(groups[0], arguments.seed)
        rows |= {} if workers is None else {"connect": workers.document()}
        write_json(sys.stdout, with_texts(asdict(replace(answer, scores=(), scenarios=())) | rows))
        return 0
    # As `advise`: findings depend on other groups of the same topics.
    about = findings_by_group(evaluate_rules(snapshot, score_cluster(snapshot), [answer])).get(arguments.group, [])
    tasks = [] if answer.streams is None else render_all(streams_facts(answer.streams))
    workers = replay_connect_group(groups[0], arguments.seed)
    advice = render(group_advice(answer, groups[0], about))
    table = (
        group_table(answer, groups[0], advice, tasks) if workers is None else worker_table(workers, groups[0], advice)
    )
    write_lines(sys.stdout, *table)
    steps = rollover_steps(answer, groups[0], snapshot.kafka_version, arguments.to)
    write_lines(sys.stdout, *render_all(steps))
    return 0


_HEAD = ("strategy", "fullest", "best", "idle", "a pod dies", "nobody reads for", "all restart", "to get there")


def group_table(replay: GroupReplay, group: Group, advice: str, tasks: Sequence[str] = ()) -> list[str]:
    today = replay.today
    is_rate = today.skew_rate is not None
    rows = [_HEAD, _row(replay, today, today.assignor, is_rate=is_rate)]
    own, kind = today.assignor, kind_of(group)
    has_choice = kind.has_choice or kind is GroupKind.EMPTY
    others = replay.scores[1:] if has_choice else ()
    rows += [
        _row(replay, score, score.assignor, is_rate=is_rate)
        for score in others
        if score.error is None and score.assignor not in (own, OWN)
    ]
    best = replay.score(OWN) if has_choice else None
    if best is not None and best.error is None:
        rows.append(_row(replay, best, "weighted (ours)", is_rate=is_rate))
    lines = _aligned(rows)
    lines[1] += "  ← today"
    head = f"{group.id}: {_size_text(today, group)}, {group.type} group, {own}"
    by = "bytes per second" if is_rate else "partitions (rates are unknown)"
    meaning = f"fullest: member over mean by {by}, best: none can be lower; a pod dies: partitions that change reader"
    refused = [f"{score.assignor}: {render(score.error)}" for score in others if score.error is not None]
    return [head, *lines, meaning, *refused, *tasks, *([advice] if advice else [])]


def _tell_fixed_readers(arguments: argparse.Namespace, snapshot: ClusterSnapshot) -> int:
    fixed_readers = read_fixed_readers(read_json(arguments.readers), str(arguments.readers))
    named = [readers for readers in fixed_readers if readers.name == arguments.group]
    if not named:
        raise UnknownNameError.among("reader", arguments.group, [readers.name for readers in fixed_readers])
    score = score_fixed_readers(named[0], snapshot)
    if arguments.json:
        write_json(sys.stdout, asdict(score))
        return 0
    write_lines(sys.stdout, *fixed_reader_table(score))
    return 0


def fixed_reader_table(score: FixedReadersScore) -> list[str]:
    rates = score.in_bytes_per_s
    order = sorted(
        range(score.readers), key=lambda number: (-(rates[number] if rates else 0), -score.partitions[number])
    )
    indexes = order if len(order) <= 2 * _MOST_SHOWN else [*order[:_MOST_SHOWN], *order[-_MOST_SHOWN:]]
    noun = "subtask" if score.kind is ReaderKind.FLINK else "task"
    rows = [(noun, "partitions", "bytes per second")]
    rows += [
        (str(number), str(score.partitions[number]), format_bytes(rates[number]) if rates else "?")
        for number in indexes
    ]
    title = f"{score.name}: {counted(score.readers, noun)} of {_FRAMEWORKS[score.kind]}, {score.idle_readers} idle"
    uneven = (
        f"fullest over mean: {_ratio(score.skew_count)} by partitions, {_ratio(score.skew_rate)} by bytes per second"
    )
    return [title, *_aligned(rows), uneven]


_MOST_SHOWN = 10
_FRAMEWORKS = {ReaderKind.FLINK: "Flink", ReaderKind.MIRROR_MAKER: "MirrorMaker 2"}


def worker_table(replay: ConnectReplay, group: Group, advice: str) -> list[str]:
    rows = [("worker", "url", "connectors", "tasks", "")]
    rows += [
        (load.member_id, load.url or "", str(load.connectors), str(load.tasks), "leader" if load.is_leader else "")
        for load in replay.loads
    ]
    head = ("scenario", "worker", "most tasks", "idle", "stopped", "for", "moved")
    lines = [head] if replay.rows else []
    lines += [
        (
            row.scenario.value.replace("_", " "), ", ".join(row.workers), str(row.most_tasks), str(row.idle_workers),
            str(row.stopped or ""), format_seconds(row.stopped_ms / 1000) if row.stopped_ms else "", str(row.moved),
        )
        for row in replay.rows
    ]  # fmt: skip
    title = f"{group.id}: {counted(len(group.members), 'worker')} of Kafka Connect, {group.protocol or 'unknown'}"
    return [title, *_aligned(rows), *_aligned(lines), *([advice] if advice else [])]


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _size_text(today: GroupScore, group: Group) -> str:
    members, motion = counted(today.members, "member"), motion_of(group)
    tasks = sum(len(numbers) for member in group.members if member.tasks for _, numbers in member.tasks.active)
    if today.partitions or motion is None or motion.code is not MotionCode.NOT_SHOWN:
        is_of_tasks = tasks and not today.partitions
        return f"{members}, {counted(tasks, 'active task') if is_of_tasks else counted(today.partitions, 'partition')}"
    return f"{members}, assignments unknown" if today.members else "members unknown"


def _row(replay: GroupReplay, score: GroupScore, name: str, *, is_rate: bool) -> tuple[str, ...]:
    crash = _scenario(replay, "member_crashes", score.assignor)
    restart = _scenario(replay, "rolling_restart", score.assignor)
    change = _scenario(replay, "strategy_changes", score.assignor)
    fullest, best = (score.skew_rate, score.least_skew_rate) if is_rate else (score.skew_count, score.least_skew_count)
    unread = (
        "" if crash is None or crash.partitions_unread is None else f"{crash.partitions_unread} × ≤ {_pause(crash)}"
    )
    return (
        name,
        _ratio(fullest),
        _ratio(best),
        "" if score.idle_members is None else str(score.idle_members),
        "" if crash is None or crash.partitions_moved is None else f"{crash.partitions_moved} move",
        unread,
        "" if restart is None or restart.unread_partition_ms is None else _summed(restart.unread_partition_ms),
        "" if change is None or change.partitions_moved is None else f"{change.partitions_moved} move",
    )


def _scenario(replay: GroupReplay, scenario: str, assignor: str) -> GroupScore | None:
    scores: Sequence[GroupScore] = [
        row for row in replay.scenarios if (row.scenario, row.assignor) == (scenario, assignor) and row.error is None
    ]
    return scores[0] if scores else None


def _pause(score: GroupScore) -> str:
    return "for ever" if score.longest_pause_ms is None else format_seconds(score.longest_pause_ms / 1000)


def _summed(unread_ms: int) -> str:
    return f"{unread_ms / 60_000:,.0f} partition·min" if unread_ms >= 60_000 else f"{unread_ms / 1000:,.0f} partition·s"


def _ratio(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"
