"""Which strategies there are, for which versions, and how one's own comes in.

Built-in ones are imported on first use (their kernels are heavy). A custom one is registered by ``register`` or
by an entry point of group ``kafka_rebalance.assignors`` that names the class. What is registered is replayed on every
group; commands register one's own so that it runs in another process (``rebalance_advisor.own_strategies``).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.metadata import entry_points

from kafka_rebalance.assignors.built_in import BUILT_IN, Registration, Side
from kafka_rebalance.assignors.contract import Assignor
from kafka_rebalance.assignors.custom.custom_assignor import CustomAssignor, CustomAssignorAdapter
from kafka_rebalance.errors import InvalidInputError, UnknownNameError
from kafka_rebalance.options.client_rule import Client
from kafka_rebalance.releases import release_of

ENTRY_POINT_GROUP = "kafka_rebalance.assignors"


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

    ``strategy`` is its name or the group's protocol; one that a single client has ("RoundRobinAssigner") tells the
    client, too. Raises UnknownNameError for a client that does not have it, InvalidInputError
    for a release that nobody is known to have, or whose line holds several classes.
    """
    having = [
        registration for registration in BUILT_IN
        if registration.side is Side.CLIENT and strategy in (registration.strategy, registration.protocol)
    ]  # fmt: skip
    clients = {registration.client for registration in having}
    asked_client = client if client is not None else next(iter(clients)) if len(clients) == 1 else Client.JAVA
    of_client = [registration for registration in having if registration.client == asked_client]
    if not of_client:
        raise UnknownNameError.among(f"client of {strategy}", str(asked_client), {known.value for known in clients})
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


__all__ = [
    "BUILT_IN", "ENTRY_POINT_GROUP", "Client", "Registration", "Side", "by_name", "name_of", "names", "register",
    "registrations",
]  # fmt: skip
