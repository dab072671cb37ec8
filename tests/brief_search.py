"""The planner's search, cut short for the fast tests: the same code on the same clusters, a fiftieth of the annealing.

Most of a small plan's time goes into making it a little cheaper: a million steps of annealing, and programs in whole
numbers. What most tests ask of a plan (right by ``verify``, orders kept, a bound below the cost, words that agree with
figures) must hold for any plan that the search ends with, so ``make test`` asks it of the one that it ends with early
(``pytest --brief-search``). ``make test-all`` runs the modules with the mark ``planned`` with the search as users have
it. A test of what the whole search alone can do uses the fixture ``whole_search``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from numba import config

from kafka_rebalance.planner.params import Effort, SolveParams
from kafka_rebalance.plans.params import DEFAULTS

ANNEAL_STEPS = 20_000
# Plain Python takes some fifty times as long for a step.
INTERPRETED_STEPS = 300
# The objects that every search without parameters of its own reads: the plan's, those of points and of a budget.
_DEFAULTS: tuple[SolveParams, ...] = (DEFAULTS.solve, DEFAULTS.frontier.solve, DEFAULTS.budget.solve)


def brief(effort: Effort) -> Effort:
    """No longer than a test may take, and without programs."""
    most = INTERPRETED_STEPS if config.DISABLE_JIT else ANNEAL_STEPS
    exchange_steps = min(effort.exchange_steps, most)
    return replace(effort, anneal_steps=min(effort.anneal_steps, most), exchange_steps=exchange_steps, program_steps=0)


def search_briefly() -> None:
    """From here on in this process. A test that gives an effort of its own gets that one."""
    _search_as([brief(effort) for effort in _efforts()])


def is_brief() -> bool:
    """Whether the search of this process is cut short."""
    return _efforts() != _AS_USERS_HAVE_IT


@contextmanager
def searching_briefly() -> Iterator[None]:
    """As ``search_briefly``, and afterwards as before."""
    chosen = _efforts()
    search_briefly()
    yield
    _search_as(chosen)


@contextmanager
def searching_whole() -> Iterator[None]:
    """As users have it, whatever was chosen for the process."""
    chosen = _efforts()
    _search_as(_AS_USERS_HAVE_IT)
    yield
    _search_as(chosen)


def _efforts() -> list[Effort]:
    return [params.effort for params in _DEFAULTS]


def _search_as(efforts: list[Effort]) -> None:
    """No kernel reads an effort, so that these records may be changed in place."""
    for params, effort in zip(_DEFAULTS, efforts, strict=True):
        object.__setattr__(params, "effort", effort)


_AS_USERS_HAVE_IT = _efforts()
