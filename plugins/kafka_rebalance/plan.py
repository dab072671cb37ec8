"""The plan as a document: immutable, hashed, self-contained (DESIGN §6, ``format_version`` 1).

``Plan`` is what the planner builds, ``verify`` recomputes, the store saves and every file and page is rendered from.
``to_document`` gives the JSON object, ``plan_id`` its hash.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

FORMAT_VERSION = 1


class Verdict(StrEnum):
    """What the plan says first."""

    REBALANCE = "rebalance"
    NOTHING_TO_DO = "nothing_to_do"
    INFEASIBLE = "infeasible"
    NOT_FIXABLE_BY_MOVING = "not_fixable_by_moving"


class MoveKind(StrEnum):
    """A change of the replica set, or of the leader alone."""

    REPLICA = "replica"
    LEADER = "leader"


@dataclass(frozen=True, slots=True)
class Move:
    """One partition's change. ``from_replicas`` in Kafka's order, ``to_replicas`` with the preferred leader first.

    ``bytes`` = new replicas × the leader's replica size, ``None`` where that size is unknown. ``wave`` counts from 0.
    """

    topic: str
    partition: int
    from_replicas: tuple[int, ...]
    to_replicas: tuple[int, ...]
    leader_from: int | None
    leader_to: int
    kind: MoveKind
    bytes: int | None
    wave: int
    reason: str
    worse_without: str


@dataclass(frozen=True, slots=True)
class Wave:
    """Moves that are started together. ``free_disk_needed`` is bytes by broker while both copies exist."""

    moves: tuple[int, ...]
    bytes: int | None
    seconds: float | None
    throttle_bytes_per_s: int
    free_disk_needed: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a plan costs. ``seconds`` with Kafka's tool, ``seconds_slot_filling`` with a driver that fills slots."""

    replica_moves: int
    bytes: int | None
    leader_changes: int
    seconds: float | None = None
    seconds_slot_filling: float | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """What nobody can beat, for one cost. ``gap`` = (cost - value) / value, 0 where both are 0."""

    cost: str  # bytes, replica_moves, leader_changes, seconds
    value: float
    gap: float | None
    proof: str


@dataclass(frozen=True, slots=True)
class ResourceOutcome:
    """One balanced resource: its band asked and reached, before and after per broker (level = load / capacity)."""

    resource: str
    unit: str
    mean_level: float
    band_asked: tuple[float | None, float | None]
    band_used: tuple[float | None, float | None]
    skew_before: float
    skew_after: float
    before: Mapping[int, float]  # broker -> load
    after: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """Balance against bytes: ``tolerance`` costs ``bytes``, and nobody gets it below ``lower_bound_bytes``."""

    tolerance: float
    bytes: int | None
    replica_moves: int
    lower_bound_bytes: float | None
    skew: Mapping[str, float]
    name: str | None = None  # cheap, knee, even
    is_recommended: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """One plan for one snapshot. ``plan_id`` is empty until ``sealed``."""

    cluster: str
    verdict: Verdict
    reasons: tuple[str, ...]
    snapshot_id: str
    cost: Cost
    cluster_id: str | None = None
    captured_at: str | None = None
    expires_at: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    advisor_version: str = ""
    resources: tuple[ResourceOutcome, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)  # resource -> why
    lower_bound: tuple[Bound, ...] = ()
    frontier: tuple[FrontierPoint, ...] = ()
    moves: tuple[Move, ...] = ()
    waves: tuple[Wave, ...] = ()
    rollback: Cost | None = None
    preconditions: tuple[str, ...] = ()
    explanations: tuple[str, ...] = ()
    plan_id: str = ""

    def sealed(self) -> Plan:
        """The same plan with its ``plan_id``."""
        return replace(self, plan_id=plan_id(to_document(self)))


def to_document(plan: Plan) -> dict[str, Any]:
    """The JSON object of ``plan.json``; its keys are those of DESIGN §6."""
    document = asdict(plan)
    document["format_version"] = FORMAT_VERSION
    document["moves"] = [_move_document(move) for move in plan.moves]
    document["before"] = {each.resource: _by_broker(each.before) for each in plan.resources}
    document["after"] = {each.resource: _by_broker(each.after) for each in plan.resources}
    for outcome in document["resources"]:
        del outcome["before"], outcome["after"]
    for wave in document["waves"]:
        wave["free_disk_needed"] = _by_broker(wave["free_disk_needed"])
    return json.loads(json.dumps(document))  # type: ignore[no-any-return]  # tuples become lists, enums strings


def plan_id(document: Mapping[str, Any]) -> str:
    """sha256 of the document without ``plan_id``: UTF-8, keys sorted, no spaces."""
    content = {key: value for key, value in document.items() if key != "plan_id"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _move_document(move: Move) -> dict[str, Any]:
    document = asdict(move)
    document["from"] = document.pop("from_replicas")
    document["to"] = document.pop("to_replicas")
    return document


def _by_broker(values: Mapping[int, Any]) -> dict[str, Any]:
    return {str(broker): values[broker] for broker in sorted(values)}
