"""Members that a scenario adds: like one that is there, with an id that a client or coordinator might have drawn."""

from __future__ import annotations

import base64
import re
import uuid
from collections import Counter
from dataclasses import replace
from zlib import crc32

import numpy as np

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.snapshot.model import Member

_NUMBERED = re.compile(r"(.*?)([0-9]+)")


def lots_of(group_id: str, scenario: str, seed: int) -> np.random.Generator:
    """Lots of one scenario of one group: the same for the same seed, whatever else is replayed.

    Raises InvalidInputError for a negative seed.
    """
    if seed < 0:
        raise InvalidInputError.at("seed", f"is {seed}", "take 0 or more")
    return np.random.default_rng([seed, crc32(group_id.encode("utf-8", "surrogatepass")), crc32(scenario.encode())])


class Newcomers:
    """Draws members beside those that are there: each as if another process of one's service was started.

    It has the other's subscription; the rack that the fewest have; the next number, where members have instance ids.
    """

    def __init__(self, members: tuple[Member, ...], lots: np.random.Generator) -> None:
        self._members = members
        self._lots = lots
        self._racks = Counter(member.rack for member in members if member.rack)
        self._numbers: Counter[str] = Counter()
        for member in members:
            if member.instance_id is not None:
                prefix, number = _numbered(member.instance_id)
                self._numbers[prefix] = max(self._numbers[prefix], number)

    def drawn(self, count: int) -> list[tuple[int, Member]]:
        """So many, each with the number of the member that it is like."""
        likes = self._lots.integers(len(self._members), size=count).tolist()
        return [(like, self.one_like(self._members[like])) for like in likes]

    def one_like(self, like: Member) -> Member:
        """The next one."""
        instance = None
        if like.instance_id is not None:
            prefix, _ = _numbered(like.instance_id)
            self._numbers[prefix] += 1
            instance = f"{prefix}{self._numbers[prefix]}"
        rack = None
        if like.rack:
            rack = min(self._racks, key=lambda name: (self._racks[name], name))
            self._racks[rack] += 1
        return replace(
            like, id=_drawn_id(like, instance, self._lots), instance_id=instance, rack=rack, assigned=(), owned=None,
            target=None, user_data=None,
        )  # fmt: skip


def restarted(member: Member, lots: np.random.Generator) -> Member:
    """The same process after a restart without instance id: its member id is a new one."""
    return replace(member, id=_drawn_id(member, None, lots), instance_id=None, user_data=None)


def _drawn_id(like: Member, instance: str | None, lots: np.random.Generator) -> str:
    """``client.id-UUID`` or ``group.instance.id-UUID`` in classic groups; else 22 characters, Kafka's Uuid."""
    drawn = uuid.UUID(bytes=lots.bytes(16), version=4)
    shown = like.instance_id or like.client_id
    if shown and like.id.startswith(f"{shown}-"):
        return f"{instance or like.client_id or shown}-{drawn}"
    return base64.urlsafe_b64encode(drawn.bytes).decode().rstrip("=")


def _numbered(instance: str) -> tuple[str, int]:
    """``archiver-5``: what its members share, and its number; ``NAME-`` and 0 where it has none."""
    found = _NUMBERED.fullmatch(instance)
    return (found[1], int(found[2])) if found else (f"{instance}-", 0)
