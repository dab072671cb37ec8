"""What is to be counted of a sample: placements (a partitioner and a number of partitions), and pairs of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.partitioners.tally.batch import MOST_PARTITIONS
from kafka_rebalance.partitioners.tally.rules import KeyHash, KeyRule, rule_of


class Pairing(StrEnum):
    """Why two placements are held beside each other."""

    GROWN = "grown"  # other number of partitions
    OTHER_CLIENT = "other_client"
    READ_TOGETHER = "read_together"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a partitioner puts keys on so many partitions."""

    rule: KeyRule
    partitions: int

    def __post_init__(self) -> None:
        if not 0 < self.partitions <= MOST_PARTITIONS:
            raise InvalidInputError.at("partitions", str(self.partitions), f"1 … {MOST_PARTITIONS:,}")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two of the plan's placements, by number."""

    one: int
    other: int
    pairing: Pairing


@dataclass(frozen=True, slots=True)
class TallyPlan:
    """``shown_bytes``: how many bytes of heavy keys are kept to be shown, 0 for none."""

    placements: tuple[Placement, ...]
    pairs: tuple[Pair, ...] = ()
    shown_bytes: int = 0

    @property
    def hashes(self) -> tuple[KeyHash, ...]:
        """Those that its placements need, each once."""
        return tuple(dict.fromkeys(placement.rule.hash for placement in self.placements))


@dataclass(frozen=True, slots=True)
class TopicLayout:
    """How a topic lies: its partitions and the producer that writes to it."""

    partitions: int
    partitioner: str = "default"


def plan_for(
    topic: TopicLayout,
    *,
    clients: tuple[str, ...] = (),
    grown_to: tuple[int, ...] = (),
    read_with: TopicLayout | None = None,
    shown_bytes: int = 0,
) -> TallyPlan:
    """The first placement is the topic's own, each other one is a pair with it: other ``clients`` that write to it,
    other numbers of partitions, another topic that is read together with it.

    Raises UnknownNameError and InvalidInputError for partitioners that cannot be placed by keys.
    """
    own = Placement(rule_of(topic.partitioner), topic.partitions)
    others = [(Placement(rule_of(name), topic.partitions), Pairing.OTHER_CLIENT) for name in clients]
    others += [(Placement(own.rule, count), Pairing.GROWN) for count in grown_to]
    if read_with is not None:
        others.append((Placement(rule_of(read_with.partitioner), read_with.partitions), Pairing.READ_TOGETHER))
    placements = tuple(dict.fromkeys([own, *(placement for placement, _ in others)]))
    pairs = tuple(Pair(0, placements.index(placement), pairing) for placement, pairing in others)
    return TallyPlan(placements, tuple(dict.fromkeys(pairs)), shown_bytes)


def read_together(plan: TallyPlan) -> Pair:
    """The topic's own placement and that of the topic which is read together with it; the plan has such a pair."""
    return next(pair for pair in plan.pairs if pair.pairing is Pairing.READ_TOGETHER)
