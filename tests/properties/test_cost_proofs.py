"""Prices of moves and of time prove no more than the optimum, whatever they are; planner and verifier read the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds import lower_bounds, proven_by
from kafka_rebalance.planner.linear_program.proofs import fewest_moves, time_proof, with_cost_proofs
from kafka_rebalance.planner.linear_program.relaxation import arcs_of
from kafka_rebalance.planner.params import DEFAULTS, SolveParams
from kafka_rebalance.planner.solution import CostProof
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.bounds import proved_costs
from kafka_rebalance.verify.cluster import cluster_arrays
from kafka_rebalance.verify.document import read_parameters
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import Band
from tests.properties.exact_plans import ExactPlans
from tests.properties.exact_time import least_busy_bytes
from tests.properties.small_clusters import small_cluster

FAST, ALL = range(30), range(30, 1200)
SLACK = 1e-6


def test_no_proof_of_moves_or_time_is_above_the_optimum() -> None:
    _hold_all(FAST, least=8)


@pytest.mark.matrix
@pytest.mark.slow
def test_no_proof_of_moves_or_time_is_above_the_optimum_of_three_hundred_clusters() -> None:
    _hold_all(ALL, least=300)


@dataclass
class Held:
    """What is wrong with one cluster's proofs; how near they come to the optimum (1 where nothing is needed)."""

    faults: list[str]
    moves: float
    time: float


def test_no_proof_that_climbs_is_above_the_optimum() -> None:
    programs = replace(DEFAULTS.linear_program, proofs=replace(DEFAULTS.linear_program.proofs, most_arcs=0))
    _hold_all(FAST, least=8, params=replace(DEFAULTS, linear_program=programs))


def _hold_all(seeds: Sequence[int], least: int, params: SolveParams = DEFAULTS) -> None:
    held = [result for seed in seeds if (result := _hold(seed, params)) is not None]
    moves, time = np.array([row.moves for row in held]), np.array([row.time for row in held])
    print(f"\n{len(held)} clusters, bound / optimum: moves {moves.mean():.3f}, time {time.mean():.3f}")
    assert [fault for row in held for fault in row.faults] == []
    assert len(held) >= least
    assert moves.mean() > 0.7
    assert time.mean() > 0.5


def _hold(seed: int, params: SolveParams) -> Held | None:
    """None where no plan meets the bands, or replicas are not to move."""
    snapshot, options = small_cluster(seed)
    problem = build_request(snapshot, options).problem(options.band)
    if not problem.moves_replicas or problem.pinned.all():
        return None
    try:
        bounds = with_cost_proofs(problem, lower_bounds(problem), params)
    except AdvisorError:
        return None
    fewest, busiest = ExactPlans(problem).least("replica_moves"), least_busy_bytes(problem)
    if fewest is None or busiest is None:
        return None
    faults = _above(seed, "moves", bounds.replica_moves.value, fewest)
    draw = np.random.default_rng(seed)
    moves = fewest_moves(problem, arcs_of(problem))
    for proof in (moves, _shaken(problem, moves, draw)):
        value = proven_by(problem, proof.prices, np.ones(problem.partition_count))
        faults += _above(seed, "moves", value, fewest)
        read = _verified(snapshot, problem, options.document(), "replica_moves", proof)
        faults += _above(seed, "verify's moves", read, np.ceil(fewest - SLACK))
        faults += [] if read == max(0.0, np.ceil(value - SLACK * max(value, 1.0))) else [f"seed {seed}: reads {read}"]
    time = bounds.proofs.get("seconds")  # none where nobody needs to send anything
    for proof in () if time is None else (time, _shaken(problem, time, draw)):
        value = time_proof(problem, proof.prices, proof.receiving, proof.sending).value
        faults += _above(seed, "time", value, busiest)
        read = _verified(snapshot, problem, options.document(), "seconds", proof)
        faults += [] if abs(read - value) <= SLACK * max(value, 1.0) else [f"seed {seed}: reads {read}, not {value}"]
    return Held(
        faults,
        bounds.replica_moves.value / fewest if fewest else 1.0,
        (0.0 if time is None else time.value) / busiest if busiest else 1.0,
    )


def _shaken(problem: Problem, proof: CostProof, draw: np.random.Generator) -> CostProof:
    """Half as much to half as much again of each price and share; and shares where there were none."""
    prices = proof.prices * draw.uniform(0.5, 1.5, proof.prices.shape)
    if not proof.receiving.any() and not proof.sending.any():
        return CostProof(prices, proof.receiving, proof.sending, 0.0)
    receiving = (proof.receiving + draw.uniform(0, 0.2, problem.broker_count)) * draw.uniform(
        0.5, 1.5, problem.broker_count
    )
    sending = proof.sending * draw.uniform(0.5, 1.5, problem.broker_count)
    total = float(receiving.sum() + sending.sum())
    return CostProof(prices / total, receiving / total, sending / total, 0.0)


def _verified(
    snapshot: ClusterSnapshot, problem: Problem, document: dict[str, object], cost: str, proof: CostProof
) -> float:
    parameters = read_parameters(document | {"moves_per_broker": 1}, FaultList())
    assert parameters is not None
    cluster = cluster_arrays(snapshot, parameters)
    bands = {name: Band(problem.band_low[:, d], problem.band_high[:, d]) for d, name in enumerate(problem.resources)}
    reported = {
        "prices": {name: _by_id(problem, proof.prices[:, d]) for d, name in enumerate(problem.resources)},
        "receiving": _by_id(problem, proof.receiving),
        "sending": _by_id(problem, proof.sending),
        "covers": [],
    }
    return proved_costs({cost: reported}, bands, cluster, parameters)[cost]


def _by_id(problem: Problem, values: np.ndarray) -> dict[str, float]:
    return {str(broker): float(values[b]) for b, broker in enumerate(problem.broker_ids.tolist())}


def _above(seed: int, what: str, value: float, optimum: float) -> list[str]:
    if value <= optimum + SLACK * max(optimum, 1.0):
        return []
    return [f"seed {seed}: {what} {value:.9g} is above {optimum:.9g}"]
