"""Read one running cluster into one ``ClusterSnapshot``: in order, under one deadline, without writing anything.

    probe → connect to every broker → metadata (brokers, topics, partitions, reassignments)
          → log dirs and configs → groups → committed offsets → start and end offsets
          → quotas, features, configs of groups → metadata once more → eligible leaders → snapshot

Commits are read before ends, so that a lag is never negative. What changed meanwhile is read once more, or told. At
most 14 requests to each broker and 10 for the cluster read it, however many partitions and groups there are. A broker
that does not answer costs five or six seconds once, and one line of coverage.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from kafka.errors import KafkaError

from kafka_rebalance.facts import FactCode
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group
from rebalance_advisor.kafka.assemble import Reading, assemble_snapshot, note_unseen
from rebalance_advisor.kafka.changed_topics import read_again_what_changed
from rebalance_advisor.kafka.cluster_metadata import ClusterUnreadableError, read_cluster_metadata
from rebalance_advisor.kafka.connection.client import ClusterClient, reason_of
from rebalance_advisor.kafka.connection.probe import find_server
from rebalance_advisor.kafka.connection.properties.client_properties import connection_settings
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.details import read_details, with_eligible_leaders
from rebalance_advisor.kafka.group_offsets import read_group_offsets
from rebalance_advisor.kafka.groups.groups import ListedGroups, describe_groups, list_groups
from rebalance_advisor.kafka.hidden_topics import note_hidden_topics
from rebalance_advisor.kafka.odd_commits import note_odd_commits
from rebalance_advisor.kafka.offsets import leaders_of, read_ends
from rebalance_advisor.kafka.request_counts import RequestCounts
from rebalance_advisor.kafka.request_sender import RequestSender
from rebalance_advisor.kafka.storage import read_configs, read_storage
from rebalance_advisor.kafka.unheard import Unheard

DEADLINE_S = 120.0
ROUND_S = 5.0
_ROUNDS_A_DEADLINE = 24  # whoever waits longer for the whole gives slow brokers longer, too


def read_cluster(
    properties: Mapping[str, object],
    *,
    cluster_name: str | None,
    now: datetime,
    bootstrap: str | None = None,
    places: Mapping[str, str] | None = None,
    deadline_s: float = DEADLINE_S,
    say: Callable[[str], None] = lambda _: None,
) -> ClusterSnapshot:
    """One reading. ``properties`` under Java's or librdkafka's names: a client properties file, or the extra of
    Airflow's ``kafka`` connection; ``bootstrap`` goes before ``bootstrap.servers``. ``now`` must carry a zone;
    ``cluster_name`` None means the cluster's own id.

    What could not be read stands in ``coverage``. Raises InvalidInputError for properties that cannot be,
    ConnectionFailedError (within 10 s, with the cause) where no server lets us in, ClusterUnreadableError where not
    even brokers and topics can be read. ``say`` hears a line for each step.
    """
    settings = connection_settings(properties, bootstrap=bootstrap, places=places)
    return read_with_settings(settings, cluster_name=cluster_name, now=now, deadline_s=deadline_s, say=say)


def read_with_settings(
    settings: ConnectionSettings,
    *,
    cluster_name: str | None,
    now: datetime,
    deadline_s: float = DEADLINE_S,
    say: Callable[[str], None] = lambda _: None,
    counts: RequestCounts | None = None,
) -> ClusterSnapshot:
    """``read_cluster`` for whoever has looked at the settings already, to tell what they leave unused.

    ``counts``, where given, fills up with the requests that were sent.
    """
    if now.tzinfo is None:
        raise ValueError(f"now={now} has no time zone")
    deadline = time.monotonic() + deadline_s
    say("connecting")
    with connected(settings) as client:
        sender = RequestSender(
            client, tuple(sorted(client.addresses)), deadline, round_seconds(settings.request_timeout_ms, deadline_s),
            unheard=unheard_at_first(client), counts=RequestCounts() if counts is None else counts,
        )  # fmt: skip
        snapshot = read_with_sender(sender, cluster_name=cluster_name, say=say)
        return replace(snapshot, captured_at=now, kafka_version=client.kafka_version)


def read_with_sender(
    sender: RequestSender, *, cluster_name: str | None, say: Callable[[str], None] = lambda _: None
) -> ClusterSnapshot:
    """The reading by way of connected brokers, still without its time and Kafka's version."""
    coverage = Coverage()
    say("reading brokers, topics and partitions")
    metadata = read_cluster_metadata(sender, coverage)
    coverage.cluster = cluster_name or metadata.cluster_id or "kafka"
    say(f"reading log dirs and configs of {len(metadata.partitions)} partitions on {len(metadata.brokers)} brokers")
    storage = read_storage(sender, coverage)
    configs = read_configs(sender, [topic.name for topic in metadata.topics], coverage)
    say("reading groups")
    partition_counts = Counter(partition.topic for partition in metadata.partitions)
    listed = describe_groups(sender, list_groups(sender, coverage), coverage, partition_counts)
    groups = _with_offsets(sender, listed, coverage)
    say("reading offsets")
    leaders = leaders_of(metadata.partitions, coverage)
    starts, ends = read_ends(sender, leaders, coverage)
    say("looking for what changed meanwhile")
    reading = Reading(metadata, storage, configs, starts, ends, groups)
    reading = read_details(sender, reading, leaders, coverage)
    reading = read_again_what_changed(sender, reading, coverage)
    reading = with_eligible_leaders(sender, reading, coverage)
    known = {topic.name for topic in reading.metadata.topics}
    note_hidden_topics(sender, known, reading.storage.topic_names(), reading.groups, coverage)
    for broker, why in sender.unheard.items():
        coverage.add_unanswered(broker, None, why.fact)
    for broker, mangled in sender.mangled.items():
        coverage.add("broker", broker, FactCode.LACKS_ANSWER_FOR_CLUSTER, reason_of(mangled))
    reading = replace(reading, unheard={**reading.unheard, **sender.unheard})
    note_unseen(reading, coverage)
    note_odd_commits(reading.groups, reading.starts, reading.ends, coverage)
    snapshot = assemble_snapshot(coverage.cluster, reading)
    return replace(snapshot, coverage=coverage.gaps, source="live")


def connected(settings: ConnectionSettings) -> ClusterClient:
    """By way of the first server that lets us in, else (it may have gone since) of another one."""
    server = find_server(settings)
    try:
        return ClusterClient(settings, server)
    except KafkaError as failure:
        others = tuple(other for other in settings.servers if other != server)
        if not others:
            raise ClusterUnreadableError(
                f"{server[0]}:{server[1]}: it let us in and then told nothing ({render(reason_of(failure))}); try again"
            ) from None
    return ClusterClient(settings, find_server(replace(settings, servers=others)))


def round_seconds(request_timeout_ms: int | None, deadline_s: float) -> float:
    """How long a broker has to answer.

    The user's own limit of a request shortens it; ``request.timeout.ms=30000`` stands in many files because it is the
    default, so it does not lengthen it: a longer deadline does.
    """
    longest = max(ROUND_S, deadline_s / _ROUNDS_A_DEADLINE)
    return min(longest, request_timeout_ms / 1000) if request_timeout_ms else longest


def unheard_at_first(client: ClusterClient) -> dict[int, Unheard]:
    """Brokers that do not answer. Raises ClusterUnreadableError where none does under the address it advertises."""
    where = {broker: f"{host}:{port}" for broker, (host, port) in client.addresses.items()}
    answers = client.connect()
    unheard = {broker: why for broker, why in answers.items() if why is not None}
    if len(unheard) == len(answers):
        told = "; ".join(
            f"{broker} at {where[broker]}: {render(why.reason)}" for broker, why in sorted(unheard.items())
        )
        raise ClusterUnreadableError(
            f"no broker answers under the address that it advertises ({told}); "
            "are these names and ports (advertised.listeners) reachable from here?"
        )
    return {broker: replace(why, address=where[broker]) for broker, why in unheard.items()}


def _with_offsets(sender: RequestSender, listed: ListedGroups, coverage: Coverage) -> tuple[Group, ...]:
    committed = read_group_offsets(sender, listed, coverage)
    return tuple(replace(group, committed=committed.get(name, ())) for name, group in listed.groups.items())
