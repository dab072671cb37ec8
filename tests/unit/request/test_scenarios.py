from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.errors import UsageError
from kafka_rebalance.scenarios.changes import RackLost
from kafka_rebalance.scenarios.scenario import Scenario, scenario_document
from rebalance_advisor.cli.arguments import scenarios_in_files
from rebalance_advisor.request.run_request import RunRequest

LOST = Scenario("lost", (RackLost("a"),))


def test_a_request_holds_scenarios_as_objects(tmp_path: Path) -> None:
    request = RunRequest.from_mapping({"scenario": [scenario_document(LOST)]})
    assert request.own_scenarios == (LOST,)
    assert RunRequest.from_mapping(json.loads(json.dumps(request.document()))) == request
    (tmp_path / "lost.json").write_text(json.dumps(scenario_document(LOST)))
    assert scenarios_in_files([tmp_path / "lost.json"]) == [LOST]
    with pytest.raises(UsageError, match=r"--scenario: scenario\.changes: 0 changes"):
        RunRequest.from_mapping({"scenario": [scenario_document(LOST) | {"changes": []}]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("{", r"s\.json"),
        ("[]", "expected an object"),
        ('{"format": 1}', r"json\.format: expected"),
    ],
)
def test_a_file_that_is_none_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        scenarios_in_files([tmp_path / "s.json"])


def test_today_is_no_name_for_a_scenario(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps(scenario_document(LOST) | {"name": "today"}))
    with pytest.raises(UsageError, match="has the name of another column"):
        scenarios_in_files([tmp_path / "s.json"])
