from __future__ import annotations

import pytest

from kafka_assignors.other_clients.sticky import in_order
from tests.unit.assignors.groups import frozen
from tests.unit.assignors.sticky_groups import answer, t

EVERY = ("sticky@kafka-python-2", "sticky@kafka-python-3", "sticky@aiokafka", "cooperative-sticky@kafka-python-3")
EAGER = EVERY[:3]


@pytest.mark.parametrize("name", EVERY)
def test_the_last_partition_of_the_fullest_is_given_up_first(name: str) -> None:
    """A owns 0 1 2 3 and loses 3, then 2; cooperatively B has to wait for them, which A claims."""
    result = answer(name, {"t": 4}, {"A": ["t"], "B": ["t"]}, {"A": t(0, 1, 2, 3)})
    assert [set(listed) for listed in result] == [{"t-0", "t-1"}, set() if "cooperative" in name else {"t-2", "t-3"}]


def test_topics_in_another_order_are_another_subscription() -> None:
    """Lists that differ: partitions are taken up by name, t-0 and t-1 first. Equal ones: A's last ones, u-1 and u-0."""
    counts, owned = {"t": 2, "u": 2}, {"A": [*t(0, 1), ("u", 0), ("u", 1)]}
    for name in EAGER:
        turned = answer(name, counts, {"A": ["t", "u"], "B": ["u", "t"]}, owned)
        assert [set(listed) for listed in turned] == [{"u-0", "u-1"}, {"t-0", "t-1"}]
        alike = answer(name, counts, {"A": ["t", "u"], "B": ["t", "u"]}, owned)
        assert [set(listed) for listed in alike] == [{"t-0", "t-1"}, {"u-0", "u-1"}]


@pytest.mark.parametrize(("generation", "owner"), [(5, 0), (0, 1), (-1, 0)])
def test_generation_0_counts_as_none(generation: int, owner: int) -> None:
    """Both claim t-0 in one generation: the first has it, in generation 0 the second. The other one gets t-1."""
    for name in EAGER:
        result = answer(name, {"t": 2}, {"A": ["t"], "B": ["t"]}, {"A": t(0), "B": t(0)}, [generation] * 2)
        assert result == ([["t-0"], ["t-1"]] if owner == 0 else [["t-1"], ["t-0"]])


def test_what_another_member_claims_is_withheld_even_from_a_claimant() -> None:
    """A (5) and B (4) claim t-0: A has it, but B is the last claimant: unassigned in this round."""
    result = answer(
        "cooperative-sticky@kafka-python-3", {"t": 2}, {"A": ["t"], "B": ["t"]}, {"A": t(0), "B": t(0)}, [5, 4]
    )
    assert result == [[], ["t-1"]]


def test_a_dict_keeps_the_order_of_insertion() -> None:
    assert in_order(frozen([7, 7, 3], "int32")).tolist() == [0, 1, 2]
