"""Scenarios as values of an option: objects in JSON; a shell names a file of each."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_rebalance.errors import InvalidInputError, UsageError
from rebalance_advisor.request.value_kinds import ValueKind

if TYPE_CHECKING:
    from kafka_rebalance.scenarios.scenario import Scenario

TODAY = "today"  # the column beside which scenarios stand


def _scenario(value: Any) -> Scenario:
    from kafka_rebalance.scenarios.document import scenario_from_document  # heavy: not for DAG files

    try:
        return scenario_from_document(value)
    except InvalidInputError as error:
        raise ArgumentTypeError(str(error)) from error


def _document(scenario: Scenario) -> dict[str, Any]:
    from kafka_rebalance.scenarios.document import scenario_document

    return scenario_document(scenario)


# No form takes one, for no run does: a shell alone reads them.
SCENARIO = ValueKind({"type": ["object"], "maxProperties": 0}, Path, _scenario, _document)


def scenarios_in_files(paths: list[Path]) -> list[Scenario]:
    """One of each file. Raises InvalidInputError with its place, UsageError where two have one name."""
    from kafka_rebalance.scenarios.document import scenario_from_document
    from rebalance_advisor.dumps.files.input_file import read_json

    found: dict[str, Scenario] = {}
    for path in paths:
        scenario = scenario_from_document(read_json(path), str(path))
        if scenario.name in (*found, TODAY):
            raise UsageError.at("--scenario", f"{path} has the name of another column", "give each a name of its own")
        found[scenario.name] = scenario
    return list(found.values())
