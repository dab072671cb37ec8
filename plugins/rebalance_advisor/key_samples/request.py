from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import UsageError
from kafka_rebalance.key_tally.plan import TallyPlan, TopicLayout, plan_for
from kafka_rebalance.key_tally.tally import KeyEncoding

_SHOWN_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class SampleColumns:
    """Either ``key`` or ``key_hash`` (int32) is set. ``partition`` and ``value_bytes`` are columns, too."""

    key: str | None = "key"
    key_hash: str | None = None
    partition: str | None = None
    value_bytes: str | None = None
    encoding: KeyEncoding = KeyEncoding.PLAIN

    def __post_init__(self) -> None:
        if (self.key is None) == (self.key_hash is None):
            raise UsageError.at("sample", "needs either keys or their hashes", "give --key-column or --hash-column")

    @property
    def names(self) -> tuple[str, ...]:
        columns = (self.key, self.key_hash, self.partition, self.value_bytes)
        return tuple(dict.fromkeys(name for name in columns if name is not None))

    def require_in(self, columns: Collection[str], location: str) -> None:
        for name in self.names:
            if name not in columns:
                have = ", ".join(excerpt(column) for column in list(columns)[:_SHOWN_COLUMNS]) or "no column"
                raise InvalidInputError.at(
                    location, f"has no column {excerpt(name)}, but {have}", "name it by --…-column"
                )

    def require_fit(self, plan: TallyPlan) -> None:
        if self.key_hash is not None and len(plan.hashes) > 1:
            needed = ", ".join(key_hash.value for key_hash in plan.hashes)
            raise UsageError.at("--hash-column", f"one hash a key, but the partitioners need {needed}", "give keys")


SHOWN_BYTES = 64
_DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class OtherTopic:
    sample: str
    name: str
    layout: TopicLayout


@dataclass(frozen=True, slots=True)
class KeyRequest:
    """``sample``: file, folder or Spark address; None: the topic itself."""

    topic: str
    sample: str | None
    columns: SampleColumns
    plan: TallyPlan
    other: OtherTopic | None = None
    format: str | None = None


def add_key_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", required=True, metavar="NAME", help="what the topic is called")
    parser.add_argument("--partitions", type=int, metavar="N", help="how many partitions it has")
    parser.add_argument(
        "--partitioner", action="append", default=[], metavar="NAME",
        help="of its producer (default: Java's); of each other producer that writes to it, given once more",
    )  # fmt: skip
    parser.add_argument(
        "--to-partitions",
        action="append",
        default=[],
        type=int,
        metavar="M",
        help="what moves with so many, repeatable",
    )
    parser.add_argument(
        "--with", dest="other", metavar="FILE", help="a sample of a topic that is read together with it"
    )
    parser.add_argument("--with-topic", metavar="NAME", help="what that topic is called (its file's name)")
    parser.add_argument("--with-partitions", type=int, metavar="N", help="of that topic (as many as the first)")
    parser.add_argument("--with-partitioner", metavar="NAME", help="of that topic's producer (the first's)")
    parser.add_argument("--format", choices=("parquet", "json", "csv"), help="of the files (by their names)")
    parser.add_argument("--key-column", metavar="NAME", help="where keys stand (key)")
    parser.add_argument("--hash-column", metavar="NAME", help="where keys are int32 hashes, in place of keys")
    parser.add_argument("--partition-column", metavar="NAME", help="the partition that the record lies in")
    parser.add_argument("--value-bytes-column", metavar="NAME", help="how many bytes the record's value has")
    parser.add_argument(
        "--key-encoding", type=KeyEncoding, choices=tuple(KeyEncoding), default=KeyEncoding.PLAIN,
        metavar="plain|hex|base64", help="how keys are written (plain)",
    )  # fmt: skip
    parser.add_argument(
        "--show-keys", action="store_true", help=f"name heavy keys by their first {SHOWN_BYTES} bytes, not by numbers"
    )


def key_request(arguments: argparse.Namespace, sample: str | None, partitions: int | None = None) -> KeyRequest:
    """``partitions``: number of the live topic's partitions."""
    count = arguments.partitions if arguments.partitions is not None else partitions
    if count is None:
        raise UsageError.at("--partitions", "is missing", "a file does not tell how many partitions the topic has")
    producers = tuple(dict.fromkeys(arguments.partitioner)) or (_DEFAULT,)
    layout = TopicLayout(count, producers[0])
    other = _other(arguments, layout)
    plan = plan_for(
        layout,
        clients=producers[1:],
        grown_to=tuple(arguments.to_partitions),
        read_with=None if other is None else other.layout,
        shown_bytes=SHOWN_BYTES if arguments.show_keys else 0,
    )
    if arguments.key_column is not None and arguments.hash_column is not None:
        raise UsageError.at("--hash-column", "stands in place of --key-column", "give one of them")
    if arguments.show_keys and arguments.hash_column is not None:
        raise UsageError.at("--show-keys", "there are only hashes", "leave it out")
    columns = SampleColumns(
        key=(arguments.key_column or "key") if arguments.hash_column is None else None,
        key_hash=arguments.hash_column,
        partition=arguments.partition_column,
        value_bytes=arguments.value_bytes_column,
        encoding=arguments.key_encoding,
    )
    columns.require_fit(plan)
    return KeyRequest(arguments.topic, sample, columns, plan, other, arguments.format)


def _other(arguments: argparse.Namespace, layout: TopicLayout) -> OtherTopic | None:
    if arguments.other is None:
        for name in ("with_topic", "with_partitions", "with_partitioner"):
            if getattr(arguments, name) is not None:
                raise UsageError.at(f"--{name.replace('_', '-')}", "there is no other topic", "add --with FILE")
        return None
    partitions = layout.partitions if arguments.with_partitions is None else arguments.with_partitions
    return OtherTopic(
        arguments.other,
        arguments.with_topic or Path(arguments.other).stem,
        TopicLayout(partitions, arguments.with_partitioner or layout.partitioner),
    )


def format_of(name: str, named: str | None) -> str:
    suffixes = {".parquet": "parquet", ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv"}
    path = Path(name)
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if named is None and suffix not in suffixes:
        raise UsageError.at(name, "its name does not say what it is", "--format parquet, json or csv does")
    return named or suffixes[suffix]
