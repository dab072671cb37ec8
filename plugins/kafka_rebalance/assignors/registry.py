"""Which strategies there are, for which versions, and how one's own comes in.

Built-in ones are imported when first asked for (their kernels are heavy). One's own is registered by ``register`` or
by an entry point of group ``kafka_rebalance.assignors`` that names the class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.metadata import entry_points

from kafka_rebalance.assignors.contract import Assignor
from kafka_rebalance.assignors.custom.custom_assignor import OwnStrategy, OwnStrategyAssignor
from kafka_rebalance.errors import UnknownNameError

ENTRY_POINT_GROUP = "kafka_rebalance.assignors"


class Side(StrEnum):
    """Who runs a strategy."""

    CLIENT = "client"  # the group's leader
    SERVER = "server"  # the coordinator of a KIP-848 group
    SHARE = "share"  # the coordinator of a share group
    METAQ = "metaq"  # every consumer for itself
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Listing:
    """A built-in strategy: its name here, who runs it, the releases whose answers it gives, where its class is."""

    name: str
    side: Side
    versions: str
    target: str  # module:class, in this package


BUILT_IN: tuple[Listing, ...] = (
    Listing("range", Side.CLIENT, "Kafka 3.5 – 4.3", "client.range:RangeAssignor"),
    Listing("range@2.4", Side.CLIENT, "Kafka 2.4 – 3.4", "client.range_plain:StaticFirstRangeAssignor"),
    Listing("range@2.0", Side.CLIENT, "Kafka 0.9 – 2.3", "client.range_plain:LegacyRangeAssignor"),
    Listing("roundrobin", Side.CLIENT, "Kafka 2.4 – 4.3", "client.roundrobin:RoundRobinAssignor"),
    Listing("roundrobin@2.0", Side.CLIENT, "Kafka 0.9 – 2.3", "client.roundrobin:LegacyRoundRobinAssignor"),
    Listing("sticky", Side.CLIENT, "Kafka 3.8 – 4.3", "sticky.sticky:StickyAssignor"),
    Listing("sticky@2.0", Side.CLIENT, "Kafka 0.11 – 2.3", "sticky.legacy:LegacyStickyAssignor"),
    Listing("cooperative-sticky", Side.CLIENT, "Kafka 3.8 – 4.3", "sticky.sticky:CooperativeStickyAssignor"),
    Listing("server-range", Side.SERVER, "Kafka 4.0 – 4.3", "server.range:ServerRangeAssignor"),
    Listing("server-uniform", Side.SERVER, "Kafka 4.0.1 – 4.3", "server.uniform:ServerUniformAssignor"),
    Listing("server-uniform@4.0.0", Side.SERVER, "Kafka 4.0.0", "server.uniform:as_of_4_0_0"),
    Listing("share-simple", Side.SHARE, "Kafka 4.2 – 4.3", "share.simple:ShareSimpleAssignor"),
    Listing("share-simple@4.0", Side.SHARE, "Kafka 4.0", "share.simple:ShareSimpleAssignorOf40"),
    Listing("metaq-default", Side.METAQ, "Metamorphosis 1.4", "metaq.default:MetaqDefaultAssignor"),
    Listing("metaq-consistent", Side.METAQ, "Metamorphosis 1.4", "metaq.consistent:MetaqConsistentAssignor"),
    Listing("random", Side.CLIENT, "seed article 001", "client.random_lots:RandomAssignor"),
    Listing("broadcast", Side.CLIENT, "seed article 001", "client.group_broadcast:GroupBroadcastAssignor"),
    Listing("weighted", Side.OWN, "Kafka Rebalance Advisor 0.1", "weighted.weighted:WeightedAssignor"),
)

_LISTINGS = {each.name: each for each in BUILT_IN}
_LOADED: dict[str, Assignor] = {}
_OWN: dict[str, Assignor] = {}


def register(strategy: Assignor | OwnStrategy) -> Assignor:
    """Add a strategy of one's own under its ``name``; a second one of the same name replaces the first."""
    assignor = strategy if isinstance(strategy, Assignor) else OwnStrategyAssignor(strategy)
    _OWN[assignor.name] = assignor
    return assignor


def by_name(name: str) -> Assignor:
    """The strategy of that name: one's own first, then built-in, then entry points.

    Raises UnknownNameError that lists what there is.
    """
    if name in _OWN:
        return _OWN[name]
    if name in _LOADED:
        return _LOADED[name]
    if name in _LISTINGS:
        module, _, attribute = _LISTINGS[name].target.partition(":")
        loaded: Assignor = getattr(import_module(f"kafka_rebalance.assignors.{module}"), attribute)()
        _LOADED[name] = loaded
        return loaded
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            return register(point.load()())
    raise UnknownNameError.among("assignor", name, names())


def names() -> tuple[str, ...]:
    """Every name that ``by_name`` knows."""
    points = (point.name for point in entry_points(group=ENTRY_POINT_GROUP))
    return tuple(dict.fromkeys((*_OWN, *_LISTINGS, *points)))


def listings(side: Side | None = None) -> Iterator[Listing]:
    """Built-in strategies, of one side or all."""
    return (each for each in BUILT_IN if side is None or each.side is side)
