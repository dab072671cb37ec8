"""Cruise Control's ``cruisecontrol.properties`` as options of a run.

Promises, in this order: every setting of the file is either taken over or listed; no value is guessed (a wrong one is
refused with file and line); a threshold whose goal is not among ``default.goals`` counts there only where a request
names it, and is listed.

Example: ``disk.capacity.threshold=0.8`` gives ``headroom = ["disk=0.2"]``: a fifth of each broker's disk stays free.

Names and meanings: ``config/cruisecontrol.properties`` of linkedin/cruise-control and its wiki. What the file leaves
out is at Cruise Control's default there and at ours here. Time is linear in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import AdvisorError, InvalidInputError
from kafka_rebalance.options.limits import MOST_WHOLE
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.cli.coming_from.imported import Imported
from rebalance_advisor.kafka.connection.properties.java_properties import Properties, read_properties
from rebalance_advisor.request.run_request import RunRequest

# Setting → our resource, and the goal without which no request of the usual kind heeds it.
_BALANCE = {
    "cpu.balance.threshold": ("cpu", "CpuUsageDistributionGoal"),
    "disk.balance.threshold": ("disk", "DiskUsageDistributionGoal"),
    "network.inbound.balance.threshold": ("in", "NetworkInboundUsageDistributionGoal"),
    "network.outbound.balance.threshold": ("out", "NetworkOutboundUsageDistributionGoal"),
    "replica.count.balance.threshold": ("replicas", "ReplicaDistributionGoal"),
    "leader.replica.count.balance.threshold": ("leaders", "LeaderReplicaDistributionGoal"),
}
_CAPACITY = {
    "cpu.capacity.threshold": ("cpu", "CpuCapacityGoal"),
    "disk.capacity.threshold": ("disk", "DiskCapacityGoal"),
    "network.inbound.capacity.threshold": ("in", "NetworkInboundCapacityGoal"),
    "network.outbound.capacity.threshold": ("out", "NetworkOutboundCapacityGoal"),
}
_MOST_REPLICAS = "max.replicas.per.broker"
_REPLICA_GOAL = "ReplicaCapacityGoal"
_THROTTLE, _UNTHROTTLED = "default.replication.throttle", "-1"
_COUNTS = {
    "num.concurrent.partition.movements.per.broker": "moves_per_broker",
    "num.concurrent.leader.movements.per.broker": "max_leader_changes_per_wave",
    _THROTTLE: "throttle",
}
_LED_TOPICS, _LEAST_LED = "topics.with.min.leaders.per.broker", "min.topic.leaders.per.broker"
_LEADER_GOAL = "MinTopicLeadersPerBrokerGoal"
_EXCLUDED = "topics.excluded.from.partition.movement"
_GOALS = "default.goals"
_ELSEWHERE = {
    "bootstrap.servers": "the cluster's address: rebalance-advisor snapshot --bootstrap, or the connection in Airflow",
    "capacity.config.file": "give that file: --capacity FILE",
    "num.concurrent.leader.movements": "of the whole cluster; ours is of a broker: max_leader_changes_per_wave",
    "goals": "our rules are always the same; see default.goals",
    "hard.goals": "our rules are always the same; see default.goals",
}
# Goals that a plan of ours heeds, by an option above or always.
_HEEDED = frozenset(
    {"RackAwareGoal", _REPLICA_GOAL, _LEADER_GOAL}
    | {goal for _, goal in _BALANCE.values()}
    | {goal for _, goal in _CAPACITY.values()}
)


def read_cruise_control(path: Path) -> Imported:
    """The settings of a file. Raises InvalidInputError with file and line for a value that cannot be, and for a file
    in which nothing could be taken over.
    """
    return import_cruise_control(read_properties(path), str(path))


def import_cruise_control(given: Properties, source: str) -> Imported:
    """As ``read_cruise_control``, of properties that are read."""
    goals = _goals(given)
    used, idle = _split_by_goal(given, goals)
    targets = {resource: _threshold(given, name, least=1) for name, (resource, _) in _BALANCE.items() if name in used}
    options = _balance(targets) | _limits(given, used)
    if not options:
        raise InvalidInputError.at(source, "holds no setting of Cruise Control that a plan of ours would heed")
    _require_readable(options, source)
    notes = list(given.overridden)
    if targets:
        notes.append("balance thresholds are taken as written; Cruise Control itself aims at 0.9 of them (its margin)")
    if "target" in options:
        notes.append(
            "a target is a multiple of the plain mean; Cruise Control's is of what each broker's capacity is due"
        )
    if "headroom" in options:
        notes.append("headroom asks for known capacities: give Cruise Control's capacity file by --capacity")
    return Imported(options, tuple(notes), tuple(_left_out(given, used, idle, goals)))


def _goals(given: Properties) -> frozenset[str] | None:
    """Simple names of the goals that are optimized by default; None where the file does not say."""
    text = given.values.get(_GOALS, "").strip()
    return frozenset(name.strip().rpartition(".")[2] for name in text.split(",") if name.strip()) if text else None


def _split_by_goal(given: Properties, goals: frozenset[str] | None) -> tuple[set[str], dict[str, str]]:
    """(settings to take over, setting → the goal that is not among the usual ones)."""
    goal_of = {name: goal for name, (_, goal) in (_BALANCE | _CAPACITY).items()} | {_MOST_REPLICAS: _REPLICA_GOAL}
    goal_of |= dict.fromkeys((_LED_TOPICS, _LEAST_LED), _LEADER_GOAL)
    known = [*goal_of, *_COUNTS, _EXCLUDED]
    present = {name for name in known if given.values.get(name, "").strip()}
    if _LED_TOPICS not in present:
        present.discard(_LEAST_LED)  # a number for no topic
    if given.values.get(_THROTTLE, "").strip() == _UNTHROTTLED:
        present.discard(_THROTTLE)
    idle = {
        name: goal_of[name] for name in present & goal_of.keys() if goals is not None and goal_of[name] not in goals
    }
    return present - idle.keys(), idle


def _balance(targets: Mapping[str, Decimal]) -> dict[str, Any]:
    """One LOW..HIGH a resource: symmetric about the mean, never below 0."""
    texts = [f"{resource}={max(2 - high, Decimal(0))}..{high}" for resource, high in targets.items()]
    return {"target": texts} if texts else {}


def _limits(given: Properties, used: set[str]) -> dict[str, Any]:
    """Headroom, cap, numbers of moves, throttle and topics left alone."""
    options: dict[str, Any] = {}
    shares = {of: 1 - _threshold(given, name, most=1) for name, (of, _) in _CAPACITY.items() if name in used}
    headroom = [f"{resource}={share}" for resource, share in shares.items() if share]
    if headroom:
        options["headroom"] = headroom
    if _MOST_REPLICAS in used:
        options["cap"] = [f"replicas={_count(given, _MOST_REPLICAS)}"]
    options |= {option: _count(given, name) for name, option in _COUNTS.items() if name in used}
    if _LED_TOPICS in used:
        options["min_topic_leaders"] = [f"{given.values[_LED_TOPICS].strip()}={_least_led(given, used)}"]
    if _EXCLUDED in used:
        options["exclude_topic"] = [given.values[_EXCLUDED].strip()]
    return options


def _least_led(given: Properties, used: set[str]) -> int:
    """0 is theirs for as many as there are for each broker; more than there are is ours for that."""
    is_dynamic = _LEAST_LED in used and given.values[_LEAST_LED].strip() == "0"
    return MOST_WHOLE if is_dynamic else _count(given, _LEAST_LED) if _LEAST_LED in used else 1


def _threshold(given: Properties, name: str, least: int = 0, most: int | None = None) -> Decimal:
    text = given.values[name].strip()
    try:
        value = Decimal(text) if text.isascii() and len(text) < 20 else Decimal("nan")
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite() or value < least or value == 0 or (most is not None and value > most):
        wanted = f"a number from {least}" if most is None else f"a share above 0, up to {most}"
        raise InvalidInputError.at(
            f"{given.places[name]}: {name}", f"{excerpt(text)} is no threshold", f"give {wanted}"
        )
    return value


def _count(given: Properties, name: str) -> int:
    text = given.values[name].strip()
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text) > 0):
        place = f"{given.places[name]}: {name}"
        raise InvalidInputError.at(place, f"{excerpt(text)} is no number", "give a whole number from 1")
    return int(text)


def _require_readable(options: dict[str, Any], source: str) -> None:
    """What we write must be read by ourselves, a pattern of Java's among it."""
    try:
        RunRequest.from_mapping(options)
    except AdvisorError as error:
        raise InvalidInputError.at(source, f"gives an option that cannot be: {error}") from error


def _left_out(given: Properties, used: set[str], idle: Mapping[str, str], goals: frozenset[str] | None) -> list[str]:
    lines = []
    for name, place in given.places.items():
        if name in used or name == _GOALS:
            continue
        why = f"only a request that names {idle[name]} heeds it" if name in idle else _ELSEWHERE.get(name, "")
        lines.append(f"{place}  {excerpt(name)}" + (f" ({why})" if why else ""))
    unheeded = sorted((goals or frozenset()) - _HEEDED)
    return lines + [f"{given.places[_GOALS]}  {_GOALS}: {excerpt(goal)}" for goal in unheeded]
