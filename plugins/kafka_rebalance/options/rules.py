"""Options that are rules by name or pattern: clients, topics, owners, heavy keys."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field, Strict, WithJsonSchema
from pydantic.dataclasses import dataclass

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.releases import Client, release_of
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.options.option import Checked
from kafka_rebalance.options.values import (
    CHECKED,
    LONGEST_TEXT,
    MOST_PARTITION,
    BrokerId,
    Brokers,
    FilledText,
    NumberFrom1,
    OneOf,
    Pattern,
    Racks,
    Text,
    Value,
    long_text,
    read_value,
)


def _release(version: str) -> str:
    release_of(version, "client version")
    return version


@dataclass(frozen=True, config=CHECKED)
class ClientRule(Checked):
    """``pattern`` matches the whole name; ``version``: the leader's release."""

    pattern: Pattern
    client: Annotated[str, OneOf((client.value for client in Client), "is unknown")]
    version: Annotated[Text, AfterValidator(_release)] | None = None

    def covers(self, group_id: str, client_ids: Collection[str | None]) -> bool:
        has_ids = bool(client_ids) and all(name is not None and re.fullmatch(self.pattern, name) for name in client_ids)
        return has_ids or re.fullmatch(self.pattern, group_id) is not None


# Brokers for the replicas of matching topics. All matching rules of a topic apply.


@dataclass(frozen=True, order=True, config=CHECKED)
class TopicBrokers(Checked):
    """``pattern`` matches whole topic names; ``brokers`` by id and ``racks`` by name, at least one of both."""

    pattern: Pattern
    brokers: Brokers = frozenset()
    racks: Racks = frozenset()

    def __post_init__(self) -> None:
        if not self.brokers and not self.racks:
            raise InvalidInputError.at(excerpt(self.pattern), "names no broker", "give PATTERN=1,2,3")

    def covers(self, topic: str) -> bool:
        return re.fullmatch(self.pattern, topic) is not None

    def allows(self, broker: int, rack: str | None) -> bool:
        return broker in self.brokers or (rack is not None and rack in self.racks)


def _read(value: Any) -> Any:
    """``pay-.*=1,2,rack:a``: brokers 1, 2 and all of rack a."""
    if not isinstance(value, str):
        return value
    named, _, places = value.rpartition("=")
    parts = [part.strip() for part in places.split(",")]
    if not named or not all(parts):
        raise ValueError(f"{excerpt(value)}: give PATTERN=1,2,3 or PATTERN=rack:NAME")
    racks = [part.removeprefix("rack:") for part in parts if part.startswith("rack:")]
    brokers = [read_value(BrokerId, part) for part in parts if not part.startswith("rack:")]
    return TopicBrokers(named, brokers, racks)  # type: ignore[arg-type]


def _write(rule: TopicBrokers) -> str:
    return f"{rule.pattern}={','.join([*map(str, sorted(rule.brokers)), *(f'rack:{r}' for r in sorted(rule.racks))])}"


# No place holds "=", so each "=" begins at most one match attempt.
TopicBrokersRule = Annotated[
    TopicBrokers, Value(read=_read, write=_write, schema=long_text("^.+=([0-9]+|rack:[^,=]+)(,([0-9]+|rack:[^,=]+))*$"))
]


# Minimum leaders of a topic on each broker that may lead; the largest matching rule counts. With fewer partitions each
# broker gets the whole share: 5 partitions on 4 brokers, one.


_WRITTEN = re.compile(r"(?P<pattern>.+)=\s*(?P<leaders>[0-9]{1,100})\s*", re.DOTALL)


@dataclass(frozen=True, order=True, config=CHECKED)
class TopicLeaders(Checked):
    """``pattern`` matches whole topic names; ``leaders`` of each on every broker that may lead, from 1."""

    pattern: Pattern
    leaders: NumberFrom1

    def covers(self, topic: str) -> bool:
        return re.fullmatch(self.pattern, topic) is not None


def _read_leaders(value: Any) -> Any:
    """``pay-.*=2``"""
    if not isinstance(value, str):
        return value
    match = _WRITTEN.fullmatch(value)
    if match is None:
        raise ValueError(f"{excerpt(value)}: give PATTERN=NUMBER")
    return TopicLeaders(match["pattern"], int(match["leaders"]))


TopicLeadersRule = Annotated[
    TopicLeaders,
    Value(read=_read_leaders, write=lambda rule: f"{rule.pattern}={rule.leaders}", schema=long_text("^.+=[0-9]+$")),
]


EVERYTHING = ".*"
MOST_TIER = 9
_SUBJECT_TYPES = (
    "cluster", "broker", "rack", "topic", "partition", "group", "member", "coordinator", "partitioner", "plan",
)  # fmt: skip
SubjectOf: TypeAlias = Annotated[str, OneOf(_SUBJECT_TYPES)]


def _end(value: Any) -> Any:
    end = _parse(value) if isinstance(value, str) else value
    if isinstance(end, datetime) or not isinstance(end, date):
        return end
    try:
        return datetime.combine(end + timedelta(days=1), time(), UTC)
    except OverflowError as error:
        raise ValueError(f"{excerpt(value)} has no end") from error


def _parse(text: str) -> Any:
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
    """``pattern`` matches the whole subject; the first match counts.

    subject_type  topic, group, broker … as in a finding; None: any
    tier          0 to 9
    """

    pattern: Pattern
    team: FilledText
    channel: FilledText | None = None
    tier: Annotated[int, Strict(), Field(ge=0, le=MOST_TIER), Value("is no tier", f"give 0 to {MOST_TIER}")] | None = (
        None
    )
    subject_type: SubjectOf | None = None

    def covers(self, subject_type: str, subject: str) -> bool:
        return _covers(self.subject_type, self.pattern, subject_type, subject)


@dataclass(frozen=True, config=CHECKED)
class MuteRule(Checked):
    """Findings before ``until`` stay in the list, but are not shown first or sent.

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
        if self.code is None and self.pattern == EVERYTHING and self.subject_type is None:
            raise InvalidInputError("mutes everything; give a code, a pattern or a subject_type")

    def covers(self, code: str, subject_type: str, subject: str) -> bool:
        return self.code in (None, code) and _covers(self.subject_type, self.pattern, subject_type, subject)


def _covers(wanted_type: str | None, pattern: str, subject_type: str, subject: str) -> bool:
    # A topic's owner owns its partitions.
    names = {subject_type: subject} | ({"topic": subject.rpartition("-")[0]} if subject_type == "partition" else {})
    return any(wanted_type in (None, kind) and re.fullmatch(pattern, name) for kind, name in names.items())


@dataclass(frozen=True, config=CHECKED)
class HeavyKeyOf(Checked):
    """``key``: text or identity. ``share``: lower bound in its partition's sample."""

    topic: Text
    partition: Annotated[int, Strict(), Field(ge=0, le=MOST_PARTITION), Value("is no partition's number")]
    key: Text
    share: Annotated[float, Strict(), Field(gt=0, le=1), Value("is no share from 0 to 1")]
