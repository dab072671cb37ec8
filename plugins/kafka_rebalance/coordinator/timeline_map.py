"""Kafka's ``TimelineHashMap``, in which the coordinator keeps the members of a KIP-848 group: its order.

A key lies in slot ``hashCode · -7046029254386353131 >>> (64 - b)`` of 2^b slots (Fibonacci hashing); inside a slot the
newest comes first. There are 2 slots at first, twice as many whenever (keys + 1) · ¾ exceeds them before a ``put``,
also of a key that is there; they never get fewer. A member is put again at every change of its own, so a group of n
members soon has the slots for n + 1.

Example: "Aa" and "BB" have one hash code: whoever was put later comes first.

The target assignment is computed over a ``HashMap`` that is filled in this order, then with the member whose
heartbeat asked for it: inside a bin of that map this order counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_rebalance.java.strings import hash_codes
from kafka_rebalance.string_column import StringColumn

_FIRST_SLOTS = 2
_MULTIPLIER = -7046029254386353131
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class TimelineMap:
    """``keys`` in the order in which they were added; ``slots``: a power of two."""

    keys: tuple[str, ...] = ()
    slots: int = _FIRST_SLOTS

    @classmethod
    def settled(cls, keys: Iterable[str]) -> TimelineMap:
        """As it is once each of ``keys`` (different ones, as they came) has been put and put again."""
        added = tuple(keys)
        slots = _FIRST_SLOTS
        while _is_too_full(len(added), slots):
            slots *= 2
        return cls(added, slots)

    def with_key(self, key: str) -> TimelineMap:
        """After ``put``; a key that is there keeps its place."""
        slots = self.slots * 2 if _is_too_full(len(self.keys), self.slots) else self.slots
        return TimelineMap(self.keys if key in self.keys else (*self.keys, key), slots)

    def without_key(self, key: str) -> TimelineMap:
        """After ``remove``."""
        return TimelineMap(tuple(kept for kept in self.keys if kept != key), self.slots)

    def order(self) -> tuple[str, ...]:
        """The keys as an iterator gives them: O(n log n)."""
        column = StringColumn.of(self.keys)
        shift = 65 - self.slots.bit_length()
        slot = [(code * _MULTIPLIER & _MASK) >> shift for code in hash_codes(column.data, column.offsets).tolist()]
        return tuple(self.keys[place] for place in sorted(range(len(slot)), key=lambda place: (slot[place], -place)))


def _is_too_full(keys: int, slots: int) -> bool:
    return (keys + 1) * 3 > slots * 4
