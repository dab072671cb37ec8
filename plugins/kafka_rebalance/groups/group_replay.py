"""What other strategies would do with a group today: skew, idle members and movement of each, and which to choose.

Promises, in this order: today's row is what the group really does; a strategy's row is its exact answer; another
strategy is advised only where it makes the fullest member smaller by the threshold and the assumption behind it holds.

Example: range on 24 topics of one partition, 6 members: the first member reads all 24 (skew 6, 5 idle); round robin
gives 4 to each (skew 1), and 20 partitions move.

Complexity: that of the strategies, O(partitions + subscriptions) each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kafka_rebalance.arrays import NOBODY, Ints
from kafka_rebalance.assignors.contract import Assignment, AssignmentRequest
from kafka_rebalance.assignors.registry import by_name
from kafka_rebalance.errors import AssignorError
from kafka_rebalance.groups.group_input import GroupQuestion
from kafka_rebalance.groups.strategies import OWN, STRATEGIES, Candidate, candidates
from kafka_rebalance.groups.subscriptions import (
    SubscriptionBasis,
    Subscriptions,
    hypotheses,
    request_of,
)
from kafka_rebalance.scoring.assignment_scores import GroupScore, MemberScore, evenness, per_member
from kafka_rebalance.snapshot.model import GroupType

LEAST_GAIN = 1.25  # today's skew over the advised one's; the registry of findings names the same threshold
LIKE_RATIO = 0.05  # strategies whose fullest members differ by less are alike: rates change from day to day
_UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, eq=False)
class GroupReplay:
    """``scores``: today first, then each strategy. ``members``: of today's assignment and of the advised one.

    ``basis``: where subscriptions come from. ``is_reproduced``: the group's own strategy gives exactly today's
    assignment on this basis; ``None`` where that strategy is not replayed here. ``advised`` is a strategy's name.
    """

    group_id: str
    basis: SubscriptionBasis
    is_reproduced: bool | None
    scores: tuple[GroupScore, ...]
    members: tuple[MemberScore, ...]
    advised: str | None

    @property
    def today(self) -> GroupScore:
        """The row of what the group does now."""
        return self.scores[0]

    def score(self, assignor: str) -> GroupScore | None:
        """The row of one strategy's replay, ``None`` where there is none."""
        return next((each for each in self.scores[1:] if each.assignor == assignor), None)


def replay_group(
    question: GroupQuestion, strategies: Sequence[str] | None = None, least_gain: float = LEAST_GAIN
) -> GroupReplay:
    """Score today's assignment and, on one group, each strategy that it could run (or those of ``strategies``).

    A refusal of a strategy is a row like any other, and so is one that is not modelled.
    """
    group, today = question.group, question.reader
    protocol = group.protocol or _UNKNOWN
    if not group.members:
        nobody = replace(_score(question, protocol, today, today), is_current=True)
        return GroupReplay(group.id, SubscriptionBasis.GIVEN, None, (nobody,), (), None)
    possible = candidates(group.type, group.protocol_type, question.kafka_version)
    possible += tuple(Candidate(name, (name,)) for name in strategies or () if name not in STRATEGIES)  # one's own
    own = next((each for each in possible if each.name == protocol and each.releases), None)
    basis, subscriptions, version = _settle(question, today, own)
    scores = [replace(_score(question, protocol, today, today), is_current=True, version=version)]
    readers = {protocol: today}
    for candidate in possible:
        is_told = candidate is own and version is not None  # today's row says it
        if not is_told and (strategies is None or candidate.name in strategies):
            score, reader = _replayed(candidate, question, subscriptions, today)
            scores.append(score)
            if reader is not None:
                readers[candidate.name] = reader
    is_reproduced = None if own is None else version is not None
    is_believable = basis is SubscriptionBasis.GIVEN or is_reproduced is not False
    advised = _advised(question, scores, least_gain) if is_believable else None
    scores = [replace(each, is_advised=each.assignor == advised and not each.is_current) for each in scores]
    members = _member_scores(question, protocol, today, is_current=True)
    if advised is not None:
        members += _member_scores(question, advised, readers[advised], is_current=False)
    return GroupReplay(group.id, basis, is_reproduced, tuple(scores), members, advised)


def _settle(
    question: GroupQuestion, today: Ints, own: Candidate | None
) -> tuple[SubscriptionBasis, Subscriptions, str | None]:
    """The basis and version under which the group's own strategy gives today's assignment; else the likeliest."""
    possible = hypotheses(question)
    for basis, subscriptions in possible if own is not None else ():
        if own is None or (own.needs_equal and not _is_equal(subscriptions)):
            continue
        request = request_of(question, subscriptions, is_server=own.is_server)
        for name in own.releases:
            reader, _ = _run(name, request, question)
            if reader is not None and bool((reader == today).all()):
                return basis, subscriptions, f"{by_name(name).versions} (gives today's assignment)"
    return *possible[0], None


def _replayed(
    candidate: Candidate, question: GroupQuestion, subscriptions: Subscriptions, today: Ints
) -> tuple[GroupScore, Ints | None]:
    """The row of one strategy, with what it rests on, and who would read each partition."""
    empty = _empty(question, candidate.name)
    if not candidate.releases or (candidate.needs_equal and not _is_equal(subscriptions)):
        return replace(empty, error=f"not modelled: {candidate.not_modelled}"), None
    request = request_of(question, subscriptions, is_server=candidate.is_server)
    reader, error = _run(candidate.releases[0], request, question)
    version = _version_words(candidate, request, question, reader)
    if reader is None:
        return replace(empty, error=error, version=version), None
    return replace(_score(question, candidate.name, reader, today), version=version), reader


def _version_words(
    candidate: Candidate, request: AssignmentRequest, question: GroupQuestion, reader: Ints | None
) -> str:
    """Which releases this answer stands for; where others answer this group otherwise, that is said."""
    words = str(candidate.versions)
    if candidate.name == OWN:
        return words
    if candidate.is_server and question.kafka_version is not None and len(candidate.releases) == 1:
        return f"{words} (brokers are {question.kafka_version})"
    differing = []
    is_asked = candidate.tells_apart or candidate.name == question.group.protocol
    for name in candidate.releases[1:] if is_asked else ():
        other, _ = _run(name, request, question)
        if (other is None) != (reader is None) or (
            other is not None and reader is not None and not bool((other == reader).all())
        ):
            differing.append(by_name(name).versions)
    return f"{words} (assumed; {', '.join(differing)} would differ)" if differing else f"{words} (assumed)"


def _is_equal(subscriptions: Subscriptions) -> bool:
    return len({frozenset(each) for each in subscriptions}) <= 1


def _run(name: str, request: AssignmentRequest, question: GroupQuestion) -> tuple[Ints | None, str | None]:
    try:
        return _reader(by_name(name).assign(request), question), None
    except AssignorError as error:
        return None, str(error)


def _reader(assignment: Assignment, question: GroupQuestion) -> Ints:
    """int32[P]: who reads each partition under ``assignment``. What is withheld for a round counts as handed over."""
    first = question.first_row
    reader = np.full(int(first[-1]), NOBODY, dtype=np.int32)
    members = np.repeat(np.arange(len(assignment.offsets) - 1, dtype=np.int32), assignment.counts)
    reader[first[assignment.topics] + assignment.partitions] = members
    if len(assignment.withheld):
        withheld = assignment.withheld
        reader[first[withheld.topics] + withheld.partitions] = withheld.members
    return reader


def _empty(question: GroupQuestion, assignor: str) -> GroupScore:
    return GroupScore(
        group_id=question.group.id,
        assignor=assignor,
        version=None,
        is_current=False,
        members=len(question.group.members),
        partitions=int(question.first_row[-1]),
    )


def _score(question: GroupQuestion, assignor: str, reader: Ints, today: Ints) -> GroupScore:
    found = evenness(reader, today, len(question.group.members), question.rates)
    return replace(
        _empty(question, assignor),
        idle_members=found.idle_members,
        skew_count=found.skew_count,
        skew_rate=found.skew_rate,
        skew_lag=found.skew_lag,
        partitions_moved=found.partitions_moved,
        moved_rate_ratio=found.moved_rate_ratio,
    )


def _advised(question: GroupQuestion, scores: list[GroupScore], least_gain: float) -> str | None:
    """The strategy with the smallest fullest member, if it is smaller by ``least_gain``; of like ones the fewest moves.

    Then the one that is told first. Ours is a what-if: nobody can set it in a client's configuration.

    Rates change from day to day, so a strategy that is less even by count is never advised for its rates. Nor is any
    for a group whose coordinator assigns (KIP-848, share, streams): a client's strategy is not its to choose.
    """
    if question.group.type not in (GroupType.CLASSIC, GroupType.UNKNOWN):
        return None
    today = scores[0]
    others = [
        each
        for each in scores[1:]
        if each.error is None and each.assignor != OWN and (each.skew_count or 0) <= (today.skew_count or 0) + 1e-9
    ]
    is_rate = all(each.skew_rate is not None for each in (today, *others))

    def level(score: GroupScore) -> float:
        return float((score.skew_rate if is_rate else score.skew_count) or 0.0)

    better = [each for each in others if level(each) > 0 and level(today) / level(each) >= least_gain]
    lowest = min((level(each) for each in better), default=0.0)
    alike = [each for each in better if level(each) <= lowest * (1 + LIKE_RATIO)]
    return min(alike, key=lambda each: each.partitions_moved or 0).assignor if alike else None


def _member_scores(
    question: GroupQuestion, assignor: str, reader: Ints, *, is_current: bool
) -> tuple[MemberScore, ...]:
    members, rates = question.group.members, question.rates
    counts = per_member(reader, np.ones(len(reader)), len(members))
    columns = [
        per_member(reader, each, len(members))
        for each in (rates.in_bytes_per_s, rates.in_messages_per_s, rates.lag_messages)
    ]
    return tuple(
        MemberScore(
            group_id=question.group.id,
            assignor=assignor,
            is_current=is_current,
            is_advised=not is_current,
            member_id=member.id,
            instance_id=member.instance_id,
            rack=member.rack,
            partitions=int(counts[number]),
            in_bytes_per_s=_known(columns[0][number]),
            in_messages_per_s=_known(columns[1][number]),
            lag_messages=None if np.isnan(columns[2][number]) else int(columns[2][number]),
        )
        for number, member in enumerate(members)
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


__all__ = ["LEAST_GAIN", "STRATEGIES", "GroupReplay", "replay_group"]
