"""Coverage gaps of a snapshot: one for each part that could not be read. A gap's ``what`` is a fact ``LACKS_…``. A
snapshot file with arguments outside ``WHAT`` and ``REASONS`` is refused, so that every gap can be shown.

``Right``: ACLs that a full snapshot needs, and the command that grants each. A missing right is a gap of subject type
``right``. Kafka hides topics and groups silently from a login without ``Describe on Cluster``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import Fact, FactCode, fact

Arguments = Mapping[FactCode, Mapping[str, tuple[type, ...]]]
_DEEPEST = 10


@dataclass(frozen=True, slots=True)
class CoverageGap:
    subject_type: str  # cluster, broker, topic, partition, group, member, right
    subject: str
    what: Fact
    reason: Fact

    @property
    def codes(self) -> tuple[FactCode, ...]:
        parts = self.what.args.get("parts", ()) if self.what.code is FactCode.LACKS_PARTS else (self.what,)
        return tuple(part.code for part in parts)

    def lacks(self, *codes: FactCode) -> bool:
        return not set(codes).isdisjoint(self.codes)


_TEXT, _COUNT, _AMOUNT, _FLAG, _MAYBE_TEXT = (str,), (int,), (int, float), (bool,), (str, type(None))
_FACT, _LIST = (Fact,), (tuple,)

# Codes without a line here have no arguments.
WHAT: Arguments = MappingProxyType(
    {
        **{code: {} for code in FactCode if code.name.startswith("LACKS_")},
        FactCode.LACKS_RIGHT: {"right": _TEXT},
        FactCode.LACKS_PARTS: {"parts": _LIST},
        FactCode.LACKS_FILE: {"file": _TEXT},
        FactCode.LACKS_LAST_LINE: {"file": _TEXT},
        FactCode.LACKS_CONFIGS: {"kind": _MAYBE_TEXT},
        FactCode.LACKS_LOG_DIR: {"path": _TEXT},
        FactCode.LACKS_OFFSETS_OF_PARTITIONS: {"partitions": _COUNT},
        FactCode.LACKS_LOAD: {"kind": _TEXT},
        FactCode.LACKS_MEMBERS_OF_GROUPS: {"groups": _COUNT},
        FactCode.LACKS_COMMIT: {"topic": _TEXT, "partition": _COUNT},
        FactCode.LACKS_COMMITS_OF_GROUPS: {"groups": _COUNT},
        FactCode.LACKS_LAG: {"topic": _MAYBE_TEXT},
    }
)
REASONS: Arguments = MappingProxyType(
    {
        FactCode.AS_REPORTED: {"text": _TEXT},
        FactCode.KAFKA_ERROR: {"error": _TEXT, "error_code": _COUNT},
        FactCode.REQUEST_FAILED: {"kind": _TEXT, "text": _TEXT},
        FactCode.BROKER_UNHEARD: {"state": _TEXT, "why": _FACT, "address": _MAYBE_TEXT},
        FactCode.BROKER_IS_FENCED: {},
        FactCode.BROKER_NOT_REGISTERED: {},
        FactCode.BROKER_JOINED_LATE: {},
        FactCode.BROKER_LEFT_EARLY: {},
        FactCode.NO_ANSWER_IN_TIME: {"seconds": _AMOUNT, "text": _MAYBE_TEXT},
        FactCode.NO_CONNECTION_IN_TIME: {},
        FactCode.NO_ADDRESS: {"address": _TEXT},
        FactCode.HOST_NOT_RESOLVED: {"host": _TEXT, "text": _TEXT},
        FactCode.DEADLINE_PASSED: {},
        FactCode.NO_BROKER_LEFT_TO_ASK: {},
        FactCode.BROKERS_DO_NOT_TELL: {},
        FactCode.RIGHT_NOT_HELD: {"right": _TEXT},
        FactCode.RIGHT_NOT_TOLD: {"right": _TEXT},
        FactCode.OF_PARTITIONS: {"partitions": _COUNT, "first": _LIST, "why": _FACT},
        FactCode.CHANGED_WHILE_READ: {},
        FactCode.CHANGED_AGAIN: {},
        FactCode.NOT_TOLD_AGAIN: {"why": _FACT},
        FactCode.DELETED_WHILE_READ: {},
        FactCode.BEING_DELETED: {},
        FactCode.REPLICA_IS_OFFLINE: {"broker": _COUNT},
        FactCode.LOG_DIR_IS_OFFLINE: {"broker": _COUNT},
        FactCode.NO_LEADER: {},
        FactCode.OFFSETS_TOPIC_LEADERLESS: {"topic": _TEXT, "leaderless": _COUNT, "partitions": _COUNT},
        FactCode.GROUPS_NOT_LISTED: {"broker": _COUNT, "why": _FACT},
        FactCode.GROUP_GONE: {},
        FactCode.GROUP_REBALANCING: {"state": _MAYBE_TEXT},
        FactCode.GROUP_TYPE_NOT_READ: {"group_type": _TEXT},
        FactCode.TOPIC_ON_DISK: {"why": (Fact, type(None)), "is_refused": _FLAG},
        FactCode.TOPIC_NAMED_BY_GROUP: {"group": _TEXT, "why": (Fact, type(None)), "is_refused": _FLAG},
        FactCode.COMMITS_OUTSIDE_LOG: {
            "commits": _COUNT, "is_beyond_end": _FLAG, "offset": _COUNT, "partition": _TEXT, "limit": _COUNT,
        },
        FactCode.MORE_THAN_A_PAGE: {"partitions": _COUNT, "topic": _TEXT},
        FactCode.NOT_IN_REASSIGNMENT: {"is_of_ids": _FLAG},
        FactCode.NO_DUMP: {"of": _TEXT},
        FactCode.NO_DUMP_OF_TOPICS: {},
        FactCode.PARTITIONS_NOT_SHOWN: {"missing": _COUNT, "partitions": _COUNT},
        FactCode.PARTITIONS_NOT_IN_DUMP: {"missing": _COUNT, "partitions": _COUNT, "first": _TEXT},
        FactCode.REPLICAS_NOT_IN_DIRS: {"replicas": _COUNT},
        FactCode.BROKER_NOT_IN_DUMP: {},
        FactCode.TOPIC_NOT_IN_DUMP: {},
        FactCode.ZNODE_MISSING: {},
        FactCode.ZNODES_WITHOUT_STATES: {},
        FactCode.BROKER_NOT_LISTED: {},
        FactCode.BROKERS_HAVE_NO_RACK: {"brokers": _LIST},
        FactCode.FILE_LEFT_OUT: {"file": _TEXT, "line": (int, type(None)), "text": _TEXT},
        FactCode.FILE_EMPTY: {"file": _TEXT},
        FactCode.FILE_CUT: {"file": _TEXT},
        FactCode.OFFSETS_OF_OTHER_TIME: {"file": _TEXT},
        FactCode.OFFSETS_KIND_UNKNOWN: {"file": _TEXT},
        FactCode.OFFSETS_KIND_GUESSED: {"file": _TEXT},
        FactCode.OFFSETS_MISNAMED: {"file": _TEXT, "kind": _TEXT},
        FactCode.OFFSETS_UNDECIDED: {"files": _LIST},
        FactCode.END_OFFSETS_DISAGREE: {
            "higher": _COUNT, "first_higher": _TEXT, "lower": _COUNT, "first_lower": _TEXT,
        },
        FactCode.END_OFFSETS_OLDER: {"partitions": _COUNT},
        FactCode.GROUP_NAMED_BY_FILE: {},
        FactCode.MEMBER_COUNTS_DIFFER: {"stated": _COUNT, "shown": _COUNT},
        FactCode.OWNERS_NOT_MEMBERS: {},
        FactCode.LAGS_DIFFER: {
            "wrong": _COUNT, "rows": _COUNT, "first": _TEXT, "lag": _COUNT, "computed": _COUNT,
        },
        FactCode.READER_NOT_MEMBER: {"member": _TEXT},
        FactCode.ASSIGNMENTS_DIFFER: {"member": _TEXT},
        FactCode.ASSIGNMENT_NOT_SHOWN: {"member": _TEXT, "partitions": _COUNT},
        FactCode.RETENTION_NOT_SEEN: {
            "unseen": _COUNT, "partitions": _COUNT, "without_rate": _COUNT, "with_lower_bound": _COUNT,
        },
        FactCode.GROUPS_MAY_BE_HIDDEN: {},
        FactCode.GROUP_READS_UNSEEN: {
            "cause": _TEXT, "group_type": _TEXT, "unknown_partitions": _COUNT, "partitions": _COUNT,
        },
        FactCode.HOURS_NOT_MEASURED: {
            "seen": _COUNT, "hours": _COUNT, "flattened": _COUNT, "unseen_partitions": _COUNT,
        },
        FactCode.NO_SERIES: {"kind": _TEXT, "metrics": _LIST},
        FactCode.SPLIT_NOT_SURE: {
            "kind": _TEXT, "exact": _AMOUNT, "by_messages": _AMOUNT, "by_size": _AMOUNT, "evenly": _AMOUNT,
            "elsewhere": _AMOUNT, "spread": (int, float, type(None)),
        },
        FactCode.SOURCES_WITHOUT_BROKER: {"sources": _COUNT, "first": _TEXT},
        FactCode.LEFT_OUT_BY_CHECKS: {"rule": _TEXT},
        FactCode.STREAMS_PARTS_UNKNOWN: {"inputs": _LIST},
    }
)  # fmt: skip


def read_fact(document: Any, arguments_of: Arguments, path: str) -> Fact:
    """Raises InvalidInputError for a code or arguments outside ``arguments_of``."""
    _require_shallow(document, path)
    try:
        fact = Fact.from_document(document)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InvalidInputError.at(path, f"{excerpt(document)} is no code with args") from None
    _check(fact, arguments_of, path)
    return fact


def _check(fact: Fact, arguments_of: Arguments, path: str) -> None:
    if fact.code not in arguments_of:
        raise InvalidInputError.at(f"{path}.code", f"{fact.code.value} does not belong here")
    arguments = arguments_of[fact.code]
    if fact.args.keys() != arguments.keys():
        names = ", ".join(sorted(arguments)) or "no arguments"
        raise InvalidInputError.at(f"{path}.args", f"expected {names}, found {excerpt(sorted(fact.args))}")
    for name, kinds in arguments.items():
        value = fact.args[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise InvalidInputError.at(f"{path}.args.{name}", f"{excerpt(value)} is of a wrong type")
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Fact):
                _check(part, WHAT if name == "parts" else REASONS, f"{path}.args.{name}")
            elif isinstance(value, tuple) and (name == "parts" or type(part) not in (int, str)):
                raise InvalidInputError.at(f"{path}.args.{name}", f"{excerpt(part)} is of a wrong type")


def _require_shallow(document: Any, path: str, depth: int = 0) -> None:
    if not isinstance(document, (Mapping, list)):
        return
    if depth > _DEEPEST:
        raise InvalidInputError.at(path, "facts are nested too deep")
    for part in document.values() if isinstance(document, Mapping) else document:
        _require_shallow(part, path, depth + 1)


RIGHT = "right"


class Right(StrEnum):
    DESCRIBE_CLUSTER = "Describe on Cluster"
    DESCRIBE_TOPICS = "Describe on Topic"
    DESCRIBE_GROUPS = "Describe on Group"
    TOPIC_CONFIGS = "DescribeConfigs on Topic"
    BROKER_CONFIGS = "DescribeConfigs on Cluster"
    GROUP_CONFIGS = "DescribeConfigs on Group"

    @property
    def command(self) -> str:
        """With placeholders for address and name."""
        operation, _, resource = self.value.partition(" on ")
        where = "--cluster" if resource == "Cluster" else f"--{resource.lower()} '*'"
        return (
            "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal User:NAME "
            f"--operation {operation} {where}"
        )


def right_gap(right: Right, *, is_told: bool = True) -> CoverageGap:
    reason = FactCode.RIGHT_NOT_HELD if is_told else FactCode.RIGHT_NOT_TOLD
    return CoverageGap(
        RIGHT, right.value, fact(FactCode.LACKS_RIGHT, right=right.value), fact(reason, right=right.value)
    )


def missing_rights(coverage: Iterable[CoverageGap]) -> tuple[Right, ...]:
    missing = {gap.subject for gap in coverage if gap.subject_type == RIGHT}
    return tuple(right for right in Right if right.value in missing)
