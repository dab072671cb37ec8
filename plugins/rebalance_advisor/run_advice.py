from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from kafka_rebalance.advisory.advise import Advice, advise
from kafka_rebalance.advisory.advisory import rollover_steps, with_changes
from kafka_rebalance.advisory.disk_outlook import disk_outlook, known_growth
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.group_rules import findings_by_group, group_advice
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.streams_tasks import StreamsReplay, StreamsScore
from kafka_rebalance.plans.searches import Mapper
from kafka_rebalance.plans.state import Watch, ignore
from kafka_rebalance.scoring.scores import GroupScore, MemberScore, TopicPlacementScore
from kafka_rebalance.snapshot.history import HourlyLoads
from kafka_rebalance.snapshot.model import ClusterSnapshot, CoverageGap
from kafka_rebalance.snapshot.times import too_old
from rebalance_advisor import store
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.version import advisor_version

_SCORE = tuple(column.name for column in fields(GroupScore))
SCORE_COLUMNS = (*_SCORE, "basis", "is_reproduced", "advice", "rollover", "lag_seconds")
_TOPIC = tuple(column.name for column in fields(TopicPlacementScore))
_MEMBER = tuple(column.name for column in fields(MemberScore))
_STREAMS = tuple(column.name for column in fields(StreamsScore))


@dataclass(frozen=True, slots=True, eq=False)
class RunQuestion:
    """``previous``: the cluster's published plan.

    ``quarantined``: by the input gate; ``request`` excludes their topics.
    """

    snapshot: ClusterSnapshot
    request: RunRequest
    hourly: HourlyLoads | None = None
    quarantined: tuple[CoverageGap, ...] = ()
    previous: Mapping[str, Any] | None = None


def read_question(connection: store.Connection, run_id: str) -> RunQuestion:
    run = store.load_run(connection, run_id)
    given = store.load_run_input(connection, run)
    held = store.load_quarantine(connection, run.snapshot_id)
    published = store.newest_published(connection, run.cluster)
    topics = [subject.subject for subject in held if subject.subject_type == "topic"]
    return RunQuestion(
        snapshot=given.snapshot,
        request=RunRequest.from_mapping(run.parameters)
        .leaving_topics(topics)
        .knowing_growth(known_growth(store.load_disk_forecasts(connection, run_id))),
        hourly=given.hourly,
        quarantined=tuple(
            CoverageGap(
                subject.subject_type,
                subject.subject,
                fact(FactCode.LACKS_ADVICE),
                fact(FactCode.LEFT_OUT_BY_CHECKS, rule=subject.rule),
            )
            for subject in held
        ),
        previous=None if published is None else store.load_plan(connection, published),
    )


def advise_run(
    question: RunQuestion, now: datetime, *, mapper: Mapper = map, width: int = 1, watch: Watch = ignore
) -> Advice:
    """A snapshot too old at ``now`` gives a plan without moves."""
    snapshot, request = question.snapshot, question.request
    limit = None if request.age_limit_s is None else timedelta(seconds=request.age_limit_s)
    unfit = too_old(snapshot.captured_at, now, limit)
    return advise(
        snapshot, request.advice, mapper=mapper, width=width, previous=question.previous, hourly=question.hourly,
        quarantined=question.quarantined, unfit=() if unfit is None else (unfit,), advisor_version=advisor_version(),
        watch=watch,
    )  # fmt: skip


def save_advice(connection: store.Connection, run_id: str, advice: Advice) -> None:
    with connection.transaction():
        scores = advice.scores
        store.save_scores(connection, run_id, "broker_score", scores.brokers)
        store.save_scores(connection, run_id, "rack_score", scores.racks)
        store.save_scores(connection, run_id, "resource_score", scores.resources)
        topics = [attrgetter(*_TOPIC)(score) for topic in advice.topics for score in topic.scores]
        store.save_score_values(connection, run_id, "topic_score", _TOPIC, topics)
        save_groups(connection, run_id, advice.groups, _advice_of_groups(advice), _rollovers(advice))
        store.save_plan(connection, run_id, advice.plan)
        store.save_findings(connection, run_id, advice.findings)
        document = advice.document() | _outlook(connection, run_id, advice)
        if published := store.newest_published(connection, store.load_run(connection, run_id).cluster):
            earlier = store.load_advisory(connection, published)
            document = with_changes(document, earlier["findings"], earlier.get("closed_findings", ()))
        store.save_advisory(connection, run_id, document)


def _advice_of_groups(advice: Advice) -> dict[str, Fact]:
    groups = {group.id: group for group in advice.snapshot.groups}
    findings = findings_by_group(advice.findings)
    return {
        replay.group_id: group_advice(replay, groups[replay.group_id], findings.get(replay.group_id, ()))
        for replay in advice.groups
    }


def _rollovers(advice: Advice) -> dict[str, tuple[Fact, ...]]:
    groups = {group.id: group for group in advice.snapshot.groups}
    version = advice.snapshot.kafka_version
    steps = {replay.group_id: rollover_steps(replay, groups[replay.group_id], version) for replay in advice.groups}
    return {group: of_group for group, of_group in steps.items() if of_group}


def save_groups(
    connection: store.Connection,
    run_id: str,
    groups: Iterable[GroupReplay],
    advice: Mapping[str, Fact] = MappingProxyType({}),
    rollovers: Mapping[str, tuple[Fact, ...]] = MappingProxyType({}),
) -> None:
    groups = tuple(groups)
    scores = [
        row for group in groups for row in score_rows(group, advice.get(group.group_id), rollovers.get(group.group_id))
    ]
    store.save_score_values(connection, run_id, "group_score", SCORE_COLUMNS, scores)
    members = [attrgetter(*_MEMBER)(member) for group in groups for member in group.members]
    store.save_score_values(connection, run_id, "member_score", _MEMBER, members)
    columns = ("group_id", *_STREAMS, "standby_replicas", "unknown_parts")
    tasks = [row for group in groups if group.streams is not None for row in _streams_rows(group.streams)]
    store.save_score_values(connection, run_id, "group_streams_scenario", columns, tasks)


def _streams_rows(replay: StreamsReplay) -> Iterator[tuple[Any, ...]]:
    values = attrgetter(*_STREAMS)
    for row in replay.rows:
        yield replay.group_id, *values(row), replay.standby_replicas, replay.missing


def score_rows(
    group: GroupReplay, advice: Fact | None = None, rollover: tuple[Fact, ...] | None = None
) -> list[tuple[Any, ...]]:
    values = attrgetter(*_SCORE)
    return [
        (
            *values(score),
            group.basis.value,
            group.is_reproduced,
            *((advice, rollover, group.lag_seconds) if score is group.today else (None, None, None)),
        )
        for score in (*group.scores, *group.scenarios)
    ]


def _outlook(connection: store.Connection, run_id: str, advice: Advice) -> dict[str, list[dict[str, Any]]]:
    if advice.snapshot.captured_at is None:
        return {}
    forecasts = store.load_disk_forecasts(connection, run_id)
    lines = [line.document() for line in disk_outlook(forecasts, advice.snapshot.captured_at)]
    return {"outlook": lines} if lines else {}
