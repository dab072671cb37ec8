"""Print the outcome of each file of a folder of real dumps: ``python -m tests.unit.dumps.realdata_table FOLDER``.

Each file is tried until one way reads it: as INPUT itself; alone in a folder; in a folder beside a small kafka-topics
dump. A line has the outcome, a digest of the result (without coverage) and the path, or the reason of the refusal.
Every refusal must be one of our own class.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from kafka_assignors.errors import AdvisorError, InvalidInputError
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.dumps import read_input

_BROKERS = ",".join(map(str, range(16)))
COMPANION = (
    "Topic: companion\tPartitionCount: 1\tReplicationFactor: 16\tConfigs: \n"
    f"\tTopic: companion\tPartition: 0\tLeader: 0\tReplicas: {_BROKERS}\tIsr: {_BROKERS}\n"
)
_NEEDS_TOPICS = "holds no kafka-topics --describe dump"
_NO_KNOWN_INPUT = ("is none of the known inputs", "is JSON of an unknown kind")


@dataclass(frozen=True, slots=True)
class Outcome:
    """``way`` is file, folder, beside topics or refused; ``text`` what was read, or why not."""

    path: str
    way: str
    digest: str
    text: str


def outcome_of(path: Path, name: str) -> Outcome:
    """Outcome for one file."""
    with tempfile.TemporaryDirectory() as scratch:
        alone, beside = Path(scratch) / "alone", Path(scratch) / "beside"
        for folder in (alone, beside):
            folder.mkdir()
            shutil.copy(path, folder / path.name)
        (beside / "companion-topics.txt").write_text(COMPANION)
        try:
            return _read(path, name, "file")
        except AdvisorError as error:
            refusal = error
        try:
            return _read(alone, name, "folder")
        except AdvisorError as error:
            if not any(text in str(error) for text in ("is no known dump", *_NO_KNOWN_INPUT)):
                refusal = error
        try:
            if _NEEDS_TOPICS in str(refusal) or "is not among the brokers" in str(refusal):
                return _read(beside, name, "beside topics")
        except AdvisorError as error:
            refusal = error
        if not isinstance(refusal, InvalidInputError):
            raise refusal
        return Outcome(name, "refused", "-" * 12, str(refusal).replace(scratch, "").replace(str(path), path.name))


def _read(path: Path, name: str, way: str) -> Outcome:
    document = snapshot_to_document(read_input(path, cluster="c"))
    partitions = sum(len(topic["partitions"]) for topic in document["topics"])
    members = sum(len(group.get("members", ())) for group in document["groups"])
    gaps = Counter(gap["what"]["code"] for gap in document.pop("coverage"))
    text = f"{len(document['brokers'])} brokers, {partitions} partitions, {len(document['groups'])} groups, "
    text += f"{members} members; not seen: {', '.join(sorted(gaps)) or 'nothing'}"
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:12]
    return Outcome(name, way, digest, text)


def table(folder: Path) -> list[Outcome]:
    """One outcome for each file under ``folder``, by path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [outcome_of(path, str(path.relative_to(folder))) for path in files]


def main(folder: str) -> None:
    """Print the table and its totals."""
    rows = table(Path(folder))
    for row in rows:
        print(f"{row.way:<14} {row.digest} {row.path}: {row.text}")
    print(", ".join(f"{way}: {count}" for way, count in sorted(Counter(row.way for row in rows).items())))


if __name__ == "__main__":
    main(sys.argv[1])
