"""``plan.json`` → ``Plan``, for stored or received plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import BoundProof, Fact
from kafka_rebalance.plans.plan import (
    Bound,
    BudgetClaim,
    Cost,
    CoverClaim,
    FrontierPoint,
    Move,
    MoveKind,
    Plan,
    Preconditions,
    PreferredLeaders,
    Proof,
    ResourceOutcome,
    Robustness,
    Rollback,
    Step,
    StepCost,
    StepKind,
    StepOutcome,
    TraceStep,
    Verdict,
    Watched,
    Wave,
    plan_id,
    require_format,
)
from kafka_rebalance.scoring.scores import AfterFailure

Document = Mapping[str, Any]
_NO_FIELDS = frozenset({"format_version", "before", "after"})


def plan_from_document(document: Document) -> Plan:
    """Raises InvalidInputError unless ``to_document`` gives exactly this document."""
    source = f"plan {str(document.get('plan_id', ''))[:12]}"
    require_format(document, source)
    try:
        plan = _plan(document)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInputError.at(source, f"is no plan of ours: {error!r}") from error
    if plan.document != document:
        raise InvalidInputError.at(source, "holds what no plan has", "make the plan anew")
    if plan.plan_id != plan_id(document):
        raise InvalidInputError.at(source, "was changed: its plan_id is not its hash", "make the plan anew")
    return plan


def _plan(document: Document) -> Plan:
    kept = {name: value for name, value in document.items() if name not in _NO_FIELDS}
    elected = document["preferred_leaders"]
    rollback, robustness, failure = document["rollback"], document["robustness"], document["after_failure"]
    claim = document["within_budget"]
    made = {
        "verdict": Verdict(document["verdict"]),
        "reasons": _facts(document["reasons"]),
        "left_out": {name: Fact.from_document(why) for name, why in document["left_out"].items()},
        "cost": Cost(**document["cost"]),
        "seen": _preconditions(document["seen"]),
        "resources": tuple(_outcome(outcome, document) for outcome in document["resources"]),
        "topic_excess_replicas": tuple(document["topic_excess_replicas"]),
        "lower_bound": tuple(_bound(bound) for bound in document["lower_bound"]),
        "certificate": {name: _by_id(prices) for name, prices in document["certificate"].items()},
        "proofs": {cost: _proof(proof) for cost, proof in document["proofs"].items()},
        "frontier": tuple(_point(point) for point in document["frontier"]),
        "trace": tuple(TraceStep(**step) for step in document["trace"]),
        "moves": tuple(_move(move) for move in document["moves"]),
        "waves": tuple(_wave(wave) for wave in document["waves"]),
        "steps": tuple(_step(step) for step in document["steps"]),
        "rollback": None if rollback is None else _rollback(rollback),
        "preconditions": tuple(map(Fact.from_document, document["preconditions"])),
        "explanations": tuple(map(Fact.from_document, document["explanations"])),
        "after_failure": None if failure is None else AfterFailure.from_document(failure),
        "preferred_leaders": None if elected is None else _preferred(elected),
        "within_budget": None if claim is None else _claim(claim),
        "robustness": None if robustness is None else Robustness(**robustness),
    }
    return Plan(**(kept | made))


def _facts(items: Sequence[Document]) -> tuple[Fact, ...]:
    return tuple(Fact.from_document(item) for item in items)


def _bound(item: Document) -> Bound:
    return Bound(**(dict(item) | {"proof": BoundProof(item["proof"])}))


def _point(item: Document) -> FrontierPoint:
    return FrontierPoint(**(dict(item) | {"reasons": _facts(item["reasons"])}))


def _preferred(item: Document) -> PreferredLeaders:
    return PreferredLeaders(_by_id(item["before"]), _by_id(item["after"]))


def _preconditions(item: Document) -> Preconditions:
    return Preconditions(
        broker_racks=_by_id(item["broker_racks"]),
        dead_brokers=tuple(item["dead_brokers"]),
        topic_partitions=item["topic_partitions"],
        reassigning=tuple((topic, partition) for topic, partition in item["reassigning"]),
    )


def _proof(item: Document) -> Proof:
    prices = {name: _by_id(by_broker) for name, by_broker in item["prices"].items()}
    covers = tuple(_cover(cover) for cover in item["covers"])
    shares = {name: _by_id(item[name]) for name in ("receiving", "sending")}
    return Proof(**(dict(item) | {"prices": prices, "covers": covers} | shares))


def _claim(item: Document) -> BudgetClaim:
    prices = {name: _by_id(by_broker) for name, by_broker in item["prices"].items()}
    return BudgetClaim(**(dict(item) | {"prices": prices}))


def _cover(item: Document) -> CoverClaim:
    named = {side: {topic: tuple(numbers) for topic, numbers in item[side].items()} for side in ("gone", "come")}
    return CoverClaim(**(dict(item) | named))


def _move(item: Document) -> Move:
    made = ("from", "to", "kind", "reason", "worse_without")
    return Move(
        from_replicas=tuple(item["from"]),
        to_replicas=tuple(item["to"]),
        kind=MoveKind(item["kind"]),
        reason=Fact.from_document(item["reason"]),
        worse_without=Fact.from_document(item["worse_without"]),
        **{name: value for name, value in item.items() if name not in made},
    )


def _wave(item: Document) -> Wave:
    made = {"moves": tuple(item["moves"]), "free_disk_needed": _by_id(item["free_disk_needed"])}
    return Wave(**(dict(item) | made))


def _step(item: Document) -> Step:
    made = {
        "kind": StepKind(item["kind"]),
        "waves": tuple(item["waves"]),
        "cost": StepCost(**item["cost"]),
        "resources": tuple(
            StepOutcome(**(dict(outcome) | {"widened_to": tuple(outcome["widened_to"])}))
            for outcome in item["resources"]
        ),
        "certificate": {name: _by_id(prices) for name, prices in item["certificate"].items()},
    }
    return Step(**(dict(item) | made))


def _rollback(item: Document) -> Rollback:
    cost = {name: value for name, value in item.items() if name not in ("waves", "not_undone")}
    return Rollback(Cost(**cost), tuple(_wave(wave) for wave in item["waves"]), tuple(item["not_undone"]))


def _outcome(item: Document, document: Document) -> ResourceOutcome:
    resource, capacity = item["resource"], item["capacity"]
    made = {
        "band_asked": tuple(item["band_asked"]),
        "widened_to": tuple(item["widened_to"]),
        "before": _by_id(document["before"][resource]),
        "after": _by_id(document["after"][resource]),
        "capacity": None if capacity is None else _by_id(capacity),
        "watched": None if item["watched"] is None else Watched(**item["watched"]),
    }
    return ResourceOutcome(**(dict(item) | made))


def _by_id(values: Document) -> dict[int, Any]:
    return {int(broker): value for broker, value in values.items()}
