from __future__ import annotations

from typing import Any

import pytest

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.idle_causes import IdleCause
from kafka_rebalance.groups.kinds import GroupKind
from kafka_rebalance.groups.member_clients import Sign
from kafka_rebalance.groups.motion import GroupMotion, MotionCode
from kafka_rebalance.groups.rollover import Action, Obstacle, Why
from kafka_rebalance.render import render


def said(code: FactCode, **args: Any) -> str:
    return render(fact(code, **args))


@pytest.mark.parametrize("code", MotionCode)
def test_every_motion_has_words(code: MotionCode) -> None:
    motion = GroupMotion(code, "Reconciling", 2, ("m1",), ("m2",), coordinator=3)
    text = render(motion.fact(FactCode.NOT_JUDGED))
    assert text.startswith("Not judged: ")
    assert text.removeprefix("Not judged: ").startswith(
        render(motion.fact(FactCode.CANNOT_CHANGE_NOW)).removeprefix("cannot be changed now: ")
    )


def test_members_that_hold_and_wait_are_named() -> None:
    motion = GroupMotion(MotionCode.RECONCILING, None, 2, ("m1",), ("m2",))
    assert "m1 must still give partitions up. m2 must still get theirs." in render(motion.fact(FactCode.NOT_JUDGED))
    numbers = GroupMotion(MotionCode.NOT_SHOWN, None, 2, partition_counts=(3, 3))
    assert "the group's 2 members have 3 each" in render(numbers.fact(FactCode.NOT_JUDGED))


@pytest.mark.parametrize("kind", [kind for kind in GroupKind if not kind.has_choice])
def test_every_kind_without_a_choice_has_words(kind: GroupKind) -> None:
    advice = said(FactCode.NO_CHOICE, kind=kind.value, see=("lag_growing",))
    assert advice.endswith("; see lag growing")
    assert said(FactCode.CANNOT_CHANGE_KIND, kind=kind.value) == (
        f"cannot be changed: {advice.removesuffix('; see lag growing')}"
    )


@pytest.mark.parametrize("cause", IdleCause)
def test_every_cause_of_idle_members_has_words(cause: IdleCause) -> None:
    why = fact(
        FactCode.IDLE_CAUSE, cause=cause.value, partitions=6, members=8, strategy="sticky", better=None,
        better_idle_members=None, setting=None, is_sink=False,
    )  # fmt: skip
    text = said(FactCode.IDLE_MEMBERS, idle_members=2, members=8, why=why)
    assert text.startswith("2 of 8 members read nothing: ")
    assert text.endswith(".")


def test_a_better_assignor_comes_with_its_setting() -> None:
    setting = fact(
        FactCode.SET_STRATEGY,
        settings=(("partition.assignment.strategy", "roundrobin", "librdkafka", False), ("p", "R", "java", True)),
    )
    why = fact(
        FactCode.IDLE_CAUSE, cause="other_assignor", partitions=6, members=8, strategy="range", better="roundrobin",
        better_idle_members=0, setting=setting, is_sink=False,
    )  # fmt: skip
    assert render(why) == (
        "roundrobin would give work to all of them, range does not: set partition.assignment.strategy = roundrobin "
        "(librdkafka), p = R (java; Spring Boot: spring.kafka.consumer.properties.p). Keep range only if the members "
        "join topics partition by partition"
    )


@pytest.mark.parametrize(
    ("why", "skew", "by_rate", "message"),
    [
        ("none_better", 1.5, False, "no other would be better by a quarter (1.50 × the mean by count)"),
        ("even", 1.24, True, "even, the fullest member has 1.24 × the mean by rate"),
        ("not_measured", None, False, "how even it is was not measured"),
        ("one_member", 1.0, False, "one member reads all"),
    ],
)
def test_keep_is_said_with_its_reason(why: str, skew: float | None, *, by_rate: bool, message: str) -> None:
    text = said(FactCode.KEEP_STRATEGY, strategy="range", why=why, skew=skew, by_rate=by_rate, see=())
    assert text == f"keep range: {message}"


def test_a_change_is_said_with_what_it_moves() -> None:
    known = {"advised": "roundrobin", "idle_members": 0, "partitions_moved": 4}
    text = said(FactCode.CHANGE_STRATEGY, skew_count=None, is_server=False, **known)
    assert text == "roundrobin: 0 idle, 4 partitions change reader"
    text = said(FactCode.CHANGE_STRATEGY, skew_count=1.0, is_server=True, **(known | {"partitions_moved": 1}))
    assert text == "roundrobin: 0 idle, skew 1.00, 1 partition changes reader (group.remote.assignor)"


def test_the_consumer_protocol_is_said_with_what_a_death_costs() -> None:
    figures = {"assignor": "uniform", "skew": 1.0, "skew_today": 6.0, "partitions_moved": 20}
    text = (
        "KIP-848 with uniform: the fullest member has 1.00 × the mean (today 6.00 ×), 20 partitions change reader once"
    )
    assert said(FactCode.CONSUMER_PROTOCOL, member_dies=None, member_dies_today=None, **figures) == text
    dies = fact(FactCode.PARTITIONS_WAIT, partitions=4, longest_pause_ms=49_000)
    today = fact(FactCode.PARTITIONS_WAIT, partitions=24, longest_pause_ms=None)
    assert said(FactCode.CONSUMER_PROTOCOL, member_dies=dies, member_dies_today=today, **figures) == (
        f"{text}; when a member dies 4 partitions wait up to 49 s (today 24 partitions wait, some for ever)"
    )


def step(**more: Any) -> str:
    known = {"number": 2, "action": "bounce", "setting": None, "value": None, "rebalances": None, "why": "reads_on",
             "today": "range", "target": "cooperative-sticky", "client": "java", "clients": ()}  # fmt: skip
    return said(FactCode.ROLLOVER_STEP, **(known | more))


def test_steps_are_numbered_with_their_rebalances() -> None:
    assert step(rebalances=5, why="stays_until_all_name") == (
        "2. Restart one member after the other (at most 5 rebalances): range stays in use until all name "
        "cooperative-sticky."
    )
    required = {"action": "require", "setting": "broker_release", "value": "4.0", "why": "brokers_too_old"}
    assert step(**required).startswith("2. Make sure the brokers' release = 4.0 or later: ")
    unknown = {
        "action": "require",
        "setting": "client",
        "value": "java",
        "why": "client_unknown",
        "clients": ("unknown",),
    }
    assert step(**unknown) == (
        "2. Make sure the client of all members = Java's own: no single client was recognised (unknown); these are the "
        "steps of Java's."
    )


@pytest.mark.parametrize("why", Why)
@pytest.mark.parametrize("today", ["range", None])
def test_every_step_has_words(why: Why, today: str | None) -> None:
    assert step(why=why.value, today=today).endswith(".")


@pytest.mark.parametrize("action", Action)
def test_every_action_has_words(action: Action) -> None:
    assert step(action=action.value).startswith("2. ")


@pytest.mark.parametrize("obstacle", Obstacle)
def test_every_obstacle_has_words(obstacle: Obstacle) -> None:
    learn = fact(FactCode.LEARN_STRATEGY, group="g")
    text = said(FactCode.CANNOT_CHANGE, why=obstacle.value, client=None, target="sticky", learn=learn)
    assert text.startswith("cannot be changed: ")


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("commits_unknown", "few if the client commits automatically (under cooperative-sticky those"),
        ("between_group_types", "of each partition that changes its member at most those read since its last commit"),
    ],
)
def test_records_that_are_read_twice(case: str, message: str) -> None:
    text = said(FactCode.READ_TWICE, case=case, client="kafkajs", is_eager=True, reads_while_joining=True)
    assert text.startswith(f"records read twice: {message}")


def test_members_that_would_keep_up() -> None:
    known = {"kind": "consumers", "members": 2, "partitions": 6}
    assert said(FactCode.ADD_MEMBERS, members_needed=None, **known) == (
        "give it more members (it has 2 for 6 partitions) or faster ones."
    )
    assert "; 4 as fast as its fastest would keep up) or" in said(FactCode.ADD_MEMBERS, members_needed=4, **known)
    assert "for which it needs as many partitions" in said(FactCode.ADD_MEMBERS, members_needed=8, **known)


def test_a_heavy_key_is_named_with_its_share() -> None:
    text = said(
        FactCode.HOT_PARTITION, partition="t-3", resource="in", load=2048.0, share_of_mean=0.5, topic_median=None,
        heaviest_key="device-7", heaviest_key_share=0.75,
    )  # fmt: skip
    assert text.endswith("over several keys. 75% or more of its sampled records have one key: 'device-7'.")


ROWS = [
    (fact(FactCode.MEMBER_JOINS, member="m"), "m joins"),
    (fact(FactCode.MEMBERS_RESTART, restarts=20, members=25), "20 of 25 members restart"),
    (fact(FactCode.RACK_DIES, rack="r1", members=1), "rack r1 dies with 1 member"),
    (fact(FactCode.TOPIC_GROWS, topic="t", partitions_before=3, partitions=6), "t: 3 to 6 partitions"),
    (fact(FactCode.TOPIC_GROWS, topic="t", partitions_before=0, partitions=1), "t: 1 partition"),
    (fact(FactCode.STRATEGY_CHANGES, strategy="range"), "from range"),
    (fact(FactCode.STRATEGY_REFUSES, error="java.lang.ArithmeticException", message="/ by zero"),
     "java.lang.ArithmeticException: / by zero"),
    (fact(FactCode.STRATEGY_REFUSES, error="KeyError", message=""), "KeyError"),
    (fact(FactCode.STRATEGY_NOT_MODELLED, strategy="uniform", modelled_since="3.8"),
     "not modelled: the coordinator's uniform before Kafka 3.8"),
    (fact(FactCode.ANSWER_OF_ASSIGNOR, versions="", gives_today=True), "custom assignor (gives today's assignment)"),
    (fact(FactCode.ANSWER_OF_ASSIGNOR, versions="Mine 1", gives_today=False), "Mine 1"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "message"), ROWS)
def test_rows_of_a_group_have_words(row: Fact, message: str) -> None:
    assert render(row) == message


@pytest.mark.parametrize(
    ("members", "partitions", "message"),
    [((3, 2), (6, 6), "3 to 2 members"), ((3, 3), (6, 8), "6 to 8 partitions"),
     ((1, 2), (2, 1), "1 to 2 members, 2 to 1 partitions"), ((3, 3), (6, 6), "as many members and partitions")],
)  # fmt: skip
def test_a_group_that_changes_is_told_in_numbers(
    members: tuple[int, int], partitions: tuple[int, int], message: str
) -> None:
    sizes = {"members_before": members[0], "members": members[1]}
    sizes |= {"partitions_before": partitions[0], "partitions": partitions[1]}
    assert said(FactCode.GROUP_CHANGES, **sizes) == message


def client_of(first: str, last: str, *, sign: str = "rule", is_asked: bool = True) -> Fact:
    known = {"client": "java", "first": first, "last": last, "sign": sign, "sureness": "given"}
    return fact(FactCode.RELEASES_OF_CLIENT, **known, is_asked=is_asked)


@pytest.mark.parametrize("sign", [sign for sign in Sign if sign is not Sign.NONE])
def test_every_sign_of_a_client_has_words(sign: Sign) -> None:
    assert render(client_of("2.4", "", sign=sign.value)).startswith("java 2.4 and later by ")


def test_releases_of_a_client_are_a_span() -> None:
    assert render(client_of("3.4", "3.4")) == "java 3.4 by a rule (given)"
    assert render(client_of("2.4", "3.3")) == "java 2.4 – 3.3 by a rule (given)"
    assert render(client_of("", "2.3", is_asked=False)) == "another release than java up to 2.3 by a rule (given)"
    assert render(client_of("", "")) == "java by a rule (given)"


def test_an_answer_is_told_with_its_releases() -> None:
    newest, old = (("Kafka", "3.5", "4.4"),), (("Kafka", "0.9", "2.3"),)
    of_releases = {"releases": newest, "basis": None, "differing": ()}
    assert said(FactCode.ANSWER_OF_RELEASES, **of_releases) == "Kafka 3.5 – 4.4 (assumed)"
    text = said(FactCode.ANSWER_OF_RELEASES, **(of_releases | {"differing": old}))
    assert text == "Kafka 3.5 – 4.4 (assumed; Kafka 0.9 – 2.3 would differ)"
    brokers = fact(FactCode.RELEASE_OF_BROKERS, release="4.1.0")
    text = said(FactCode.ANSWER_OF_RELEASES, **(of_releases | {"basis": brokers}))
    assert text == "Kafka 3.5 – 4.4 (brokers are 4.1.0)"
    newer = fact(FactCode.ASSUMED, basis=fact(FactCode.RELEASE_OF_BROKERS, release="4.5.0"))
    text = said(FactCode.ANSWER_OF_RELEASES, **(of_releases | {"basis": newer}))
    assert text == "Kafka 3.5 – 4.4 (assumed: brokers are 4.5.0, newer than any release that was tried)"
    foreign = fact(FactCode.CLIENT_NOT_MODELLED, client="kafka-go")
    text = said(FactCode.ANSWER_OF_RELEASES, **(of_releases | {"basis": foreign}))
    assert text == "Kafka 3.5 – 4.4 (as Java's; kafka-go's own is not modelled)"


def test_todays_assignment_is_told_as_evidence_only_where_it_is() -> None:
    args = {"releases": (("Kafka", "3.5", "4.4"),), "differing": (), "alike": (), "keeps_even": False, "basis": None}
    assert said(FactCode.GIVES_TODAY, **args) == "Kafka 3.5 – 4.4 (gives today's assignment)"
    alike = said(FactCode.GIVES_TODAY, **(args | {"alike": ("sticky", "range")}))
    assert alike == "Kafka 3.5 – 4.4 (today's assignment fits, sticky and range would give it, too)"
    even = said(FactCode.GIVES_TODAY, **(args | {"keeps_even": True, "differing": (("Kafka", "2.4", "2.4"),)}))
    assert even == "Kafka 3.5 – 4.4 (today's assignment fits, as any even one; Kafka 2.4 would not)"
    rackless = said(FactCode.GIVES_TODAY, **(args | {"is_rackless": True}))
    assert rackless == "Kafka 3.5 – 4.4 (gives today's assignment, if racks were others then)"
    known = said(FactCode.GIVES_TODAY, **(args | {"basis": client_of("3.7.0", "3.7.0")}))
    assert known == "Kafka 3.5 – 4.4 (gives today's assignment; java 3.7.0 by a rule (given))"
