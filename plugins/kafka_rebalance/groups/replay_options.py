"""What is asked of the groups of a snapshot: whose consumers they run, and which scenarios they are led through."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.groups.group_input import GroupInput, group_inputs
from kafka_rebalance.groups.group_replay import GroupReplay, replay_group
from kafka_rebalance.groups.scenarios.catalogue import SCENARIOS
from kafka_rebalance.groups.told_clients import with_clients
from kafka_rebalance.options.client_rule import ClientRule
from kafka_rebalance.snapshot.model import ClusterSnapshot


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """``scenarios``: names of the catalogue; ``seed`` draws their members. By default groups are asked about today.

    ``strategies``: names of the registry, where not all that a group could run are asked.
    """

    clients: tuple[ClientRule, ...] = ()
    scenarios: tuple[str, ...] = ()
    seed: int = 0
    strategies: tuple[str, ...] | None = None

    def told(self, snapshot: ClusterSnapshot) -> ClusterSnapshot:
        """The snapshot with whose consumers its groups run."""
        return with_clients(snapshot, self.clients)

    def replay(self, group_input: GroupInput) -> GroupReplay:
        """One group under each strategy."""
        return replay_group(group_input, self.strategies, scenarios=self.scenarios, seed=self.seed)

    def replays(self, snapshot: ClusterSnapshot) -> tuple[GroupReplay, ...]:
        """All groups, in the snapshot's order."""
        return tuple(self.replay(group_input) for group_input in group_inputs(self.told(snapshot)))


TODAY_ALONE = ReplayOptions()
EVERYTHING = ReplayOptions(scenarios=SCENARIOS)
