from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, to_document
from kafka_rebalance.plans.wave_filling import LeaderShifts, leader_steps
from kafka_rebalance.plans.waves import LeaderTraffic
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Topic
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads, PartitionTable
from kafka_rebalance.verify import verify_folder, verify_plan
from rebalance_advisor.publish.plan_files import plan_files


def most_changes(plan: Plan, moves: tuple[int, ...]) -> int:
    """Leaders that the busiest broker gives, or takes, in one wave: counted move by move."""
    changed = [plan.moves[m] for m in moves if plan.moves[m].leader_from != plan.moves[m].leader_to]
    given, taken = Counter(move.leader_from for move in changed), Counter(move.leader_to for move in changed)
    return max([*given.values(), *taken.values()], default=0)


def led_elsewhere(partitions: int, brokers: int, seed: int) -> ClusterSnapshot:
    """Two replicas each; a broker that was restarted leads nothing, and of the others many are led by the second."""
    draw = np.random.default_rng(seed)
    first = draw.integers(0, brokers, partitions)
    second = (first + draw.integers(1, brokers, partitions)) % brokers
    is_swapped = (first == 0) | (draw.random(partitions) < 0.3)
    size = draw.integers(1, 10**9, partitions)
    unknown = np.full(partitions, -1, dtype=np.int64)
    rates = LoadColumn(draw.integers(1, 10**6, partitions).astype(float), LoadSource.GIVEN)
    return ClusterSnapshot(
        cluster="restarted",
        captured_at=None,
        brokers=tuple(Broker(b, rack=f"rack-{b}") for b in range(brokers)),
        topics=(Topic("orders"),),
        partitions=PartitionTable(
            topic=np.zeros(partitions, dtype=np.int32),
            partition=np.arange(partitions, dtype=np.int32),
            offsets=2 * np.arange(partitions + 1, dtype=np.int64),
            replicas=np.column_stack([first, second]).astype(np.int32).ravel(),
            leader=np.where(is_swapped, second, first).astype(np.int32),
            replica_log_bytes=np.repeat(size, 2),
            start_offset=unknown,
            end_offset=unknown.copy(),
            in_sync=np.ones(2 * partitions, dtype=np.bool_),
        ),
        loads=PartitionLoads({LoadKind.IN_BYTES_PER_S: rates, LoadKind.OUT_BYTES_PER_S: rates}),
        source="generated",
    )


def test_a_step_is_the_first_with_room_and_elections_come_first() -> None:
    """Broker 0 gives four leaders, two a step at most; the last two of the list need an election alone."""
    shifts = LeaderShifts(np.zeros(4, dtype=np.int32), np.array([1, 2, 3, 1], dtype=np.int32))
    is_election = np.array([False, False, True, True])
    assert leader_steps(shifts, is_election, 4, 100, 2).tolist() == [1, 1, 0, 0]
    assert leader_steps(shifts, is_election, 4, 100, 4).tolist() == [0, 0, 0, 0]
    assert leader_steps(shifts, is_election, 4, 1, 4).tolist() == [2, 3, 0, 1]  # one row a file


def test_steps_of_random_changes_keep_their_limits_and_are_few() -> None:
    for seed in range(200):
        draw = np.random.default_rng(seed)
        brokers, count, limit, rows = (
            int(draw.integers(low, high)) for low, high in ((2, 9), (1, 120), (1, 8), (1, 60))
        )
        given = draw.integers(-1, brokers, count).astype(np.int32)
        taken = ((given + draw.integers(1, brokers, count)) % brokers).astype(np.int32)
        step = leader_steps(LeaderShifts(given, taken), draw.random(count) < 0.5, brokers, rows, limit)
        assert set(step.tolist()) == set(range(step.max() + 1))
        assert max(Counter(step.tolist()).values()) <= rows
        sides = [
            Counter((s, b) for s, b in zip(step.tolist(), side.tolist(), strict=True) if b >= 0)
            for side in (given, taken)
        ]
        assert max(max(side.values(), default=0) for side in sides) <= limit
        degrees = [max(Counter(b for b in side.tolist() if b >= 0).values(), default=0) for side in (given, taken)]
        assert step.max() + 1 <= sum(-(-degree // limit) for degree in degrees) + -(-count // rows)


@pytest.mark.parametrize("limit", [1, 7, 40, None])
def test_an_election_of_hundreds_of_leaders_comes_in_steps(limit: int | None) -> None:
    """652 partitions never change their leaders in one step without a word."""
    snapshot = led_elsewhere(652, 6, seed=4)
    options = PlanOptions(preferred_election=True, with_frontier=False, max_leader_changes_per_wave=limit)
    plan = make_plan(snapshot, options)
    assert verify_plan(to_document(plan), snapshot).is_right
    assert plan.cost.leader_changes > 200
    by_wave = [most_changes(plan, wave.moves) for wave in plan.waves]
    if limit is None:
        assert len(plan.waves) == 1
        assert plan.waves[0].leader_changes is None
    else:
        assert max(by_wave) <= limit
        assert sum(wave.leader_changes or 0 for wave in plan.waves) == plan.cost.leader_changes
        rates = [snapshot.load(LoadKind.IN_BYTES_PER_S)[plan.moves[m].partition] for m in plan.waves[0].moves]
        assert plan.waves[0].leader_in_bytes_per_s == pytest.approx(sum(rates))


def test_what_moves_with_leaders_is_summed_where_leaders_change_and_unknown_where_one_is() -> None:
    """Moves 0 and 2 change their leader, 1 does not; read rates of 2's partition are unknown."""
    traffic = LeaderTraffic(
        changes=np.array([True, False, True]),
        written=np.array([5.0, 7.0, 11.0]),
        read=np.array([1.0, 2.0, np.nan]),
        is_reported=True,
    )
    assert traffic.of_wave(np.array([0, 1, 2])) == {
        "leader_changes": 2, "leader_in_bytes_per_s": 16.0, "leader_out_bytes_per_s": None,
    }  # fmt: skip
    assert traffic.of_wave(np.array([0, 1]))["leader_out_bytes_per_s"] == 1.0
    assert set(replace(traffic, is_reported=False).of_wave(np.array([0])).values()) == {None}


def test_copies_and_leaders_alone_keep_the_limit_in_every_wave_and_on_the_way_back() -> None:
    for seed in range(4):
        snapshot = led_elsewhere(150, 5, seed)
        options = PlanOptions(within=0.05, with_frontier=False, max_leader_changes_per_wave=1 + 3 * seed)
        plan = make_plan(snapshot, options)
        files = plan_files(plan)
        verification = verify_folder(files, snapshot)
        assert [str(fault) for fault in verification.wrong] == []
        assert plan.rollback is not None
        waves = (*plan.waves, *plan.rollback.waves)
        assert max(most_changes(plan, wave.moves) for wave in waves) <= 1 + 3 * seed
        assert " change, and with them their clients (" in files["commands.md"].decode()
