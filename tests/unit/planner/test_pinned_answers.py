"""Pinned answers of the planner to tiny clusters; ``make mutate`` and ``make coverage`` use interpreted kernels."""

from __future__ import annotations

from tests.sample import for_each
from tests.unit.planner.pinned_answers import SUBJECTS, differences, pinned
from tests.unit.planner.pinned_problems import tiny_problem


def test_tolerances_of_rounding() -> None:
    assert not differences("rounding")


def test_the_search_from_its_first_step_to_its_last() -> None:
    assert not differences("search")


def test_each_step_alone() -> None:
    assert not differences("steps")


def test_what_comes_home_is_annealed_and_exchanged() -> None:
    assert not differences("polish")


def test_the_search_for_leaders() -> None:
    assert not differences("leaders")


def test_leaders_alone() -> None:
    assert not differences("chosen_leaders")


def test_leaderships_flow_into_bands() -> None:
    assert not differences("flows")


def test_orders_with_ties() -> None:
    assert not differences("orders")


def test_prices_that_cover() -> None:
    assert not differences("coverings")


def test_bounds() -> None:
    assert not differences("bounds")


def test_what_a_search_starts_from() -> None:
    assert not differences("starts")


def test_replica_sets_that_are_found() -> None:
    assert not differences("sets")


def test_clusters_at_the_edge_of_what_there_is() -> None:
    assert not differences("corners")


def test_programs() -> None:
    assert not differences("programs")


def test_whole_plans() -> None:
    assert not differences("plans")


def test_tiny_clusters_are_of_every_kind() -> None:
    """Even ones have exact sums: mean loads are multiples of 1/16."""
    problems = [tiny_problem(number) for number in range(60)]
    kinds = {
        "leaving": [not p.stays.all() for p in problems],
        "excluded": [(p.stays & ~p.takes_replicas).any() for p in problems],
        "demoted": [(p.stays & ~p.keeps_leaders).any() for p in problems],
        "racks": [(p.rack >= 0).any() for p in problems],
        "no leader": [(p.leader < 0).any() for p in problems],
        "pinned": [p.pinned.any() for p in problems],
        "offline": [p.must_leave is not None for p in problems],
        "own sizes": [p.own_disk is not None for p in problems],
        "factor grows": [(p.target_rf > (p.replicas >= 0).sum(axis=1)).any() for p in problems],
        "factor falls": [(p.target_rf < (p.replicas >= 0).sum(axis=1)).any() for p in problems],
        "limits": [p.limit.min() < 1e300 for p in problems],
        "alone": [p.target_rf.max() == 1 for p in problems],
        "leaders only": [not p.moves_replicas for p in problems],
    }
    assert not [kind for kind, result in kinds.items() if sum(map(bool, result)) < 3]


@for_each("subject", sorted(SUBJECTS))
def test_answers_tell_cases_apart(subject: str) -> None:
    """At least half of the cases have distinct answers."""
    reported = [str(answer) for answer in pinned(subject).values()]
    assert len(set(reported)) > len(reported) / 2
