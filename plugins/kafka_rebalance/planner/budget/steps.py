"""The steps of the search within a budget as Python calls them: one compiled entry for all of them."""

from __future__ import annotations

from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.planner.budget.budget_state import BudgetState
from kafka_rebalance.planner.budget.exchanges import exchange as _exchange
from kafka_rebalance.planner.budget.greedy import give_back as _give_back
from kafka_rebalance.planner.budget.greedy import improve as _improve
from kafka_rebalance.planner.budget.greedy import undo_needless as _undo_needless

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
    """Take back what costs the least balance until the rest is within the budget. Returns whether it is."""
    return bool(_take(_GIVE_BACK, state, 0, 0.0, 0.0))


def improve(state: BudgetState, thrift: float) -> int:
    """Steps until none helps that the budget allows, by gain (0) or by gain for each unit of budget (1)."""
    return int(_take(_IMPROVE, state, 0, thrift, 0.0))


def exchange(state: BudgetState, steps: int, warm: float, cold: float) -> int:
    """``steps`` tries to improve by exchange, cooling down. Returns how many changed something."""
    return int(_take(_EXCHANGE, state, steps, warm, cold))


def undo_needless(state: BudgetState) -> int:
    """Take back every change without which the imbalance is no greater. Returns how many."""
    return int(_take(_UNDO, state, 0, 0.0, 0.0))
