"""Which throttle a plan waits for: the broker that sends or receives longest, all waves together.

Example: broker 3 receives 61 minutes of a plan of 64. More slots, or other waves, save three minutes at most; a higher
throttle, or fewer bytes for broker 3, is what saves more.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from kafka_rebalance.plans.plan import Plan


@dataclass(frozen=True, slots=True)
class Slowest:
    """``direction``: incoming or outgoing; ``seconds`` that the broker's bytes take at the throttles of their waves."""

    broker: int
    direction: str
    seconds: float


def slowest(plan: Plan) -> Slowest | None:
    """The broker that is busy longest, of several the first by id; None without copies or without known sizes."""
    if plan.cost.seconds is None:
        return None
    busy: dict[tuple[int, str], float] = defaultdict(float)
    for wave in plan.waves:
        for move in (plan.moves[m] for m in wave.moves):
            copies = [broker for broker in move.to_replicas if broker not in move.from_replicas]
            if not copies or not move.bytes:
                continue
            for broker in copies:
                busy[broker, "incoming"] += move.bytes / len(copies) / wave.throttle_bytes_per_s
            if move.leader_from is not None:
                busy[move.leader_from, "outgoing"] += move.bytes / wave.throttle_bytes_per_s
    if not busy:
        return None
    (broker, direction), seconds = min(busy.items(), key=lambda item: (-item[1], item[0]))
    return Slowest(broker, direction, seconds)
