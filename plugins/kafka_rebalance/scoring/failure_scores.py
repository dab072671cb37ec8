"""What the loss of each broker, and of each rack, does to leaders today: who takes over how many, what nobody leads.

Example: broker 0 leads four partitions listed [0, 1, 2]: broker 1 takes all four, where two each would be even.
Complexity: O(P·W) for the successors, once for single brokers and once for racks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Flags, Ints
from kafka_rebalance.scoring.placement_scores import left_leaderless, moved_loads, successors
from kafka_rebalance.snapshot.model import ClusterSnapshot


@dataclass(frozen=True, slots=True)
class FailureScore:
    """One loss. ``lost_type``: broker or rack; ``leaders`` that are lost, of which nobody in sync can lead
    ``leaderless``; ``most_taken`` of the others go to broker ``taken_by`` (None: to nobody), ``even_taken`` each
    would be even over those that take any or could.
    """

    lost_type: str
    lost: str
    leaders: int
    leaderless: int
    taken_by: int | None
    most_taken: int
    even_taken: int


def score_failures(snapshot: ClusterSnapshot) -> tuple[FailureScore, ...]:
    """Every broker that serves, then every rack where there are several; the worst first of each.

    Nothing where the ISR is not known: nobody can say who would lead.
    """
    table = snapshot.partitions
    if table.in_sync is None or not len(table) or not snapshot.brokers:
        return ()
    heard = np.array([broker.state.is_heard for broker in snapshot.brokers], dtype=np.bool_)
    replicas, able, leader = _cells(snapshot, heard)
    single = np.where(heard, np.arange(len(heard)), NOBODY).astype(np.int32)
    names = [str(broker.id) for broker in snapshot.brokers]
    scores = _scores(snapshot, (replicas, able, leader), single, "broker", names)
    racks = sorted({broker.rack for broker in snapshot.brokers if broker.rack is not None})
    if len(racks) > 1:
        group = [NOBODY if broker.rack is None else racks.index(broker.rack) for broker in snapshot.brokers]
        scores += _scores(snapshot, (replicas, able, leader), np.array(group, dtype=np.int32), "rack", racks)
    return tuple(scores)


def _cells(snapshot: ClusterSnapshot, heard: Flags) -> tuple[Ints, Flags, Ints]:
    """``replicas`` int32[P, W] as positions of brokers, which of them may lead, and ``leader`` int32[P]."""
    table = snapshot.partitions
    ids = np.array([broker.id for broker in snapshot.brokers], dtype=np.int64)
    order = np.argsort(ids)

    def position(brokers: Ints) -> Ints:
        place = np.minimum(np.searchsorted(ids[order], brokers), len(ids) - 1)
        return np.where(ids[order][place] == brokers, order[place], NOBODY).astype(np.int32)

    counts = table.replica_counts
    row, column = table.row_of_replica, np.arange(len(table.replicas)) - np.repeat(table.offsets[:-1], counts)
    replicas = np.full((len(table), int(counts.max(initial=1))), NOBODY, dtype=np.int32)
    able = np.zeros(replicas.shape, dtype=np.bool_)
    replicas[row, column] = position(table.replicas)
    able[row, column] = table.in_sync
    return replicas, able & (replicas != NOBODY) & heard[replicas], position(table.leader)


def _scores(
    snapshot: ClusterSnapshot, cells: tuple[Ints, Flags, Ints], group: Ints, lost_type: str, names: list[str]
) -> list[FailureScore]:
    replicas, able, leader = cells
    heirs = successors(replicas, able, leader, group)
    taken = moved_loads(leader, heirs, group, np.ones(len(leader)), len(names)).astype(np.int64)
    left = left_leaderless(leader, heirs, group, len(names))
    could = _could_take(replicas, able, leader, group, len(names))
    scores = []
    for lost in sorted(set(group[group != NOBODY].tolist())):
        moved, most = int(taken[lost].sum()), int(taken[lost].argmax())
        scores.append(
            FailureScore(
                lost_type=lost_type, lost=names[lost], leaders=moved + int(left[lost]), leaderless=int(left[lost]),
                taken_by=snapshot.brokers[most].id if moved else None, most_taken=int(taken[lost][most]),
                even_taken=-(-moved // max(1, int(could[lost]))),
            )
        )  # fmt: skip
    return sorted(scores, key=lambda score: (-score.leaderless, score.even_taken - score.most_taken, score.lost))


def _could_take(replicas: Ints, able: Flags, leader: Ints, group: Ints, groups: int) -> Ints:
    """int32[groups]: brokers that hold, in sync, something that the lost ones lead."""
    mine = np.where(leader != NOBODY, group[leader], NOBODY)
    others = able & (mine != NOBODY)[:, None] & (group[replicas] != mine[:, None])
    pairs = np.unique(np.repeat(mine, replicas.shape[1])[others.ravel()] * len(group) + replicas[others])
    return np.bincount(pairs // len(group), minlength=groups).astype(np.int32)
