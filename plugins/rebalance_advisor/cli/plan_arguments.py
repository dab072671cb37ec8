"""The options of ``plan`` and ``advise``: from the table of options to the command line, from there to a request."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from rebalance_advisor.cli.history import add_history_folder
from rebalance_advisor.publish.folders.version_folders import plan_path
from rebalance_advisor.request.heavy_key_kind import heavy_keys_in_files
from rebalance_advisor.request.option_table import OPTIONS, Option, Section
from rebalance_advisor.request.ownership_kinds import RULES, rules_in_file
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.request.scenario_kind import scenarios_in_files
from rebalance_advisor.request.value_kinds import FLAG


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """What may be asked of a plan. Options with … are given once for each value."""
    for section in Section:
        options = [option for option in OPTIONS if option.section is section and option.is_in_shell]
        group = parser.add_argument_group(section.value)
        for option in options:
            _add(group, option)
        if section is Section.RUN:
            add_history_folder(group)
        if section is Section.KNOWN:
            words = "an earlier plan: confirmed or continued if it still holds; advise compares the findings beside it"
            group.add_argument("--previous", type=plan_path, metavar="PLAN", help=words)


def _add(group: argparse._ArgumentGroup, option: Option) -> None:
    words = option.help.replace("%", "%%")
    if option.kind is FLAG:
        group.add_argument(option.flag, action="store_true", help=words)
    elif option.is_repeated:
        kind, metavar = option.kind.from_text, option.metavar
        group.add_argument(option.flag, type=kind, action="append", default=[], metavar=metavar, help=words)
    else:
        kind, metavar = option.kind.from_text, option.metavar
        group.add_argument(option.flag, type=kind, default=option.default, metavar=metavar, help=words)


def request_of(arguments: argparse.Namespace) -> RunRequest:
    """What was asked for, but for the capacities, which need the cluster.

    Raises UsageError for options that contradict each other, InvalidInputError for a file of rules that cannot be read.
    """
    asked = {option.name: getattr(arguments, option.name) for option in OPTIONS if option.is_in_shell}
    given = {name: value for name, value in asked.items() if value is not None and name != "capacity"}
    rules = {name: [rule for path in given[name] for rule in rules_in_file(name, path)] for name in RULES}
    files = {"scenario": scenarios_in_files(given["scenario"]), "heavy_keys": heavy_keys_in_files(given["heavy_keys"])}
    return RunRequest.from_parsed(given | rules | files)


def with_capacity_file(request: RunRequest, path: Path | None, snapshot: ClusterSnapshot) -> RunRequest:
    """The request with the capacities of a file. Raises InvalidInputError for one that does not fit the cluster."""
    if path is None:
        return request
    capacities = _capacities(path, snapshot, request.options.add_brokers.keys())
    return replace(request, options=replace(request.options, capacities=capacities))


def read_previous(path: Path | None) -> dict[str, Any] | None:
    """The document of an earlier plan: its file, or the folder that holds it."""
    return None if path is None else read_sealed_plan(path)


def read_sealed_plan(path: Path) -> dict[str, Any]:
    """``plan.json`` as an object whose hash is right and whose fields can be read.

    Raises InvalidInputError for a plan that was changed after it was made.
    """
    from kafka_rebalance.plans.check import read_planned

    document = read_plan(path)
    read_planned(document, str(path))
    return document


def read_plan(path: Path) -> dict[str, Any]:
    """``plan.json`` as an object. Raises InvalidInputError where it is none."""
    from rebalance_advisor.dumps.files.input_file import read_json

    file = path / "plan.json" if path.is_dir() else path
    document = read_json(file)
    if not isinstance(document, dict) or not {"plan_id", "moves", "parameters"} <= document.keys():
        raise InvalidInputError.at(str(file), "is no plan", "a plan has plan_id, parameters and moves")
    return document


def _capacities(path: Path, snapshot: ClusterSnapshot, added: Collection[int]) -> dict[int, Capacity]:
    from rebalance_advisor.dumps import read_capacity

    capacities = read_capacity(path)
    known = {broker.id for broker in snapshot.brokers} | set(added)
    strangers = sorted(capacities.of_broker.keys() - known)
    if strangers:
        raise InvalidInputError.at(str(path), f"broker {strangers[0]} is neither in the cluster nor added")
    given = {broker: capacities.of_broker.get(broker, capacities.default) for broker in sorted(known)}
    return {broker: capacity for broker, capacity in given.items() if capacity is not None}
