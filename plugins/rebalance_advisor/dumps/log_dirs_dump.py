"""What ``kafka-log-dirs --describe`` prints → size of each replica, and the log dirs of each broker.

Two lines of prose, then one JSON object: ``{"version": 1, "brokers": [{"broker", "logDirs": [{"logDir", "error",
"partitions": [{"partition": "topic-0", "size", "offsetLag", "isFuture"}]}]}]}``; several of both, where the tool was
asked broker by broker into one file. It prints no totals of the volumes, so these stay unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.snapshot.model import CoverageGap, LogDir
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.dumps.files.dump_lines import LARGEST_ID, LARGEST_LONG
from rebalance_advisor.dumps.files.input_file import parse_json
from rebalance_advisor.dumps.files.json_documents import json_documents

Replica = tuple[str, int, int]  # topic, partition, broker


@dataclass(slots=True)
class LogDirsDump:
    """Sizes by replica and dirs by broker, of one or more dumps.

    A replica that moves between two dirs of one broker is listed twice; the copy in the making is read over, because
    the broker will delete one of the two.
    """

    log_bytes: dict[Replica, int] = field(default_factory=dict)
    log_dirs: dict[int, tuple[LogDir, ...]] = field(default_factory=dict)
    gaps: list[CoverageGap] = field(default_factory=list)

    def read(self, text: str, place: str) -> None:
        """Add what one file holds. Raises InvalidInputError with file and line, or JSON path, and reason."""
        documents = json_documents(text, place, _is_prose)
        if not documents:
            raise InvalidInputError.at(place, "holds no JSON", "kafka-log-dirs prints one after two lines of prose")
        for number, (first_line, block) in enumerate(documents):
            path = place if number == 0 else f"{place}:{first_line}"
            document = parse_json(block, place, first_line)
            if document.get("version") != 1:
                raise InvalidInputError.at(
                    f"{path}.version", f"{excerpt(document.get('version'))} is unknown", "expected 1"
                )
            for index, item in enumerate(_list(document, "brokers", path)):
                self._read_broker(item, f"{path}.brokers[{index}]")

    def _read_broker(self, item: Any, path: str) -> None:
        broker = _whole(item, "broker", path, LARGEST_ID)
        if broker in self.log_dirs:
            raise InvalidInputError.at(path, f"broker {broker} is listed twice")
        dirs = _list(item, "logDirs", path)
        self.log_dirs[broker] = tuple(
            self._read_dir(log_dir, broker, f"{path}.logDirs[{number}]") for number, log_dir in enumerate(dirs)
        )

    def _read_dir(self, item: Any, broker: int, path: str) -> LogDir:
        name, error = _text(item, "logDir", path), item.get("error")
        if error is not None:
            self.gaps.append(CoverageGap("broker", str(broker), f"log dir {name}", str(error)))
        for number, row in enumerate(_list(item, "partitions", path)):
            self._read_replica(row, broker, f"{path}.partitions[{number}]")
        return LogDir(path=name, error=None if error is None else str(error))

    def _read_replica(self, row: Any, broker: int, path: str) -> None:
        name = _text(row, "partition", path)
        topic, _, number = name.rpartition("-")
        if not topic or not number.isascii() or not number.isdigit() or len(number) > 9:
            raise InvalidInputError.at(f"{path}.partition", f"expected topic-number, found {excerpt(name)}")
        size = _whole(row, "size", path, LARGEST_LONG)
        is_future = row.get("isFuture", False)
        if not isinstance(is_future, bool):
            raise InvalidInputError.at(f"{path}.isFuture", f"expected true or false, found {excerpt(is_future)}")
        if is_future:
            return
        replica = (topic, int(number), broker)
        if replica in self.log_bytes:
            raise InvalidInputError.at(path, f"{name} stands twice on broker {broker}")
        self.log_bytes[replica] = size


def _is_prose(line: str) -> bool:
    return line.startswith(("Querying brokers for log directories", "Received log directory information from"))


def looks_like_log_dirs(text: str) -> bool:
    """The key that no other dump has, or the tool's first line."""
    return '"logDirs"' in text or text.lstrip().startswith("Querying brokers for log directories information")


def _field(item: Any, name: str, path: str) -> Any:
    if not isinstance(item, dict):
        raise InvalidInputError.at(path, f"expected an object, found {excerpt(item)}")
    if name not in item:
        raise InvalidInputError.at(path, f"{name!r} is missing")
    return item[name]


def _list(item: Any, name: str, path: str) -> list[Any]:
    value = _field(item, name, path)
    if not isinstance(value, list):
        raise InvalidInputError.at(f"{path}.{name}", f"expected a list, found {type(value).__name__}")
    return value


def _text(item: Any, name: str, path: str) -> str:
    value = _field(item, name, path)
    if not isinstance(value, str) or not value:
        raise InvalidInputError.at(f"{path}.{name}", f"expected a text, found {excerpt(value)}")
    return value


def _whole(item: Any, name: str, path: str, largest: int) -> int:
    value = _field(item, name, path)
    if type(value) is not int or not 0 <= value <= largest:
        raise InvalidInputError.at(f"{path}.{name}", f"expected a whole number, found {excerpt(value)}")
    return value
