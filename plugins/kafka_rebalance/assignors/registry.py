"""Which strategies there are, for which versions, and how one's own comes in.

Built-in ones are imported on first use (their kernels are heavy). A custom one is registered by ``register`` or
by an entry point of group ``kafka_rebalance.assignors`` that names the class. What is registered is replayed on every
group; commands register one's own so that it runs in another process (``rebalance_advisor.own_strategies``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from importlib.metadata import entry_points

from kafka_rebalance.assignors.contract import Assignor
from kafka_rebalance.assignors.custom.custom_assignor import CustomAssignor, CustomAssignorAdapter
from kafka_rebalance.assignors.releases import Releases, release_of
from kafka_rebalance.errors import InvalidInputError, UnknownNameError

ENTRY_POINT_GROUP = "kafka_rebalance.assignors"


class Side(StrEnum):
    """Who runs a strategy."""

    CLIENT = "client"  # the group's leader
    SERVER = "server"  # the coordinator of a KIP-848 group
    SHARE = "share"  # the coordinator of a share group
    METAQ = "metaq"  # every consumer for itself
    OWN = "own"


class Client(StrEnum):
    """Whose consumer runs a client's strategy; the names that ``clients.toml`` and ``replay`` take."""

    JAVA = "java"
    LIBRDKAFKA = "librdkafka"
    SARAMA = "sarama"
    FRANZ_GO = "franz-go"
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"
    KAFKAJS = "kafkajs"


@dataclass(frozen=True, slots=True)
class Registration:
    """A built-in strategy: its name here, who runs it, the releases whose answers it gives, where its class is.

    A name is the group's protocol and, behind ``@``, what tells this class from the newest Java one: the first release
    of its line, or the client. ``client`` says whose releases they are; server-side strategies are Kafka's.
    """

    name: str
    side: Side
    releases: Releases
    target: str  # module:class, in this package
    client: Client = Client.JAVA

    @property
    def strategy(self) -> str:
        """What the group's protocol calls it."""
        return self.name.partition("@")[0]

    @property
    def versions(self) -> str:
        """The releases, for people."""
        return str(self.releases)


def _kafka(name: str, side: Side, first: str, last: str, target: str) -> Registration:
    return Registration(name, side, Releases("Kafka", first, last), target)


def _other(name: str, side: Side, product: str, release: str, target: str) -> Registration:
    return Registration(name, side, Releases(product, release, release), target)


def _of_client(name: str, client: Client, first: str, last: str, target: str) -> Registration:
    return Registration(name, Side.CLIENT, Releases(client.value, first, last), target, client)


# Of one strategy and client the newest comes first.
BUILT_IN: tuple[Registration, ...] = (
    _kafka("range", Side.CLIENT, "3.5", "4.3", "client.range:RangeAssignor"),
    _kafka("range@2.4", Side.CLIENT, "2.4", "3.4", "client.range_plain:StaticFirstRangeAssignor"),
    _kafka("range@2.0", Side.CLIENT, "0.9", "2.3", "client.range_plain:LegacyRangeAssignor"),
    _kafka("roundrobin", Side.CLIENT, "2.4", "4.3", "client.roundrobin:RoundRobinAssignor"),
    _kafka("roundrobin@2.0", Side.CLIENT, "0.9", "2.3", "client.roundrobin:LegacyRoundRobinAssignor"),
    _kafka("sticky", Side.CLIENT, "3.7.1", "4.3", "sticky.sticky:StickyAssignor"),
    _kafka("sticky@2.0", Side.CLIENT, "0.11", "2.2", "sticky.legacy:LegacyStickyAssignor"),
    _kafka("cooperative-sticky", Side.CLIENT, "3.7.1", "4.3", "sticky.sticky:CooperativeStickyAssignor"),
    _of_client("range@kafka-python", Client.KAFKA_PYTHON, "2.0", "2.2", "client.range_plain:LegacyRangeAssignor"),
    _kafka("server-range", Side.SERVER, "4.0", "4.3", "server.range:ServerRangeAssignor"),
    _kafka("server-uniform", Side.SERVER, "4.0.1", "4.3", "server.uniform:ServerUniformAssignor"),
    _kafka("server-uniform@4.0.0", Side.SERVER, "4.0.0", "4.0.0", "server.uniform:as_of_4_0_0"),
    _kafka("share-simple", Side.SHARE, "4.2", "4.3", "share.simple:ShareSimpleAssignor"),
    _kafka("share-simple@4.0", Side.SHARE, "4.0", "4.0", "share.simple:ShareSimpleAssignorOf40"),
    _other("metaq-default", Side.METAQ, "Metamorphosis", "1.4", "metaq.default:MetaqDefaultAssignor"),
    _other("metaq-consistent", Side.METAQ, "Metamorphosis", "1.4", "metaq.consistent:MetaqConsistentAssignor"),
    _other("random", Side.CLIENT, "seed article", "001", "client.random_lots:RandomAssignor"),
    _other("broadcast", Side.CLIENT, "seed article", "001", "client.group_broadcast:GroupBroadcastAssignor"),
    _other("weighted", Side.OWN, "Kafka Rebalance Advisor", "0.1", "weighted.weighted:WeightedAssignor"),
)

_REGISTRATIONS = {registration.name: registration for registration in BUILT_IN}
_LOADED: dict[str, Assignor] = {}
_OWN: dict[str, Assignor] = {}


def register(strategy: Assignor | CustomAssignor) -> Assignor:
    """Add a strategy of one's own under its ``name``; a second one of the same name replaces the first."""
    assignor = strategy if isinstance(strategy, Assignor) else CustomAssignorAdapter(strategy)
    _OWN[assignor.name] = assignor
    return assignor


@contextmanager
def registered(*strategies: Assignor | CustomAssignor) -> Iterator[None]:
    """Inside, these are among one's own; afterwards things are as they were."""
    before = dict(_OWN)
    for strategy in strategies:
        register(strategy)
    try:
        yield
    finally:
        _OWN.clear()
        _OWN.update(before)


def own_names() -> tuple[str, ...]:
    """Strategies of one's own that are registered, in that order."""
    return tuple(_OWN)


def own_by_name(name: str) -> Assignor:
    """A registered strategy of one's own. Raises UnknownNameError that lists what there is."""
    if name not in _OWN:
        raise UnknownNameError.among("strategy of one's own", name, _OWN)
    return _OWN[name]


def by_name(name: str) -> Assignor:
    """The strategy of that name: one's own first, then built-in, then entry points.

    Raises UnknownNameError that lists what there is.
    """
    if name in _OWN:
        return _OWN[name]
    if name in _LOADED:
        return _LOADED[name]
    if name in _REGISTRATIONS:
        return _LOADED.setdefault(name, _loaded(_REGISTRATIONS[name]))
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.name == name:
            return register(point.load()())
    raise UnknownNameError.among("assignor", name, names())


def _loaded(registration: Registration) -> Assignor:
    """Its class under the name and the releases of this registration: one class may stand for several."""
    module, _, attribute = registration.target.partition(":")
    loaded = getattr(import_module(f"kafka_rebalance.assignors.{module}"), attribute)()
    named: Assignor = replace(loaded, name=registration.name, versions=registration.versions)
    return named


def names() -> tuple[str, ...]:
    """Every name that ``by_name`` knows."""
    points = (point.name for point in entry_points(group=ENTRY_POINT_GROUP))
    return tuple(dict.fromkeys((*_OWN, *_REGISTRATIONS, *points)))


def name_of(strategy: str, client: object = None, version: object = None) -> str:
    """The name of the class whose answers ``client`` (none: Java) gives in release ``version`` (none: its newest).

    ``strategy`` is the group's protocol. Raises UnknownNameError for a client that does not have it, InvalidInputError
    for a release that nobody is known to have, or whose line holds several classes.
    """
    of_client = [
        registration for registration in BUILT_IN
        if registration.side is Side.CLIENT and registration.strategy == strategy
        and registration.client == (Client.JAVA if client is None else client)
    ]  # fmt: skip
    if not of_client:
        known = {registration.client.value for registration in BUILT_IN if registration.strategy == strategy}
        raise UnknownNameError.among(f"client of {strategy}", str(client), known)
    if version is None:
        return of_client[0].name
    asked = release_of(version)
    found = [registration for registration in of_client if registration.releases.touches(asked)]
    if not found:
        known_releases = ", ".join(registration.versions for registration in of_client)
        raise InvalidInputError.at(
            "version", f"no {strategy} of release {version} is known", f"known: {known_releases}"
        )
    if len(found) > 1:
        lines = " and ".join(registration.versions for registration in found)
        raise InvalidInputError.at("version", f"{version} of {strategy} is {lines}", "they differ: name the release")
    return found[0].name


def registrations(side: Side | None = None) -> Iterator[Registration]:
    """Built-in strategies, of one side or all."""
    return (registration for registration in BUILT_IN if side is None or registration.side is side)
