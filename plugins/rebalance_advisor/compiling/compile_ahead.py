"""Compiles kernels for another process: ``python -m rebalance_advisor.compiling.compile_ahead COMMAND``.

COMMAND is what that process runs. While ``plan`` compiles its search, this compiles what comes afterwards, in the
order in which it is needed: bounds, leaders, annealing, waves. While ``advise`` compiles the replays, this compiles all
of the planner. The kernels stay on disk, where numba finds them; a kernel that both are at is compiled twice, which
does no harm.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.bounds import lower_bounds
from kafka_rebalance.planner.leaders import choose_leaders
from kafka_rebalance.planner.params import Effort, SolveParams
from kafka_rebalance.planner.replicas.search import anneal, replica_columns, start_sets
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.planner.state import WorkingBands, make_state, working_bands
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.plans.wave_filling import (
    LeaderShifts,
    ReplicaCells,
    WaveLimits,
    leader_steps,
    slot_filling_seconds,
    transfers_of,
    waves_of,
)
from kafka_rebalance.snapshot.load import LoadColumn, LoadKind, LoadSource, PartitionLoads
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Topic
from kafka_rebalance.snapshot.partition_table import PartitionTable

_BROKERS, _PARTITIONS = 4, 24
_WITHIN = 0.05


def compile_planner(*, with_search: bool) -> None:
    """Run each kernel of the planner once, on a cluster of four brokers; the search, most of it, at the end."""
    problem = _problem()
    bands = working_bands(problem, problem.band_low, problem.band_high)
    lower_bounds(problem)
    choose_leaders(problem, problem.replicas, bands)
    _anneal(problem, bands)
    _cut_waves()
    if with_search:
        solve(problem, params=SolveParams(effort=Effort(program_steps=0, anneal_steps=0)))


def _problem() -> Problem:
    """Brokers 0 and 1 hold too much and lead everything."""
    row = np.arange(_PARTITIONS)
    replicas = np.column_stack([row % 2, 1 - row % 2 + 2 * (row % 4 == 0)]).astype(np.int32)
    unknown = np.full(_PARTITIONS, -1, dtype=np.int64)
    table = PartitionTable(
        topic=np.zeros(_PARTITIONS, dtype=np.int32),
        partition=row.astype(np.int32),
        offsets=np.arange(_PARTITIONS + 1, dtype=np.int64) * 2,
        replicas=replicas.ravel().copy(),
        leader=replicas[:, 0].copy(),
        replica_log_bytes=np.repeat((row + 1) * 1_000_000, 2),
        start_offset=unknown,
        end_offset=unknown.copy(),
        in_sync=np.ones(2 * _PARTITIONS, dtype=np.bool_),
    )
    rate = LoadColumn(np.arange(1.0, _PARTITIONS + 1) * 1000.0, LoadSource.GIVEN)
    snapshot = ClusterSnapshot(
        cluster="four-brokers",
        captured_at=datetime(2026, 1, 1, tzinfo=UTC),
        brokers=tuple(Broker(b, rack=f"rack-{b % 2}") for b in range(_BROKERS)),
        topics=(Topic("orders"),),
        partitions=table,
        loads=PartitionLoads({LoadKind.IN_BYTES_PER_S: rate, LoadKind.OUT_BYTES_PER_S: rate}),
        source="generated",
    )
    return build_request(snapshot, PlanOptions(within=_WITHIN)).problem(_WITHIN)


def _anneal(problem: Problem, bands: WorkingBands) -> None:
    sets = start_sets(problem)
    nobody = np.full(problem.partition_count, -1, dtype=np.int32)
    columns = replica_columns(problem)
    state = make_state(problem, sets, nobody, columns, bands, seed=0)
    anneal(state, np.flatnonzero(state.takes).astype(np.int32), 1, 1.0)


def _cut_waves() -> None:
    cells = ReplicaCells(np.array([[2], [3]], dtype=np.int32), np.ones((2, 1), dtype=np.bool_))
    leaders = LeaderShifts(np.array([0, 1], dtype=np.int32), np.array([2, 3], dtype=np.int32))
    transfers = transfers_of(
        source=np.array([0, 1], dtype=np.int32),
        size=np.ones(2),
        rate=np.zeros(2),
        new=cells,
        dropped=cells,
        own_size=np.ones((2, 1)),
        leaders=leaders,
    )
    waves_of(transfers, cells.is_meant[:, 0], _BROKERS, None, WaveLimits(1_000_000, 2, 100))
    leader_steps(leaders, cells.is_meant[:, 0], _BROKERS, 100, 2)
    slot_filling_seconds(transfers, _BROKERS, 2, 1e6)


if __name__ == "__main__":
    compile_planner(with_search=sys.argv[1:] == ["advise"])
