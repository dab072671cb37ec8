"""Nobody above its capacity after a loss."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number


@dataclass(frozen=True, kw_only=True)
class SurviveParams(Parameters):
    """Nobody above its capacity after a loss.

    brokers           of the worst so many one is relieved with each change
    partitions        of which other orders and leaders are looked at, ``moved_partitions`` whose replicas may go
    receivers         brokers that a replica may go to, of the same rack and of all
    program_cells     sums of loads up to which several changes are decided at once, with so many ``program_nodes``
    all_changes       changes up to which all that there are are decided at once, which proves what cannot be survived
    above_worth       what a capacity exceeded by its whole counts in a program, then each copy, leader change and order
    program_gap       a program is decided to this share of what it leaves above capacities
    parts             times that changes of the ``part_brokers`` worst are decided at once
    touched_brokers   that one change comes to, more or less
    most_cells        loads after losses that are looked at together: bounds the memory
    """

    brokers: int = number(8, least=1)
    partitions: int = number(64, least=1)
    moved_partitions: int = number(16, least=1)
    receivers: int = number(4, least=1)
    program_cells: int = number(400_000, least=0)
    program_nodes: int = number(1_000, least=1)
    program_gap: float = number(0.5, least=0.0)
    all_changes: int = number(4_000, least=0)
    above_worth: float = number(1e4, least=0.0)
    copy_worth: float = number(1e-1, least=0.0)
    leader_worth: float = number(1e-2, least=0.0)
    order_worth: float = number(1e-3, least=0.0)
    parts: int = number(12, least=0)
    part_brokers: int = number(3, least=1)
    most_cells: int = number(4_000_000, least=1)
    touched_brokers: int = number(6, least=1)

    def changes_at_once(self, cells: int) -> int:
        """How many changes are looked at together where each broker has so many ``cells``."""
        return max(1, self.most_cells // max(self.touched_brokers * cells, 1))
