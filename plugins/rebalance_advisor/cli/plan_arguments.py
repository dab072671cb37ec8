"""The options of ``plan`` and ``advise``: from the table of options to the command line, from there to a request."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.option import Option
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from rebalance_advisor.cli.history import add_history_folder
from rebalance_advisor.publish.folders.version_folders import plan_path
from rebalance_advisor.request.named_files import RULES, heavy_keys_in_files, rules_in_file, scenarios_in_files
from rebalance_advisor.request.run_request import OPTIONS, RunRequest

FILE = "FILE"


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """What may be asked of a plan. Options with … are given once for each value."""
    for section in dict.fromkeys(option.section for option in OPTIONS):
        group = parser.add_argument_group(section)
        for option in OPTIONS:
            if option.section == section and option.is_in_shell:
                add_option(group, option)
        if section == RunRequest.section:
            add_history_folder(group)
    words = "an earlier plan: confirmed or continued if it still holds; advise compares the findings beside it"
    group.add_argument("--previous", type=plan_path, metavar="PLAN", help=words)


def add_option(group: argparse._ActionsContainer, option: Option) -> None:
    """One option; its values are checked with all others, when the request is made of them."""
    words = (option.help + option.default_words).replace("%", "%%")
    if option.is_flag:
        group.add_argument(option.flag, action="store_true", help=words)
    elif option.metavar == FILE:
        action = "append" if option.is_repeated else "store"
        group.add_argument(option.flag, type=Path, action=action, metavar=option.metavar, help=words)
    else:
        action = "append" if option.is_repeated else "store"
        group.add_argument(option.flag, type=option.from_text, action=action, metavar=option.metavar, help=words)


def request_of(arguments: argparse.Namespace) -> RunRequest:
    """What was asked for, but for the capacities, which need the cluster.

    Raises UsageError for a value that cannot be and for options that contradict each other, InvalidInputError for a
    file of rules that cannot be read.
    """
    given = {option.name: getattr(arguments, option.name) for option in OPTIONS if option.is_in_shell}
    del given["capacity"]
    for name in RULES:
        given[name] = [rule for path in given[name] or () for rule in rules_in_file(name, path)]
    given["scenario"] = scenarios_in_files(given["scenario"] or ())
    given["heavy_keys"] = heavy_keys_in_files(given["heavy_keys"] or ())
    return RunRequest.from_mapping(given)


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
