from __future__ import annotations

import argparse
import json
import random
from dataclasses import replace

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.option import Option
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target, TopicBrokers, TopicLeaders
from kafka_rebalance.snapshot.model import Capacity
from rebalance_advisor.cli.arguments import add_plan_options, request_of
from rebalance_advisor.request.run_request import OPTIONS, RunRequest
from tests.sample import for_each

REFUSED = {
    "--remove-broker: 3 is no list": {"remove_broker": 3},
    "--remove-broker: 'b3' is no broker id": {"remove_broker": ["b3"]},
    "--remove-broker: True is no broker id": {"remove_broker": [True]},
    "--remove-broker: 1.5 is no broker id": {"remove_broker": [1.5]},
    "--demote-broker: .* is no broker id": {"demote_broker": [2**31]},
    "--add-broker: 'rack-b:7'": {"add_broker": ["rack-b:7"]},
    "--add-broker 7: is given twice": {"add_broker": ["7:a", "7:b"]},
    "--include-topic: 'abc' is no list": {"include_topic": "abc"},
    "--exclude-topic: .* is no regular expression": {"exclude_topic": ["("]},
    "--exclude-topic: 5 is no text": {"exclude_topic": [5]},
    "--target: .* RESOURCE is one of": {"target": ["dusk=1.1"]},
    "--target: 1.1 is no text": {"target": [1.1]},
    "--balance-within: .* is no share": {"balance_within": 1.5},
    "--balance-within: True is no share": {"balance_within": True},
    "--balance-within: 1000.* is no share": {"balance_within": 10**400},
    "--balance-within: inf is no share": {"balance_within": float("inf")},
    "--max-moves: -1 is no whole number": {"max_moves": -1},
    "--max-moves: '5' is no whole number": {"max_moves": "5"},
    "--max-moves: .* is no whole number": {"max_moves": 10**5000},
    "--throttle: 0 is no amount above 0": {"throttle": 0},
    "--throttle: 'fast' is no amount above 0; give a whole number, 500GB or 512MiB": {"throttle": "fast"},
    "--leaders-only: 'no' is neither": {"leaders_only": "no"},
    "--expires-after-hours: 0 is no whole number of hours; give 1 to 878,400": {"expires_after_hours": 0},
    "--replication-factor: 0 is no replication factor; give 1 to 32,767": {"replication_factor": 0},
    "--capacity: .* is no object of brokers": {"capacity": [1]},
    "--capacity 1: .* known figures": {"capacity": {"1": {"disk": 5}}},
    "--capacity 1: 'x' is no number": {"capacity": {"1": {"disk_bytes": "x"}}},
    "--capacity 1: capacity disk_bytes: -5 is no capacity": {"capacity": {"1": {"disk_bytes": -5}}},
    "--capacity 1: is given twice": {"capacity": {"1": {"disk_bytes": 5}, "01": {"disk_bytes": 6}}},
    "--capacity: 'one' is no broker id": {"capacity": {"one": {}}},
    "--seed: .* is no whole number": {"seed": []},
    "--load: 'max' is none of mean, p95, peak": {"load": "max"},
    "--window: '7w' is no window of history": {"load": "p95", "window": "7w"},
    "--window: 841 is no window of history; give 7d or 36h, at most 35d": {"load": "p95", "window": 841},
    "--window: says how far back, and no load is asked of it; add --load": {"window": "7d"},
    "--snapshot: 'yesterday' is none of": {"snapshot": "yesterday"},
    "--own-strategy: 'os.system': names no class; write module:Class or FILE.py:Class": {"own_strategy": ["os.system"]},
    "--own-strategy: 'a b:c': names no class": {"own_strategy": ["a b:c"]},
    "--own-strategy-memory: '1MB' is too little": {"own_strategy_memory": "1MB"},
    "--own-strategy-seconds: 0 is none; give a whole number, 1 to": {"own_strategy_seconds": 0},
    "--cluster: '' is no text; give 1 to 10,000 characters": {"cluster": ""},
    "--age-limit: '2 weeks' is no time span; give 90min, 2h or 3d": {"age_limit": "2 weeks"},
    "--age-limit: '0h' is no time span": {"age_limit": "0h"},
    "--age-limit: 7200 is no time span": {"age_limit": 7200},
    "--remove-broker and --add-broker contradict": {"remove_broker": [7], "add_broker": ["7"]},
    "'remove_brokers': is no option; did you mean remove_broker": {"remove_brokers": [7]},
    "'with_frontier': is no option; did you mean no_frontier": {"with_frontier": None},
    "'zzz': is no option; known: cluster, snapshot, seed, age_limit, load, window, owners, mutes, own_str": {"zzz": 1},
}


@for_each("message", REFUSED)
def test_what_cannot_be_is_refused_by_name(message: str) -> None:
    with pytest.raises(UsageError, match=message):
        RunRequest.from_mapping(REFUSED[message])


JUNK = (
    "", "x", "-1", "1e999", "\x00", "é" * 10_000, 0, -1, 1.5, -0.0, 1e308, float("nan"), 10**30, 10**5000, True, [],
    [[]], [None], [{}], [0], [-1], ["1:"], ["=", "disk="], ["disk=.."], ["disk=2..1"], ["a{99999999999}"], {}, {"": {}},
    {"1": None}, {"1": {"disk_bytes": [1]}}, {"1": {"disk_bytes": float("nan")}}, {"1": {"cpu_percent": 10**5000}},
    {"-1": {}}, {"1": {"": 1}}, b"x",
)  # fmt: skip


@for_each("option", OPTIONS)
def test_whatever_a_call_holds_is_a_request_or_refused_in_words(option: Option) -> None:
    for number, junk in enumerate(JUNK):
        request, refusal = read({option.name: junk})
        if request is None:
            assert option.flag in refusal, number
            assert len(refusal) < 600, number
        else:
            assert RunRequest.from_mapping(request.document()) == request, number


def test_a_request_is_an_object() -> None:
    with pytest.raises(UsageError, match="no object"):
        RunRequest.from_mapping(["seed"])  # type: ignore[arg-type]


def test_an_empty_form_asks_for_nothing() -> None:
    empty = {option.name: option.default for option in OPTIONS}
    nulls = dict.fromkeys(option.name for option in OPTIONS)
    assert RunRequest.from_mapping({}) == RunRequest.from_mapping(empty) == RunRequest.from_mapping(nulls)
    assert RunRequest.from_mapping({}) == RunRequest(None, "latest", 0, PlanOptions())


def test_every_field_reaches_its_option() -> None:
    request = RunRequest.from_mapping(
        {
            "cluster": "c", "snapshot": "fresh", "age_limit": "90min", "seed": 3, "load": "peak", "window": 36,
            "balance_within": "20%",
            "target": ["disk=0.9..1.1", "in=2"],
            "remove_broker": [3, 1.0], "add_broker": ["7:rack:b", "8", 9], "demote_broker": ["4"],
            "exclude_broker": [5], "replication_factor": 2, "include_topic": ["a.*"],
            "exclude_topic": ["a.b"], "dead_band": 1,
            "least_gain_per_byte": 0, "max_move_bytes": "512MiB", "max_moves": 4, "max_leader_changes": 0,
            "throttle": "1000B", "moves_per_broker": 2, "partitions_per_wave": 10, "expires_after_hours": 7,
            "max_leader_changes_per_wave": 5,
            "capacity": {"1": {"disk_bytes": 5e12}}, "no_frontier": True, "leaders_only": False,
            "preferred_election": False, "prefer": "time", "slack": "3%", "max_reorders": 6,
            "topic_brokers": ["pay=2,1,rack:a"],
            "max_hours": "1.5", "survive": "rack", "also_balance": ["leader_in"],
        }
    )  # fmt: skip
    assert request == RunRequest(
        "c", "fresh", 3,
        PlanOptions(
            within=0.2, targets={"disk": Target(0.9, 1.1), "in": Target(None, 2.0)}, remove_brokers=frozenset({1, 3}),
            add_brokers={7: "rack:b", 8: None, 9: None}, demote_brokers=frozenset({4}), exclude_brokers=frozenset({5}),
            replication_factor=2, include_topics=("a.*",), exclude_topics=("a.b",), dead_band=1.0,
            least_gain_per_byte=0.0, max_move_bytes=512 * 2**20, max_moves=4, max_leader_changes=0,
            throttle_bytes_per_s=1000, moves_per_broker=2, partitions_per_wave=10, expires_after_hours=7,
            max_leader_changes_per_wave=5,
            capacities={1: Capacity(disk_bytes=5e12)}, with_frontier=False, prefer="time", slack=0.03, max_reorders=6,
            topic_brokers=(TopicBrokers("pay", frozenset({1, 2}), frozenset({"a"})),),
            max_hours=1.5, survive="rack", also_balance=frozenset({"leader_in"}),
        ),
        age_limit_s=5400, load="peak", window_hours=36,
    )  # fmt: skip


def test_least_leaders_reach_their_option() -> None:
    """They have no place beside the losses above."""
    options = RunRequest.from_mapping({"min_topic_leaders": ["pay-.*=2", "a=b=1"]}).options
    assert options.min_topic_leaders == (TopicLeaders("pay-.*", 2), TopicLeaders("a=b", 1))
    for wrong in ("pay", "=2", "pay=two", "pay=0", "(=1"):
        with pytest.raises(UsageError, match="--min-topic-leaders"):
            RunRequest.from_mapping({"min_topic_leaders": [wrong]})


@for_each("seed", range(200))
def test_a_random_request_comes_back_from_its_document_exactly(seed: int) -> None:
    request = random_request(random.Random(seed))
    document = request.document()
    assert list(document) == [option.name for option in OPTIONS]
    assert RunRequest.from_mapping(json.loads(json.dumps(document))) == request


def test_a_run_that_was_stored_before_the_table_is_read() -> None:
    stored = {
        "cluster": None, "snapshot": "latest", "balance_within": 0.3, "max_move_bytes": None, "max_moves": None,
        "max_leader_changes": None, "throttle": None, "remove_broker": None, "add_broker": ["7:rack-b"],
        "include_topic": None, "exclude_topic": None, "seed": 4,
    }  # fmt: skip
    assert RunRequest.from_mapping(stored) == RunRequest(
        seed=4, options=PlanOptions(within=0.3, add_brokers={7: "rack-b"})
    )


def test_topics_that_are_left_alone_contradict_no_topic_that_was_asked_for() -> None:
    request = RunRequest.from_mapping({"include_topic": ["orders", "a.*"], "exclude_topic": ["a.b"]})
    left = request.leaving_topics(["orders", "a.c", "a.c"]).options
    assert left.exclude_topics == ("a.b", r"a\.c", "(?:orders)")
    names = ("orders", "a.b", "a.c", "abc", "a.d")
    assert [name for name in names if left.is_topic_allowed(name)] == ["abc", "a.d"]
    assert request.leaving_topics([]) == request


def test_the_words_of_a_random_request_ask_a_shell_for_the_same() -> None:
    parser = argparse.ArgumentParser()
    add_plan_options(parser)
    for seed in range(100):
        request = random_request(random.Random(seed))
        request = replace(
            request, cluster=None, snapshot="latest", age_limit_s=None, options=replace(request.options, capacities={})
        )  # a shell's INPUT, and a file
        assert request_of(parser.parse_args(words_of(request))) == request, seed


def words_of(request: RunRequest) -> list[str]:
    document, arguments = request.document(), []
    for option in OPTIONS:
        value = document[option.name]
        if option.is_in_shell and value is True:
            arguments.append(option.flag)
        elif option.is_in_shell and value is not None and value is not False:
            arguments += [f"{option.flag}={part}" for part in (value if option.is_repeated else [value])]
    return arguments


def read(mapping: dict[str, object]) -> tuple[RunRequest | None, str]:
    """The request, or the words of its refusal."""
    try:
        return RunRequest.from_mapping(mapping), ""
    except UsageError as error:
        return None, str(error)


def random_request(rng: random.Random) -> RunRequest:
    def maybe(value: object, otherwise: object = None) -> object:
        return value if rng.random() < 0.5 else otherwise

    brokers = rng.sample(range(20), 8)
    within = rng.choice([None, rng.random(), 0.0])
    low, high = sorted((rng.uniform(0.01, 2), rng.uniform(0.01, 2)))
    bands = (Target(None, high), Target(low, None), Target(low, high))
    return RunRequest(
        cluster=maybe("prod"),
        snapshot=rng.choice(["latest", "fresh"]),
        seed=rng.randrange(2**40),
        age_limit_s=maybe(60 * rng.randint(1, 9999)),
        load=(load := maybe(rng.choice(["mean", "p95", "peak"]))),
        own_strategies=tuple(rng.sample(["a:B", "a.b:C.D", "./e f.py:G"], rng.randint(0, 3))),
        own_strategy_s=maybe(rng.randint(1, 999)),
        own_strategy_bytes=maybe(rng.randint(64 * 2**20, 2**40)),
        window_hours=None if load is None else rng.choice([None, 1, 36, 168, 840]),
        options=PlanOptions(
            within=within,
            targets={name: rng.choice(bands) for name in rng.sample(["disk", "in", "out", "cpu"], 2)},
            caps={
                "disk": rng.choice([10**12, 1e18]),
                "leader_in": rng.uniform(1e-6, 1e18),
                "leaders": rng.randint(1, 99),
            },
            max_move_bytes=maybe(rng.randrange(10**15)),
            max_moves=maybe(rng.randrange(100)),
            max_leader_changes=maybe(rng.randrange(100)),
            remove_brokers=frozenset(brokers[:2]),
            add_brokers={brokers[2]: "rack:1", brokers[3]: maybe("ra ck")},
            demote_brokers=frozenset(brokers[4:6]),
            exclude_brokers=frozenset(brokers[6:]),
            replication_factor=maybe(rng.randint(1, 5)),
            throttle_bytes_per_s=rng.randint(1, 10**9),
            include_topics=tuple(rng.sample(["b", "a.*", r"\d+"], 2)),
            exclude_topics=tuple(rng.sample(["z", "y.*"], 1)),
            capacities={brokers[0]: Capacity(disk_bytes=rng.uniform(1, 1e13), cpu_percent=maybe(50.0))},
            moves_per_broker=maybe(rng.randint(1, 9)),
            partitions_per_wave=rng.randint(1, 9000),
            max_leader_changes_per_wave=rng.randint(1, 900),
            expires_after_hours=rng.randint(1, 900),
            dead_band=rng.uniform(0, 5),
            least_gain_per_byte=rng.uniform(0, 1),
            with_frontier=rng.random() < 0.5,
            prefer=rng.choice(["bytes", "moves", "time", "leaders"]),
            slack=maybe(rng.uniform(0, 0.9)),
            max_reorders=rng.randrange(50),
            topic_brokers=(TopicBrokers(rng.choice(["a", "b=c"]), frozenset(brokers[:2]), frozenset({"rack 1"})),),
            max_hours=maybe(rng.uniform(0.01, 90)),
            **rng.choice(
                [
                    {"survive": rng.choice(["broker", "rack"])},
                    {"min_topic_leaders": (TopicLeaders(rng.choice(["a", "b=c"]), rng.randrange(1, 9)),)},
                ]
            ),
            also_balance=frozenset(rng.sample(["leader_in", "potential_out"], rng.randrange(3))),
        ),
    )
