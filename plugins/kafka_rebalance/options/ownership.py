"""Whose trouble a finding is, and which findings are quiet for a while: rules that people write down.

Example: ``OwnerRule("payments-.*", "payments", "#payments-oncall", 1)`` says whose every topic, group and partition is
whose whole name matches; ``MuteRule("tmp-.*", until, "migrated in May", code="assignor_uneven")`` keeps that code quiet
for such subjects in readings before ``until``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.pattern import require_pattern
from kafka_rebalance.visible_text import excerpt

EVERYTHING = ".*"
MOST_TIER = 9


@dataclass(frozen=True, slots=True)
class OwnerRule:
    """``pattern`` matches the whole subject (a partition's also its topic's); the first rule that matches counts.

    subject_type  topic, group, broker … as a finding says; None: of any kind
    tier          0 to 9, as the team counts; None: not told
    """

    pattern: str
    team: str
    channel: str | None = None
    tier: int | None = None
    subject_type: str | None = None

    def __post_init__(self) -> None:
        """Raises InvalidInputError for what cannot be."""
        require_pattern(self.pattern, "owner pattern")
        _require_text("owner", "team", self.team)
        if self.channel is not None:
            _require_text("owner", "channel", self.channel)
        is_tier = isinstance(self.tier, int) and not isinstance(self.tier, bool) and 0 <= self.tier <= MOST_TIER
        if self.tier is not None and not is_tier:
            raise InvalidInputError.at("owner tier", f"{excerpt(self.tier)} is no number from 0 to {MOST_TIER}")

    def covers(self, subject_type: str, subject: str) -> bool:
        """Whether this is the owner of that subject."""
        return _covers(self.subject_type, self.pattern, subject_type, subject)


@dataclass(frozen=True, slots=True)
class MuteRule:
    """Findings of readings before ``until`` stay in the list, but are not put before people.

    code  of the registry; None: any
    """

    pattern: str
    until: datetime
    reason: str
    code: str | None = None
    subject_type: str | None = None

    def __post_init__(self) -> None:
        """Raises InvalidInputError for what cannot be: a mute without reason, or without an aware time."""
        require_pattern(self.pattern, "mute pattern")
        _require_text("mute", "reason", self.reason)
        if self.until.tzinfo is None:
            raise InvalidInputError.at("mute until", f"{self.until} has no time zone")

    def covers(self, code: str, subject_type: str, subject: str) -> bool:
        """Whether findings of this code about that subject are meant."""
        return self.code in (None, code) and _covers(self.subject_type, self.pattern, subject_type, subject)


def _covers(wanted_type: str | None, pattern: str, subject_type: str, subject: str) -> bool:
    # A partition belongs to whom its topic belongs.
    names = {subject_type: subject} | ({"topic": subject.rpartition("-")[0]} if subject_type == "partition" else {})
    return any(wanted_type in (None, kind) and re.fullmatch(pattern, name) for kind, name in names.items())


def _require_text(kind: str, name: str, text: object) -> None:
    if not isinstance(text, str) or not text.strip():
        raise InvalidInputError.at(f"{kind} {name}", f"{excerpt(text)} is no text")
