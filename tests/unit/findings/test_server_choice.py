from __future__ import annotations

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_replay import more_even_of_coordinator
from kafka_rebalance.scoring.scores import GroupScore


def score(assignor, count, rate=None, error=None):
    return GroupScore("g", assignor, None, False, 4, 8, skew_count=count, skew_rate=rate, error=error)


@pytest.mark.parametrize(
    ("today", "other", "is_better"),
    [
        (score("range", 1.25), score("uniform", 1.0), True),
        (score("range", 1.24), score("uniform", 1.0), False),
        (score("range", 2.0, 1.2), score("uniform", 1.0, 1.0), False),  # rates are known, and alike
        (score("range", 1.0, 3.0), score("uniform", 1.0, 1.0), True),
        (score("uniform", 1.0, 3.0), score("range", 1.1, 1.0), False),  # less even by count
        (score("range", 2.0), score("uniform", None, error=fact(FactCode.NO_MEMBER_LEFT)), False),
        (score("range", 2.0), score("uniform", 0.0), False),
        (score("range", 2.0), score("weighted", 1.0), False),  # a coordinator does not offer ours
    ],
)
def test_by_a_quarter_and_never_at_the_cost_of_counts(today, other, is_better):
    assert more_even_of_coordinator((today, other)) is (other if is_better else None)
