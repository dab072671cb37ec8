"""``plan --new-topic NAME:PARTITIONS:RF[:IN_BYTES_PER_S[:LOG_BYTES]]``: place its partitions; nothing else moves.

DIR gets ``new_topics.json`` and ``create_topics.md`` with Kafka's commands.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.amounts import format_amount
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Amount, Count, read_value, whole_or_text
from kafka_rebalance.resources import UNITS
from rebalance_advisor.cli.arguments import read_plan_input
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.publish.folders import replace_folder
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.terminal import write_json, write_lines

if TYPE_CHECKING:
    from kafka_rebalance.placement.new_topics import NewTopic

JSON_FILE, COMMANDS_FILE = "new_topics.json", "create_topics.md"
_PARTS = (3, 5)
_HEAD = """# Topics to be made

Nothing that is there moves. The commands are Kafka's own; set `BOOTSTRAP` to one of your brokers, and `CONFIG` to
`--command-config client.properties` where the cluster wants it.

```sh
BOOTSTRAP=broker:9092
CONFIG=
"""


def run_new_topics(arguments: argparse.Namespace, request: RunRequest) -> int:
    """Raises UsageError, and InfeasibleError without a place."""
    from kafka_rebalance.placement.new_topics import place_new_topics
    from kafka_rebalance.plans.cluster_notes import partial_racks
    from kafka_rebalance.render import render_all
    from kafka_rebalance.verify.new_topics import check_new_topics

    topics = [new_topic(text) for text in arguments.new_topic]
    require_new_topics_alone(arguments, request)
    given = read_plan_input(arguments, request, Progress())
    document = place_new_topics(given.snapshot, topics, given.request.options)
    if wrong := check_new_topics(document, given.snapshot):
        raise AdvisorError(f"the placement does not pass its own verification: {wrong[0]}")
    text = json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")
    files = {JSON_FILE: text, COMMANDS_FILE: create_commands(document).encode()}
    with taken_back_on_interrupt():
        folder = replace_folder(arguments.out, files, hashlib.sha256(text).hexdigest())
    if arguments.json:
        write_json(sys.stdout, document | {"folder": str(folder)})
    else:
        staying = (broker for broker in given.snapshot.brokers if broker.state.stays)
        write_lines(sys.stdout, *new_topic_lines(document), *render_all(partial_racks(staying)), f"written to {folder}")
    return 0


def new_topic(text: str) -> NewTopic:
    """Parse ``orders:12:3:20MB:500GB``. Raises UsageError."""
    from kafka_rebalance.placement.new_topics import NewTopic

    name, *figures = text.split(":")
    argument = f"--new-topic {text[:60]}"
    if not _PARTS[0] <= len(figures) + 1 <= _PARTS[1]:
        raise UsageError.at(argument, "is none", "give NAME:PARTITIONS:RF[:IN_BYTES_PER_S[:LOG_BYTES]]")
    try:
        partitions, factor = (read_value(Count, whole_or_text(figure)) for figure in figures[:2])
        rate, size = (*(read_value(Amount, figure) for figure in figures[2:]), None, None)[:2]
    except ValueError as error:
        raise UsageError.at(argument, str(error)) from error
    return NewTopic(name, partitions, factor, rate, size)


def require_new_topics_alone(arguments: argparse.Namespace, request: RunRequest) -> None:
    """Only brokers to avoid and capacities may be beside it."""
    options = replace(request.options, exclude_brokers=frozenset(), capacities={}, with_frontier=True)
    if options != PlanOptions() or request.own_scenarios or arguments.previous is not None or request.load:
        problem = "only places new topics: nothing that is there moves"
        raise UsageError.at("--new-topic", problem, "leave all but --exclude-broker and --capacity out")


def create_commands(document: Mapping[str, Any]) -> str:
    lines = []
    for topic in document["topics"]:
        assignment = ",".join(":".join(map(str, replicas)) for replicas in topic["assignment"])
        lines += [
            f"# writes: makes {topic['topic']}: {topic['partitions']:,} × {topic['replication_factor']} replicas",
            "kafka-topics.sh --bootstrap-server $BOOTSTRAP $CONFIG --create \\",
            f"    --topic {topic['topic']} --replica-assignment {assignment}",
        ]
    return _HEAD + "\n".join(lines) + "\n```\n"


def new_topic_lines(document: Mapping[str, Any]) -> list[str]:
    lines = []
    for topic in document["topics"]:
        led = sorted(replicas[0] for replicas in topic["assignment"])
        counts = ", ".join(f"{led.count(broker)} on {broker}" for broker in sorted(set(led)))
        lines.append(f"{topic['topic']}: leaders {counts}")
    for name, before in document["before"].items():
        after = document["after"][name]
        highest = max(after, key=lambda broker: (after[broker], broker))
        mean = {field: sum(loads.values()) / len(loads) for field, loads in (("before", before), ("after", after))}
        ratios = [max(loads.values()) / mean[field] if mean[field] else 1.0
                  for field, loads in (("before", before), ("after", after))]  # fmt: skip
        amount = format_amount(after[highest], UNITS[name])
        lines.append(f"  {name:<9} highest over mean {ratios[0]:.3f} → {ratios[1]:.3f}, {amount} on broker {highest}")
    return lines
