"""Refuse names and patterns of a request that the cluster does not know: most of them are mistyped.

A pattern that a person gives for this run has to match a topic. One in the cluster's table of clusters.toml, or for
many clusters at once, may match nothing on one day: topics come and go, and a schedule that stops for it would help
nobody. The plan's reasons then say that it matched no topic.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from kafka_rebalance.errors import UsageError
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.request.pattern_trial import Placed

if TYPE_CHECKING:
    from kafka_rebalance.options.plan_options import PlanOptions
    from kafka_rebalance.snapshot.model import ClusterSnapshot
    from rebalance_advisor.request.run_request import RunRequest

_SHOWN = 3
_NOT_OF_NAMES = re.compile(r"\\.|[^A-Za-z0-9._-]|\.(?=[*+?])")  # what a regular expression has beside a topic's name


def require_names_known(
    request: RunRequest, snapshot: ClusterSnapshot, may_match_nothing: Collection[Placed] = ()
) -> None:
    """Raises UsageError for an added broker without its rack, a rack or a pattern that the cluster does not know.

    ``may_match_nothing``: patterns that a table of clusters.toml holds, with their options.
    """
    _require_racks_known(snapshot, request.options)
    changes = (change for scenario in request.own_scenarios for change in scenario.changes)
    added = (getattr(change, "topic", None) for change in changes)
    topics = [*(topic.name for topic in snapshot.topics), *filter(None, added)]
    for option, pattern in request.options.topic_patterns():
        if (option, pattern) not in may_match_nothing and not any(re.fullmatch(pattern, topic) for topic in topics):
            raise UsageError.at(f"{option} {excerpt(pattern)}", "matches no topic", _meant(pattern, topics))


def _require_racks_known(snapshot: ClusterSnapshot, options: PlanOptions) -> None:
    known = sorted({broker.rack for broker in snapshot.brokers if broker.rack is not None})
    there = {broker.id for broker in snapshot.brokers}
    added = {broker: rack for broker, rack in options.add_brokers.items() if broker not in there}
    for broker, rack in sorted(added.items()):
        if rack is None and known:
            example = f"for example {broker}:{known[0]} (racks: {', '.join(known)})"
            raise UsageError.at(f"--add-broker {broker}", f"give its rack, {example}")
        if rack is not None and rack not in known and rack not in options.new_racks:
            near = get_close_matches(rack, known, n=1)
            meant = f"did you mean {broker}:{near[0]}? " if near else ""
            others = f"racks: {', '.join(known)}" if known else "no broker has a rack"
            raise UsageError.at(
                f"--add-broker {broker}:{rack}", f"no broker is on rack {excerpt(rack)} ({others})",
                f"{meant}a rack that is new takes --new-rack {rack}",
            )  # fmt: skip
    for rack in sorted(options.new_racks):
        if rack in known:
            raise UsageError.at(f"--new-rack {rack}", "brokers are on this rack already", "leave it out")
        if rack not in added.values():
            raise UsageError.at(f"--new-rack {rack}", "no broker is added to it", f"give --add-broker ID:{rack}")


def _meant(pattern: str, topics: Iterable[str]) -> str:
    """``did you mean …?`` with names that hold the pattern or are spelled nearly so; else some names that exist."""
    names = sorted(set(topics))
    if not names:
        return "the cluster has no topics"
    plain = _NOT_OF_NAMES.sub("", pattern)
    near = [name for name in names if plain and plain in name][:_SHOWN] or get_close_matches(plain, names, n=_SHOWN)
    if near:
        return f"did you mean {' or '.join(near)}? A pattern matches whole names, as pay-.*"
    return f"a pattern matches whole names, as pay-.*; topics are, for example, {', '.join(names[:_SHOWN])}"
