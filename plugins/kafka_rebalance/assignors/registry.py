"""Which strategies there are, for which versions, and how one's own comes in.

Built-in ones are imported on first use (their kernels are heavy). A custom one is registered by ``register`` or
by an entry point of group ``kafka_rebalance.assignors`` that names the class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.metadata import entry_points

from kafka_rebalance.assignors.contract import Assignor
from kafka_rebalance.assignors.custom.custom_assignor import CustomAssignor, CustomAssignorAdapter
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
class Registration:
    """A built-in strategy: its name here, who runs it, the releases whose answers it gives, where its class is."""

    name: str
    side: Side
    versions: str
    target: str  # module:class, in this package


BUILT_IN: tuple[Registration, ...] = (
    Registration("range", Side.CLIENT, "Kafka 3.5 – 4.3", "client.range:RangeAssignor"),
    Registration("range@2.4", Side.CLIENT, "Kafka 2.4 – 3.4", "client.range_plain:StaticFirstRangeAssignor"),
    Registration("range@2.0", Side.CLIENT, "Kafka 0.9 – 2.3", "client.range_plain:LegacyRangeAssignor"),
    Registration("roundrobin", Side.CLIENT, "Kafka 2.4 – 4.3", "client.roundrobin:RoundRobinAssignor"),
    Registration("roundrobin@2.0", Side.CLIENT, "Kafka 0.9 – 2.3", "client.roundrobin:LegacyRoundRobinAssignor"),
    Registration("sticky", Side.CLIENT, "Kafka 3.8 – 4.3", "sticky.sticky:StickyAssignor"),
    Registration("sticky@2.0", Side.CLIENT, "Kafka 0.11 – 2.3", "sticky.legacy:LegacyStickyAssignor"),
    Registration("cooperative-sticky", Side.CLIENT, "Kafka 3.8 – 4.3", "sticky.sticky:CooperativeStickyAssignor"),
    Registration("server-range", Side.SERVER, "Kafka 4.0 – 4.3", "server.range:ServerRangeAssignor"),
    Registration("server-uniform", Side.SERVER, "Kafka 4.0.1 – 4.3", "server.uniform:ServerUniformAssignor"),
    Registration("server-uniform@4.0.0", Side.SERVER, "Kafka 4.0.0", "server.uniform:as_of_4_0_0"),
    Registration("share-simple", Side.SHARE, "Kafka 4.2 – 4.3", "share.simple:ShareSimpleAssignor"),
    Registration("share-simple@4.0", Side.SHARE, "Kafka 4.0", "share.simple:ShareSimpleAssignorOf40"),
    Registration("metaq-default", Side.METAQ, "Metamorphosis 1.4", "metaq.default:MetaqDefaultAssignor"),
    Registration("metaq-consistent", Side.METAQ, "Metamorphosis 1.4", "metaq.consistent:MetaqConsistentAssignor"),
    Registration("random", Side.CLIENT, "seed article 001", "client.random_lots:RandomAssignor"),
    Registration("broadcast", Side.CLIENT, "seed article 001", "client.group_broadcast:GroupBroadcastAssignor"),
    Registration("weighted", Side.OWN, "Kafka Rebalance Advisor 0.1", "weighted.weighted:WeightedAssignor"),
)

_REGISTRATIONS = {registration.name: registration for registration in BUILT_IN}
_LOADED: dict[str, Assignor] = {}
_OWN: dict[str, Assignor] = {}


def register(strategy: Assignor | CustomAssignor) -> Assignor:
    """Add a strategy of one's own under its ``name``; a second one of the same name replaces the first."""
    assignor = strategy if isinstance(strategy, Assignor) else CustomAssignorAdapter(strategy)
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
    if name in _REGISTRATIONS:
        module, _, attribute = _REGISTRATIONS[name].target.partition(":")
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
    return tuple(dict.fromkeys((*_OWN, *_REGISTRATIONS, *points)))


def registrations(side: Side | None = None) -> Iterator[Registration]:
    """Built-in strategies, of one side or all."""
    return (registration for registration in BUILT_IN if side is None or registration.side is side)
