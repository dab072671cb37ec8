"""The planner's search, cut short for the fast tests: the same code on the same clusters, a fiftieth of the annealing.

Most of a small plan's time goes into making it a little cheaper: a million steps of annealing, and programs in whole
numbers. What most tests ask of a plan (right by ``verify``, orders kept, a bound below the cost, words that agree with
figures) must hold for any plan that the search ends with, so ``make check`` asks it of the one that it ends with early
(``pytest --brief-search``). ``make test`` runs the modules with the mark ``planned`` once more with the search as users
have it. A test of what the whole search alone can do uses the fixture ``whole_search``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from kafka_rebalance.planner.replicas.replica_search import Effort
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.plans.frontier import frontier, within_budget

ANNEAL_STEPS = 20_000
_SEARCHES: tuple[Any, ...] = (solve, within_budget.solve_within_budget)


def brief(effort: Effort) -> Effort:
    """No longer than a test may take, and without programs."""
    return replace(effort, anneal_steps=min(effort.anneal_steps, ANNEAL_STEPS), program_steps=0)


def search_briefly() -> None:
    """From here on in this process. A test that gives an effort of its own gets that one."""
    _search_as([brief(effort) for effort in _efforts()])


@contextmanager
def searching_whole() -> Iterator[None]:
    """As users have it, whatever was chosen for the process."""
    chosen = _efforts()
    _search_as(_AS_USERS_HAVE_IT)
    yield
    _search_as(chosen)


def _efforts() -> list[Effort]:
    return [*(search.__kwdefaults__["effort"] for search in _SEARCHES), frontier.EFFORT, within_budget.QUICK]


def _search_as(efforts: list[Effort]) -> None:
    for search, effort in zip(_SEARCHES, efforts, strict=False):
        search.__kwdefaults__["effort"] = effort
    frontier.EFFORT, within_budget.QUICK = efforts[-2:]


_AS_USERS_HAVE_IT = _efforts()
