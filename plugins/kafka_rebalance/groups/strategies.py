"""Which strategies a group could run, and which release's class stands for each.

A client's strategy is chosen by the members, so its release is assumed (the newest) unless an older one gives today's
assignment. A coordinator's follows from the broker's version: ``uniform`` and ``range`` of KIP-848 groups are other
classes than the clients', and before 3.9 some are not modelled, which is reported instead of answered.

Example: a KIP-848 group on brokers 4.0 is asked ``uniform`` of 4.0.1 and, if that does not give today's assignment,
of 4.0.0; on 3.9 that of 3.8.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.assignors.registry import BUILT_IN, by_name, own_names
from kafka_rebalance.snapshot.model import GroupType

OWN = "weighted"  # ours: a what-if for every group; nobody can name it in a client's configuration


@dataclass(frozen=True, slots=True)
class Candidate:
    """``name``: as the group's protocol calls it. ``releases``: names in the registry, the likeliest first.

    ``not_modelled``: without ``releases``, of which one nothing stands for it. ``tells_apart``: a group that does not
    run it is told which releases would answer it otherwise; sticky's of 2.0 is too dear to ask for that alone.
    ``is_own``: somebody registered it, and it has no releases.
    """

    name: str
    releases: tuple[str, ...]
    is_server: bool = False
    not_modelled: str = ""
    tells_apart: bool = True
    is_own: bool = False

    @property
    def versions(self) -> str | None:
        """The releases that the likeliest class stands for."""
        return by_name(self.releases[0]).versions if self.releases else None


_CLIENT = (
    Candidate("range", ("range", "range@2.4", "range@2.0")),
    Candidate("roundrobin", ("roundrobin", "roundrobin@2.0")),
    Candidate("sticky", ("sticky", "sticky@2.0"), tells_apart=False),
    Candidate("cooperative-sticky", ("cooperative-sticky",)),
    Candidate(OWN, (OWN,)),
)
STRATEGIES = tuple(dict.fromkeys((*(strategy.name for strategy in _CLIENT), "uniform")))
_NEWEST = ("server-uniform", "server-uniform@4.0.0")


def candidates(kind: GroupType, protocol_type: str, kafka_version: str | None) -> tuple[Candidate, ...]:
    """In the order in which they are told, those that are registered as one's own last.

    Share, streams and Connect groups have no choice that could be replayed.
    """
    of_kafka = _of_kafka(kind, protocol_type, kafka_version)
    is_server = kind is GroupType.CONSUMER
    built_in = {registration.name for registration in BUILT_IN}
    own = (name for name in own_names() if name not in built_in)
    return (
        (*of_kafka, *(Candidate(name, (name,), is_server=is_server, is_own=True) for name in own)) if of_kafka else ()
    )


def _of_kafka(kind: GroupType, protocol_type: str, kafka_version: str | None) -> tuple[Candidate, ...]:
    if kind is GroupType.CONSUMER:
        release = release_of_brokers(kafka_version)
        return (_uniform(release), _server_range(release), Candidate(OWN, (OWN,), is_server=True))
    if kind in (GroupType.CLASSIC, GroupType.UNKNOWN) and protocol_type == "consumer":
        return _CLIENT
    return ()


def _uniform(release: tuple[int, ...]) -> Candidate:
    if release and release < (3, 8):
        return Candidate("uniform", (), is_server=True, not_modelled="uniform before Kafka 3.8")
    if release and release < (4,):
        return Candidate("uniform", ("server-uniform@3.8",), is_server=True)
    if release[:3] == (4, 0, 0):
        return Candidate("uniform", _NEWEST[1:], is_server=True)
    # "4.0" may be 4.0.0 or later: both are tried. From 4.1 on there is one.
    return Candidate("uniform", _NEWEST if release[:2] in ((), (4, 0)) else _NEWEST[:1], is_server=True)


def _server_range(release: tuple[int, ...]) -> Candidate:
    if release and release < (3, 9):
        return Candidate("range", (), is_server=True, not_modelled="the coordinator's range before Kafka 3.9")
    return Candidate("range", ("server-range",), is_server=True)


def release_of_brokers(kafka_version: str | None) -> tuple[int, ...]:
    """``4.0.1`` → (4, 0, 1), ``3.9-IV0`` → (3,); () where it is unknown."""
    parts = []
    for part in (kafka_version or "").split("."):
        if not part.isdigit():
            break
        parts.append(int(part))
    return tuple(parts)
