"""Kafka's (and MetaQ's) own classes answered these cases; so do we, order included where it was recorded.

``vectors/`` holds a selection of the recordings: a file is one strategy, of the newest release or of the one that its
name and ``input.version`` say (``client_sticky_3_5_2``: Java's, as of 3.5.2 to 3.7.0). Whole files are answered by
``rebalance-advisor replay`` (``python -m tests.conformance.whole_files FOLDER`` compares them).
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_rebalance.placement.recorded_cases import FAMILIES, answer
from tests.conformance.recorded import cases, families, is_recorded_answer

STICKY_OF_A_LINE = re.compile(r"^client_.*sticky_\d")


@pytest.mark.parametrize("family", families())
def test_every_recorded_case_is_answered_exactly(family: str) -> None:
    wrong = []
    for case in cases(family):
        asked = {field: case[field] for field in ("id", "strategy", "input")}
        answered = json.loads(json.dumps(answer(asked)))
        assert answered["id"] == case["id"]
        if not is_recorded_answer(answered["output"], case["output"], case["strategy"], case["input"]):
            wrong.append(case["id"])
    assert not wrong


@pytest.mark.parametrize("family", [name for name in families() if STICKY_OF_A_LINE.search(name)])
def test_the_newest_class_answers_some_case_of_an_earlier_line_otherwise(family: str) -> None:
    def is_another(case: dict[str, Any]) -> bool:
        asked = {"strategy": case["strategy"], "input": {**case["input"], "version": None}}
        output = json.loads(json.dumps(answer(asked)["output"]))
        return output.get("assignment") != case["output"].get("assignment")

    assert any(map(is_another, cases(family)))


def test_the_selection_holds_cases_of_every_family() -> None:
    assert len(families()) >= 37
    assert {next(cases(family))["strategy"] for family in families()} == set(FAMILIES)


@pytest.mark.parametrize("strategy", ["client_sticky", "client_cooperative_sticky"])
def test_where_kafka_never_returns_we_say_so(strategy: str) -> None:
    endless = json.loads((Path(__file__).parent / "sticky_endless.json").read_text())
    for member in endless["input"]["members"]:  # cooperative members say in the Subscription what they own
        member["owned"] = member["memberData"]["owned"]
        member["generation"] = member["memberData"]["generation"]
    case = {**endless, "strategy": strategy}
    first = answer(case)
    again = answer(case)
    assert first == again == {"id": endless["id"], "output": {"error": "EndlessReassignment"}}


def test_a_vote_without_a_version_is_the_newest_ones() -> None:
    newest = [case for case in cases("group_vote") if case["input"]["version"] == "4.3.1"]
    assert newest
    for case in newest:
        asked = {field: value for field, value in case["input"].items() if field != "version"}
        assert answer({**case, "input": asked})["output"] == case["output"]
