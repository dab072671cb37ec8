"""Owners, mutes and clients as values of options: objects in JSON, tables in TOML; a shell names a file of them."""

from __future__ import annotations

import tomllib
from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, TypeVar

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.findings.finding import CODES
from kafka_rebalance.options.client_rule import Client, ClientRule
from kafka_rebalance.options.ownership import EVERYTHING, MOST_TIER, MuteRule, OwnerRule
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text
from rebalance_advisor.request.value_kinds import FILLED_TEXT, ValueKind

Rule = TypeVar("Rule", OwnerRule, MuteRule, ClientRule)

_TEXT = dict(FILLED_TEXT)
_SUBJECT_TYPES = (
    "cluster", "broker", "rack", "topic", "partition", "group", "member", "coordinator", "partitioner", "plan",
)  # fmt: skip
_OWNER_FIELDS = {
    "pattern": _TEXT,
    "team": _TEXT,
    "channel": _TEXT,
    "tier": {"type": "integer", "minimum": 0, "maximum": MOST_TIER},
    "subject_type": {"type": "string", "enum": list(_SUBJECT_TYPES)},
}
_MUTE_FIELDS = {
    "pattern": _TEXT,
    "until": _TEXT,
    "reason": _TEXT,
    "code": _TEXT,
    "subject_type": {"type": "string", "enum": list(_SUBJECT_TYPES)},
}
_CLIENT_FIELDS = {
    "pattern": _TEXT,
    "client": {"type": "string", "enum": [client.value for client in Client]},
    "version": _TEXT,
}


def _fields(value: Any, known: Mapping[str, Any], needed: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ArgumentTypeError(f"{excerpt(value)} is no object")
    given = {name: part for name, part in value.items() if part is not None}
    if unknown := [name for name in given if name not in known]:
        raise ArgumentTypeError(f"{excerpt(unknown[0])} is not known; known: {', '.join(known)}")
    if lacking := [name for name in needed if name not in given]:
        raise ArgumentTypeError(f"{lacking[0]} is missing in {excerpt(dict(given))}")
    kind = given.get("subject_type")
    if kind is not None and kind not in _SUBJECT_TYPES:
        raise ArgumentTypeError(f"subject_type {excerpt(kind)} is none of {', '.join(_SUBJECT_TYPES)}")
    return given


def _owner(value: Any) -> OwnerRule:
    given = _fields(value, _OWNER_FIELDS, ("pattern", "team"))
    return _made(lambda: OwnerRule(**given))


def _mute(value: Any) -> MuteRule:
    given = {"pattern": EVERYTHING, **_fields(value, _MUTE_FIELDS, ("until", "reason"))}
    code = given.get("code")
    if code is not None and code not in CODES:
        raise ArgumentTypeError(f"code {excerpt(code)} is no finding's; known: {', '.join(sorted(CODES))}")
    if code is None and given["pattern"] == EVERYTHING and "subject_type" not in given:
        raise ArgumentTypeError("mutes everything; give a code, a pattern or a subject_type")
    until = _end(given.pop("until"))
    return _made(lambda: MuteRule(until=until, **given))


def _client(value: Any) -> ClientRule:
    given = _fields(value, _CLIENT_FIELDS, ("pattern", "client"))
    return _made(lambda: ClientRule(**given))


def _made(make: Callable[[], Rule]) -> Rule:
    try:
        return make()
    except InvalidInputError as error:
        raise ArgumentTypeError(str(error)) from error


def _end(value: Any) -> datetime:
    """A day (to its end, in UTC) or a time with its zone, as text or as TOML has them."""
    end = _parsed(value) if isinstance(value, str) else value
    if isinstance(end, datetime):
        if end.tzinfo is None:
            raise ArgumentTypeError(f"until {excerpt(value)} has no time zone; write 2026-12-31 or 2026-12-31T18:00Z")
        return end.astimezone(UTC)
    if isinstance(end, date):
        try:
            return datetime.combine(end + timedelta(days=1), time(), UTC)
        except OverflowError as error:
            raise ArgumentTypeError(f"until {excerpt(value)} has no end") from error
    raise ArgumentTypeError(f"until {excerpt(value)} is no day and no time; write 2026-12-31")


def _parsed(text: str) -> date | datetime | None:
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(text.strip())
        except ValueError:
            continue
    return None


def _owner_document(owner: OwnerRule) -> dict[str, Any]:
    held = {name: getattr(owner, name) for name in _OWNER_FIELDS}
    return {name: part for name, part in held.items() if part is not None}


def _mute_document(mute: MuteRule) -> dict[str, Any]:
    held = {name: getattr(mute, name) for name in _MUTE_FIELDS} | {"until": mute.until.isoformat()}
    return {name: part for name, part in held.items() if part is not None}


def _client_document(rule: ClientRule) -> dict[str, Any]:
    held = {name: getattr(rule, name) for name in _CLIENT_FIELDS}
    return {name: part for name, part in held.items() if part is not None}


def _schema(fields: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": ["object"], "properties": dict(fields), "required": required, "additionalProperties": False}


OWNER = ValueKind(_schema(_OWNER_FIELDS, ["pattern", "team"]), Path, _owner, _owner_document)
MUTE = ValueKind(_schema(_MUTE_FIELDS, ["until", "reason"]), Path, _mute, _mute_document)
CLIENT = ValueKind(_schema(_CLIENT_FIELDS, ["pattern", "client"]), Path, _client, _client_document)
RULES = {"owners": OWNER, "mutes": MUTE, "clients": CLIENT}


def rules_in_file(name: str, path: Path) -> list[Any]:
    """The tables ``[[owners]]``, ``[[mutes]]`` or ``[[clients]]`` (``name``) of a TOML file.

    One file may hold them all. Raises InvalidInputError with its place.
    """
    try:
        document = tomllib.loads(read_text(path, ByteBudget(MAX_SETTINGS_BYTES)))
    except ValueError as error:
        raise InvalidInputError.at(str(path), f"is no TOML: {error}") from error
    except RecursionError as error:
        raise InvalidInputError.at(str(path), "is nested too deeply to be a list of rules") from error
    if unknown := sorted(set(document) - set(RULES)):
        known = ", ".join(f"[[{rule}]]" for rule in RULES)
        raise InvalidInputError.at(f"{path}: {excerpt(unknown[0])}", "is not known", f"known: {known}")
    tables = document.get(name)
    if not isinstance(tables, list):
        raise InvalidInputError.at(str(path), f"holds no [[{name}]]")
    kind, rules = RULES[name], []
    for number, table in enumerate(tables, start=1):
        try:
            rules.append(kind.from_json(table))
        except ArgumentTypeError as error:
            raise InvalidInputError.at(f"{path}: [[{name}]] {number}", str(error)) from error
    return rules
