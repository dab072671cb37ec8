"""Whatever the prices are, what they prove is not above the optimum; planner and verifier read the same out of them.

Weak duality does not ask where prices come from: the planner's best ones, the same changed at random, and mere noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.bounds import lower_bounds, proven_by, raised
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.verify.bounds import price_bound
from kafka_rebalance.verify.cluster import cluster_arrays
from kafka_rebalance.verify.document import read_parameters
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import Band
from tests.properties.exact_plans import ExactPlans
from tests.properties.small_clusters import small_cluster

FAST, ALL = range(40), range(40, 2200)
SLACK = 1e-6


def test_no_prices_prove_more_than_the_optimum() -> None:
    _hold_all(FAST, least=12)


@pytest.mark.matrix
@pytest.mark.slow
def test_no_prices_prove_more_than_the_optimum_of_six_hundred_clusters() -> None:
    _hold_all(ALL, least=600)


def _hold_all(seeds: Sequence[int], least: int) -> None:
    """``least`` clusters whose bands can be met are among them."""
    held = [fault for seed in seeds if (fault := _wrong(seed)) is not None]
    assert [fault for faults in held for fault in faults] == []
    assert len(held) >= least


def _wrong(seed: int) -> list[str] | None:
    """What is wrong; None where no plan meets the bands, or replicas are not to move."""
    snapshot, options = small_cluster(seed)
    problem = build_request(snapshot, options).problem(options.band)
    try:
        bounds = raised(problem, lower_bounds(problem))
    except AdvisorError:
        return None
    optimum = ExactPlans(problem).least("bytes") if problem.moves_replicas else None
    if optimum is None or bounds.certificate is None:
        return None
    parameters = read_parameters(options.document() | {"moves_per_broker": 1}, FaultList())
    assert parameters is not None
    cluster = cluster_arrays(snapshot, parameters)
    bands = {name: Band(problem.band_low[:, d], problem.band_high[:, d]) for d, name in enumerate(problem.resources)}
    faults = []
    for prices in (bounds.certificate.prices, *_changed(problem, bounds.certificate.prices, seed)):
        proved = proven_by(problem, prices, problem.move_bytes)
        by_name = {name: prices[:, d] for d, name in enumerate(problem.resources)}
        recomputed = price_bound(cluster, parameters, bands, by_name)
        if proved > optimum + SLACK * max(optimum, 1.0):
            faults.append(f"seed {seed}: {proved:.9g} is above {optimum:.9g}")
        if abs(proved - recomputed) > SLACK * max(abs(proved), 1.0):
            faults.append(f"seed {seed}: the planner reads {proved:.9g}, the verifier {recomputed:.9g}")
    return faults


def _changed(problem: Problem, prices: np.ndarray, seed: int) -> list[np.ndarray]:
    """Half as much to half as much again of each price; and that with noise in all resources."""
    draw = np.random.default_rng(seed)
    weight = np.maximum((problem.follower_load + problem.leader_extra).mean(axis=0), 1e-9)
    noise = draw.normal(0.0, 0.3, prices.shape) * problem.move_bytes.mean() / weight
    near = prices * draw.uniform(0.5, 1.5, prices.shape)
    lawful = problem.stays[:, None] & (np.isfinite(problem.band_high) | (near + noise <= 0))
    return [near, np.where(lawful, near + noise, 0.0)]
