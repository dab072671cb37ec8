"""Kafka's (and MetaQ's) own classes answered these cases; so do we, order included where it was recorded.

``vectors/`` holds a selection of the recordings. Whole files are answered by ``rebalance-advisor replay``.
"""

import json

import pytest

from kafka_rebalance.replay import answer
from tests.conformance.recorded import cases, families, is_recorded_answer


@pytest.mark.parametrize("family", families())
def test_every_recorded_case_is_answered_exactly(family: str) -> None:
    wrong = []
    for case in cases(family):
        asked = {field: case[field] for field in ("id", "strategy", "input")}
        answered = json.loads(json.dumps(answer(asked)))
        assert answered["id"] == case["id"]
        if not is_recorded_answer(answered["output"], case["output"], case["strategy"]):
            wrong.append(case["id"])
    assert not wrong
