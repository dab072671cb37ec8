"""Write the demo cluster as a folder of dumps: the output of Kafka's own tools for a cluster that needs advice.

12 brokers in 3 racks, about 160 topics with 3,000 partitions (few carry most), 49 groups; two snapshots an hour apart,
for measured rates. The same seed writes the same bytes. Planted troubles, known only to this script:

- broker 9 is nearly full: the replicas of ``warehouse.export`` were placed there by hand
- broker 3 leads 1.5 × its share: brokers 7 and 11 were restarted and lead nothing since
- ``clickstream.raw-17`` is hot: one key carries most
- a third of ``legacy.orders`` has two replicas in one rack
- ``invoice-mailer`` has two members more than partitions
- ``cdc-sync`` runs range over 24 topics of one partition: one member reads all of them
- ``archiver-4``, a static member of ``telemetry-archiver``, is dead and keeps its partitions
- ``fraud-scoring`` reads slower than its topic is written
- ``rides-pricing``, round robin over 16 partitions, every fourth busy: one of 4 members reads all busy ones
- ``tenants-billing`` reads 12 partitions of which one carries three quarters: no strategy can balance that
- ``badge-sync``, a KIP-848 group with range over 8 topics of one partition: one of 4 members works
- ``courier-dispatch``, a share group, is two hours behind
- ``alerts-fanout`` mixes librdkafka and Java's client under cooperative-sticky
- ``search-indexer`` was half migrated to KIP-848: 4 of its 6 members
- ``catalog.snapshots`` has throttles, but no reassignment

A sink of Kafka Connect, a Streams application and a console consumer get no advice.

    python -m stack.demo.cluster FOLDER [SEED]
"""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from stack.demo import dumps as demo_dumps
from stack.demo import share_dumps
from stack.demo.groups import draw_groups
from stack.demo.planted_groups import planted_groups, planted_topics
from stack.demo.topics import WINDOW_S, draw_topics

SEED = 20_261_120
CAPTURED_AT = "2026-11-20T06:00:00+00:00"


def write_demo_cluster(folder: Path, seed: int = SEED, captured_at: str = CAPTURED_AT) -> Path:
    """Write both snapshots under ``folder`` and return it. ``captured_at``: of the later one."""
    rng = np.random.default_rng(seed)
    topics = draw_topics(rng)
    groups = draw_groups(topics, rng)
    planted = planted_topics()  # separate from the seed's draws, and after them
    groups = sorted([*groups, *planted_groups(planted)], key=lambda group: group.id)
    topics = sorted([*topics, *planted], key=lambda topic: topic.name)
    sharing = [group for group in groups if group.is_share]
    groups = [group for group in groups if not group.is_share]
    newer = datetime.fromisoformat(captured_at)
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "brokers.csv", demo_dumps.brokers_csv())
    _write(folder / "capacity.csv", demo_dumps.capacity_csv())
    for moment, time in enumerate((newer - timedelta(seconds=WINDOW_S), newer)):
        reading = folder / ("earlier", "later")[moment]
        reading.mkdir(exist_ok=True)
        _write(reading / "captured_at", time.isoformat() + "\n")
        _write(reading / "kafka-topics.txt", demo_dumps.kafka_topics(topics))
        _write(reading / "kafka-log-dirs.txt", demo_dumps.kafka_log_dirs(topics, moment))
        for name, earliest in (("earliest", True), ("latest", False)):
            _write(
                reading / f"kafka-get-offsets-{name}.txt",
                demo_dumps.kafka_get_offsets(topics, moment, earliest=earliest),
            )
        _write(reading / "kafka-consumer-groups.txt", demo_dumps.kafka_consumer_groups_offsets(groups, topics, moment))
        _write(reading / "kafka-consumer-groups-members.txt", demo_dumps.kafka_consumer_groups_members(groups))
        _write(reading / "kafka-consumer-groups-state.txt", demo_dumps.kafka_consumer_groups_state(groups, topics))
        _write(reading / "kafka-share-groups.txt", share_dumps.kafka_share_groups_offsets(sharing, topics, moment))
        _write(reading / "kafka-share-groups-members.txt", share_dumps.kafka_share_groups_members(sharing))
        _write(reading / "kafka-share-groups-state.txt", share_dumps.kafka_share_groups_state(sharing, topics))
    return folder


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def main(arguments: list[str]) -> int:
    if len(arguments) not in (1, 2):
        sys.stderr.write("usage: python -m stack.demo.cluster FOLDER [SEED]\n")
        return 2
    folder = write_demo_cluster(Path(arguments[0]), int(arguments[1]) if len(arguments) == 2 else SEED)
    sys.stdout.write(f"{folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
