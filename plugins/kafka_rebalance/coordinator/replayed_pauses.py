"""A member that is away and comes back before the others have settled: replayed event by event, then summed up.

The closed form of ``pauses`` starts from settled groups; this is the way around it, and takes as long as a replay does.
"""

from __future__ import annotations

from kafka_rebalance.arrays import NOBODY, Ints
from kafka_rebalance.coordinator.pause_sums import Pauses
from kafka_rebalance.coordinator.rebalance import replay_chain
from kafka_rebalance.coordinator.rebalance_step import Step, holdings
from kafka_rebalance.coordinator.staggered_clocks import staggered
from kafka_rebalance.coordinator.timeline import Change, Holding, Phase, Protocol, Timeline, Times


def replayed_pauses(protocol: Protocol, goes: Step, returns: Step, times: Times) -> Pauses:
    """The subject of both goes at 0 and joins again after ``restart_ms``."""
    names = _names(goes.member_count)
    subject, leader = goes.subject, names[goes.leader]
    before, after = _holding(goes.before, names, NOBODY), _holding(returns.after, names, NOBODY)
    meanwhile = _holding(goes.after, names, subject)
    changes = (
        Change(goes.trigger, names[subject], before, meanwhile, leader, is_static=goes.is_static),
        Change(
            returns.trigger, names[subject], meanwhile, after, leader, is_static=returns.is_static,
            at_ms=times.restart_ms,
        ),
    )  # fmt: skip
    return _sums(replay_chain(protocol, changes, staggered(protocol, times, names)), names[subject])


def _names(count: int) -> list[str]:
    """In the order of the numbers."""
    width = len(str(count))
    return [f"member {number:0{width}}" for number in range(count)]


def _holding(column: Ints, names: list[str], absent: int) -> Holding:
    """Member → partitions, all members named but for ``absent``."""
    held = holdings(column)
    return {
        name: frozenset(("", partition) for partition in held.get(number, ()))
        for number, name in enumerate(names)
        if number != absent
    }


def _sums(timeline: Timeline, subject: str) -> Pauses:
    lengths = [pause.to_ms - pause.from_ms for pause in timeline.pauses if pause.to_ms is not None]
    revoked = [event.partitions for event in timeline.events if event.phase is Phase.REVOKE and event.member != subject]
    return Pauses(len(timeline.pauses), sum(revoked), timeline.longest_pause_ms, sum(lengths))
