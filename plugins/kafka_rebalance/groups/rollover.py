"""From one strategy of a group to another, step by step, for the client that its members run.

- Between eager strategies, and between eager and cooperative ones (KIP-429): two rolling bounces. In the first all
  members name both, the new one first; in the second the old one is dropped. Until the second has reached a member it
  gives up everything at each rebalance.
- A client that cannot name eager and cooperative strategies together is stopped whole and started anew.
- To KIP-848 and back: one rolling bounce; the coordinator turns the group over when its first member of the other kind
  comes. Where assignments hold user data (strategies of one's own, librdkafka's ``cooperative-sticky``) it refuses that
  member, and all are stopped instead. The broker then sets session and heartbeat, and its assignor the strategy.
- Tasks of a Kafka Connect sink restart together, with their connector. Its configuration names the consumer's settings
  behind ``consumer.override.``.

Example: six Java members from ``range`` to ``cooperative-sticky``: set both, bounce (at most 12 rebalances), set the
new one alone, bounce (at most 24).

``Commits`` says which records may be read twice. What a client with automatic commits gives up it commits first: none
twice, as long as members are closed and not killed. That does not hold between classic and KIP-848. And Java's under
``cooperative-sticky`` commits when a rebalance begins and reads on until it is told what to give up. Else those read
since the last commit of each partition given up: under eager strategies every partition at every rebalance, under
others those alone that move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kafka_rebalance.amounts import counted
from kafka_rebalance.coordinator.pause_sums import Pauses
from kafka_rebalance.groups.client_settings import (
    CONNECT,
    COOPERATIVE,
    OVERRIDE,
    ClientSettings,
    settings_of,
    strategies_of,
)
from kafka_rebalance.groups.member_clients import KnownClient, member_client
from kafka_rebalance.releases import release_of, seen_release
from kafka_rebalance.snapshot.group import Group
from kafka_rebalance.snapshot.model import GroupType

SERVER_ASSIGNORS = ("uniform", "range")
_CONSUMER_BROKERS = (4,)
_CONSUMER_SETTINGS = (
    "session.timeout.ms", "heartbeat.interval.ms", "group.protocol", "group.remote.assignor",
)  # fmt: skip
_CALLED_OTHERWISE = {"RoundRobinAssigner": "roundrobin"}  # KafkaJS
_GONE_UNDER_CONSUMER = {
    "session.timeout.ms": "the group's configuration consumer.session.timeout.ms on the brokers stands for it",
    "heartbeat.interval.ms": "the group's configuration consumer.heartbeat.interval.ms on the brokers stands for it",
}

_READ_WHILE_JOINING = (
    f"under {COOPERATIVE} those of partitions that move, read while a rebalance waits for all members (a heartbeat "
    "interval and their longest poll): Java's client commits before that"
)

_BETWEEN_GROUP_TYPES = (
    "of each partition that changes its member at most those read since its last commit: a client that commits "
    "automatically may read on after that (66 of 293 were read twice in one run under load); none if the program "
    "commits in its listener before it gives a partition up"
)


class Action(StrEnum):
    """What is done in a step."""

    REQUIRE = "make sure"
    SET = "set"
    REMOVE = "remove"
    BOUNCE = "restart one member after the other"
    STOP = "stop all members"
    START = "start all members"
    RESTART_CONNECTOR = "restart the connector and its tasks"
    STOP_CONNECTOR = "stop the connector"
    RESUME_CONNECTOR = "resume the connector"


_CONNECTOR_ACTIONS = {
    Action.BOUNCE: Action.RESTART_CONNECTOR,
    Action.STOP: Action.STOP_CONNECTOR,
    Action.START: Action.RESUME_CONNECTOR,
}
_BOUNCES = (Action.BOUNCE, Action.RESTART_CONNECTOR)


class Commits(StrEnum):
    """Who commits what has been read, and when."""

    AUTOMATIC = "automatic"  # enable.auto.commit
    WHEN_REVOKED = "when revoked"  # the program commits in its listener, before it gives a partition up
    AT_INTERVALS = "at intervals"  # the program commits when it sees fit, and not when it gives partitions up
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RolloverStep:
    """``setting`` gets ``value``; ``rebalances``: at most so many, None where none is meant; ``pauses``: if known."""

    number: int
    action: Action
    why: str
    setting: str = ""
    value: str = ""
    rebalances: int | None = None
    pauses: Pauses | None = None

    def __str__(self) -> str:
        what = f" {self.setting}" + (f" = {self.value}" if self.value else "") if self.setting else ""
        rebalances = "" if self.rebalances is None else f" (at most {counted(self.rebalances, 'rebalance')})"
        return f"{self.number}. {self.action.capitalize()}{what}{rebalances}: {self.why}."


@dataclass(frozen=True, slots=True)
class Rollover:
    """``steps`` are empty where nothing is to be done, or where it cannot be (``obstacle``).

    ``read_again_ms``: of each partition given up, records read in the last so many ms may be read twice, by its next
    reader; 0: none, None: not known. ``read_again`` says why. All of it for members that are closed, not killed.
    """

    steps: tuple[RolloverStep, ...]
    read_again_ms: int | None
    read_again: str
    obstacle: str = ""


@dataclass(frozen=True, slots=True)
class _Move:
    """What is known of a rollover before its steps are."""

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
        """Of one bounce without cooperation: two for each member, one for a static one that is back in its session."""
        return sum(1 if member.instance_id else 2 for member in self.group.members)

    @property
    def is_between_protocols(self) -> bool:
        return (self.today == COOPERATIVE) != (self.target == COOPERATIVE)

    @property
    def reads_while_joining(self) -> bool:
        """Whether some member is cooperative by the classic protocol, and reads on after its commit."""
        return self.settings.reads_while_joining and COOPERATIVE in (self.today, self.target)


def rollover(
    group: Group, client: KnownClient, target: str, *, is_server: bool, kafka_version: str | None,
    commits: tuple[Commits, int] = (Commits.UNKNOWN, 0), bounces: Sequence[Pauses] = (),
) -> Rollover:  # fmt: skip
    """Steps from what ``group`` runs today to ``target``, a client's strategy or (``is_server``) a coordinator's.

    ``commits``: how the group commits, and at which interval in ms. ``bounces``: what each rolling bounce pauses, where
    it was worked out.
    """
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
    obstacle = _obstacle(move)
    if obstacle or (move.today, move.is_from_server) == (target, is_server):
        return Rollover((), 0, "nothing is moved", obstacle)
    steps = [*_known_client(move), *_steps(move)]
    if client.program == CONNECT:
        steps = _of_connector(steps)
    paused = iter(bounces)
    numbered = tuple(
        replace(step, number=number, pauses=next(paused, None) if step.action in _BOUNCES else None)
        for number, step in enumerate(steps, 1)
    )
    return Rollover(numbered, *_read_again(move, *commits))


def _obstacle(move: _Move) -> str:
    if not move.is_to_server:
        return _client_obstacle(move)
    if move.target not in SERVER_ASSIGNORS:
        return f"{move.target} is no assignor that brokers come with"
    if move.is_from_server:
        return ""  # its clients speak the protocol already
    if move.brokers and move.brokers < _CONSUMER_BROKERS:
        return "KIP-848 groups are for production from brokers 4.0 on"
    if move.client.client is None and move.client.program:
        return f"whether {move.client.program} speaks KIP-848 is not known here"
    if not move.settings.consumer_since:
        return f"no release of {move.client.client} with KIP-848 for production is known"
    return ""


def _client_obstacle(move: _Move) -> str:
    name = move.client.client or move.client.program or "the client"
    if not move.today and not move.is_from_server:
        return f"the group's strategy of today is not known: {learn_strategy(move.group)}"
    if move.client.client is None and move.client.program:
        return f"strategies of {name} are not known here"
    if move.target not in move.settings.strategies:
        return f"{name} has no strategy {move.target}"
    if move.target not in strategies_of(move.group):
        return f"not all members have a strategy {move.target}: they run several client libraries or an older release"
    return ""


def _known_client(move: _Move) -> list[RolloverStep]:
    """What must be so before anything is set."""
    if move.is_to_server and move.is_from_server:
        return []
    since = move.settings.consumer_since if move.is_to_server else ""
    if move.target == COOPERATIVE and not move.is_to_server:
        since = move.settings.cooperative_since
    needed = []
    if move.client.client is None:
        seen = {str(member_client(member, move.group)) for member in move.group.members}
        why = f"no single client was recognised ({', '.join(sorted(seen))}); these are the steps of Java's"
        needed.append(_step(Action.REQUIRE, why, "the client of all members", "Java's own"))
    is_new_enough = move.client.first and since and release_of(move.client.first) >= release_of(since)
    if since and not is_new_enough:
        why = f"older ones do not know {'KIP-848' if move.is_to_server else COOPERATIVE}"
        needed.append(_step(Action.REQUIRE, why, "the client's release", f"{since} or later"))
    return needed


def _step(action: Action, why: str, setting: str = "", value: str = "", rebalances: int | None = None) -> RolloverStep:
    return RolloverStep(0, action, why, setting, value, rebalances)


def _steps(move: _Move) -> list[RolloverStep]:
    if move.is_to_server:
        return _to_another_assignor(move) if move.is_from_server else _to_consumer(move)
    if move.is_from_server:
        return _to_classic(move)
    return _two_bounces(move) if move.settings.can_roll(move.today, move.target) else _stopped(move)


def learn_strategy(group: Group) -> str:
    """How the user learns which strategy a group runs."""
    return f"add the output of kafka-consumer-groups --describe --state --group {group.id}"


def _of_connector(steps: list[RolloverStep]) -> list[RolloverStep]:
    """The same steps for the tasks of a sink, which its connector configures, starts and stops."""
    policy = _step(
        Action.REQUIRE, "else the worker refuses the connector's overrides; it is All by default from 3.0 on. The same "
        "settings behind consumer. in every worker's own file hold for all its connectors",
        "connector.client.config.override.policy", "All",
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
    kept = "until then every member gives up all at each rebalance" if move.is_between_protocols else "both are eager"
    return [
        _step(Action.SET, "a group uses a strategy that all members name", settings.strategy, both),
        _step(Action.BOUNCE, f"{move.today} stays in use until all name {move.target}", rebalances=move.rebalances),
        _step(Action.SET, f"{kept}, {move.target} alone is left", settings.strategy, alone),
        _step(Action.BOUNCE, f"after it {move.today} is out of use", rebalances=more * move.rebalances),
    ]


def _stopped(move: _Move) -> list[RolloverStep]:
    """No member with the new strategy may meet one with the old."""
    alone, name = move.settings.value((move.target,)), move.client.client or "a client"
    return [
        *_all_stopped(move, f"{name} cannot name {move.today} and {move.target} together"),
        _step(Action.SET, "positions stay committed", move.settings.strategy, alone),
        _step(Action.START, "they go on where they were", rebalances=2 * len(move.group.members)),
    ]


def _all_stopped(move: _Move, why: str) -> list[RolloverStep]:
    """And nobody left in the group, to whom the new ones would have to fit."""
    stopped = [_step(Action.STOP, f"{why}; nothing is read meanwhile")]
    if any(member.instance_id for member in move.group.members):
        empty = "members with an instance id stay in the group until their session is over"
        stopped.append(_step(Action.REQUIRE, empty, "the group's state", "Empty"))
    return stopped


def _to_consumer(move: _Move) -> list[RolloverStep]:
    is_kept = move.today in move.settings.strategies - move.settings.with_user_data
    policy = "upgrade or bidirectional (the default)"
    steps = [
        _step(Action.REQUIRE, "KIP-848 is for production from there on", "the brokers' release", "4.0 or later"),
        _step(Action.REQUIRE, "else the first new member is refused", "group.consumer.migration.policy", policy),
        _step(Action.REMOVE, "the coordinator computes the assignment; clients refuse it", move.settings.strategy),
        *(_step(Action.REMOVE, f"clients refuse it; {why}", setting) for setting, why in _GONE_UNDER_CONSUMER.items()),
        _step(Action.SET, "instance ids stay; a pattern that the client matches itself stays", "group.protocol",
              "consumer"),
        _step(Action.SET, "members that name none get the brokers' first", "group.remote.assignor", move.target),
    ]  # fmt: skip
    if is_kept:
        why = "the first new member turns the group over; old ones go on by the old requests until it is their turn"
        return [*steps, _step(Action.BOUNCE, why, rebalances=move.rebalances)]
    hold = f"by {move.today} hold" if move.today else "by its strategy of today, which is not known, may hold"
    why = f"assignments {hold} data of its own, and brokers do not turn such a group over while it runs"
    start = _step(Action.START, "they go on where they were", rebalances=2 * len(move.group.members))
    return [*_all_stopped(move, why), *steps, start]


def _to_classic(move: _Move) -> list[RolloverStep]:
    policy = "downgrade or bidirectional (the default)"
    alone = move.settings.value((move.target,))
    why = "the group is a classic one again when its last KIP-848 member has left"
    return [
        _step(Action.REQUIRE, "else old members are refused", "group.consumer.migration.policy", policy),
        _step(Action.REMOVE, "Java's clients refuse it beside the classic protocol", "group.remote.assignor"),
        _step(Action.SET, "session and heartbeat are the client's again", "group.protocol", "classic"),
        _step(Action.SET, "what the group then uses", move.settings.strategy, alone),
        _step(Action.BOUNCE, why, rebalances=move.rebalances * (2 if move.target == COOPERATIVE else 1)),
    ]


def _to_another_assignor(move: _Move) -> list[RolloverStep]:
    why = "the coordinator uses the one that most members name"
    return [
        _step(Action.SET, "named by each member", "group.remote.assignor", move.target),
        _step(Action.BOUNCE, why, rebalances=move.rebalances),
    ]


def _read_again(move: _Move, commits: Commits, interval_ms: int) -> tuple[int | None, str]:
    is_eager = not (move.is_from_server and move.is_to_server) and {move.today, move.target} != {COOPERATIVE}
    if move.is_from_server != move.is_to_server and commits in (Commits.AUTOMATIC, Commits.UNKNOWN):
        return None, _BETWEEN_GROUP_TYPES
    given_up = "every partition at every rebalance" if is_eager else "only partitions that move, and a closed member's"
    if commits is Commits.AUTOMATIC and not move.settings.commits_when_revoked:
        return interval_ms, f"{move.client.client} is not known to commit what it gives up: {given_up}"
    match commits:
        case Commits.AUTOMATIC if move.reads_while_joining:
            return None, f"{_READ_WHILE_JOINING}; none if the program commits in its listener before it gives them up"
        case Commits.AUTOMATIC:
            return 0, "none: positions are committed before a partition is given up and when a member is closed"
        case Commits.WHEN_REVOKED:
            return 0, "none: the program commits before it gives a partition up"
        case Commits.AT_INTERVALS:
            return interval_ms, f"what was read since the last commit of a partition that is given up: {given_up}"
        case _:
            few = f"few if the client commits automatically ({_READ_WHILE_JOINING}), none if the program commits"
            none = "none if the client commits automatically, or the program"
            why = f"{few if move.reads_while_joining else none} before it gives a partition up; else"
            return None, f"{why} what was read since the last commit: {given_up}"
