"""What a second process compiles ahead is what a plan uses afterwards: the same kernels, for the same types."""

from typing import Any

from numba.core.dispatcher import Dispatcher

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner import leaders, state
from kafka_rebalance.planner.replicas import kernels, search
from kafka_rebalance.plans import wave_filling
from kafka_rebalance.plans.pipeline import make_plan
from rebalance_advisor.compiling.compile_ahead import compile_planner
from tests.benchmarks.bench_scale import Size, skewed_snapshot

MODULES: tuple[Any, ...] = (
    state, leaders, kernels, search, wave_filling,
)  # fmt: skip


def variants() -> dict[str, list[Any]]:
    """Of each kernel that Python calls, the types that it is compiled for."""
    return {
        f"{module.__name__}.{name}": list(kernel.signatures)
        for module in MODULES
        for name, kernel in vars(module).items()
        if isinstance(kernel, Dispatcher) and "no_cpython_wrapper" not in kernel.targetoptions
    }


def test_a_plan_finds_all_its_kernels_compiled() -> None:
    compile_planner(with_search=True)
    ahead = variants()
    assert ahead["kafka_rebalance.planner.replicas.search._take"]
    assert ahead["kafka_rebalance.planner.replicas.search.anneal"]
    assert ahead["kafka_rebalance.planner.leaders.search_leaders"]
    assert ahead["kafka_rebalance.plans.wave_filling._makespan"]
    plan = make_plan(skewed_snapshot(Size("small", 12, 300, 3)), PlanOptions(within=0.10, with_frontier=False))
    assert plan.moves
    assert variants() == ahead
