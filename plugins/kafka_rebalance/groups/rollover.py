"""Steps from one strategy of a group to another, for its members' client.

- Between eager strategies, and between eager and cooperative ones (KIP-429): two rolling bounces. In the first all
  members name both, the new one first; in the second only the new one.
- A client that cannot name both together is stopped whole and restarted.
- To KIP-848 and back: one rolling bounce; the first member of the other kind converts the group. Where assignments hold
  user data (custom strategies, librdkafka's ``cooperative-sticky``) the coordinator refuses it, so all are stopped.
- Tasks of a Connect sink restart with their connector, which prefixes consumer settings with ``consumer.override.``.

Example: six Java members from ``range`` to ``cooperative-sticky``: set both, bounce, set the new one alone, bounce.

Records read twice, if members are closed and not killed: none with automatic commits, except between classic and
KIP-848, and under Java's ``cooperative-sticky``, which commits when a rebalance begins and reads on until the
revocation. Else those since the last commit of each revoked partition: of every partition at every rebalance under
eager strategies, else of those that move.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from kafka_assignors.releases import Client, release_of, seen_release
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.member_clients import (
    CONNECT,
    COOPERATIVE,
    OVERRIDE,
    ClientSettings,
    KnownClient,
    member_client,
    settings_of,
    strategies_of,
)
from kafka_rebalance.snapshot.group import Group
from kafka_rebalance.snapshot.model import GroupType

SERVER_ASSIGNORS = ("uniform", "range")
_CONSUMER_BROKERS = (4,)
_CONSUMER_SETTINGS = (
    "session.timeout.ms", "heartbeat.interval.ms", "group.protocol", "group.remote.assignor",
)  # fmt: skip
_CALLED_OTHERWISE = {"RoundRobinAssigner": "roundrobin"}  # KafkaJS
_POLICY = "group.consumer.migration.policy"


class Action(StrEnum):
    REQUIRE = "require"
    SET = "set"
    REMOVE = "remove"
    BOUNCE = "bounce"
    STOP = "stop"
    START = "start"
    RESTART_CONNECTOR = "restart_connector"
    STOP_CONNECTOR = "stop_connector"
    RESUME_CONNECTOR = "resume_connector"


class Why(StrEnum):
    CLIENT_UNKNOWN = "client_unknown"
    RELEASE_TOO_OLD = "release_too_old"
    OVERRIDES_REFUSED = "overrides_refused"
    ALL_MUST_NAME = "all_must_name"
    STAYS_UNTIL_ALL_NAME = "stays_until_all_name"
    REVOKES_UNTIL_THEN = "revokes_until_then"
    BOTH_ARE_EAGER = "both_are_eager"
    OUT_OF_USE_AFTER = "out_of_use_after"
    CANNOT_NAME_BOTH = "cannot_name_both"
    HAS_USER_DATA = "has_user_data"
    STATIC_MEMBERS_STAY = "static_members_stay"
    KEEPS_POSITIONS = "keeps_positions"
    READS_ON = "reads_on"
    BROKERS_TOO_OLD = "brokers_too_old"
    NEW_MEMBER_REFUSED = "new_member_refused"
    OLD_MEMBER_REFUSED = "old_member_refused"
    COORDINATOR_ASSIGNS = "coordinator_assigns"
    BROKER_SETS_SESSION = "broker_sets_session"
    BROKER_SETS_HEARTBEAT = "broker_sets_heartbeat"
    KEEPS_IDS_AND_PATTERNS = "keeps_ids_and_patterns"
    ELSE_FIRST_OF_BROKERS = "else_first_of_brokers"
    FIRST_TURNS_GROUP = "first_turns_group"
    REFUSED_BESIDE_CLASSIC = "refused_beside_classic"
    CLIENT_SETS_SESSION = "client_sets_session"
    USED_BY_GROUP = "used_by_group"
    LAST_TURNS_GROUP = "last_turns_group"
    EACH_MEMBER_NAMES = "each_member_names"
    MOST_MEMBERS_DECIDE = "most_members_decide"


class Obstacle(StrEnum):
    NO_SERVER_ASSIGNOR = "no_server_assignor"
    BROKERS_TOO_OLD = "brokers_too_old"
    PROTOCOL_UNKNOWN = "protocol_unknown"
    PROTOCOL_NOT_RELEASED = "protocol_not_released"
    STRATEGY_UNKNOWN = "strategy_unknown"
    STRATEGIES_UNKNOWN = "strategies_unknown"
    CLIENT_LACKS_STRATEGY = "client_lacks_strategy"
    MEMBERS_LACK_STRATEGY = "members_lack_strategy"


_CONNECTOR_ACTIONS = {
    Action.BOUNCE: Action.RESTART_CONNECTOR,
    Action.STOP: Action.STOP_CONNECTOR,
    Action.START: Action.RESUME_CONNECTOR,
}


@dataclass(frozen=True, slots=True)
class RolloverStep:
    """``setting`` gets ``value``; ``rebalances``: at most.

    A setting with a dot is the client's or broker's; ``client``, ``client_release``, ``broker_release`` and
    ``group_state`` are preconditions.
    """

    number: int
    action: Action
    why: Why
    setting: str = ""
    value: str = ""
    rebalances: int | None = None


@dataclass(frozen=True, slots=True)
class Rollover:
    """``steps`` are empty where none is needed, or none is possible (``obstacle``). ``read_again``: records that may be
    read twice.
    """

    group: str
    today: str
    target: str
    client: str | None
    clients: tuple[str, ...]
    steps: tuple[RolloverStep, ...]
    read_again: Fact
    obstacle: Obstacle | None = None

    def facts(self) -> tuple[Fact, ...]:
        if self.obstacle is not None:
            learn = fact(FactCode.LEARN_STRATEGY, group=self.group)
            why, target = self.obstacle.value, self.target
            return (fact(FactCode.CANNOT_CHANGE, why=why, client=self.client, target=target, learn=learn),)
        if not self.steps:
            return ()
        return (*(self._step(step) for step in self.steps), self.read_again)

    def _step(self, step: RolloverStep) -> Fact:
        return fact(
            FactCode.ROLLOVER_STEP,
            number=step.number,
            action=step.action.value,
            setting=step.setting or None,
            value=step.value or None,
            rebalances=step.rebalances,
            why=step.why.value,
            today=self.today or None,
            target=self.target,
            client=self.client,
            clients=self.clients if step.why is Why.CLIENT_UNKNOWN else (),
        )


@dataclass(frozen=True, slots=True)
class _Move:
    group: Group
    client: KnownClient
    settings: ClientSettings
    today: str
    target: str
    is_from_server: bool
    is_to_server: bool
    brokers: tuple[int, ...]

    @property
    def rebalances(self) -> int:
        """Limit for one eager bounce: two for each member, one for a static one back within its session."""
        return sum(1 if member.instance_id else 2 for member in self.group.members)

    @property
    def is_between_protocols(self) -> bool:
        return (self.today == COOPERATIVE) != (self.target == COOPERATIVE)

    @property
    def reads_while_joining(self) -> bool:
        return self.settings.reads_while_joining and COOPERATIVE in (self.today, self.target)


def rollover(group: Group, client: KnownClient, target: str, *, is_server: bool, kafka_version: str | None) -> Rollover:
    """Return the steps to ``target``, a client's or (``is_server``) a coordinator's strategy."""
    protocol = group.protocol or ""
    move = _Move(
        group,
        client,
        settings=settings_of(client),
        today=_CALLED_OTHERWISE.get(protocol, protocol),
        target=target,
        is_from_server=group.type is GroupType.CONSUMER,
        is_to_server=is_server,
        brokers=seen_release(kafka_version),
    )
    obstacle, client_name = _obstacle(move), client.client.value if client.client else client.program or None
    clients = sorted(
        {(detected := member_client(member, group)).client or detected.program for member in group.members}
    )
    names = group.id, move.today, target, client_name, tuple(str(name) or "unknown" for name in clients)
    if obstacle or (move.today, move.is_from_server) == (target, is_server):
        return Rollover(*names, (), _read_again(move), obstacle)
    steps = [*_known_client(move), *_steps(move)]
    if client.program == CONNECT:
        steps = _of_connector(steps)
    numbered = tuple(replace(step, number=number) for number, step in enumerate(steps, 1))
    return Rollover(*names, numbered, _read_again(move))


def _obstacle(move: _Move) -> Obstacle | None:
    if not move.is_to_server:
        return _client_obstacle(move)
    if move.target not in SERVER_ASSIGNORS:
        return Obstacle.NO_SERVER_ASSIGNOR
    if move.is_from_server:
        return None  # its clients speak the protocol already
    if move.brokers and move.brokers < _CONSUMER_BROKERS:
        return Obstacle.BROKERS_TOO_OLD
    if move.client.client is None and move.client.program:
        return Obstacle.PROTOCOL_UNKNOWN
    return None if move.settings.consumer_since else Obstacle.PROTOCOL_NOT_RELEASED


def _client_obstacle(move: _Move) -> Obstacle | None:
    if not move.today and not move.is_from_server:
        return Obstacle.STRATEGY_UNKNOWN
    if move.client.client is None and move.client.program:
        return Obstacle.STRATEGIES_UNKNOWN
    if move.target not in move.settings.strategies:
        return Obstacle.CLIENT_LACKS_STRATEGY
    return None if move.target in strategies_of(move.group) else Obstacle.MEMBERS_LACK_STRATEGY


def _known_client(move: _Move) -> list[RolloverStep]:
    if move.is_to_server and move.is_from_server:
        return []
    since = move.settings.consumer_since if move.is_to_server else ""
    if move.target == COOPERATIVE and not move.is_to_server:
        since = move.settings.cooperative_since
    needed = []
    if move.client.client is None:
        needed.append(_step(Action.REQUIRE, Why.CLIENT_UNKNOWN, "client", Client.JAVA.value))
    is_new_enough = move.client.first and since and release_of(move.client.first) >= release_of(since)
    if since and not is_new_enough:
        needed.append(_step(Action.REQUIRE, Why.RELEASE_TOO_OLD, "client_release", since))
    return needed


def _step(action: Action, why: Why, setting: str = "", value: str = "", rebalances: int | None = None) -> RolloverStep:
    return RolloverStep(0, action, why, setting, value, rebalances)


def _steps(move: _Move) -> list[RolloverStep]:
    if move.is_to_server:
        return _to_another_assignor(move) if move.is_from_server else _to_consumer(move)
    if move.is_from_server:
        return _to_classic(move)
    return _two_bounces(move) if move.settings.can_roll(move.today, move.target) else _stop_and_start(move)


def _of_connector(steps: list[RolloverStep]) -> list[RolloverStep]:
    policy = _step(
        Action.REQUIRE, Why.OVERRIDES_REFUSED, "connector.client.config.override.policy", "All",
    )  # fmt: skip
    return [policy] + [
        replace(
            step,
            action=_CONNECTOR_ACTIONS.get(step.action, step.action),
            setting=OVERRIDE + step.setting if step.setting in _CONSUMER_SETTINGS else step.setting,
        )
        for step in steps
    ]


def _two_bounces(move: _Move) -> list[RolloverStep]:
    settings = move.settings
    both, alone = settings.value((move.target, move.today)), settings.value((move.target,))
    more = 2 if move.target == COOPERATIVE else 1
    kept = Why.REVOKES_UNTIL_THEN if move.is_between_protocols else Why.BOTH_ARE_EAGER
    return [
        _step(Action.SET, Why.ALL_MUST_NAME, settings.strategy, both),
        _step(Action.BOUNCE, Why.STAYS_UNTIL_ALL_NAME, rebalances=move.rebalances),
        _step(Action.SET, kept, settings.strategy, alone),
        _step(Action.BOUNCE, Why.OUT_OF_USE_AFTER, rebalances=more * move.rebalances),
    ]


def _stop_and_start(move: _Move) -> list[RolloverStep]:
    """Members with the new and the old strategy may not meet."""
    return [
        *_all_stopped(move, Why.CANNOT_NAME_BOTH),
        _step(Action.SET, Why.KEEPS_POSITIONS, move.settings.strategy, move.settings.value((move.target,))),
        _step(Action.START, Why.READS_ON, rebalances=2 * len(move.group.members)),
    ]


def _all_stopped(move: _Move, why: Why) -> list[RolloverStep]:
    """Return steps that stop all members: new ones would have to fit a remaining one."""
    stopped = [_step(Action.STOP, why)]
    if any(member.instance_id for member in move.group.members):
        stopped.append(_step(Action.REQUIRE, Why.STATIC_MEMBERS_STAY, "group_state", "Empty"))
    return stopped


def _to_consumer(move: _Move) -> list[RolloverStep]:
    is_kept = move.today in move.settings.strategies - move.settings.with_user_data
    steps = [
        _step(Action.REQUIRE, Why.BROKERS_TOO_OLD, "broker_release", "4.0"),
        _step(Action.REQUIRE, Why.NEW_MEMBER_REFUSED, _POLICY, "upgrade"),
        _step(Action.REMOVE, Why.COORDINATOR_ASSIGNS, move.settings.strategy),
        _step(Action.REMOVE, Why.BROKER_SETS_SESSION, "session.timeout.ms"),
        _step(Action.REMOVE, Why.BROKER_SETS_HEARTBEAT, "heartbeat.interval.ms"),
        _step(Action.SET, Why.KEEPS_IDS_AND_PATTERNS, "group.protocol", "consumer"),
        _step(Action.SET, Why.ELSE_FIRST_OF_BROKERS, "group.remote.assignor", move.target),
    ]
    if is_kept:
        return [*steps, _step(Action.BOUNCE, Why.FIRST_TURNS_GROUP, rebalances=move.rebalances)]
    start = _step(Action.START, Why.READS_ON, rebalances=2 * len(move.group.members))
    return [*_all_stopped(move, Why.HAS_USER_DATA), *steps, start]


def _to_classic(move: _Move) -> list[RolloverStep]:
    more = 2 if move.target == COOPERATIVE else 1
    return [
        _step(Action.REQUIRE, Why.OLD_MEMBER_REFUSED, _POLICY, "downgrade"),
        _step(Action.REMOVE, Why.REFUSED_BESIDE_CLASSIC, "group.remote.assignor"),
        _step(Action.SET, Why.CLIENT_SETS_SESSION, "group.protocol", "classic"),
        _step(Action.SET, Why.USED_BY_GROUP, move.settings.strategy, move.settings.value((move.target,))),
        _step(Action.BOUNCE, Why.LAST_TURNS_GROUP, rebalances=more * move.rebalances),
    ]


def _to_another_assignor(move: _Move) -> list[RolloverStep]:
    return [
        _step(Action.SET, Why.EACH_MEMBER_NAMES, "group.remote.assignor", move.target),
        _step(Action.BOUNCE, Why.MOST_MEMBERS_DECIDE, rebalances=move.rebalances),
    ]


def _read_again(move: _Move) -> Fact:
    return fact(
        FactCode.READ_TWICE,
        case="commits_unknown" if move.is_from_server == move.is_to_server else "between_group_types",
        client=move.client.client.value if move.client.client else None,
        is_eager=not (move.is_from_server and move.is_to_server) and {move.today, move.target} != {COOPERATIVE},
        reads_while_joining=move.reads_while_joining,
    )
