"""Recorded cases of Kafka's replica placers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.java.seeded_random import State, java_random, mock_random
from kafka_assignors.recorded_cases import cases
from kafka_assignors.releases import Releases
from kafka_assignors.string_column import StringColumn
from kafka_rebalance.placement.placers import (
    DRAWN,
    ListedPartitions,
    PlacementBroker,
    place_alternating,
    place_striped,
    propose_striped,
    rack_alternated,
)

Input = Mapping[str, Any]
Output = dict[str, Any]

_HERE = "kafka_rebalance.placement.recorded_cases"
# AdminUtils left Kafka in 4.1.
FAMILIES = cases.FAMILIES | {
    "admin_utils": cases.one_line(f"{_HERE}:answer_admin_utils", Releases("Kafka", "0.10", "4.0"), is_ended=True),
    "striped_replica_placer": cases.one_line(f"{_HERE}:answer_striped", Releases("Kafka", "3.0", "4.4")),
    "reassign_generate": cases.one_line(f"{_HERE}:answer_generate", Releases("Kafka", "4.1", "4.4")),
}


def answer(case: cases.Case) -> Output:
    """See ``kafka_assignors.recorded_cases.cases.answer``."""
    return cases.answer(case, FAMILIES)


def answer_admin_utils(case: Input) -> Output:
    """Return replicas by partition; with racks also the alternated list of brokers."""
    brokers = _brokers(case)
    fixed = int(case.get("fixedStartIndex", DRAWN))
    if fixed < 0 and "seed" not in case:
        raise InvalidInputError.at("seed", "neither it nor fixedStartIndex is given", "give one of them")
    start = int(case.get("startPartitionId", DRAWN))
    replicas = place_alternating(
        brokers, int(case["numPartitions"]), int(case["replicationFactor"]), _random(case),
        fixed_start_index=fixed, start_partition=start,
    )  # fmt: skip
    output: Output = {"assignment": {str(max(0, start) + i): row for i, row in enumerate(replicas.tolist())}}
    if all(broker.rack is not None for broker in brokers):
        output["rackAlternated"] = rack_alternated(brokers)
    return output


def answer_striped(case: Input) -> Output:
    replicas = place_striped(_brokers(case), int(case["numPartitions"]), int(case["replicationFactor"]), _random(case))
    return {"assignment": replicas.tolist()}


def answer_generate(case: Input) -> Output:
    index = {topic: i for i, topic in enumerate(dict.fromkeys(topic for topic, _, _ in case["current"]))}
    rows = [(index[topic], partition, len(replicas)) for topic, partition, replicas in case["current"]]
    columns = np.array(rows, np.int32).reshape(-1, 3)
    listed = ListedPartitions(StringColumn.of(index), columns[:, 0], columns[:, 1], columns[:, 2])
    proposals = propose_striped(_brokers(case), listed, _random(case))
    names = [listed.names[proposal.topic] for proposal in proposals]
    return {
        "topicOrder": names,
        "firstPartition": [proposal.first_partition for proposal in proposals],
        "assignment": {
            name: {str(partition): row for partition, row in enumerate(proposal.replicas.tolist())}
            for name, proposal in zip(names, proposals, strict=True)
        },
    }


def _brokers(case: Input) -> list[PlacementBroker]:
    return [
        PlacementBroker(int(broker["id"]), broker.get("rack"), bool(broker.get("fenced", False)))
        for broker in case["brokers"]
    ]


def _random(case: Input) -> State:
    kind = case.get("random", "Random")
    if kind not in ("Random", "MockRandom"):
        raise InvalidInputError.at("random", f"{kind!r}", "Random or MockRandom")
    if kind == "MockRandom":
        return mock_random(int(case["seed"])) if "seed" in case else mock_random()
    return java_random(int(case.get("seed", 0)))
