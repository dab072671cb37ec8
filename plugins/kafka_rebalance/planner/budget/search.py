"""Most even placement within a budget, the best of several searches.

Promises, in order: hard rules and each limit hold (free changes need no budget); at least as even as the start and as
the greedy search; no needless change.

Greedy from the forced changes, by gain and by gain per unit of budget, also for a smoother measure (load above and
below may need two steps together); and from the unlimited plan, undone until it fits. Exchanges improve the best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from kafka_assignors.arrays import Ints
from kafka_assignors.kernels.decorators import kernel
from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.planner.budget.kernels import BudgetState, leaders_of, make_budget_state
from kafka_rebalance.planner.budget.kernels import exchange as _exchange
from kafka_rebalance.planner.budget.kernels import give_back as _give_back
from kafka_rebalance.planner.budget.kernels import improve as _improve
from kafka_rebalance.planner.budget.kernels import undo_needless as _undo_needless
from kafka_rebalance.planner.params import DEFAULTS, BudgetSearchParams, SolveParams

_GIVE_BACK, _IMPROVE, _EXCHANGE, _UNDO = range(4)


@kernel
def _take(step: int, state: BudgetState, amount: int, first: float, second: float) -> int:
    if step == _GIVE_BACK:
        return int(_give_back(state))
    if step == _IMPROVE:
        return int(_improve(state, first))
    if step == _EXCHANGE:
        return int(_exchange(state, amount, first, second))
    return int(_undo_needless(state))


def give_back(state: BudgetState) -> bool:
    return bool(_take(_GIVE_BACK, state, 0, 0.0, 0.0))


def improve(state: BudgetState, thrift: float) -> int:
    """Step by gain (0) or by gain per unit of budget (1); return how many."""
    return int(_take(_IMPROVE, state, 0, thrift, 0.0))


def exchange(state: BudgetState, steps: int, warm: float, cold: float) -> int:
    return int(_take(_EXCHANGE, state, steps, warm, cold))


def undo_needless(state: BudgetState) -> int:
    return int(_take(_UNDO, state, 0, 0.0, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Placing:
    replicas: Ints
    leader: Ints


def search_within_budget(
    problem: Problem,
    least: Placing,
    unlimited: Placing,
    *,
    seed: int = 0,
    solve_params: SolveParams = DEFAULTS,
    is_guess: bool = False,
) -> Placing:
    """``least``: forced changes only; ``unlimited``: no budget. ``is_guess``: one greedy search, no exchange."""
    params = solve_params.within_budget

    def started(start: Placing, smooth: float) -> BudgetState:
        state = make_budget_state(problem, start.replicas, start.leader, seed=seed, params=params)
        state.smooth[0] = smooth
        return state

    ways = [(params.smooth, 1.0)]
    if not is_guess:
        ways = [(smooth, thrift) for smooth in (params.smooth, params.smoother) for thrift in (0.0, 1.0)]
    found = [
        started(least, params.smooth),
        *(_finished(started(least, smooth), params, partial(improve, thrift=thrift)) for smooth, thrift in ways),
    ]
    state = started(unlimited, params.smooth)
    if give_back(state):
        found.append(_finished(state, params, partial(improve, thrift=1.0)))
    best = min(found, key=_worth)
    if is_guess:
        return Placing(best.replicas, leaders_of(best))
    again = started(Placing(best.replicas, leaders_of(best)), params.smooth)
    best = min(
        best,
        _finished(again, params, partial(_exchanged, params=params, steps=solve_params.effort.exchange_steps)),
        key=_worth,
    )
    return Placing(best.replicas, leaders_of(best))


def _finished(state: BudgetState, params: BudgetSearchParams, step: Callable[[BudgetState], int]) -> BudgetState:
    step(state)
    state.smooth[0] = params.smooth
    improve(state, 0.0)
    undo_needless(state)
    return state


def _exchanged(state: BudgetState, params: BudgetSearchParams, steps: int) -> int:
    weight = float(state.follower[state.rows].sum(axis=1).mean()) if len(state.rows) else 0.0
    if weight <= 0:
        return 0
    warm = max(params.cold, params.warm * min(1.0, steps / (params.tries_when_warm * len(state.rows))))
    return exchange(state, steps, warm * weight, params.cold * weight)


def _worth(state: BudgetState) -> tuple[float, float, float, float]:
    copied, copies, changes = state.spent.tolist()
    return round(float(np.maximum(state.outside[0], state.outside[1]).sum()), 9), copied, copies, changes
