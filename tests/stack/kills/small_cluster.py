"""A cluster so small that a run of it is little more than the starts of its processes; each run is another reading."""

from __future__ import annotations

import json
import random

from stack.airflow.cluster_entries import write_entry
from stack.machine import Machine
from tests.stack.by_hand import BY_HAND

NAME = "small-kills"
DAG = f"advise_{NAME}"
_BROKERS = (1, 2, 3, 4)
# Broker 1 carries too much, so that there is something to move.
_LEADERS = (1, 1, 1, 2, 3, 4)


def write_cluster(machine: Machine, reading: int, **settings: object) -> None:
    """The DAGs' table and the file. Each ``reading`` is another cluster: one that is stored already would not be
    written again.
    """
    chance = random.Random(reading)
    partitions = []
    for index in range(24):
        leader = chance.choice(_LEADERS)
        follower = chance.choice([broker for broker in _BROKERS if broker != leader])
        partitions.append({"topic": f"topic-{index % 3}", "partition": index // 3, "replicas": [leader, follower]})
    file = machine.run / f"{NAME}.json"
    file.write_text(json.dumps({"version": 1, "partitions": partitions}))
    write_entry(machine.clusters_file, NAME, {"file": str(file)} | BY_HAND | settings)
