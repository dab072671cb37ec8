from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from kafka_assignors.releases import Client
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.member_clients import (
    SETTINGS,
    UNKNOWN_CLIENT,
    KnownClient,
    group_client,
    set_strategy,
    strategies_of,
)
from kafka_rebalance.groups.rollover import Action, Obstacle, Rollover, Why, rollover
from kafka_rebalance.snapshot.group import Group, Member
from kafka_rebalance.snapshot.model import GroupType

JAVA, PYTHON = KnownClient(Client.JAVA, first="4.0"), KnownClient(Client.KAFKA_PYTHON)
STOPPED = [Action.STOP, Action.REQUIRE, Action.SET, Action.START]  # required: that the static member is gone, too
CLASSES = "org.apache.kafka.clients.consumer"


def group(protocol: str, kind: GroupType = GroupType.CLASSIC) -> Group:
    """Two members, and a third one with an instance id."""
    return Group("g", kind, protocol=protocol, members=(Member("a"), Member("b"), Member("c", instance_id="c")))


def rolled(
    client: KnownClient, today: str, target: str, *, is_server: bool = False, version: str | None = "4.1",
    kind: GroupType = GroupType.CLASSIC,
) -> Rollover:  # fmt: skip
    return rollover(group(today, kind), client, target, is_server=is_server, kafka_version=version)


def shape(result: Rollover) -> list[tuple[Action, str, str]]:
    return [(step.action, step.setting, step.value) for step in result.steps]


def test_java_goes_from_eager_to_cooperative_in_two_bounces() -> None:
    """Two members rebalance twice when they are restarted, the static one at most once: 5; cooperatively twice that."""
    result = rolled(JAVA, "range", "cooperative-sticky")
    setting, new, old = (
        "partition.assignment.strategy",
        f"{CLASSES}.CooperativeStickyAssignor",
        f"{CLASSES}.RangeAssignor",
    )
    assert shape(result) == [
        (Action.SET, setting, f"{new},{old}"), (Action.BOUNCE, "", ""), (Action.SET, setting, new),
        (Action.BOUNCE, "", ""),
    ]  # fmt: skip
    assert [step.rebalances for step in result.steps] == [None, 5, None, 10]
    assert [step.number for step in result.steps] == [1, 2, 3, 4]
    assert [step.why for step in result.steps] == [
        Why.ALL_MUST_NAME, Why.STAYS_UNTIL_ALL_NAME, Why.REVOKES_UNTIL_THEN, Why.OUT_OF_USE_AFTER,
    ]  # fmt: skip
    assert [item.code for item in result.facts()] == [*[FactCode.ROLLOVER_STEP] * 4, FactCode.READ_TWICE]


@pytest.mark.parametrize(
    ("client", "today", "target", "actions"),
    [
        # librdkafka and kafka-python refuse a list of both kinds; Sarama is not known to take it.
        (Client.LIBRDKAFKA, "range", "cooperative-sticky", [Action.REQUIRE, *STOPPED]),
        (Client.KAFKA_PYTHON, "range", "cooperative-sticky", [Action.REQUIRE, *STOPPED]),
        (Client.SARAMA, "cooperative-sticky", "range", STOPPED),
        (Client.LIBRDKAFKA, "range", "roundrobin", [Action.SET, Action.BOUNCE] * 2),
        (Client.FRANZ_GO, "range", "cooperative-sticky", [Action.SET, Action.BOUNCE] * 2),
        (Client.AIOKAFKA, "roundrobin", "sticky", [Action.SET, Action.BOUNCE] * 2),
        (Client.JAVA, "their-own", "range", STOPPED),
        (Client.JAVA, "range", "cooperative-sticky", [Action.REQUIRE, *[Action.SET, Action.BOUNCE] * 2]),
    ],
)  # fmt: skip
def test_each_client_goes_the_way_that_it_can(client: Client, today: str, target: str, actions: list[Action]) -> None:
    result = rolled(KnownClient(client), today, target)
    assert [step.action for step in result.steps] == actions
    assert result.obstacle is None


def test_to_kip_848_is_one_bounce_and_clients_are_told_less() -> None:
    result = rolled(JAVA, "range", "uniform", is_server=True)
    assert shape(result) == [
        (Action.REQUIRE, "broker_release", "4.0"),
        (Action.REQUIRE, "group.consumer.migration.policy", "upgrade"),
        (Action.REMOVE, "partition.assignment.strategy", ""), (Action.REMOVE, "session.timeout.ms", ""),
        (Action.REMOVE, "heartbeat.interval.ms", ""), (Action.SET, "group.protocol", "consumer"),
        (Action.SET, "group.remote.assignor", "uniform"), (Action.BOUNCE, "", ""),
    ]  # fmt: skip
    # A client of unknown release gets a check; a custom assignor has no online change.
    librdkafka = rolled(KnownClient(Client.LIBRDKAFKA, first="2.11"), "their-own", "range", is_server=True)
    actions = [step.action for step in librdkafka.steps]
    assert (librdkafka.steps[0].value, actions[1], actions[-1]) == ("2.12", Action.STOP, Action.START)
    # Its own leaders write user data into assignments by one strategy, Java's by none.
    new = KnownClient(Client.LIBRDKAFKA, first="2.16")
    for client, today, last in (
        (new, "cooperative-sticky", Action.START), (new, "range", Action.BOUNCE),
        (JAVA, "cooperative-sticky", Action.BOUNCE), (JAVA, "sticky", Action.BOUNCE),
    ):  # fmt: skip
        assert rolled(client, today, "uniform", is_server=True).steps[-1].action is last


def test_back_from_kip_848_and_between_its_assignors() -> None:
    back = rolled(JAVA, "uniform", "cooperative-sticky", kind=GroupType.CONSUMER)
    assert shape(back)[1:] == [
        (Action.REMOVE, "group.remote.assignor", ""), (Action.SET, "group.protocol", "classic"),
        (Action.SET, "partition.assignment.strategy", f"{CLASSES}.CooperativeStickyAssignor"), (Action.BOUNCE, "", ""),
    ]  # fmt: skip
    assert back.steps[-1].rebalances == 10
    other = rolled(JAVA, "uniform", "range", kind=GroupType.CONSUMER, is_server=True)
    assert shape(other) == [(Action.SET, "group.remote.assignor", "range"), (Action.BOUNCE, "", "")]


@pytest.mark.parametrize(
    ("client", "target", "version", "obstacle"),
    [
        (Client.JAVA, "uniform", "3.9", Obstacle.BROKERS_TOO_OLD),
        (Client.AIOKAFKA, "uniform", "4.1", Obstacle.PROTOCOL_NOT_RELEASED),
        (Client.JAVA, "sticky", "4.1", Obstacle.NO_SERVER_ASSIGNOR),
    ],
)
def test_what_cannot_be_has_no_steps(client: Client, target: str, version: str, obstacle: Obstacle) -> None:
    result = rolled(KnownClient(client), "range", target, is_server=True, version=version)
    assert result.steps == ()
    assert result.obstacle is obstacle
    assert [item.args["why"] for item in result.facts()] == [obstacle.value]
    assert rolled(KnownClient(Client.KAFKAJS), "roundrobin", "range").obstacle is Obstacle.CLIENT_LACKS_STRATEGY
    still = rolled(JAVA, "range", "range")
    assert (still.steps, still.obstacle, still.facts()) == ((), None, ())


def test_an_unknown_client_is_told_javas_steps_and_that_they_are() -> None:
    result = rolled(UNKNOWN_CLIENT, "range", "cooperative-sticky")
    assert [step.value for step in result.steps[:2]] == ["java", "2.4"]
    assert (result.steps[0].why, result.clients) == (Why.CLIENT_UNKNOWN, ("unknown",))


def test_records_read_twice_depend_on_client_strategies_and_group_type() -> None:
    java, python = (rolled(client, "range", "cooperative-sticky").read_again.args for client in (JAVA, PYTHON))
    assert (java["case"], java["reads_while_joining"], java["is_eager"]) == ("commits_unknown", True, True)
    assert rolled(JAVA, "cooperative-sticky", "range").read_again.args == java
    assert not python["reads_while_joining"]
    assert not rolled(JAVA, "range", "sticky").read_again.args["reads_while_joining"]
    moved = rolled(JAVA, "uniform", "range", kind=GroupType.CONSUMER, is_server=True).read_again.args
    assert (moved["case"], moved["is_eager"]) == ("commits_unknown", False)
    for is_server, kind in ((True, GroupType.CLASSIC), (False, GroupType.CONSUMER)):
        result = rolled(JAVA, "range", "range", is_server=is_server, kind=kind)
        assert result.read_again.args["case"] == "between_group_types"


def test_a_connector_is_configured_by_its_overrides_and_restarted_whole() -> None:
    tasks = tuple(Member(f"m{number}", client_id=f"connector-consumer-s-{number}") for number in "01")
    sink = Group("g", protocol="range", members=tasks)
    client = group_client(sink)
    setting = "consumer.override.partition.assignment.strategy"
    result = rollover(sink, client, "roundrobin", is_server=False, kafka_version=None)
    assert (result.steps[0].setting, result.steps[0].value) == ("connector.client.config.override.policy", "All")
    assert [step.setting for step in result.steps[1:]] == [setting, "", setting, ""]
    assert [step.action for step in result.steps[2::2]] == [Action.RESTART_CONNECTOR] * 2
    migrated = rollover(replace(sink, protocol="their-own"), client, "uniform", is_server=True, kafka_version="4.1")
    assert {"consumer.override.group.protocol", "consumer.override.session.timeout.ms"} <= {
        step.setting for step in migrated.steps
    }
    assert Action.STOP_CONNECTOR in {step.action for step in migrated.steps}
    assert migrated.steps[-1].action is Action.RESUME_CONNECTOR


def test_what_is_not_known_is_said_and_has_no_steps() -> None:
    unknown = rolled(JAVA, "", "range")
    assert (unknown.steps, unknown.obstacle) == ((), Obstacle.STRATEGY_UNKNOWN)
    assert unknown.facts()[0].args["learn"] == fact(FactCode.LEARN_STRATEGY, group="g")
    other = rolled(KnownClient(None, program="a client of their own"), "range", "roundrobin")
    assert (other.obstacle, other.client) == (Obstacle.STRATEGIES_UNKNOWN, "a client of their own")
    members = (Member("a", client_id="rdkafka"), Member("b", client_id="consumer-g-1"))
    mixed = replace(group("range"), members=members)
    result = rollover(mixed, group_client(mixed), "sticky", is_server=False, kafka_version=None)
    assert result.obstacle is Obstacle.MEMBERS_LACK_STRATEGY
    assert strategies_of(mixed) == {"range", "roundrobin", "cooperative-sticky"}
    setting = "partition.assignment.strategy"
    java = "org.apache.kafka.clients.consumer.RoundRobinAssignor"
    settings = ((setting, java, "java", False), (setting, "roundrobin", "librdkafka", False))
    assert set_strategy(mixed, "roundrobin") == fact(FactCode.SET_STRATEGY, settings=settings)


def test_kafkajs_calls_its_strategy_by_another_name() -> None:
    assert rolled(KnownClient(Client.KAFKAJS), "RoundRobinAssigner", "roundrobin").steps == ()


def test_every_client_has_a_way_or_an_obstacle_to_everything() -> None:
    """Steps are numbered, end with all members on the new strategy, and no list that a client refuses is in them."""
    strategies = ("range", "roundrobin", "sticky", "cooperative-sticky")
    for client, today, target in product(Client, strategies, strategies):
        result = rolled(KnownClient(client), today, target)
        assert bool(result.steps) != (bool(result.obstacle) or today == target)
        assert [step.number for step in result.steps] == list(range(1, len(result.steps) + 1))
        if result.steps:
            assert result.steps[-1].action in (Action.BOUNCE, Action.START)
            values = [step.value for step in result.steps if step.setting == SETTINGS[client].strategy]
            assert values[-1] == SETTINGS[client].value((target,))
            assert SETTINGS[client].can_mix or all("ooperative" not in value or "," not in value for value in values)
