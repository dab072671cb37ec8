"""A sample of ``plans_for_any_cluster``: each case has a verdict, each plan is right, none loses its bound on bytes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.properties.plans_for_any_cluster import faults_of, outcomes_of, table_of

# Besides the first ones: cases in which a fault was found once. All 2,000 are a command (docs/internals/matrices.md).
FAST, MANY = (*range(14), 87, 93, 94, 97, 120, 138, 172, 766, 937, 1105, 1205), range(14, 68)


def test_any_cluster_with_any_job_has_a_verdict_and_a_plan_that_is_right() -> None:
    _hold(FAST)


@pytest.mark.slow
@pytest.mark.parametrize("half", range(2))
def test_more_clusters_have_a_verdict_and_a_plan_that_is_right(half: int) -> None:
    _hold(MANY[half::2])


def _hold(seeds: Sequence[int]) -> None:
    outcomes = outcomes_of(seeds)
    print("\n" + "\n".join(table_of(outcomes)))
    assert faults_of(outcomes) == []
    assert sum(bool(outcome.lost) for outcome in outcomes) <= max(len(outcomes) // 100, 1)
    assert {outcome.exit_code for outcome in outcomes} == {0, 3, 4}
