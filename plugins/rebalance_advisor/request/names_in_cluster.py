r"""Refuse names and patterns that the cluster does not know.

A pattern of this run must match a topic. One of clusters.toml, or for many clusters, may match nothing, because topics
come and go. Python's regular expressions backtrack: ``((\w|.)+)+!`` needs centuries for 40 letters and cannot be
interrupted. So a child process tests all patterns first and stops at 2 s of CPU for one.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import OF_TOPICS
from kafka_rebalance.options.values import Pattern, read_value

if TYPE_CHECKING:
    from kafka_rebalance.snapshot.model import ClusterSnapshot
    from rebalance_advisor.request.run_request import RunRequest

CPU_SECONDS = 2.0
Placed = tuple[str, str]  # place, pattern
_CHILD = """
import json, re, signal, sys
given = json.load(sys.stdin)
for number, pattern in enumerate(given["patterns"]):
    print(number, flush=True)
    signal.setitimer(signal.ITIMER_PROF, given["seconds"])
    matches = re.compile(pattern).fullmatch
    for name in given["names"]:
        matches(name)
"""


def require_quick_request(request: RunRequest, snapshot: ClusterSnapshot) -> None:
    patterns = list(patterns_of(request))
    if patterns:
        added = (getattr(change, "topic", None) for scenario in request.own_scenarios for change in scenario.changes)
        require_quick(patterns, [*names_of(snapshot), *filter(None, added)])


def require_quick(patterns: Iterable[Placed], names: Iterable[str]) -> None:
    tried = list(dict.fromkeys(patterns))
    if not tried:
        return
    given = {"patterns": [pattern for _, pattern in tried], "names": list(names), "seconds": CPU_SECONDS}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _CHILD], input=json.dumps(given).encode(), capture_output=True, check=False
    )
    if done.returncode == 0:
        return
    begun = done.stdout.split()
    if not begun:
        stderr = done.stderr.decode(errors="replace").strip()
        raise UsageError.at("patterns", f"could not be tried: the process that tries them failed: {stderr[-200:]}")
    option, pattern = tried[int(begun[-1])]
    is_slow = done.returncode == -signal.SIGPROF
    problem = f"takes more than {CPU_SECONDS:g} s of CPU" if is_slow else "cannot be tried"
    raise UsageError.at(
        option, f"{excerpt(pattern)} {problem} on the names of this cluster",
        "write it without a repetition inside a repetition, for example pay-.* instead of (pay-(.*))*",
    )  # fmt: skip


def names_of(snapshot: ClusterSnapshot) -> list[str]:
    topics = [topic.name for topic in snapshot.topics]
    groups = [group.id for group in snapshot.groups]
    clients = [member.client_id for group in snapshot.groups for member in group.members if member.client_id]
    others = [snapshot.cluster, *(str(broker.id) for broker in snapshot.brokers)]
    racks = [broker.rack for broker in snapshot.brokers if broker.rack]
    longest = max((partition for _, partition in snapshot.row_of), default=0)
    return list(
        dict.fromkeys([*topics, *groups, *clients, *others, *racks, *(f"{topic}-{longest}" for topic in topics)])
    )


def patterns_of(request: RunRequest) -> Iterator[Placed]:
    yield from request.options.topic_patterns()
    for option, rules in (("--owners", request.owners), ("--mutes", request.mutes), ("--clients", request.clients)):
        yield from ((option, rule.pattern) for rule in rules)
    for scenario in request.own_scenarios:
        for change in scenario.changes:
            held = (getattr(change, name, None) for name in ("topics", "groups"))
            yield from ((f"--scenario {scenario.name}", pattern) for pattern in held if isinstance(pattern, str))


def patterns_of_plan(document: Mapping[str, Any]) -> Iterator[Placed]:
    parameters = document.get("parameters")
    if not isinstance(parameters, Mapping):
        return
    for option in OF_TOPICS:
        held = parameters.get(option.field)
        for part in held if isinstance(held, list) else ():
            pattern = part.get("pattern") if isinstance(part, Mapping) else part
            if isinstance(pattern, str) and _is_pattern(pattern):
                yield f"plan.parameters.{option.field}", pattern


def _is_pattern(text: str) -> bool:
    try:
        read_value(Pattern, text)
    except ValueError:
        return False
    return True


if TYPE_CHECKING:
    from kafka_rebalance.options.plan_options import PlanOptions
    from kafka_rebalance.snapshot.model import ClusterSnapshot
    from rebalance_advisor.request.run_request import RunRequest

_SHOWN = 3
_NOT_OF_NAMES = re.compile(r"\\.|[^A-Za-z0-9._-]|\.(?=[*+?])")  # topic names lack them


def require_names_known(
    request: RunRequest, snapshot: ClusterSnapshot, may_match_nothing: Collection[Placed] = ()
) -> None:
    """Raises UsageError. ``may_match_nothing``: (option, pattern) of clusters.toml."""
    _require_racks_known(snapshot, request.options)
    changes = (change for scenario in request.own_scenarios for change in scenario.changes)
    added = (getattr(change, "topic", None) for change in changes)
    topics = [*(topic.name for topic in snapshot.topics), *filter(None, added)]
    for option, pattern in request.options.topic_patterns():
        if (option, pattern) not in may_match_nothing and not any(re.fullmatch(pattern, topic) for topic in topics):
            raise UsageError.at(f"{option} {excerpt(pattern)}", "matches no topic", _meant(pattern, topics))


def _require_racks_known(snapshot: ClusterSnapshot, options: PlanOptions) -> None:
    racks = sorted({broker.rack for broker in snapshot.brokers if broker.rack is not None})
    there = {broker.id for broker in snapshot.brokers}
    added = {broker: rack for broker, rack in options.add_brokers.items() if broker not in there}
    for broker, rack in sorted(added.items()):
        if rack is None and racks:
            example = f"for example {broker}:{racks[0]} (racks: {', '.join(racks)})"
            raise UsageError.at(f"--add-broker {broker}", f"give its rack, {example}")
        if rack is not None and rack not in racks and rack not in options.new_racks:
            near = get_close_matches(rack, racks, n=1)
            meant = f"did you mean {broker}:{near[0]}? " if near else ""
            others = f"racks: {', '.join(racks)}" if racks else "no broker has a rack"
            raise UsageError.at(
                f"--add-broker {broker}:{rack}", f"no broker is on rack {excerpt(rack)} ({others})",
                f"{meant}a rack that is new takes --new-rack {rack}",
            )  # fmt: skip
    for rack in sorted(options.new_racks):
        if rack in racks:
            raise UsageError.at(f"--new-rack {rack}", "brokers are on this rack already", "leave it out")
        if rack not in added.values():
            raise UsageError.at(f"--new-rack {rack}", "no broker is added to it", f"give --add-broker ID:{rack}")


def _meant(pattern: str, topics: Iterable[str]) -> str:
    names = sorted(set(topics))
    if not names:
        return "the cluster has no topics"
    plain = _NOT_OF_NAMES.sub("", pattern)
    near = [name for name in names if plain and plain in name][:_SHOWN] or get_close_matches(plain, names, n=_SHOWN)
    if near:
        return f"did you mean {' or '.join(near)}? A pattern matches whole names, as pay-.*"
    return f"a pattern matches whole names, as pay-.*; topics are, for example, {', '.join(names[:_SHOWN])}"
