"""The options of ``plan`` and ``advise``: one definition, from the command line to ``PlanOptions``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.resources import RESOURCES, in_a_sentence
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from rebalance_advisor.option_texts import (
    amount,
    broker_id,
    count,
    factor,
    new_broker,
    once,
    pattern,
    rate,
    share,
    target,
)
from rebalance_advisor.publish.folders.version_folders import plan_path


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """What may be asked of a plan. Options with … are given once for each value."""
    add = parser.add_argument_group("what is wanted").add_argument
    add(
        "--balance-within",
        type=share,
        metavar="10%",
        help="band around each broker's fair share; given, it is an order",
    )
    add("--target", type=target, action="append", default=[], metavar="RESOURCE=RATIO",
        help=f"HIGH or LOW..HIGH × the mean for {in_a_sentence(RESOURCES)} …")  # fmt: skip
    add("--remove-broker", type=broker_id, action="append", default=[], metavar="N", help="everything leaves it …")
    add("--add-broker", type=new_broker, action="append", default=[], metavar="N:RACK",
        help="a broker that is empty, or does not exist yet …")  # fmt: skip
    add("--demote-broker", type=broker_id, action="append", default=[], metavar="N", help="it leads nothing …")
    add("--exclude-broker", type=broker_id, action="append", default=[], metavar="N",
        help="it receives nothing; what it has may stay or leave …")  # fmt: skip
    add("--replication-factor", type=factor, metavar="N", help="of all topics that may be touched")
    add("--leaders-only", action="store_true", help="no replica moves")
    add("--preferred-election", action="store_true", help="only give leadership back to the first replicas")
    add("--include-topic", type=pattern, action="append", default=[], metavar="RE", help="touch only these topics …")
    add("--exclude-topic", type=pattern, action="append", default=[], metavar="RE", help="leave these topics alone …")
    limits = parser.add_argument_group("what it may cost").add_argument
    limits("--max-move-bytes", type=amount, metavar="B", help="bytes copied at most, e.g. 500GB")
    limits("--max-moves", type=count, metavar="N", help="replicas moved at most")
    limits("--max-leader-changes", type=count, metavar="N", help="leaders changed at most")
    limits(
        "--throttle", type=rate, metavar="BYTES_PER_S", help="of each broker in each direction, e.g. 50MiB (default)"
    )
    more = parser.add_argument_group("what else is known").add_argument
    more("--capacity", type=Path, metavar="FILE", help="CSV, or Cruise Control's capacity JSON")
    more("--previous", type=plan_path, metavar="PLAN", help="an earlier plan: confirmed or continued if it still holds")
    more("--no-frontier", action="store_true", help="leave out what other bands would cost: quicker")
    more("--seed", type=count, default=0, metavar="N", help="same input and seed, same plan (0)")


def plan_options(arguments: argparse.Namespace, snapshot: ClusterSnapshot) -> PlanOptions:
    """The options that were given.

    Raises UsageError for options that contradict each other, InvalidInputError for a capacity file that does not fit
    the cluster.
    """
    added = once("--add-broker", arguments.add_broker)
    options: dict[str, Any] = {
        "within": arguments.balance_within,
        "targets": once("--target", arguments.target),
        "max_move_bytes": arguments.max_move_bytes,
        "max_moves": arguments.max_moves,
        "max_leader_changes": arguments.max_leader_changes,
        "remove_brokers": frozenset(arguments.remove_broker),
        "add_brokers": added,
        "demote_brokers": frozenset(arguments.demote_broker),
        "exclude_brokers": frozenset(arguments.exclude_broker),
        "replication_factor": arguments.replication_factor,
        "leaders_only": arguments.leaders_only,
        "preferred_election": arguments.preferred_election,
        "include_topics": tuple(arguments.include_topic),
        "exclude_topics": tuple(arguments.exclude_topic),
        "with_frontier": not arguments.no_frontier,
        "capacities": _capacities(arguments.capacity, snapshot, added),
    }
    if arguments.throttle is not None:
        options["throttle_bytes_per_s"] = arguments.throttle
    return PlanOptions(**options)


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


def _capacities(path: Path | None, snapshot: ClusterSnapshot, added: dict[int, str | None]) -> dict[int, Capacity]:
    if path is None:
        return {}
    from rebalance_advisor.dumps import read_capacity

    capacities = read_capacity(path)
    known = {broker.id for broker in snapshot.brokers} | added.keys()
    strangers = sorted(capacities.of_broker.keys() - known)
    if strangers:
        raise InvalidInputError.at(str(path), f"broker {strangers[0]} is neither in the cluster nor added")
    given = {broker: capacities.of_broker.get(broker, capacities.default) for broker in sorted(known)}
    return {broker: capacity for broker, capacity in given.items() if capacity is not None}
