"""Topics that Kafka keeps from us: log dirs, members and commits betray names that the metadata does not hold.

Each such name is asked for by itself: Kafka then says whether it may not be described (or is not there: to us it does
not make a difference), or whether it is unknown to who may describe it. A subscription to a topic that nobody made
is no gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.protocol.metadata import MetadataRequest

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.snapshot.model import Group
from kafka_rebalance.snapshot.ranges import topic_name_fault
from kafka_rebalance.snapshot.rights import Right
from rebalance_advisor.kafka.connection.client import kafka_error, reason_of
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.request_sender import RequestSender

_REFUSED, _UNKNOWN = 29, 3
_NAMES_A_QUESTION = 50_000


def note_hidden_topics(
    sender: RequestSender, known: set[str], on_disk: set[str], groups: Iterable[Group], coverage: Coverage
) -> None:
    """A gap for each topic that is betrayed and not shown. ``known``: those that the metadata holds."""
    told = {gap.subject for gap in coverage.gaps if gap.subject_type == "topic"}
    readers = _readers(groups)
    wanted = sorted(
        name for name in (on_disk | readers.keys()) - known - told if name in on_disk or not topic_name_fault(name)
    )
    codes = _codes(sender, wanted)
    for name in wanted:
        code = codes.get(name)
        is_refused, failure = code == _REFUSED, code if isinstance(code, Fact) else None
        if name in on_disk:
            # It exists, whatever the metadata says.
            reason = fact(FactCode.TOPIC_ON_DISK, why=failure, is_refused=is_refused)
            coverage.add("topic", name, FactCode.LACKS_ALL_BUT_SIZE, reason)
        elif code not in (_UNKNOWN, None):
            why = kafka_error(code) if isinstance(code, int) and code and not is_refused else failure
            reason = fact(FactCode.TOPIC_NAMED_BY_GROUP, group=readers[name], why=why, is_refused=is_refused)
            coverage.add("topic", name, FactCode.LACKS_DESCRIPTION, reason)
        if is_refused:
            coverage.add_right(Right.DESCRIBE_TOPICS)


def _readers(groups: Iterable[Group]) -> dict[str, str]:
    """Topic → the first group that names it."""
    found: dict[str, str] = {}
    for group in groups:
        names = [commit.topic for commit in group.committed]
        for member in group.members:
            names += member.subscription or ()
            names += [topic for part in (member.assigned, member.owned, member.target) for topic, _ in part or ()]
        for name in names:
            found.setdefault(name, group.id)
    return found


def _codes(sender: RequestSender, names: list[str]) -> Mapping[str, int | Fact]:
    """Kafka's error code for each name (0: it is shown now), or why none came."""
    found: dict[str, int | Fact] = {}
    for at in range(0, len(names), _NAMES_A_QUESTION):
        part = names[at : at + _NAMES_A_QUESTION]
        topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in part]
        answer: Any = sender.send_to_any(MetadataRequest(topics=topics, allow_auto_topic_creation=False))
        if isinstance(answer, Exception):
            found |= dict.fromkeys(part, reason_of(answer))
        else:
            found |= {topic.name: int(topic.error_code) for topic in answer.topics}
    return found
