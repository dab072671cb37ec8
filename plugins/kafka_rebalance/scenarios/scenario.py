"""A what-if: a name, and what happens to the cluster, one change after another."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.scenarios.broker_changes import BrokersAdded, BrokersLost, RackLost
from kafka_rebalance.scenarios.growth import Growth
from kafka_rebalance.scenarios.member_changes import Members, MembersLost
from kafka_rebalance.scenarios.topic_changes import PartitionsAdded, TopicAdded, TopicRemoved
from kafka_rebalance.snapshot.model import ClusterSnapshot

Change = (
    RackLost | BrokersLost | BrokersAdded | Growth | PartitionsAdded | TopicAdded | TopicRemoved | Members | MembersLost
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """``changes`` happen in their order, each to what the one before it left."""

    name: str
    changes: tuple[Change, ...]

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.changes:
            raise InvalidInputError.at("scenario", "has no name" if self.changes else "nothing happens in it")

    @property
    def is_failure(self) -> bool:
        """Members that are gone died without a word: their partitions wait for the end of their sessions."""
        return any(isinstance(change, RackLost | MembersLost) for change in self.changes)

    def applied(self, snapshot: ClusterSnapshot, seed: int = 0) -> ClusterSnapshot:
        """The cluster as it is then; the same seed draws the same. The snapshot itself stays as it is.

        Raises InvalidInputError, naming the change, where one does not fit the cluster: a broker, rack, topic, group
        or member that is not there, a topic that is there already, replicas that no broker can take.
        """
        for number, change in enumerate(self.changes):
            try:
                snapshot = change.applied(snapshot, seed)
            except InvalidInputError as error:
                raise InvalidInputError.at(f"scenario {self.name}, changes[{number}]", str(error)) from error
        return snapshot
