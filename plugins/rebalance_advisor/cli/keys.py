"""Show what a topic's keys do to its partitions, from a sample of records: a file, or with --bootstrap the topic
itself.

FILE is Parquet (or a folder of it), JSON lines or CSV; large ones are read by the Spark job score_keys. With
--bootstrap the last records of the topic are read, without a group and without commits: the login needs Read on it.
Keys are personal data: without --show-keys only their hashes and counts are printed and written.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_rebalance.errors import UsageError
from rebalance_advisor.cli.arguments import add_input_options
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.parser import CommonOptions
from rebalance_advisor.key_samples.request import KeyRequest, OtherTopic, add_key_arguments, key_request
from rebalance_advisor.terminal import write_lines

if TYPE_CHECKING:
    from kafka_rebalance.key_tally.tally import KeyTally
    from rebalance_advisor.kafka.topic_sample import TopicSample

_RECORDS = 100_000
_ONLY_FROM_FILES = ("key_column", "hash_column", "partition_column", "value_bytes_column")

COMMON = CommonOptions(
    usage="[FILE] --topic NAME [options]",
    flags=(
        "--topic", "--partitions", "--partitioner", "--to-partitions", "--with", "--format", "--key-column",
        "--show-keys", "--bootstrap", "--command-config", "--sample", "--out",
    ),
    examples=(
        ("find the hot key of a topic", "sample.parquet --topic orders --partitions 24 --show-keys"),
        ("see what 48 partitions would change", "sample.parquet --topic orders --partitions 24 --to-partitions 48"),
        ("read the last 100,000 records of the topic itself", "--topic orders --bootstrap broker1:9092"),
        (
            "compare two topics that are read together",
            "orders.parquet --topic orders --partitions 24 --with refunds.parquet --with-partitions 12",
        ),
    ),
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sample", nargs="?", metavar="FILE", help="a sample of the topic's records")
    add_key_arguments(parser)
    parser.add_argument("--bootstrap", metavar="HOST:PORT", help="read the topic itself, by way of one broker or more")
    parser.add_argument(
        "--command-config", type=Path, metavar="FILE", help="client properties, with --bootstrap or alone"
    )
    parser.add_argument("--sample", dest="records", type=int, metavar="N", help=f"about so many records ({_RECORDS:,})")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all figures there, as JSON")
    add_input_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from rebalance_advisor.compiling.first_compile import tell_of_first_compile
    from rebalance_advisor.key_samples.report import lines_of, report_of
    from rebalance_advisor.publish.folders import check_file

    if arguments.out is not None:
        check_file(arguments.out)  # before reading
    tell_of_first_compile()
    if arguments.bootstrap is None and arguments.command_config is None:
        request, tally = _from_file(arguments)
    else:
        request, tally = _from_topic(arguments)
    other = None if request.other is None else _other(arguments, request, request.other)
    report = report_of(request, tally, other)
    write_lines(sys.stdout, *lines_of(report))
    if arguments.out is not None:
        import orjson

        from rebalance_advisor.key_samples.report import document_of
        from rebalance_advisor.publish.folders import replace_file

        with taken_back_on_interrupt():
            replace_file(arguments.out, orjson.dumps(document_of(report), option=orjson.OPT_INDENT_2) + b"\n")
    return 0


def _from_file(arguments: argparse.Namespace) -> tuple[KeyRequest, KeyTally]:
    from rebalance_advisor.input_bytes import ByteBudget
    from rebalance_advisor.key_samples.files import tally_file

    if arguments.sample is None:
        raise UsageError.at("keys", "no sample is named", "give FILE, or --bootstrap to read the topic itself")
    if arguments.records is not None:
        raise UsageError.at("--sample", "a file is read whole", "it goes with --bootstrap")
    request = key_request(arguments, arguments.sample)
    budget = ByteBudget(int(arguments.max_input_bytes))
    return request, tally_file(Path(arguments.sample), request.columns, request.plan, budget, request.format)


def _from_topic(arguments: argparse.Namespace) -> tuple[KeyRequest, KeyTally]:
    from kafka_rebalance.key_tally.plan import batch_of_keys
    from kafka_rebalance.key_tally.tally import KeyEncoding, KeyTally

    if arguments.sample is not None:
        raise UsageError.at(arguments.sample, "a file and a topic", "leave FILE or --bootstrap out")
    if arguments.other is None:
        for name in _ONLY_FROM_FILES:
            if getattr(arguments, name) is not None:
                raise UsageError.at(f"--{name.replace('_', '-')}", "a topic has no columns", "it goes with FILE")
        if arguments.key_encoding is not KeyEncoding.PLAIN:
            raise UsageError.at("--key-encoding", "a topic has the bytes themselves", "it goes with FILE")
    if arguments.records is not None and arguments.records <= 0:
        raise UsageError.at("--sample", str(arguments.records), "a number above 0")
    key_request(arguments, None, partitions=arguments.partitions or 1)  # fail before reading
    sample = _sample(arguments)
    if arguments.partitions not in (None, sample.partitions):
        raise UsageError.at(
            "--partitions", f"{arguments.partitions}, but {arguments.topic} has {sample.partitions}",
            "leave it out; --to-partitions tells what moves",
        )  # fmt: skip
    request = key_request(arguments, None, partitions=sample.partitions)
    batch = batch_of_keys(sample.keys, request.plan.hashes, sample.value_bytes, sample.observed)
    return request, KeyTally.none(request.plan).added(batch)


def _sample(arguments: argparse.Namespace) -> TopicSample:
    from rebalance_advisor.kafka.connection.client_log import silence_client
    from rebalance_advisor.kafka.connection.java_properties import Properties, read_properties
    from rebalance_advisor.kafka.connection.properties import connection_settings
    from rebalance_advisor.kafka.topic_sample import read_topic_sample

    silence_client()
    file = arguments.command_config
    given = Properties({}, {}) if file is None else read_properties(file)
    settings = connection_settings(given.values, bootstrap=arguments.bootstrap, locations=given.locations)
    sample = read_topic_sample(settings, arguments.topic, arguments.records or _RECORDS)
    write_lines(sys.stderr, *sample.gaps)
    return sample


def _other(arguments: argparse.Namespace, request: KeyRequest, other: OtherTopic) -> KeyTally:
    from rebalance_advisor.input_bytes import ByteBudget
    from rebalance_advisor.key_samples.files import tally_file

    budget = ByteBudget(int(arguments.max_input_bytes))
    return tally_file(Path(other.sample), request.columns, request.plan, budget, request.format)
