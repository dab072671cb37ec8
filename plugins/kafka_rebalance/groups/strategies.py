"""Strategies that a group could run, and the class of its release for each.

A classic group's classes are those of its client's releases. Without known ones, Java's newest, 3.0 to 3.4 and 2.4 are
tried: the first is assumed unless another one gives today's assignment. A coordinator's follow the brokers' release:
``uniform`` and ``range`` of KIP-848 are other classes, not modelled before 3.8. A newer client or broker gets the
newest class, as an assumption.

Example: a KIP-848 group on brokers 4.0 gets ``uniform`` of 4.0.1 and, if that does not give today's assignment, of
4.0.0; on 3.9 that of 3.8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, groupby

from kafka_assignors.registry import BUILT_IN, Registration, Side, lines_of_coordinator, own_names, registrations
from kafka_assignors.releases import Client, release_of, seen_release
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.member_clients import UNKNOWN_CLIENT, KnownClient
from kafka_rebalance.snapshot.group import RACK_AFFINITY
from kafka_rebalance.snapshot.model import GroupType

OWN = "weighted"  # ours: no client can configure it


@dataclass(frozen=True, slots=True)
class Candidate:
    """``name``: in the group's protocol. ``releases``: names in the registry, the likeliest first.

    ``modelled_since``: without ``releases``, the first modelled one. ``compared``: releases for groups that do not run
    it (sticky before 3.0 is too slow). ``basis``: reason for these releases. ``is_own``: a custom assignor.
    """

    name: str
    releases: tuple[str, ...]
    is_server: bool = False
    modelled_since: str = ""
    is_own: bool = False
    compared: tuple[str, ...] = ()
    basis: Fact | None = None

    @property
    def confirms_anything_even(self) -> bool:
        """Whether reproducing today's assignment proves little: it keeps any even one."""
        return self.name in _STICKY


_ASKED_OF_JAVA = ("3.7.1", "3.0", "2.4", "2.3", "2.1", "2.0")
_CHEAP_SINCE = (3, 0)
_MOST_ASKED = 3
_STICKY = ("sticky", "cooperative-sticky")
_OF_CLIENTS = ("range", "roundrobin", *_STICKY)
MIGRATED = ("consumer/uniform", "consumer/range")  # of a classic group after migration
STRATEGIES = (*_OF_CLIENTS, OWN, "uniform", *MIGRATED)
_MIGRATES_SINCE = (4,)


def candidates(
    kind: GroupType,
    protocol_type: str,
    kafka_version: str | None,
    client: KnownClient = UNKNOWN_CLIENT,
    protocol: str | None = None,
) -> tuple[Candidate, ...]:
    """Return candidates, custom assignors last; none for share, Streams and Connect groups. ``protocol``: today's."""
    of_kafka = _of_kafka(kind, protocol_type, kafka_version, client, protocol)
    is_server = kind is GroupType.CONSUMER
    built_in = {registration.name for registration in BUILT_IN}
    own = (name for name in own_names() if name not in built_in)
    return (
        (*of_kafka, *(Candidate(name, (name,), is_server=is_server, is_own=True) for name in own)) if of_kafka else ()
    )


def _of_kafka(
    kind: GroupType, protocol_type: str, kafka_version: str | None, client: KnownClient, protocol: str | None
) -> tuple[Candidate, ...]:
    if kind is GroupType.CONSUMER:
        return (*_of_server(kafka_version), Candidate(OWN, (OWN,), is_server=True))
    if kind in (GroupType.CLASSIC, GroupType.UNKNOWN) and protocol_type == "consumer":
        is_go = (protocol, client.client) == (RACK_AFFINITY, Client.KAFKA_GO)
        names = (*_OF_CLIENTS, RACK_AFFINITY) if is_go else _OF_CLIENTS
        return (
            *(_of_client(name, client) for name in names),
            Candidate(OWN, (OWN,)),
            *_migration_candidates(kafka_version),
        )
    return ()


def _migration_candidates(kafka_version: str | None) -> tuple[Candidate, ...]:
    release = seen_release(kafka_version)
    if release and release < _MIGRATES_SINCE:
        return ()
    return tuple(replace(candidate, name=f"consumer/{candidate.name}") for candidate in _of_server(kafka_version))


def _of_server(kafka_version: str | None) -> tuple[Candidate, ...]:
    return tuple(_of_coordinator(name, kafka_version) for name in ("uniform", "range"))


def _of_client(strategy: str, client: KnownClient) -> Candidate:
    """Return the classes of the client's releases, newest first; Java's where not modelled."""
    is_foreign = client.client is None and bool(client.program)
    library = client.client or Client.JAVA
    held = [
        registration
        for registration in registrations(Side.CLIENT)
        if (registration.strategy, registration.client) == (strategy, library)
    ]
    if is_foreign or not held:
        java = _of_client(strategy, UNKNOWN_CLIENT)
        return replace(java, basis=fact(FactCode.CLIENT_NOT_MODELLED, client=str(client.client or client.program)))
    if client.first and held[0].releases.ends_before(release_of(client.first)):
        assumed = fact(FactCode.ASSUMED, basis=client.fact(is_asked=True))
        return Candidate(held[0].protocol, (held[0].name,), basis=assumed)
    likely = [registration for registration in held if _is_likely(registration, client)]
    basis = None if client is UNKNOWN_CLIENT else client.fact(is_asked=bool(likely))
    chosen: Sequence[Registration] = likely or held
    if library is Client.JAVA:
        chosen = _few_of_java(chosen)
    is_cheap = [
        strategy not in _STICKY or release_of(registration.releases.first) >= _CHEAP_SINCE for registration in chosen
    ]
    names = tuple(registration.name for registration in chosen)
    return Candidate(held[0].protocol, names, compared=tuple(compress(names[1:], is_cheap[1:])), basis=basis)


def _is_likely(registration: Registration, client: KnownClient) -> bool:
    """Return whether the client may run this class: one of its releases is the class's first, last, or between."""
    releases = registration.releases
    if client.has(releases.first) or client.has(releases.last):
        return True
    return bool(client.first) and releases.touches(release_of(client.first))


def _few_of_java(chosen: Sequence[Registration]) -> Sequence[Registration]:
    if len(chosen) <= _MOST_ASKED:
        return chosen
    marks = [release_of(release) for release in _ASKED_OF_JAVA]
    return [
        registration for registration in chosen if any(registration.releases.touches(mark) for mark in marks)
    ] or chosen


def _of_coordinator(name: str, kafka_version: str | None) -> Candidate:
    """Return classes of the brokers' release, all since 4.0 if unknown. "4.0" is 4.0.0 or later."""
    lines, release = lines_of_coordinator(f"server-{name}"), seen_release(kafka_version)
    if release and lines[0].releases.ends_before(release):
        basis = fact(FactCode.RELEASE_OF_BROKERS, release=kafka_version)
        newest = (lines[0].name,)
        return Candidate(name, newest, is_server=True, basis=fact(FactCode.ASSUMED, basis=basis))
    names = tuple(
        line.name
        for line in lines
        if (line.releases.touches(release) if release else release_of(line.releases.last) >= _MIGRATES_SINCE)
    )
    return Candidate(name, names, is_server=True, modelled_since="" if names else lines[-1].releases.first)


Spans = tuple[tuple[str, str, str], ...]  # product, first and last release


def release_spans(names: Sequence[str]) -> Spans:
    """Return spans of releases: ``range@2.1`` and ``range@2.0`` are Kafka 0.9 to 2.3."""
    all_registrations = list(registrations())
    indices = sorted(index for index, registration in enumerate(all_registrations) if registration.name in names)
    spans: list[tuple[str, str, str]] = []
    for _, run in groupby(enumerate(indices), key=lambda numbered: numbered[1] - numbered[0]):
        releases = [all_registrations[index].releases for _, index in run]
        spans.append((releases[0].product, releases[-1].first, releases[0].last))
    return tuple(spans)
