from __future__ import annotations

import pickle
import random
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import pytest

from kafka_rebalance.advisory.advise import AdviceRequest, GroupTask, TopicTask, advise, group_tasks
from kafka_rebalance.errors import UsageError
from kafka_rebalance.groups.group_replay import EVERYTHING, TODAY_ALONE, ReplayOptions
from kafka_rebalance.groups.scenarios import SCENARIOS, estimated_cost, split
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.searches import PlanQuestion, Search, Sent, planned
from rebalance_advisor.dumps import read_input
from stack.demo.cluster import write_demo_cluster


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo cluster with a third of its groups, the largest among them."""
    whole = read_input(write_demo_cluster(tmp_path_factory.mktemp("advise") / "demo"), "demo")
    largest = max(whole.groups, key=lambda group: sum(len(p) for m in group.members for _, p in m.assigned))
    return replace(whole, groups=(*(group for group in whole.groups[::3] if group != largest), largest))


@pytest.fixture(scope="module")
def request_of_demo():
    return AdviceRequest(PlanOptions(within=0.3), ReplayOptions(scenarios=SCENARIOS, seed=3))


@pytest.fixture(scope="module")
def alone(demo, request_of_demo):
    return advise(demo, request_of_demo)


def shuffled(step, tasks):
    """Each task and each answer goes through pickle, as to another process; in another order than they come in."""
    order = list(range(len(tasks)))
    random.Random(11).shuffle(order)
    step = pickle.loads(pickle.dumps(step))
    found = {place: pickle.loads(pickle.dumps(step(pickle.loads(pickle.dumps(tasks[place]))))) for place in order}
    return [found[place] for place in range(len(tasks))]


@pytest.mark.slow
def test_order_processes_and_parts_of_giants_change_no_byte(demo, request_of_demo, alone):
    with ProcessPoolExecutor(2) as pool:
        others = [
            advise(demo, request_of_demo, mapper=shuffled, width=9),
            advise(demo, request_of_demo, mapper=pool.map, width=4),
        ]
    assert alone.plan.moves
    assert len(alone.plan.frontier) >= 3
    for other in others:
        assert other.document() == alone.document()
        assert other.scores == alone.scores
        for mine, one in zip(other.groups, alone.groups, strict=True):
            assert (mine.scores, mine.scenarios, mine.members) == (one.scores, one.scenarios, one.members)


def test_the_plan_is_that_of_one_process_and_is_made_by_the_same_searches(demo, request_of_demo, alone):
    made = make_plan(demo, request_of_demo.options, seed=3)
    question = PlanQuestion(demo, request_of_demo.options, seed=3)
    assert made.document == alone.plan.document == planned(question).plan.document
    first, *points = question.searches()
    assert first.within is None
    assert len(points) >= 3
    assert all(point.within is not None and point.cost_s < first.cost_s for point in points)


def test_what_a_search_raises_is_raised(demo):
    with pytest.raises(UsageError, match="broker 999"):
        advise(demo, AdviceRequest(PlanOptions(remove_brokers=(999,), with_frontier=False), TODAY_ALONE))


def test_every_scenario_of_every_group_is_in_one_task(demo):
    tasks = list(group_tasks(demo, EVERYTHING, width=32))
    asked = [(task.group_input.group.id, name) for task in tasks for name in task.replay_options.scenarios]
    assert len(asked) == len(set(asked)) == len(demo.groups) * len(SCENARIOS)
    first = [task.group_input.group.id for task in tasks if task.part == 0]
    assert first == [group.id for group in demo.groups]
    assert len(tasks) > len(first)


def test_a_giant_is_split_so_that_no_part_is_dearer_than_two_fair_shares(demo):
    giant = replace(demo, groups=demo.groups[-1:])
    costs = [task.cost_s for task in group_tasks(giant, EVERYTHING, width=4)]
    assert 1 < len(costs) <= 4
    assert max(costs) <= 2 * sum(costs) / 4
    assert len(list(group_tasks(giant, TODAY_ALONE, width=4))) == 1  # today's replay is one piece


def test_a_change_of_the_strategy_stays_with_the_restart_that_it_is_made_of():
    for parts in (2, 3, 5):
        shares = split(SCENARIOS, 12, 128, parts)
        assert sorted(name for share in shares for name in share) == sorted(SCENARIOS)
        (together,) = [share for share in shares if "strategy_changes" in share]
        assert "rolling_restart" in together


def test_cost_grows_with_members_and_stops_growing_at_twenty_that_are_tried():
    # 12 members: 12 leaves; 40 members: at most 20 leaves, each call a little dearer.
    dearer = estimated_cost(40, 100, ("member_leaves",)) / estimated_cost(20, 100, ("member_leaves",))
    assert dearer == pytest.approx((140 + 140) / (140 + 120))
    assert estimated_cost(12, 128, SCENARIOS) > 5 * estimated_cost(12, 128)


def test_a_group_that_the_gate_holds_is_scored_as_it_is(demo, alone):
    advised = next(group for group in alone.groups if group.advised is not None)
    (task,) = [
        task
        for task in group_tasks(demo, EVERYTHING, frozenset({advised.group_id}))
        if task.group_input.group.id == advised.group_id
    ]
    held = task.replay_options.replay(task.group_input)
    assert ([score.is_current for score in held.scores], held.scenarios, held.advised) == ([True], (), None)
    assert held.today.skew_count == advised.today.skew_count


class Heavy:
    """Counts how often it is unpickled."""

    unpickled = 0

    def __setstate__(self, _: object) -> None:
        Heavy.unpickled += 1

    def __getstate__(self) -> dict[str, int]:
        return {"a": 1}


def test_what_is_sent_is_unpickled_where_it_is_asked_for_and_once():
    sent = pickle.loads(pickle.dumps(Sent(Heavy())))
    again = pickle.loads(pickle.dumps(sent))
    assert Heavy.unpickled == 0
    assert sent.value is sent.value
    assert Heavy.unpickled == 1
    assert again.value is not sent.value
    assert Heavy.unpickled == 2


def test_each_kind_of_task_says_how_a_log_counts_it():
    assert [kind.what for kind in (Search, TopicTask, GroupTask)] == ["searches", "topics", "groups"]
