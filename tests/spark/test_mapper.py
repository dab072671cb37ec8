"""``advise`` on Spark answers as in one process, for every topic, group and plan; what a task raises ends the job."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import pytest

from kafka_rebalance.advisory.advise import AdviceRequest, advise, group_tasks
from kafka_rebalance.errors import UsageError
from kafka_rebalance.groups.group_replay import TODAY_ALONE, ReplayOptions
from kafka_rebalance.groups.scenarios import SCENARIOS
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.model import GroupType
from rebalance_advisor.own_strategies.limits import MIB, Limits
from rebalance_advisor.own_strategies.registering import described, own_strategies
from rebalance_advisor.own_strategies.targets import Kind, read_target
from rebalance_advisor.spark.mapper import SparkMapper
from rebalance_advisor.stage_times import StageTimes
from tests.unit.own_strategies import broken_strategies
from tests.unit.own_strategies.broken_strategies import REASONS

pytestmark = pytest.mark.stack


def test_an_advisory_on_spark_is_that_of_one_process(spark, demo):
    few = replace(demo, groups=demo.groups[::4])
    request = AdviceRequest(PlanOptions(within=0.3), ReplayOptions(scenarios=SCENARIOS, seed=3))
    mapper = SparkMapper(spark)
    advice, alone = advise(few, request, mapper=mapper, width=mapper.width, watch=StageTimes()), advise(few, request)
    assert advice.document() == alone.document()
    assert advice.plan.moves
    for mine, group in zip(advice.groups, alone.groups, strict=True):
        assert (mine.scores, mine.scenarios, mine.members) == (group.scores, group.scenarios, group.members)
    assert [topic.scores for topic in advice.topics] == [topic.scores for topic in alone.topics]


@pytest.mark.parametrize(
    "options",
    [
        PlanOptions(max_moves=5, exclude_topics=("nothing",)),
        PlanOptions(leaders_only=True, with_frontier=False),
    ],
)
def test_a_map_of_placement_alone_is_planned_as_in_one_process(spark, real_map, options):
    request = AdviceRequest(options, replace(TODAY_ALONE, seed=7))
    mapper = SparkMapper(spark)
    assert advise(real_map, request, mapper=mapper).plan.document == advise(real_map, request).plan.document


@dataclass(frozen=True)
class Slow:
    """Half a second, or an error at once."""

    what = "units"
    index: int
    cost_s: float = 1.0

    def run(self) -> int:
        if self.index == 0:
            raise UsageError("the search failed")
        time.sleep(0.5)
        return self.index


def test_a_task_that_fails_at_once_ends_a_job_of_minutes_with_its_words(spark):
    """600 tasks of half a second on two cores take 150 s in eight bins; few are begun."""
    done = spark.sparkContext.accumulator(0)

    def step(task: Slow) -> int:
        result = task.run()
        done.add(1)
        return result

    with pytest.raises(Exception, match="the search failed"):
        SparkMapper(spark)(step, [Slow(number, 2.0 if number == 0 else 1.0) for number in range(600)])
    assert done.value < 600
    assert SparkMapper(spark)(Slow.run, [Slow(2), Slow(1)]) == [2, 1]


def test_tasks_are_packed_the_dearest_first_and_answered_in_order(spark):
    answers = SparkMapper(spark)(lambda task: task.index, [Slow(number, float(number % 7)) for number in range(50)])
    assert answers == list(range(50))
    assert SparkMapper(spark)(lambda task: task.index, []) == []


def test_what_is_wrong_with_an_own_strategy_is_a_row_of_every_group_and_the_job_goes_on(spark, demo):
    few = replace(demo, groups=tuple(group for group in demo.groups if group.type is GroupType.CLASSIC)[:6])
    assert len(few.groups) == 6
    limits = Limits(answer_s=3.0, memory_bytes=256 * MIB, most_ends=1)
    kinds = {name: kind for name, (kind, _) in REASONS.items() if name not in ("Endless", "NotSubscribed")}
    places = ["Good", *kinds]
    strategies = described(
        [read_target(f"{broken_strategies.__file__}:{name}", Kind.ASSIGNOR) for name in places], limits
    )
    called = {item.name: name for item, name in zip(strategies, places, strict=True)}
    mapper = SparkMapper(spark, partial(own_strategies, strategies, limits))
    tasks = tuple(group_tasks(few, TODAY_ALONE, width=mapper.width))
    for replay in mapper(replayed, tasks):
        rows = {score.assignor: score for score in replay.scores}
        built_in = next(replayed(task) for task in tasks if task.group_input.group.id == replay.group_id)
        assert [name for name in rows if name not in called] == [score.assignor for score in built_in.scores]
        assert called.keys() <= rows.keys()
        assert rows["good"].error is None
        for name, location in called.items():
            if location != "Good":  # of what ended its process, the next group of the same worker is told so
                refusal = rows[name].error.args
                assert kinds[location] in (refusal["error"], *refusal["message"].split(": ")), (name, refusal)
                assert not rows[name].is_advised


def replayed(task):
    return task.replay_options.replay(task.group_input)
