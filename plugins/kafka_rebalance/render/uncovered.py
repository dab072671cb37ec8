"""Coverage gaps in a few words, for the verdict line and for lists."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_rebalance.render import render
from kafka_rebalance.render.coverage import RIGHT_HIDES
from kafka_rebalance.snapshot.coverage import CoverageGap, missing_rights

_MOST_NAMED = 3
_NAMED = (("broker", "brokers"), ("topic", "topics"), ("partition", "partitions"), ("group", "groups"))


def describe_uncovered(coverage: Iterable[CoverageGap]) -> str:
    """Return ``what needs the right Describe on Cluster (…), parts of topic secret``; empty without gaps."""
    gaps = tuple(coverage)
    parts = [f"what needs the right {right.value} ({RIGHT_HIDES[right.value]})" for right in missing_rights(gaps)]
    parts += _shorten({render(gap.what) for gap in gaps if gap.subject_type == "cluster"})
    for kind, plural in _NAMED:
        names = {gap.subject for gap in gaps if gap.subject_type == kind}
        # A member's gap is ``group/member``.
        names |= {gap.subject.split("/")[0] for gap in gaps if kind == "group" and gap.subject_type == "member"}
        if names:
            parts.append(f"parts of {plural if len(names) > 1 else kind} {', '.join(_shorten(names))}")
    return "; ".join(parts)


def describe_gap(gap: CoverageGap) -> str:
    """Return ``broker 3: log dirs: no answer within 5 s``."""
    return f"{gap.subject_type} {gap.subject}: {render(gap.what)}: {render(gap.reason)}"


def _shorten(names: set[str]) -> list[str]:
    ordered = sorted(names, key=lambda name: (len(name), name))  # 2 before 10
    more = len(ordered) - _MOST_NAMED
    return ordered[:_MOST_NAMED] + ([f"{more:,} more"] if more > 0 else [])
