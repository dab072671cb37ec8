"""The cluster as it would be without one of its troubles: what is then within its share was a symptom of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kafka_rebalance.coordinator.group_partition import group_partitions
from kafka_rebalance.findings.context import FindingContext
from kafka_rebalance.findings.finding import Finding
from kafka_rebalance.findings.leader_rules import election
from kafka_rebalance.findings.placement_rules import median_of_siblings
from kafka_rebalance.scoring.placement_scores import ClusterScores
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.load import PartitionLoads
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.string_column import StringColumn

_MOST_COOLED = 20
_OFFSETS_TOPIC = "__consumer_offsets"


@dataclass(eq=False)  # no slots: cached_property keeps its values in __dict__
class WithoutCause:
    """Each what-if is scored once, when it is first asked for. O(replicas) each."""

    context: FindingContext
    findings: Sequence[Finding] = ()
    _cooled: dict[str, ClusterScores] = field(default_factory=dict)

    @cached_property
    def elected(self) -> ClusterScores:
        """Scores with every partition led by its preferred leader, as far as that may lead today."""
        return score_cluster(self._led_as_preferred(self.context.snapshot))

    @cached_property
    def calm(self) -> ClusterScores:
        """Scores with the preferred leaders elected and all hot partitions cooled: both kinds of trouble gone."""
        snapshot = self._led_as_preferred(self.context.snapshot)
        for finding in self.findings:
            if finding.code == "hot_partition":
                snapshot = _with_median(snapshot, finding.subject)
        return score_cluster(snapshot)

    @cached_property
    def coordinated_once_elected(self) -> Counter[int]:
        """Groups that each broker would coordinate: a group goes with the leader of its part of the offsets topic."""
        snapshot = self.context.snapshot
        numbers = [number for number, topic in enumerate(snapshot.topics) if topic.name == _OFFSETS_TOPIC]
        if not numbers:
            return Counter()
        begin, end = np.searchsorted(snapshot.partitions.topic, [numbers[0], numbers[0] + 1])
        leader = election(self.context).leader[begin:end]
        ids = [group.id for group in snapshot.groups if group.coordinator is not None]
        return Counter(leader[group_partitions(StringColumn.of(ids), len(leader))].tolist())

    def _led_as_preferred(self, snapshot: ClusterSnapshot) -> ClusterSnapshot:
        return replace(snapshot, partitions=replace(snapshot.partitions, leader=election(self.context).leader))

    def is_asked(self, partition: str, broker: int) -> bool:
        """The broker holds the partition, and not too many others were cooled: each is a score of the whole cluster."""
        topic, _, number = partition.rpartition("-")
        row = self.context.snapshot.row_of[topic, int(number)]
        holds = broker in self.context.snapshot.partitions.replicas_of(row)
        return holds and (partition in self._cooled or len(self._cooled) < _MOST_COOLED)

    def cooled(self, partition: str) -> ClusterScores:
        """Scores with one partition as busy as the median of its topic's others."""
        if partition not in self._cooled:
            self._cooled[partition] = score_cluster(_with_median(self.context.snapshot, partition))
        return self._cooled[partition]


def over_share(scores: ClusterScores, broker: int, resource: str) -> float | None:
    """Level over fair share, None where there is no share."""
    for score in scores.of_resource(resource):
        if score.broker == broker and score.fair_share:
            return score.level / score.fair_share
    return None


def _with_median(snapshot: ClusterSnapshot, partition: str) -> ClusterSnapshot:
    topic, _, number = partition.rpartition("-")
    row = snapshot.row_of[topic, int(number)]
    columns = {}
    for kind, column in snapshot.loads.columns.items():
        values = column.values.copy()
        median = median_of_siblings(snapshot, kind, row)
        if median is not None:
            values[row] = min(float(values[row]), median)
        columns[kind] = replace(column, values=values)
    return replace(snapshot, loads=PartitionLoads(columns))
