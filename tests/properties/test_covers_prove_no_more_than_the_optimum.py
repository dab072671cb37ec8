"""Whatever sets covers name and whatever their prices are, what they prove is not above the optimum; planner and
verifier read the same out of them.

The linear program's own covers and prices, the same shaken, and random sets at random prices on top of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner.bounds import lower_bounds, proven_by, raised
from kafka_rebalance.planner.linear_program.programs import with_covers
from kafka_rebalance.planner.linear_program.relaxation import Relaxed, arcs_of, relax
from kafka_rebalance.planner.params import CoverParams
from kafka_rebalance.planner.solution import Cover
from kafka_rebalance.planner.state import working_bands
from kafka_rebalance.plans.request import build_request
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.bounds import proved_costs
from kafka_rebalance.verify.cluster import cluster_arrays
from kafka_rebalance.verify.document import read_parameters
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import Band
from tests.properties.exact_plans import ExactPlans
from tests.properties.small_clusters import confined_cluster, small_cluster

FAST, ALL, CONFINED = range(70), range(70, 3800), range(700)
SLACK = 1e-6
EAGER = CoverParams(rounds=4, least_promise=0.0, least_rise=0.0, least_worth=0.0)


def test_no_covers_prove_more_than_the_optimum() -> None:
    _hold_all(FAST, least=8)


@pytest.mark.matrix
@pytest.mark.slow
def test_no_covers_prove_more_than_the_optimum_of_six_hundred_clusters() -> None:
    _hold_all(ALL, least=500)
    _hold_all(CONFINED, least=100, confined=True)


@dataclass
class Held:
    """What is wrong with one cluster's covers; bounds over the optimum without and with them."""

    faults: list[str]
    prices: float
    covers: float


def _hold_all(seeds: Sequence[int], least: int, *, confined: bool = False) -> None:
    """``least`` clusters whose bands can be met, and where something must move, are among them."""
    held = [result for seed in seeds if (result := _hold(seed, confined=confined)) is not None]
    prices, covers = np.array([row.prices for row in held]), np.array([row.covers for row in held])
    print(f"\n{len(held)} clusters, bound / optimum: by prices {prices.mean():.4f}, with covers {covers.mean():.4f}")
    assert [fault for row in held for fault in row.faults] == []
    assert len(held) >= least
    assert covers.mean() > prices.mean()


def _hold(seed: int, *, confined: bool) -> Held | None:
    """None where no plan meets the bands, or nothing has to move."""
    snapshot, options = (confined_cluster if confined else small_cluster)(seed)
    try:
        problem = build_request(snapshot, options).problem(options.band)
        bounds = raised(problem, lower_bounds(problem))
    except AdvisorError:
        return None
    if not problem.moves_replicas or not (optimum := ExactPlans(problem).least("bytes")):
        return None
    arcs, bands = arcs_of(problem), working_bands(problem, problem.band_low, problem.band_high)
    relaxed = relax(problem, arcs, bands.low, bands.high)
    if relaxed is None:
        return None
    covered = with_covers(problem, arcs, relaxed, bands, EAGER)
    draw, faults, best = np.random.default_rng(seed), list[str](), bounds.bytes.value
    for proof in (covered, *_shaken(problem, covered, draw)):
        value = proven_by(problem, proof.prices, problem.move_bytes, covers=proof.covers)
        best = max(best, value)
        read = _verified(snapshot, problem, options, proof)
        if max(value, read) > optimum + SLACK * max(optimum, 1.0):
            faults.append(f"seed {seed}: {value:.9g} (verify {read:.9g}) is above {optimum:.9g}")
        if abs(max(value, 0.0) - read) > SLACK * max(abs(value), optimum, 1.0):
            faults.append(f"seed {seed}: the planner reads {value:.9g}, the verifier {read:.9g}")
    without = proven_by(problem, relaxed.prices, problem.move_bytes)
    return Held(faults, max(bounds.bytes.value, without) / optimum, max(best, without) / optimum)


def _shaken(problem: Problem, covered: Relaxed, draw: np.random.Generator) -> list[Relaxed]:
    """Half to half as much again of each price; that with other sets; random sets without prices of loads; and prices
    of brokers that do not stay."""
    prices = covered.prices * draw.uniform(0.5, 1.5, covered.prices.shape)
    other = tuple(replace(cover, price=cover.price * draw.uniform(0.2, 3.0)) for cover in covered.covers)
    drawn = tuple(_drawn(problem, draw) for _ in range(3))
    near = replace(covered, prices=prices, covers=other)
    gone = np.where(problem.stays[:, None], prices, problem.move_bytes.mean())
    return [
        near,
        replace(near, covers=other + drawn),
        replace(near, prices=0.0 * prices, covers=drawn),
        replace(near, prices=gone, covers=()),
    ]


def _drawn(problem: Problem, draw: np.random.Generator) -> Cover:
    """Any set of any broker and resource, at a price that is about what a replica's bytes are worth."""
    broker = int(draw.integers(problem.broker_count))
    column = int(draw.integers(len(problem.resources)))
    here = (problem.replicas == broker).any(axis=1)
    named = draw.random(problem.partition_count) < draw.uniform(0.0, 0.8)
    weight = float(problem.follower_load[:, column].mean())
    price = float(draw.lognormal(0, 1) * problem.move_bytes.mean()) / weight if weight > 0 else 1.0
    return Cover(broker, column, np.flatnonzero(here & named), np.flatnonzero(~here & named), price)


def _verified(snapshot: ClusterSnapshot, problem: Problem, options: PlanOptions, proof: Relaxed) -> float:
    parameters = read_parameters(options.document() | {"moves_per_broker": 1}, FaultList())
    assert parameters is not None
    cluster = cluster_arrays(snapshot, parameters)
    bands = {name: Band(problem.band_low[:, d], problem.band_high[:, d]) for d, name in enumerate(problem.resources)}
    ids = problem.broker_ids.tolist()
    prices = {
        name: {str(broker): float(proof.prices[b, d]) for b, broker in enumerate(ids)}
        for d, name in enumerate(problem.resources)
    }
    covers = [
        {
            "broker": ids[cover.broker],
            "resource": problem.resources[cover.column],
            "price": cover.price,
            "gone": _named(problem, cover.gone),
            "come": _named(problem, cover.come),
        }
        for cover in proof.covers
    ]
    reported = {"prices": prices, "receiving": {}, "sending": {}, "covers": covers}
    return proved_costs({"bytes": reported}, bands, cluster, parameters)["bytes"]


def _named(problem: Problem, rows: np.ndarray) -> dict[str, list[int]]:
    named: dict[str, list[int]] = {}
    for row in rows.tolist():
        topic, _, partition = problem.name_of(row).rpartition("-")
        named.setdefault(topic, []).append(int(partition))
    return named
