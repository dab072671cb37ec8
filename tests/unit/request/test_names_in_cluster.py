from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.plans.pipeline import make_plan
from rebalance_advisor.request.names_in_cluster import require_names_known
from rebalance_advisor.request.run_request import RunRequest
from tests.sample import for_each
from tests.unit.planner.sample_clusters import brokers, cluster, row

SNAPSHOT = cluster([row(name, p, [p % 3, (p + 1) % 3]) for name in ("orders", "audit") for p in range(3)], brokers(3))
RACKED = replace(SNAPSHOT, brokers=tuple(replace(b, rack=f"rack-{'abc'[b.id]}") for b in SNAPSHOT.brokers))


def request(**given: Any) -> RunRequest:
    return RunRequest.from_mapping(given)


@for_each("given, message", [
        ({"add_broker": ["12"]}, r"^--add-broker 12: give its rack, for example 12:rack-a \(racks: rack-a"),
        ({"add_broker": ["12:rack-d"]}, r"did you mean 12:rack-\w\? a rack that is new takes --new-rack rack-d"),
        ({"add_broker": ["12:rack-a"], "new_rack": ["rack-a"]}, "^--new-rack rack-a: brokers are on this rack already"),
        ({"add_broker": ["12:rack-a"], "new_rack": ["rack-z"]}, "^--new-rack rack-z: no broker is added to it"),
        ({"exclude_topic": ["order"]}, "^--exclude-topic 'order': matches no topic; did you mean orders"),
        ({"include_topic": ["odrers"]}, "^--include-topic 'odrers': matches no topic; did you mean orders"),
        ({"include_topic": ["audit", "zzz-.*"]}, "^--include-topic 'zzz-.*': matches no topic; .* audit, orders"),
        ({"topic_brokers": ["audits=0,1"]}, "^--topic-brokers 'audits': matches no topic; did you mean audit"),
        ({"min_topic_leaders": ["orders-.*=1"]}, "^--min-topic-leaders 'orders-.*': .* did you mean orders"),
    ])  # fmt: skip
def test_what_the_cluster_does_not_know_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        require_names_known(request(**given), RACKED)


def test_what_it_knows_and_what_is_said_to_be_new_is_taken() -> None:
    for given in ({"add_broker": ["12:rack-b"]}, {"add_broker": ["12:rack-d"], "new_rack": ["rack-d"]},
                  {"add_broker": [2]}, {"exclude_topic": ["ord.*"], "topic_brokers": ["audit=0,1"]}):  # fmt: skip
        require_names_known(request(**given), RACKED)
    require_names_known(request(add_broker=["12"]), SNAPSHOT)
    with pytest.raises(UsageError, match="no broker has a rack"):
        require_names_known(request(add_broker=["12:rack-a"]), SNAPSHOT)


def test_a_pattern_of_the_clusters_table_may_match_nothing() -> None:
    table = request(exclude_topic=["tmp-.*"]).options.topic_patterns()
    require_names_known(request(exclude_topic=["tmp-.*"]), SNAPSHOT, frozenset(table))
    with pytest.raises(UsageError, match="--include-topic 'tmp-"):
        require_names_known(
            request(include_topic=["tmp-.*"]),
            SNAPSHOT,
            frozenset(request(exclude_topic=["tmp-.*"]).options.topic_patterns()),
        )


def test_a_plan_says_how_many_topics_each_pattern_matched() -> None:
    options = request(exclude_topic=["o.*", "tmp-.*"], no_frontier=True).options
    reasons = make_plan(SNAPSHOT, options).reasons
    assert fact(FactCode.PATTERN_MATCHES, option="--exclude-topic", pattern="o.*", matched=1, topics=2) in reasons
    assert fact(FactCode.PATTERN_MATCHES, option="--exclude-topic", pattern="tmp-.*", matched=0, topics=2) in reasons
