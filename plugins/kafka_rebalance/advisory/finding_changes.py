"""What became of the findings of an earlier advisory: persisting, resolved; and which are new, or came back.

A finding is known by its key. One that only explains less or more than before persists, and so does one that another
explains now: it is resolved when nothing tells it any more. Example: the earlier advisory told a and b, and c had been
resolved before; this one tells a, c and d: a persists, b is resolved, c is reopened, d is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Document = Mapping[str, Any]
NEW, PERSISTING, REOPENED = "new", "persisting", "reopened"
_OF_RESOLVED = ("finding_key", "code", "severity", "subject_type", "subject", "recommendation")


def with_changes(advisory: Document, earlier: Sequence[Document], closed_earlier: Sequence[str] = ()) -> dict[str, Any]:
    """The advisory with ``change`` in each finding, ``resolved`` findings, and the keys of all that are ``closed``.

    ``earlier``: the findings of the advisory before; ``closed_earlier``: what had been resolved up to then.
    """
    before, now = set(_keys(earlier)), set(_keys(advisory["findings"]))
    resolved = [
        {name: finding[name] for name in _OF_RESOLVED} for finding in earlier if finding["finding_key"] not in now
    ]
    closed = {*closed_earlier, *before} - now
    findings = [
        {**finding, "change": _change(finding["finding_key"], before, closed_earlier)}
        for finding in advisory["findings"]
    ]
    return {**advisory, "findings": findings, "resolved": resolved, "closed_findings": sorted(closed)}


def _change(key: str, before: set[str], closed_earlier: Sequence[str]) -> str:
    if key in before:
        return PERSISTING
    return REOPENED if key in closed_earlier else NEW


def _keys(findings: Sequence[Document]) -> Iterator[str]:
    for finding in findings:
        yield finding["finding_key"]
        yield from _keys(finding.get("symptoms", ()))
