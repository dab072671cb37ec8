"""Contract of every strategy: ``AssignmentRequest`` and ``Assignment`` in columns, ``Assignor``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags, Floats, Ints, Longs
from kafka_assignors.errors import InvalidInputError
from kafka_assignors.string_column import StringColumn

NO_METADATA = -1  # named, but not in the metadata
NO_RACK = -1
NO_GENERATION = -1


class MapOrder(StrEnum):
    GIVEN = "given"  # column order (a LinkedHashMap)
    HASH = "hash"  # HashMaps, filled in column order
    # Leader: members in JoinGroup order, topics through a HashSet of all. Coordinator: as HASH, but a member's topics
    # in the order of a HashSet of names.
    LEADER = "leader"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TopicColumns:
    """Every topic that a subscription or an owned partition names.

    ``partition_counts`` int32[T], or ``NO_METADATA``. Row ``first_row[t] + p`` of the columns along partitions (P rows)
    is partition p of topic t. ``rack_offsets`` int64[P+1], ``racks`` int32[R]: replicas' racks as indices into the
    request's rack names, or ``NO_RACK``. ``uuid_msb``, ``uuid_lsb`` int64[T]: topic ids (signed, as Java compares
    them), zeros where not needed.
    """

    names: StringColumn
    partition_counts: Ints
    first_row: Longs
    rack_offsets: Longs
    racks: Ints
    uuid_msb: Longs
    uuid_lsb: Longs

    @classmethod
    def of(
        cls,
        names: StringColumn,
        partition_counts: Ints,
        *,
        rack_offsets: Longs | None = None,
        racks: Ints | None = None,
        uuid_msb: Longs | None = None,
        uuid_lsb: Longs | None = None,
    ) -> TopicColumns:
        first_row = np.zeros(len(partition_counts) + 1, dtype=np.int64)
        np.cumsum(np.maximum(partition_counts, 0), out=first_row[1:])
        nothing = np.zeros(len(partition_counts), dtype=np.int64)
        return cls(
            names=names,
            partition_counts=partition_counts,
            first_row=first_row,
            rack_offsets=np.zeros(int(first_row[-1]) + 1, dtype=np.int64) if rack_offsets is None else rack_offsets,
            racks=np.zeros(0, dtype=np.int32) if racks is None else racks,
            uuid_msb=nothing if uuid_msb is None else uuid_msb,
            uuid_lsb=nothing if uuid_lsb is None else uuid_lsb,
        )

    def __post_init__(self) -> None:
        _freeze(self, np.int32, "partition_counts", "racks")
        _freeze(self, np.int64, "first_row", "rack_offsets", "uuid_msb", "uuid_lsb")
        _expect("topics", "partition_counts", self.partition_counts, len(self.names))
        _expect("topics", "rack_offsets", self.rack_offsets, self.partition_total + 1)
        _expect("topics", "uuid_msb", self.uuid_msb, len(self.names))
        _expect("topics", "uuid_lsb", self.uuid_lsb, len(self.names))
        _expect("topics", "racks", self.racks, int(self.rack_offsets[-1]))

    def __len__(self) -> int:
        return len(self.partition_counts)

    @property
    def partition_total(self) -> int:
        return int(self.first_row[-1])

    @property
    def has_metadata(self) -> Flags:
        return self.partition_counts >= 0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MemberColumns:
    """M members, in the order in which Java's maps were filled (or are walked: ``MapOrder``).

    ``subscription_offsets`` int64[M+1], ``subscription_topics`` int32[S]: in each member's order, with duplicates.
    ``owned_offsets`` int64[M+1], ``owned_topics``, ``owned_partitions`` int32[W]: claims in each member's order; a
    partition need not exist. ``has_owned`` bool[M]: a claim was sent, even an empty one.

    ``generations`` int32[M]: the Subscription's (v2+), ``data_generations`` the user data's, or ``NO_GENERATION``.
    ``sent_generation`` bool[M]: the user data holds one, even −1 (``None``: those that are not −1). ``racks`` int32[M]:
    indices into the request's rack names. ``user_data``, ``hosts``, ``client_ids``: empty, or M.
    """

    ids: StringColumn
    subscription_offsets: Longs
    subscription_topics: Ints
    instance_ids: StringColumn
    has_instance_id: Flags
    racks: Ints
    owned_offsets: Longs
    owned_topics: Ints
    owned_partitions: Ints
    has_owned: Flags
    generations: Ints
    data_generations: Ints
    sent_generation: Flags | None = None
    user_data: tuple[bytes | None, ...] = ()
    hosts: tuple[str | None, ...] = ()
    client_ids: tuple[str | None, ...] = ()

    @classmethod
    def of(
        cls,
        ids: StringColumn,
        subscription_offsets: Longs,
        subscription_topics: Ints,
        *,
        instances: Sequence[str | None] | None = None,
        racks: Ints | None = None,
        owned: tuple[Longs, Ints, Ints] | None = None,
        has_owned: Flags | None = None,
    ) -> MemberColumns:
        """Without generations; ``owned`` = (offsets, topics, partitions); ``instances``: None where dynamic."""
        count, empty = len(ids), np.zeros(0, dtype=np.int32)
        offsets, topics, partitions = owned or (np.zeros(count + 1, dtype=np.int64), empty, empty)
        unknown = np.full(count, -1, dtype=np.int32)
        return cls(
            ids=ids,
            subscription_offsets=subscription_offsets,
            subscription_topics=subscription_topics,
            instance_ids=StringColumn(np.zeros(0, dtype=np.uint8), np.zeros(count + 1, dtype=np.int64))
            if instances is None
            else StringColumn.of(instance or "" for instance in instances),
            has_instance_id=np.zeros(count, dtype=np.bool_)
            if instances is None
            else np.array([instance is not None for instance in instances], dtype=np.bool_),
            racks=unknown if racks is None else racks,
            owned_offsets=offsets,
            owned_topics=topics,
            owned_partitions=partitions,
            has_owned=np.diff(offsets) > 0 if has_owned is None else has_owned,
            generations=unknown,
            data_generations=unknown,
        )

    def __post_init__(self) -> None:
        count = len(self.ids)
        _freeze(self, np.int64, "subscription_offsets", "owned_offsets")
        _freeze(self, np.int32, "subscription_topics", "owned_topics", "owned_partitions", "racks")
        _freeze(self, np.int32, "generations", "data_generations")
        _freeze(self, np.bool_, "has_instance_id", "has_owned")
        if self.sent_generation is not None:
            _freeze(self, np.bool_, "sent_generation")
            _expect("members", "sent_generation", self.sent_generation, count)
        for name in ("subscription_offsets", "owned_offsets"):
            _expect("members", name, getattr(self, name), count + 1)
        for name in ("instance_ids", "has_instance_id", "racks", "has_owned", "generations", "data_generations"):
            _expect("members", name, getattr(self, name), count)
        _expect("members", "subscription_topics", self.subscription_topics, int(self.subscription_offsets[-1]))
        _expect("members", "owned_topics", self.owned_topics, int(self.owned_offsets[-1]))
        _expect("members", "owned_partitions", self.owned_partitions, int(self.owned_offsets[-1]))
        for name in ("user_data", "hosts", "client_ids"):
            if getattr(self, name):
                _expect("members", name, getattr(self, name), count)

    def __len__(self) -> int:
        return len(self.ids)

    def owning(self, offsets: Longs, topics: Ints, partitions: Ints) -> MemberColumns:
        other = _twin(self)
        has_owned = offsets[1:] > offsets[:-1]
        has_owned.flags.writeable = False
        changes = (("owned_offsets", offsets), ("owned_topics", topics), ("owned_partitions", partitions))
        for name, column in (*changes, ("has_owned", has_owned)):
            object.__setattr__(other, name, column)
        _expect("members", "owned_offsets", offsets, len(self) + 1)
        return other

    @property
    def has_data_generation(self) -> Flags:
        """bool[M]: the user data holds one, even −1 (read before 2.5.1)."""
        if self.sent_generation is None:
            has: Flags = self.data_generations >= 0
            has.setflags(write=False)
            return has
        return self.sent_generation


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AssignmentRequest:
    """One call of a strategy. Nothing else may influence the answer.

    ``weights`` float64[P]: rate or lag. ``max_generation_before``: highest generation that this leader's sticky
    assignor has seen. ``prefer_rack_aware``: Kafka's test hook, use racks even where every partition is on all of them.
    ``is_homogeneous``, ``is_assigned`` bool[P], ``is_assignable`` bool[P]: the coordinator's input (``None``: derive
    it; all). ``seed``: for random strategies. ``member_order`` int64[M]: insertion order of Java's map, which matters
    within a bin (``None``: column order). ``held_replaced``: that map held a static member that has just been replaced,
    too (coordinators up to 4.3).
    """

    topics: TopicColumns
    members: MemberColumns
    rack_names: tuple[str, ...] = ()
    order: MapOrder = MapOrder.LEADER
    max_generation_before: int = NO_GENERATION
    prefer_rack_aware: bool = False
    weights: Floats | None = None
    is_homogeneous: bool | None = None
    is_assigned: Flags | None = None
    is_assignable: Flags | None = None
    seed: int = 0
    member_order: Longs | None = None
    held_replaced: bool = False
    extra: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        topics, racks = len(self.topics), len(self.rack_names)
        _indices("subscription_topics", self.members.subscription_topics, 0, topics)
        _indices("owned_topics", self.members.owned_topics, 0, topics)
        _indices("member racks", self.members.racks, NO_RACK, racks)
        _indices("partition racks", self.topics.racks, NO_RACK, racks)
        for name in ("weights", "is_assigned", "is_assignable"):
            column = getattr(self, name)
            if column is not None:
                _expect("request", name, column, self.topics.partition_total)
        if self.member_order is not None and sorted(self.member_order.tolist()) != list(range(len(self.members))):
            raise InvalidInputError.at("request, member_order", f"is no order of {len(self.members)} members")

    def with_members(self, members: MemberColumns) -> AssignmentRequest:
        other = _twin(self)
        object.__setattr__(other, "members", members)
        return other


_T = TypeVar("_T", MemberColumns, AssignmentRequest)


def _twin(owner: _T) -> _T:
    """Without validation; ``copy`` takes ten times as long."""
    other = object.__new__(type(owner))
    for column in type(owner).__slots__:
        object.__setattr__(other, column, getattr(owner, column))
    return other


def _freeze(owner: object, dtype: type[np.generic], *names: str) -> None:
    """Read-only, contiguous, of one type: each kernel is compiled once."""
    for name in names:
        view: npt.NDArray[Any] = np.ascontiguousarray(getattr(owner, name), dtype=dtype).view()
        view.flags.writeable = False
        object.__setattr__(owner, name, view)


def _expect(where: str, name: str, column: npt.NDArray[np.generic] | StringColumn, length: int) -> None:
    if len(column) != length:
        raise InvalidInputError.at(f"{where}, {name}", f"{len(column)} values, expected {length}")


def _indices(name: str, column: Ints, least: int, below: int) -> None:
    if len(column) and (int(column.min()) < least or int(column.max()) >= below):
        raise InvalidInputError.at(name, f"an index is outside {least}…{below - 1}")


@dataclass(frozen=True, slots=True, eq=False)
class Withheld:
    """Partitions without a reader until their old owner revokes them (cooperative): int32[K].

    Partition k goes to ``members[k]`` in the next round if nothing changes.
    """

    topics: Ints
    partitions: Ints
    members: Ints

    @classmethod
    def nothing(cls) -> Withheld:
        return _NOTHING

    def __len__(self) -> int:
        return len(self.topics)


_NONE = np.zeros(0, dtype=np.int32)
_NONE.setflags(write=False)
_NOTHING = Withheld(_NONE, _NONE, _NONE)


@dataclass(frozen=True, slots=True, eq=False)
class StickyNotes:
    """``moved_topics``, ``moved_from``, ``moved_to`` int32[K]: movements while balancing (general way only).

    ``max_generation_after``: ``None`` before 3.0, which keeps nothing between calls.
    """

    is_constrained: bool
    max_generation_after: int | None
    moved_topics: Ints
    moved_from: Ints
    moved_to: Ints

    @classmethod
    def of_way(cls, *, is_constrained: bool) -> StickyNotes:
        """For releases 2.5.1 to 2.8.2."""
        nothing = np.zeros(0, dtype=np.int32)
        return cls(is_constrained, None, nothing, nothing, nothing)

    @property
    def is_sticky(self) -> bool:
        """Kafka's check: no topic moved both ways between the same two members."""
        moves = set(zip(self.moved_topics.tolist(), self.moved_from.tolist(), self.moved_to.tolist(), strict=True))
        return not any((topic, target, source) in moves for topic, source, target in moves if source != target)


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """Member i reads ``topics[k]``-``partitions[k]`` for k in ``offsets[i]:offsets[i+1]``, in this order.

    ``offsets`` int64[M+1], ``topics`` and ``partitions`` int32[N], indexed as in the request. ``has_entry`` bool[M]:
    members in the answer (``None``: all). ``varies``: the client's answer varies between runs, its sizes do not.
    ``target``: of a client whose second step does more than withhold.
    """

    offsets: Longs
    topics: Ints
    partitions: Ints
    withheld: Withheld
    notes: StickyNotes | None = None
    has_entry: Flags | None = None
    varies: bool = False
    target: Assignment | None = None

    @classmethod
    def of(cls, offsets: Longs, topics: Ints, partitions: Ints) -> Assignment:
        return cls(offsets, topics, partitions, Withheld.nothing())

    @classmethod
    def of_nothing(cls, member_count: int, notes: StickyNotes | None = None) -> Assignment:
        return cls(np.zeros(member_count + 1, dtype=np.int64), _NONE, _NONE, Withheld.nothing(), notes)

    @property
    def counts(self) -> Longs:
        return np.diff(self.offsets)

    def of_member(self, member: int) -> list[tuple[int, int]]:
        span = slice(int(self.offsets[member]), int(self.offsets[member + 1]))
        return list(zip(self.topics[span].tolist(), self.partitions[span].tolist(), strict=True))


@runtime_checkable
class Assignor(Protocol):
    """Pure: same request, same answer.

    ``versions``: releases whose answers it gives. ``assign`` raises AssignorError (with the Java class) where the real
    class throws, EndlessReassignmentError where it never returns.
    """

    @property
    def name(self) -> str: ...

    @property
    def versions(self) -> str: ...

    def assign(self, request: AssignmentRequest) -> Assignment: ...
