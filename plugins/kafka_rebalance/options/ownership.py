"""Whose trouble a finding is, and which findings are quiet for a while: rules that people write down.

Example: ``OwnerRule("payments-.*", "payments", "#payments-oncall", 1)`` says whose every topic, group and partition is
whose whole name matches; ``MuteRule("tmp-.*", until, "migrated in May", code="assignor_uneven")`` keeps that code quiet
for such subjects in readings before ``until``.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field, Strict, WithJsonSchema
from pydantic.dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.limits import LONGEST_TEXT
from kafka_rebalance.options.option import Checked
from kafka_rebalance.options.values import CHECKED, FilledText, OneOf, Pattern, Text, Value
from kafka_rebalance.visible_text import excerpt

EVERYTHING = ".*"
MOST_TIER = 9
_SUBJECT_TYPES = (
    "cluster", "broker", "rack", "topic", "partition", "group", "member", "coordinator", "partitioner", "plan",
)  # fmt: skip
SubjectOf: TypeAlias = Annotated[str, OneOf(_SUBJECT_TYPES)]


def _end(value: Any) -> Any:
    """A day (to its end, in UTC) or a time with its zone, as text or as TOML has them."""
    end = _parsed(value) if isinstance(value, str) else value
    if isinstance(end, datetime) or not isinstance(end, date):
        return end
    try:
        return datetime.combine(end + timedelta(days=1), time(), UTC)
    except OverflowError as error:
        raise ValueError(f"{excerpt(value)} has no end") from error


def _parsed(text: str) -> Any:
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(text.strip())
        except ValueError:
            continue
    return text


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"{excerpt(moment.isoformat())} has no time zone; write 2026-12-31 or 2026-12-31T18:00Z")
    return moment.astimezone(UTC)


@dataclass(frozen=True, config=CHECKED)
class OwnerRule(Checked):
    """``pattern`` matches the whole subject (a partition's also its topic's); the first rule that matches counts.

    subject_type  topic, group, broker … as a finding says; None: of any kind
    tier          0 to 9, as the team counts; None: not told
    """

    pattern: Pattern
    team: FilledText
    channel: FilledText | None = None
    tier: Annotated[int, Strict(), Field(ge=0, le=MOST_TIER), Value("is no tier", f"give 0 to {MOST_TIER}")] | None = (
        None
    )
    subject_type: SubjectOf | None = None

    def covers(self, subject_type: str, subject: str) -> bool:
        """Whether this is the owner of that subject."""
        return _covers(self.subject_type, self.pattern, subject_type, subject)


@dataclass(frozen=True, config=CHECKED)
class MuteRule(Checked):
    """Findings of readings before ``until`` stay in the list, but are not put before people.

    code  of the registry; None: any
    """

    pattern: Annotated[Pattern, Field(default=EVERYTHING)]
    until: Annotated[
        datetime,
        Strict(),
        AfterValidator(_in_utc),
        Value("is no day and no time", "write 2026-12-31", read=_end, write=datetime.isoformat),
        WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}),  # a day is no "date-time"
    ]
    reason: FilledText
    code: Text | None = None
    subject_type: SubjectOf | None = None

    def __post_init__(self) -> None:
        """Raises InvalidInputError for a mute of everything."""
        if self.code is None and self.pattern == EVERYTHING and self.subject_type is None:
            raise InvalidInputError("mutes everything; give a code, a pattern or a subject_type")

    def covers(self, code: str, subject_type: str, subject: str) -> bool:
        """Whether findings of this code about that subject are meant."""
        return self.code in (None, code) and _covers(self.subject_type, self.pattern, subject_type, subject)


def _covers(wanted_type: str | None, pattern: str, subject_type: str, subject: str) -> bool:
    # A partition belongs to whom its topic belongs.
    names = {subject_type: subject} | ({"topic": subject.rpartition("-")[0]} if subject_type == "partition" else {})
    return any(wanted_type in (None, kind) and re.fullmatch(pattern, name) for kind, name in names.items())
