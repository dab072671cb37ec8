"""Read a live cluster, without writing anything to it, into a snapshot file (plain JSON).

Unread parts (a broker that does not answer, a missing right) are printed on stderr and recorded in the file; the exit
code is 0 all the same. With --previous, the rates since an earlier snapshot are measured.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_rebalance.amounts import counted
from kafka_rebalance.snapshot.coverage import RIGHT
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.terminal import write_lines

if TYPE_CHECKING:
    from rebalance_advisor.kafka.connection.settings import ConnectionSettings
    from rebalance_advisor.prometheus import MetricNames

_SHOWN_GAPS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="one broker or more, separated by commas")
    parser.add_argument(
        "--command-config", type=Path, metavar="FILE", help="client properties under Java's or librdkafka's names"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the snapshot is written")
    parser.add_argument("--cluster", metavar="NAME", help="what to call the cluster (default: its own id)")
    parser.add_argument(
        "--previous", type=Path, metavar="FILE", help="an earlier snapshot: rates since then are measured"
    )
    parser.add_argument(
        "--prometheus", metavar="URL", help="loads by topic and broker, split over partitions, from this server"
    )
    parser.add_argument(
        "--metric-names", type=Path, metavar="FILE",
        help="TOML: what metrics and labels are called (JMX exporter's, Strimzi's, MSK's, kminion's are known)",
    )  # fmt: skip
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="list the client properties that change nothing about reading, and the requests that were sent",
    )
    parser.add_argument(
        "--deadline",
        type=seconds_above_zero,
        default=120.0,
        metavar="SECONDS",
        help="for the whole snapshot (120); a broker gets 5 s to answer, with more than 120 a 24th of it",
    )


def run(arguments: argparse.Namespace) -> int:
    from kafka_rebalance.snapshot.rates import measure_rates
    from rebalance_advisor.kafka.connection.client_log import silence_client
    from rebalance_advisor.kafka.read_cluster import read_with_settings
    from rebalance_advisor.kafka.request_sender import RequestCounts
    from rebalance_advisor.publish.folders import check_file

    check_file(arguments.out)  # before reading the cluster
    silence_client()
    settings = _settings(arguments)
    previous = _previous(arguments.previous)
    counts = RequestCounts()
    names = _metric_names(arguments)
    snapshot = read_with_settings(
        settings,
        cluster_name=arguments.cluster,
        now=datetime.now(UTC),
        deadline_s=arguments.deadline,
        say=Progress(),
        counts=counts,
    )
    if arguments.verbose:
        write_lines(sys.stderr, *counts.lines())
    if previous is not None:
        snapshot = measure_rates(previous, snapshot)
    if names is not None:
        from rebalance_advisor.prometheus import loads_from_prometheus

        snapshot = loads_from_prometheus(snapshot, arguments.prometheus, names, say=_warn)
    _warn_of_gaps(snapshot)
    _write(snapshot, arguments.out)
    parts = ("broker", "topic", "partition", "group")
    size = ", ".join(counted(len(getattr(snapshot, f"{part}s")), part) for part in parts)
    write_lines(sys.stderr, f"{arguments.out}: {size}")
    return 0


def seconds_above_zero(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def _settings(arguments: argparse.Namespace) -> ConnectionSettings:
    from kafka_assignors.errors import InvalidInputError
    from rebalance_advisor.kafka.connection.java_properties import Properties, read_properties
    from rebalance_advisor.kafka.connection.properties import connection_settings

    if arguments.command_config is None and arguments.bootstrap is None:
        raise InvalidInputError.at("snapshot", "no cluster is named", "give --bootstrap HOST:PORT, or --command-config")
    file = arguments.command_config
    given = Properties({}, {}) if file is None else read_properties(file)
    settings = connection_settings(given.values, bootstrap=arguments.bootstrap, locations=given.locations)
    write_lines(sys.stderr, *(f"{file}: {note}" for note in (*given.overridden, *settings.unused, *settings.risks)))
    if arguments.verbose and settings.without_effect:
        write_lines(sys.stderr, f"{file}: without effect on reading: {', '.join(settings.without_effect)}")
    return settings


def _previous(path: Path | None) -> ClusterSnapshot | None:
    """Before the cluster, so that errors come early."""
    if path is None:
        return None
    from rebalance_advisor.dumps.any_input import read_input

    return read_input(path)


def _metric_names(arguments: argparse.Namespace) -> MetricNames | None:
    from kafka_rebalance.errors import UsageError

    if arguments.prometheus is None:
        if arguments.metric_names is not None:
            raise UsageError.at("--metric-names", "names metrics, and no server has them", "add --prometheus URL")
        return None
    from rebalance_advisor.prometheus import MetricNames, read_metric_names
    from rebalance_advisor.prometheus.http_api import Server

    names = MetricNames() if arguments.metric_names is None else read_metric_names(arguments.metric_names)
    Server.at(arguments.prometheus, names.bearer_token_file, names.ca_file)
    return names


def _warn(line: str) -> None:
    write_lines(sys.stderr, f"prometheus: {line}")


def _warn_of_gaps(snapshot: ClusterSnapshot) -> None:
    from kafka_rebalance.render.uncovered import describe_gap

    # Missing rights explain other gaps.
    gaps = sorted(snapshot.coverage, key=lambda gap: gap.subject_type != RIGHT)
    if not gaps:
        return
    write_lines(sys.stderr, f"coverage is partial, {len(gaps)} things could not be read:")
    write_lines(
        sys.stderr,
        *(f"  {describe_gap(gap)}" for gap in gaps[:_SHOWN_GAPS]),
    )
    if len(gaps) > _SHOWN_GAPS:
        write_lines(sys.stderr, f"  and {len(gaps) - _SHOWN_GAPS} more, in the file")


def _write(snapshot: ClusterSnapshot, path: Path) -> None:
    import orjson

    from kafka_rebalance.snapshot.codec import snapshot_to_document
    from rebalance_advisor.publish.folders import replace_file

    content = orjson.dumps(snapshot_to_document(snapshot), option=orjson.OPT_SORT_KEYS) + b"\n"
    with taken_back_on_interrupt():
        replace_file(path, content)
