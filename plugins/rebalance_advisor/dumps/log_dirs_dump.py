"""``kafka-log-dirs --describe`` (o.a.k.tools.LogDirsCommand).

Two lines of prose, then ``{"version": 1, "brokers": [{"broker", "logDirs": [{"logDir", "error", "partitions":
[{"partition": "topic-0", "size", "offsetLag", "isFuture"}]}]}]}``; several are merged. Volume totals are unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import CoverageGap, LogDir
from rebalance_advisor.dumps.input_file import json_documents, parse_json
from rebalance_advisor.dumps.text_lines import LARGEST_ID, LARGEST_LONG

Replica = tuple[str, int, int]  # topic, partition, broker


@dataclass(slots=True)
class LogDirsDump:
    """The last dump has priority.

    ``future``: unfinished copies between dirs. ``dirs``: path → error by broker. ``asked_in_parts``: brokers queried by
    topic.
    """

    log_bytes: dict[Replica, int] = field(default_factory=dict)
    places: dict[Replica, str] = field(default_factory=dict)
    future: dict[Replica, tuple[str, int]] = field(default_factory=dict)
    dirs: dict[int, dict[str, str | None]] = field(default_factory=dict)
    asked_in_parts: set[int] = field(default_factory=set)
    gaps: list[CoverageGap] = field(default_factory=list)

    def read(self, text: str, place: str) -> None:
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
            listed = set[int]()
            for index, item in enumerate(_list(document, "brokers", path)):
                here = f"{path}.brokers[{index}]"
                broker = _whole(item, "broker", here, LARGEST_ID)
                if broker in listed:
                    raise InvalidInputError.at(here, f"broker {broker} is listed twice")
                listed.add(broker)
                self._read_broker(item, broker, here)

    def log_dirs(self, broker: int) -> tuple[LogDir, ...]:
        return tuple(LogDir(path, error=error) for path, error in sorted(self.dirs.get(broker, {}).items()))

    def _read_broker(self, item: Any, broker: int, path: str) -> None:
        if broker in self.dirs:
            self.asked_in_parts.add(broker)
        known, seen = self.dirs.setdefault(broker, {}), set[Replica]()
        for number, log_dir in enumerate(_list(item, "logDirs", path)):
            here = f"{path}.logDirs[{number}]"
            name, error = _text(log_dir, "logDir", here), log_dir.get("error")
            if error is not None and known.get(name) is None:
                what, reason = fact(FactCode.LACKS_LOG_DIR, path=name), fact(FactCode.AS_REPORTED, text=str(error))
                self.gaps.append(CoverageGap("broker", str(broker), what, reason))
            known[name] = known.get(name) if error is None else str(error)
            for index, row in enumerate(_list(log_dir, "partitions", here)):
                self._read_replica(row, (broker, name), seen, f"{here}.partitions[{index}]")

    def _read_replica(self, row: Any, place: tuple[int, str], seen: set[Replica], path: str) -> None:
        name = _text(row, "partition", path)
        topic, _, number = name.rpartition("-")
        if not topic or not number.isascii() or not number.isdigit() or len(number) > 9:
            raise InvalidInputError.at(f"{path}.partition", f"expected topic-number, found {excerpt(name)}")
        size = _whole(row, "size", path, LARGEST_LONG)
        is_future = row.get("isFuture", False)
        if not isinstance(is_future, bool):
            raise InvalidInputError.at(f"{path}.isFuture", f"expected true or false, found {excerpt(is_future)}")
        broker, log_dir = place
        replica = (topic, int(number), broker)
        if is_future:
            self.future[replica] = (log_dir, size)
            return
        if replica in seen:
            raise InvalidInputError.at(path, f"{name} stands twice on broker {broker}")
        seen.add(replica)
        self.log_bytes[replica], self.places[replica] = size, log_dir


def _is_prose(line: str) -> bool:
    return line.startswith(("Querying brokers for log directories", "Received log directory information from"))


def looks_like_log_dirs(text: str) -> bool:
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
