from dataclasses import replace

from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.advisory.advisory import rollover_steps
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.groups.group_replay import GroupReplay, ReplayOptions
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.options.values import ClientRule
from kafka_rebalance.scoring.scores import GroupScore
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Group, Member, Partition, Topic, partition_table

NO_ANSWER = fact(FactCode.NO_MEMBER_LEFT)
TODAY = GroupScore("g", "range", None, True, 2, 3, skew_count=2.0)
GROUP = Group("g", protocol="range", members=(Member("a", client_id="kafkajs"), Member("b", client_id="kafkajs")))


def test_nothing_advised_needs_no_steps_and_a_client_without_the_strategy_cannot_go_there() -> None:
    replay = GroupReplay("g", SubscriptionBasis.GIVEN, True, (TODAY,), (), None)
    assert rollover_steps(replay, GROUP, None) == ()
    (step,) = rollover_steps(replace(replay, advised="cooperative-sticky"), GROUP, None)
    assert step.code is FactCode.CANNOT_CHANGE
    assert step.args["why"] == "client_lacks_strategy"  # KafkaJS has round robin alone


def test_steps_are_numbered_and_end_with_the_records_read_twice() -> None:
    members = (Member("a", client_id="consumer-g-1"), Member("b", client_id="consumer-g-1"))
    replay = GroupReplay("g", SubscriptionBasis.GIVEN, True, (TODAY,), (), "roundrobin")
    *steps, again = rollover_steps(replay, replace(GROUP, members=members), None)
    assert [step.args["number"] for step in steps] == list(range(1, len(steps) + 1))
    assert "RoundRobinAssignor" in steps[0].args["value"]
    assert again.code is FactCode.READ_TWICE


def test_the_steps_of_an_advisory_are_those_of_the_client_that_a_rule_names() -> None:
    members = tuple(
        Member(f"m{number}", assigned=(("t", (0,)), ("u", (0,))) if not number else ()) for number in range(2)
    )
    rows = [Partition(topic, 0, (1,), 1, (1,), (100,)) for topic in ("t", "u")]
    group = Group("g", protocol="range", state="Stable", members=members)
    snapshot = ClusterSnapshot(
        "c", (Broker(1),), (Topic("t"), Topic("u")), partition_table(rows, {"t": 0, "u": 1}), groups=(group,)
    )
    options = ReplayOptions(clients=(ClientRule("g", "sarama", "1.50.0"),))
    (groups,) = advise(snapshot, AdviceRequest(replay=options)).document()["groups"]
    first = groups["rollover"][0]["args"]
    assert (first["action"], first["setting"]) == ("set", "Consumer.Group.Rebalance.GroupStrategies")
    assert first["value"].startswith("sarama.NewBalanceStrategy")
