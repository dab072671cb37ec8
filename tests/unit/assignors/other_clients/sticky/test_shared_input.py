from __future__ import annotations

import pytest

from kafka_assignors.errors import AssignorError, EndlessReassignmentError
from kafka_assignors.other_clients.sticky import failing_as, input_in_join_order, topic_lists
from tests.unit.assignors.sticky_groups import request_with


def test_members_stand_as_they_joined_and_names_sort_by_code_points() -> None:
    """U+1F600 is written with surrogates (0xD83D …), which Java sorts before U+FF5E; code points sort it behind."""
    request = request_with(
        {"\U0001f600": 1, "\uff5e": 2, "none": 0}, {"z": ["\uff5e", "none", "\U0001f600"], "a": []}, {}
    )
    inputs = input_in_join_order(request)
    assert inputs.subscription_order.tolist() == [0, 1]
    assert inputs.by_id.tolist() == [1, 0]
    assert [request.topics.names[topic] for topic in inputs.topics] == ["none", "\uff5e", "\U0001f600"]
    assert topic_lists(request, inputs) == [[1, 0], []]


def test_javas_null_has_another_name_elsewhere_and_other_refusals_stay() -> None:
    with pytest.raises(AssignorError, match="KeyError: left out"), failing_as("KeyError", "left out"):
        raise AssignorError("java.lang.NullPointerException", "left out")
    with pytest.raises(EndlessReassignmentError), failing_as("KeyError", "left out"):
        raise EndlessReassignmentError
