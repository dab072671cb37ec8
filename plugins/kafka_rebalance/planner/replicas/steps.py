"""The steps of the search as Python calls them: one compiled entry for all, as most of their code is the same.

Machine code is made for each entry with all below it, so that six entries would have what they share made six times.
"""

from __future__ import annotations

from kafka_rebalance.arrays import Ints
from kafka_rebalance.kernels.decorators import kernel
from kafka_rebalance.planner.replicas.evacuate import evacuate as _evacuate
from kafka_rebalance.planner.replicas.evacuate import release as _release
from kafka_rebalance.planner.replicas.finish import finish_round as _finish_round
from kafka_rebalance.planner.replicas.polish import polish_round as _polish_round
from kafka_rebalance.planner.replicas.pull import pull_round as _pull_round
from kafka_rebalance.planner.replicas.pull import swap_round as _swap_round
from kafka_rebalance.planner.replicas.push import push_round as _push_round
from kafka_rebalance.planner.state import State

_RELEASE, _EVACUATE, _PUSH, _FINISH, _PULL, _SWAP, _POLISH = range(7)


@kernel
def _take(step: int, state: State, everybody: Ints, receivers: Ints, amount: float, least: float) -> float:
    if step == _RELEASE:
        return float(_release(state))
    if step == _EVACUATE:
        return float(_evacuate(state, everybody))
    if step == _PUSH:
        return float(_push_round(state, everybody, receivers, amount, least))
    if step == _FINISH:
        return float(_finish_round(state, everybody, receivers, amount))
    if step == _PULL:
        return float(_pull_round(state, receivers, amount, least))
    if step == _SWAP:
        return float(_swap_round(state, receivers, int(amount)))
    return float(_polish_round(state, receivers, int(amount)))


def release(state: State, everybody: Ints) -> int:
    """Mark as unplaced what the brokers above their bands must give up in any cheap plan. Returns how many."""
    return int(_take(_RELEASE, state, everybody, everybody, 0.0, 0.0))


def evacuate(state: State, everybody: Ints) -> int:
    """Empty what must be emptied, heaviest replicas first. Returns how many found no place."""
    return int(_take(_EVACUATE, state, everybody, everybody, 0.0, 0.0))


def push_round(state: State, everybody: Ints, receivers: Ints, part: float, least: float) -> int:
    """Every broker above its bands hands over mixtures that fit. Returns moves."""
    return int(_take(_PUSH, state, everybody, receivers, part, least))


def finish_round(state: State, everybody: Ints, receivers: Ints, worst: float) -> int:
    """Every broker above its bands hands over what is worth most per cost. Returns moves."""
    return int(_take(_FINISH, state, everybody, receivers, worst, 0.0))


def pull_round(state: State, receivers: Ints, worst: float, least: float) -> int:
    """Every taker below its bands fetches. Returns moves."""
    return int(_take(_PULL, state, receivers, receivers, worst, least))


def swap_round(state: State, receivers: Ints, tries: int) -> int:
    """One exchange for every taker outside its bands. Returns exchanges."""
    return int(_take(_SWAP, state, receivers, receivers, float(tries), 0.0))


def polish_round(state: State, receivers: Ints, tries: int) -> float:
    """One pass over everything that has moved. Returns the cost saved."""
    return _take(_POLISH, state, receivers, receivers, float(tries), 0.0)
