"""The demo's dumps taken apart with nothing but ``split``: what a reader with pen and paper would do."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Row:
    """One partition line of kafka-topics."""

    name: str
    topic: str
    leader: int
    replicas: list[int]


def topic_rows(folder: Path) -> list[Row]:
    rows = []
    for line in (folder / "later" / "kafka-topics.txt").read_text().splitlines():
        cells = dict(cell.split(": ", 1) for cell in line.strip().split("\t") if ": " in cell)
        if "Partition" in cells:
            replicas = [int(broker) for broker in cells["Replicas"].split(",")]
            rows.append(Row(f"{cells['Topic']}-{cells['Partition']}", cells["Topic"], int(cells["Leader"]), replicas))
    return rows


def sizes(folder: Path, moment: str) -> dict[tuple[str, int], int]:
    """(partition, broker) → bytes."""
    text = (folder / moment / "kafka-log-dirs.txt").read_text()
    document = json.loads(text.splitlines()[2])
    return {
        (row["partition"], broker["broker"]): row["size"]
        for broker in document["brokers"]
        for log_dir in broker["logDirs"]
        for row in log_dir["partitions"]
    }


def offsets(folder: Path, moment: str, which: str) -> dict[str, int]:
    """Partition → offset."""
    answer = {}
    for line in (folder / moment / f"kafka-get-offsets-{which}.txt").read_text().split():
        topic, partition, offset = line.split(":")
        answer[f"{topic}-{partition}"] = int(offset)
    return answer


def written_bytes_per_s(folder: Path) -> dict[str, float]:
    """Partition → bytes a second in the hour between the snapshots: messages × bytes a message."""
    size, rows = sizes(folder, "later"), topic_rows(folder)
    first, last = offsets(folder, "later", "earliest"), offsets(folder, "later", "latest")
    before = offsets(folder, "earlier", "latest")
    answer = {}
    for row in rows:
        kept = last[row.name] - first[row.name]
        message_bytes = size[row.name, row.leader] / kept if kept else 0.0
        answer[row.name] = (last[row.name] - before[row.name]) * message_bytes / 3600
    return answer


def group_lines(folder: Path, moment: str, group: str, name: str = "kafka-consumer-groups.txt") -> list[list[str]]:
    """Cells of the group's rows; no cell of the demo holds a blank."""
    text = (folder / moment / name).read_text()
    return [line.split() for line in text.splitlines() if line.split()[:1] == [group]]


def racks(folder: Path) -> dict[int, str]:
    lines = (folder / "brokers.csv").read_text().splitlines()[1:]
    return {int(line.split(",")[0]): line.split(",")[1] for line in lines}
