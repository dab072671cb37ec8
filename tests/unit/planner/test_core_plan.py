from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.planner.leaders import choose_leaders, go_on_leading
from kafka_rebalance.planner.linear_program.programs import Program, decided_core, with_covers
from kafka_rebalance.planner.linear_program.relaxation import Arcs, Relaxed, arcs_of, core_arcs, relax
from kafka_rebalance.planner.params import LinearProgramParams, NeighbourhoodParams
from kafka_rebalance.planner.state import working_bands
from tests.unit.planner.hand_problems import Rows, hand_problem

FOUR: Rows = [((0,), 10.0), ((0,), 10.0), ((0,), 10.0), ((0,), 10.0)]
# Broker 0 holds 6, 5 and 5 of at most 12.25.
SIXTEEN: Rows = [((0,), 6.0), ((0,), 5.0), ((0,), 5.0), ((1,), 2.5), ((2,), 2.5)]


def of_core(partitions: int, arcs: int) -> LinearProgramParams:
    return LinearProgramParams(neighbourhoods=NeighbourhoodParams(core_partitions=partitions, core_arcs=arcs))


def pairs(arcs: Arcs, some: np.ndarray) -> set[tuple[int, int]]:
    return set(zip(arcs.row[some].tolist(), arcs.broker[some].tolist(), strict=True))


def test_the_core_is_what_differs_and_what_would_cost_least_elsewhere() -> None:
    problem = hand_problem(FOUR, 3, within=None)
    arcs = arcs_of(problem)
    stays = arcs.is_kept.astype(np.float64)
    moved = np.where(arcs.row == 3, arcs.broker == 1, stays).astype(np.float64)
    regret = np.where(arcs.is_kept, 9.0, np.array([5.0, 1.0, 3.0, 7.0])[arcs.row] + arcs.broker)
    relaxed = Relaxed(moved, np.zeros((3, 1)), regret)
    result = pairs(arcs, core_arcs(problem, arcs, relaxed, stays, of_core(2, 4)))
    assert result == {(3, 0), (3, 1), (1, 0), (1, 1)}  # row 3 differs; row 1 costs least elsewhere, on broker 1
    assert pairs(arcs, core_arcs(problem, arcs, relaxed, stays, of_core(2, 1))) == {(3, 0), (3, 1), (1, 0)}
    assert core_arcs(problem, arcs, relaxed, stays, of_core(9, 99)).all()


def test_what_it_costs_counts_beside_its_bytes() -> None:
    problem = hand_problem([((0,), 10.0), ((0,), 1.0)], 2, within=None)
    arcs = arcs_of(problem)
    stays = arcs.is_kept.astype(np.float64)
    relaxed = Relaxed(stays, np.zeros((2, 1)), np.where(arcs.row == 0, 2.0, 1.0))
    assert {row for row, _ in pairs(arcs, core_arcs(problem, arcs, relaxed, stays, of_core(1, 9)))} == {0}


def test_the_core_is_decided_at_its_cheapest_but_for_what_is_held() -> None:
    """The plan moves the 6; a 5 is enough, unless both are held."""
    problem = hand_problem(SIXTEEN, 3, within=0.75)
    arcs, bands = arcs_of(problem), working_bands(problem, problem.band_low, problem.band_high)
    relaxed = relax(problem, arcs, bands.low, bands.high)
    assert relaxed is not None
    program = Program(problem, arcs, with_covers(problem, arcs, relaxed, bands), (bands.low, bands.high))
    replicas = problem.replicas.copy()
    replicas[0, 0] = 1
    nobody, both = np.zeros(5, dtype=np.bool_), np.array([False, True, True, False, False])
    share = decided_core(program, replicas, allowed=9, frozen=nobody)
    assert share is not None
    new = (share > 0.5) & ~arcs.is_kept
    assert problem.move_bytes[arcs.row[new]].tolist() == [5.0]
    assert decided_core(program, replicas, allowed=9, frozen=both) is None
    cheapest = problem.replicas.copy()
    cheapest[1, 0] = 1
    assert decided_core(program, cheapest, allowed=9, frozen=nobody) is None  # as near as the program comes


def test_leaders_go_on_where_they_are_there() -> None:
    """2, 2 and 2 by another choice than today's; partition 0 moved from brokers 0 and 1 to 2 and 1."""
    rows: Rows = [*[((0, 1), 1.0)] * 4, ((1, 2), 1.0), ((2, 0), 1.0)]
    problem = hand_problem(rows, 3, resources=("leaders",))
    bands = working_bands(problem, problem.band_low, problem.band_high)
    replicas = problem.replicas.copy()
    replicas[0] = (2, 1)
    leader = np.array([1, 1, 0, 0, 2, 2], dtype=np.int32)
    chosen = go_on_leading(problem, replicas, leader, bands)
    assert replicas[np.arange(6), chosen.replica_index].tolist() == leader.tolist()
    assert chosen.statistics.leaders_changed == 0
    gone = np.array([0, 1, 0, 0, 2, 2], dtype=np.int32)  # broker 0 has left
    index = go_on_leading(problem, replicas, gone, bands).replica_index
    assert np.bincount(replicas[np.arange(6), index]).tolist() == [2, 2, 2]


@pytest.mark.parametrize("change", [{"elects_preferred": True}, {"resources": ("disk",)}])
def test_where_leaders_are_nobodys_choice_no_search_is_made(change: dict[str, object]) -> None:
    problem = hand_problem(SIXTEEN, 3, resources=change.get("resources", ("leaders",)))  # type: ignore[arg-type]
    problem = replace(problem, elects_preferred=bool(change.get("elects_preferred")))
    bands = working_bands(problem, problem.band_low, problem.band_high)
    result = go_on_leading(problem, problem.replicas, problem.leader, bands)
    assert result.replica_index.tolist() == choose_leaders(problem, problem.replicas, bands).replica_index.tolist()
