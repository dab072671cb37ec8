"""From a snapshot to an advisory: score, replay, search, verify, find.

Tasks are independent: each topic, each group under each strategy, the plan, each frontier point. ``mapper`` runs them
(``map``, a process pool or Spark) and does not change the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, TypeAlias

from kafka_rebalance.advisory.advisory import advisory_document
from kafka_rebalance.facts import Fact
from kafka_rebalance.findings.annotations import with_heavy_keys, with_owners, with_rack_price
from kafka_rebalance.findings.finding import Finding
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.groups.group_input import GroupInput, group_inputs
from kafka_rebalance.groups.group_replay import EVERYTHING, GroupReplay, ReplayOptions
from kafka_rebalance.groups.scenarios import STRATEGY_CHANGES, estimated_cost, split
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.rules import HeavyKeyOf, MuteRule, OwnerRule
from kafka_rebalance.placement.topic_replay import (
    PlacementGround,
    TopicReplay,
    placement_brokers,
    placement_ground,
    replay_topic,
    topic_placements,
)
from kafka_rebalance.plans.hours_outside import HoursOutside, hours_outside
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.plans.searches import Mapper, PlanQuestion, Search, Sent, at_frontier_point
from kafka_rebalance.plans.state import Progress, Watch, ignore
from kafka_rebalance.scoring.placement_scores import ClusterScores, TopicPlacement
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.history import HourlyLoads
from kafka_rebalance.snapshot.model import ClusterSnapshot, CoverageGap

_TOPIC_S, _PARTITION_S = 1e-4, 1e-5  # of a topic, of each partition
_GROUP_S = 5e-6  # of a unit of ``estimated_cost``


@dataclass(frozen=True, slots=True)
class AdviceRequest:
    """Options of an advisory. The plan uses the seed of ``replay``."""

    options: PlanOptions = field(default_factory=PlanOptions)
    replay: ReplayOptions = EVERYTHING
    owners: tuple[OwnerRule, ...] = ()
    mutes: tuple[MuteRule, ...] = ()
    heavy_keys: tuple[HeavyKeyOf, ...] = ()
    rack_byte_price: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    snapshot: ClusterSnapshot
    scores: ClusterScores
    groups: tuple[GroupReplay, ...]
    topics: tuple[TopicReplay, ...]
    plan: Plan
    findings: tuple[Finding, ...]
    hours: HoursOutside | None = None

    def document(self) -> dict[str, Any]:
        return advisory_document(
            self.snapshot, self.plan, self.findings, self.groups, self.topics, self.scores, self.hours
        )


@dataclass(frozen=True, slots=True, eq=False)
class TopicTask:
    what: ClassVar[str] = "topics"
    today: TopicPlacement
    cost_s: float


@dataclass(frozen=True, slots=True, eq=False)
class GroupTask:
    """A group, or some scenarios of a giant one. Part 0 has today's rows."""

    what: ClassVar[str] = "groups"
    group_input: GroupInput
    asked: ReplayOptions
    part: int
    cost_s: float


Task: TypeAlias = Search | TopicTask | GroupTask


def advise(
    snapshot: ClusterSnapshot,
    request: AdviceRequest,
    *,
    mapper: Mapper = map,
    width: int = 1,
    previous: Mapping[str, Any] | None = None,
    hourly: HourlyLoads | None = None,
    quarantined: Sequence[CoverageGap] = (),
    unfit: tuple[Fact, ...] = (),
    advisor_version: str = "",
    progress: Progress = ignore,
    params: PlanParams = DEFAULTS,
    watch: Watch = ignore,
) -> Advice:
    """Return the advisory with its verified plan.

    width        tasks at once: larger groups are split
    previous     document of the last published plan
    hourly       the hours behind the snapshot's loads
    quarantined  gaps of the input gate: such groups get scores but no advice
    unfit        why no plan can rest on the snapshot: the verdict is ``cannot_tell``

    Raises UsageError for options that contradict the snapshot, InvalidPlanError where the plan fails verification.
    """
    told = request.replay.told(snapshot)  # the client decides a group's steps
    question = PlanQuestion(snapshot, request.options, request.replay.seed, previous, advisor_version, unfit, params)
    ground = placement_ground(placement_brokers(snapshot))
    held = frozenset(gap.subject for gap in quarantined if gap.subject_type == "group")
    question = at_frontier_point(question, mapper=mapper, progress=progress)
    progress("scoring")
    scores = score_cluster(snapshot)
    tasks: tuple[Task, ...] = (
        *question.searches(), *topic_tasks(snapshot), *group_tasks(told, request.replay, held, width)
    )  # fmt: skip
    answers = list(mapper(partial(_answer, Sent(question), ground, progress, watch), tasks))
    progress("verifying")
    plan = question.put_together(_of(Search, tasks, answers)).plan
    topics = tuple(_of(TopicTask, tasks, answers))
    groups = tuple(_whole_groups(tasks, answers, request.replay.scenarios))
    hours = hours_outside(snapshot, plan, hourly)
    gaps = (*quarantined, *(group.streams.gap for group in groups if group.streams and group.streams.gap))
    told = replace(told, coverage=(*told.coverage, *gaps)) if gaps else told
    findings = evaluate_rules(told, scores, groups, plan, hours)
    if request.heavy_keys:
        findings = with_heavy_keys(findings, request.heavy_keys)
    if request.rack_byte_price is not None:
        findings = with_rack_price(findings, told, plan, request.rack_byte_price, groups)
    findings = with_owners(findings, request.owners, request.mutes, snapshot.captured_at)
    return Advice(told, scores, groups, topics, plan, findings, hours)


def topic_tasks(snapshot: ClusterSnapshot) -> Iterator[TopicTask]:
    for today in topic_placements(snapshot):
        yield TopicTask(today, _TOPIC_S + _PARTITION_S * len(today.replicas))


def group_tasks(
    snapshot: ClusterSnapshot, asked: ReplayOptions, held: frozenset[str] = frozenset(), width: int = 1
) -> Iterator[GroupTask]:
    """A group that costs more than ``1/width`` of all is split into at most ``width`` tasks."""
    inputs = tuple(group_inputs(snapshot))
    costs = [_cost_s(given, asked.scenarios) for given in inputs]
    fair = sum(costs) / width
    for given, cost in zip(inputs, costs, strict=True):
        if given.group.id in held:
            yield GroupTask(given, replace(asked, scenarios=(), strategies=()), 0, _cost_s(given, ()))
            continue
        count = min(width, int(cost // fair)) if fair else 1
        shares = [asked.scenarios]
        if count > 1 and asked.scenarios:
            shares = split(asked.scenarios, len(given.group.members), int(given.first_row[-1]), count)
        for part, share in enumerate(shares):
            yield GroupTask(given, replace(asked, scenarios=share), part, _cost_s(given, share))


def _cost_s(given: GroupInput, scenarios: Sequence[str]) -> float:
    return _GROUP_S * estimated_cost(len(given.group.members), int(given.first_row[-1]), scenarios)


def _answer(question: Sent[PlanQuestion], ground: PlacementGround, progress: Progress, watch: Watch, task: Task) -> Any:
    if isinstance(task, TopicTask):
        progress("replaying placement")
        return replay_topic(task.today, ground)
    if isinstance(task, GroupTask):
        progress("replaying groups")
        return task.asked.replay(task.group_input)
    return question.value.answer(task, progress, watch)


def _of(kind: type[Task], tasks: Iterable[Task], answers: Iterable[Any]) -> Iterator[Any]:
    return (answer for task, answer in zip(tasks, answers, strict=True) if isinstance(task, kind))


def _whole_groups(
    tasks: Iterable[Task], answers: Iterable[GroupReplay], scenarios: Sequence[str]
) -> Iterator[GroupReplay]:
    place = {name: number for number, name in enumerate(scenarios)} | {STRATEGY_CHANGES: len(scenarios)}
    parts: list[GroupReplay] = []
    asked = [(task, answer) for task, answer in zip(tasks, answers, strict=True) if isinstance(task, GroupTask)]
    for number, (_, answer) in enumerate(asked, start=1):
        parts.append(answer)
        if number == len(asked) or asked[number][0].part == 0:
            rows = sorted((row for part in parts for row in part.scenarios), key=lambda row: place[row.scenario])
            yield replace(parts[0], scenarios=tuple(rows))
            parts = []
