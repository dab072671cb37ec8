"""The plan as an immutable, hashed document; docs/internals/plan-format.md describes its fields. Broker ids are text
keys there.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import BoundProof, Fact
from kafka_rebalance.scoring.scores import AfterFailure

FORMAT_VERSION = 1


class Verdict(StrEnum):
    """``cannot_tell``: unusable snapshot, or unseen parts could change "nothing to do" (``plans.unseen``).
    ``infeasible``: a hard rule cannot hold.
    """

    REBALANCE = "rebalance"
    NOTHING_TO_DO = "nothing_to_do"
    CANNOT_TELL = "cannot_tell"
    INFEASIBLE = "infeasible"
    NOT_FIXABLE_BY_MOVING = "not_fixable_by_moving"


class StepKind(StrEnum):
    ELECT = "elect"
    REPAIR = "repair"
    RELIEVE = "relieve"
    EVEN_OUT = "even_out"


class MoveKind(StrEnum):
    REPLICA = "replica"
    LEADER = "leader"
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Move:
    """``bytes`` = new replicas × the leader's replica size, ``None`` where unknown. ``wave`` counts from 1."""

    topic: str
    partition: int
    from_replicas: tuple[int, ...]
    to_replicas: tuple[int, ...]
    leader_from: int | None
    leader_to: int
    kind: MoveKind
    bytes: int | None
    wave: int
    reason: Fact
    worse_without: Fact


@dataclass(frozen=True, slots=True)
class Wave:
    """Moves that start together. ``free_disk_needed`` lacks receivers of unknown sizes. ``seconds``: the busiest
    broker's bytes in or out over the throttle; ``None`` with an unknown size. Leader fields are ``None`` where unknown,
    or where leader changes in a wave are not limited.
    """

    moves: tuple[int, ...]
    bytes: int | None
    seconds: float | None
    throttle_bytes_per_s: int
    free_disk_needed: Mapping[int, int] = field(default_factory=dict)
    leader_changes: int | None = None
    leader_in_bytes_per_s: float | None = None
    leader_out_bytes_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """``seconds`` for Kafka's tool, wave by wave; ``seconds_slot_filling`` for a driver that keeps its slots full."""

    replica_moves: int
    bytes: int | None
    leader_changes: int
    seconds: float | None = None
    seconds_slot_filling: float | None = None


@dataclass(frozen=True, slots=True)
class StepOutcome:
    resource: str
    skew_before: float
    skew_after: float
    fullest_before: int
    load_before: float
    fullest_after: int
    load_after: float
    widened_to: tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class StepCost:
    replica_moves: int
    bytes: int | None
    leader_changes: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Step:
    """``lower_bound_bytes`` and ``gap`` are for all bytes up to this step, ``None`` where bytes are unknown."""

    kind: StepKind
    waves: tuple[int, ...]
    cost: StepCost
    resources: tuple[StepOutcome, ...]
    lower_bound_bytes: float | None
    gap: float | None
    certificate: Mapping[str, Mapping[int, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rollback:
    cost: Cost
    waves: tuple[Wave, ...] = ()
    not_undone: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound:
    """``gap`` = (cost - value) / value, 0 where both are 0, ``None`` for a positive cost over 0. ``is_within_slack``:
    ``None`` where costs are not weighed.
    """

    cost: str
    value: float
    gap: float | None
    proof: BoundProof
    is_within_slack: bool | None = None


@dataclass(frozen=True, slots=True)
class Watched:
    broker: int
    load: float
    capacity: float
    is_assumed: bool


@dataclass(frozen=True, slots=True)
class ResourceOutcome:
    """``band_asked`` is in multiples of ``basis``: each broker's ``fair_share``, or the ``plain_mean`` (times
    capacity). ``widened_to`` is in multiples of the plain mean (``mean_level``), ``None`` if the band is met; level =
    load / capacity; ``capacity`` ``None``: equal capacities are assumed.
    """

    resource: str
    unit: str
    source: str
    mean_level: float
    basis: str
    band_asked: tuple[float | None, float | None]
    widened_to: tuple[float | None, float | None]
    skew_before: float
    skew_after: float
    before: Mapping[int, float]
    after: Mapping[int, float]
    capacity: Mapping[int, float] | None = None
    is_ordered: bool = False
    watched: Watched | None = None


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """A band of ``tolerance`` costs ``bytes``, at least the bound."""

    tolerance: float | None
    bytes: int | None
    replica_moves: int
    leader_changes: int
    lower_bound_bytes: float | None
    skew: Mapping[str, float]
    name: str | None = None  # cheap, knee, even
    is_recommended: bool = False
    reasons: tuple[Fact, ...] = ()
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Robustness:
    """``trials`` with loads off by up to ``noise``."""

    trials: int
    noise: float
    verdict_stands: int


@dataclass(frozen=True, slots=True)
class Preconditions:
    """Preconditions, which ``check`` compares with a newer snapshot. ``broker_racks`` include added brokers."""

    broker_racks: Mapping[int, str | None] = field(default_factory=dict)
    dead_brokers: tuple[int, ...] = ()
    topic_partitions: Mapping[str, int] = field(default_factory=dict)
    reassigning: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class CoverClaim:
    """Replicas that do not fit on ``broker`` together."""

    broker: int
    resource: str
    price: float
    gone: Mapping[str, tuple[int, ...]]
    come: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Proof:
    """``prices`` of resource and broker, without zeros, prove a bound on moves or time; with ``covers`` on bytes."""

    prices: Mapping[str, Mapping[int, float]]
    receiving: Mapping[int, float] = field(default_factory=dict)
    sending: Mapping[int, float] = field(default_factory=dict)
    covers: tuple[CoverClaim, ...] = ()


@dataclass(frozen=True, slots=True)
class BudgetClaim:
    """``least_imbalance``: of any plan within the budget, proved by ``prices`` and ``charges``; None: not computed."""

    imbalance_before: float
    imbalance_after: float
    least_imbalance: float | None
    prices: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    charges: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PreferredLeaders:
    before: Mapping[int, int] = field(default_factory=dict)
    after: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TraceStep:
    """Cost of the moves after one stage; the last step's is the plan's."""

    stage: str
    replica_moves: int
    bytes: int | None
    leader_changes: int


@dataclass(frozen=True)
class Plan:
    """One plan for one snapshot. ``plan_id`` is empty until ``sealed``."""

    cluster: str
    verdict: Verdict
    reasons: tuple[Fact, ...]
    snapshot_id: str
    cost: Cost
    cluster_id: str | None = None
    captured_at: str | None = None
    expires_at: str | None = None
    topic_ids: Mapping[str, str | None] = field(default_factory=dict)
    seen: Preconditions = Preconditions()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    advisor_version: str = ""
    resources: tuple[ResourceOutcome, ...] = ()
    left_out: Mapping[str, Fact] = field(default_factory=dict)
    topic_excess_replicas: tuple[int, int] = (0, 0)
    lower_bound: tuple[Bound, ...] = ()
    certificate: Mapping[str, Mapping[int, float]] = field(default_factory=dict)  # resource -> broker -> price
    proofs: Mapping[str, Proof] = field(default_factory=dict)  # by cost
    frontier: tuple[FrontierPoint, ...] = ()
    moves: tuple[Move, ...] = ()
    waves: tuple[Wave, ...] = ()
    steps: tuple[Step, ...] = ()
    rollback: Rollback | None = None
    preconditions: tuple[Fact, ...] = ()
    explanations: tuple[Fact, ...] = ()
    robustness: Robustness | None = None
    after_failure: AfterFailure | None = None  # None: no broker in service, or no leader
    preferred_leaders: PreferredLeaders | None = None
    within_budget: BudgetClaim | None = None  # None: no budget, or it was enough
    continues: str | None = None
    trace: tuple[TraceStep, ...] = ()
    plan_id: str = ""

    @cached_property
    def document(self) -> dict[str, Any]:
        """Made once: verification, store and files share it. Change a copy only."""
        return to_document(self)

    def sealed(self) -> Plan:
        document = to_document(self)
        plan = replace(self, plan_id=plan_id(document))
        plan.__dict__["document"] = document | {"plan_id": plan.plan_id}
        return plan


def to_document(plan: Plan) -> dict[str, Any]:
    document: dict[str, Any] = {"format_version": FORMAT_VERSION} | _plain(plan)
    document["moves"] = [_move_document(move) for move in plan.moves]
    document["before"] = {outcome.resource: _by_broker(outcome.before) for outcome in plan.resources}
    document["after"] = {outcome.resource: _by_broker(outcome.after) for outcome in plan.resources}
    document["resources"] = [_outcome_document(outcome) for outcome in plan.resources]
    document["seen"] = _plain(plan.seen) | {"broker_racks": _by_broker(plan.seen.broker_racks)}
    document["certificate"] = {name: _by_broker(prices) for name, prices in sorted(plan.certificate.items())}
    document["proofs"] = {cost: _proof_document(proof) for cost, proof in sorted(plan.proofs.items())}
    document["waves"] = [_wave_document(wave) for wave in plan.waves]
    document["steps"] = [_step_document(step) for step in plan.steps]
    document["after_failure"] = None if plan.after_failure is None else plan.after_failure.document()
    preferred = plan.preferred_leaders
    document["preferred_leaders"] = None if preferred is None else {
        "before": _by_broker(preferred.before), "after": _by_broker(preferred.after)
    }  # fmt: skip
    document["within_budget"] = None if plan.within_budget is None else _claim_document(plan.within_budget)
    document["rollback"] = None if plan.rollback is None else _rollback_document(plan.rollback)
    for name in ("lower_bound", "frontier", "trace"):
        document[name] = [_plain(record) for record in getattr(plan, name)]
    for name in ("cost", "robustness"):
        value = getattr(plan, name)
        document[name] = None if value is None else _plain(value)
    return document


def plan_id(document: Mapping[str, Any]) -> str:
    """sha256 of the document without ``plan_id``: UTF-8, sorted keys, no spaces."""
    content = {key: value for key, value in document.items() if key != "plan_id"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def require_format(document: Mapping[str, Any], source: str) -> None:
    version = document.get("format_version")
    if type(version) is not int or version != FORMAT_VERSION:
        problem = f"{excerpt(version)} is unknown, this advisor reads {FORMAT_VERSION}"
        raise InvalidInputError.at(f"{source}: format_version", problem, "make the plan anew")


def _plain(record: Any) -> dict[str, Any]:
    """``asdict`` copies deeply: too slow for moves."""
    return {attribute.name: _plain_value(getattr(record, attribute.name)) for attribute in fields(record)}


def _plain_value(value: Any) -> Any:
    if isinstance(value, Fact):
        return value.document()
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return [_plain_value(element) for element in value]
    if isinstance(value, Mapping):
        return {str(key): _plain_value(element) for key, element in value.items()}
    return value


def _move_document(move: Move) -> dict[str, Any]:
    return {
        "topic": move.topic,
        "partition": move.partition,
        "from": list(move.from_replicas),
        "to": list(move.to_replicas),
        "leader_from": move.leader_from,
        "leader_to": move.leader_to,
        "kind": move.kind.value,
        "bytes": move.bytes,
        "wave": move.wave,
        "reason": move.reason.document(),
        "worse_without": move.worse_without.document(),
    }


def _proof_document(proof: Proof) -> dict[str, Any]:
    return {
        "prices": {name: _by_broker(prices) for name, prices in sorted(proof.prices.items())},
        "receiving": _by_broker(proof.receiving),
        "sending": _by_broker(proof.sending),
        "covers": [_plain(cover) for cover in proof.covers],
    }


def _claim_document(claim: BudgetClaim) -> dict[str, Any]:
    prices = {name: _by_broker(prices) for name, prices in sorted(claim.prices.items())}
    return _plain(claim) | {"prices": prices}


def _outcome_document(outcome: ResourceOutcome) -> dict[str, Any]:
    document = _plain(outcome)
    del document["before"], document["after"]
    document["watched"] = None if outcome.watched is None else _plain(outcome.watched)
    document["capacity"] = None if outcome.capacity is None else _by_broker(outcome.capacity)
    return document


def _wave_document(wave: Wave) -> dict[str, Any]:
    return _plain(wave) | {"free_disk_needed": _by_broker(wave.free_disk_needed)}


def _step_document(step: Step) -> dict[str, Any]:
    return {
        "kind": step.kind.value,
        "waves": list(step.waves),
        "cost": _plain(step.cost),
        "resources": [_plain(outcome) for outcome in step.resources],
        "lower_bound_bytes": step.lower_bound_bytes,
        "gap": step.gap,
        "certificate": {name: _by_broker(prices) for name, prices in sorted(step.certificate.items())},
    }


def _rollback_document(rollback: Rollback) -> dict[str, Any]:
    return _plain(rollback.cost) | {
        "waves": [_wave_document(wave) for wave in rollback.waves],
        "not_undone": list(rollback.not_undone),
    }


def _by_broker(values: Mapping[int, Any]) -> dict[str, Any]:
    return {str(broker): values[broker] for broker in sorted(values)}


@dataclass(frozen=True, slots=True)
class Slowest:
    """``direction``: incoming or outgoing; ``seconds`` of the broker's bytes at its waves' throttles."""

    broker: int
    direction: str
    seconds: float


def find_slowest_broker(plan: Plan) -> Slowest | None:
    """Return the busiest broker, ties by id; None without copies or known sizes."""
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
