"""``weighted`` with equal weights looks at claims in one pass where all hold, one by one else: the same answer."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_assignors import weighted as weighted_counts
from kafka_assignors.contract import AssignmentRequest, MemberColumns, TopicColumns
from kafka_assignors.owned_lists import owned_lists
from kafka_assignors.string_column import StringColumn
from kafka_assignors.weighted import WeightedAssignor


@st.composite
def groups(draw: st.DrawFn) -> AssignmentRequest:
    """Up to 40 partitions of two topics, some of them owned, by one each."""
    counts = [draw(st.integers(0, 20)), draw(st.integers(1, 20))]
    members = draw(st.integers(1, 6))
    pairs = [(t, p) for t, n in enumerate(counts) for p in range(n)]
    owners = draw(st.lists(st.integers(-1, members - 1), min_size=len(pairs), max_size=len(pairs)))
    lists = [[pair for pair, owner in zip(pairs, owners, strict=True) if owner == m] for m in range(members)]
    return _request(counts, [draw(st.permutations(topics)) for topics in lists])


def _request(counts: list[int], owned: list[list[tuple[int, int]]]) -> AssignmentRequest:
    flat = np.array([pair for partitions in owned for pair in partitions], np.int32).reshape(-1, 2)
    members = len(owned)
    return AssignmentRequest(
        topics=TopicColumns.of(StringColumn.of(["t0", "t1"]), np.array(counts, np.int32)),
        members=MemberColumns.of(
            StringColumn.of(f"m{i}" for i in range(members)),
            np.arange(members + 1, dtype=np.int64) * 2,
            np.tile(np.array([0, 1], np.int32), members),
            owned=(np.cumsum([0, *map(len, owned)]), flat[:, 0].copy(), flat[:, 1].copy()),
        ),
    )


@settings(max_examples=200, deadline=None)
@given(groups())
def test_claims_that_hold_are_kept_in_their_order_up_to_the_quota(case: AssignmentRequest) -> None:
    members, total = case.members, case.topics.partition_total
    quota = -(-total // len(members))
    owned = owned_lists(members)
    layout = (case.topics.first_row, case.topics.partition_counts)
    taken, looked_at, is_valid = (
        np.zeros(total, np.bool_),
        np.zeros(total, np.bool_),
        np.zeros(len(owned.topics), np.bool_),
    )
    assert weighted_counts.claims_hold(*layout, owned, quota, taken)
    kept = weighted_counts.mark_kept(*layout, owned, quota, looked_at, is_valid)
    assert kept.tolist() == np.minimum(np.diff(members.owned_offsets), quota).tolist()
    assert taken.tolist() == looked_at.tolist()
    quotas = weighted_counts.level_quotas(kept, total - int(kept.sum()))
    one_by_one = weighted_counts.write_lists(case.topics.first_row, owned, taken, is_valid, kept, quotas)
    answer = WeightedAssignor().assign(case)
    assert [answer.offsets.tolist(), answer.topics.tolist(), answer.partitions.tolist()] == [
        single.tolist() for single in one_by_one
    ]


def test_a_claim_on_what_is_gone_or_claimed_before_is_passed_over() -> None:
    answer = WeightedAssignor().assign(_request([3, 3], [[(0, 9), (0, 0), (1, 1)], [(0, 0), (1, 2)]]))
    assert answer.of_member(0) == [(0, 0), (1, 1), (0, 1)]
    assert answer.of_member(1) == [(1, 2), (0, 2), (1, 0)]
