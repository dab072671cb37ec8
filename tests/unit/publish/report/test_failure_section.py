from __future__ import annotations

from typing import Any

from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.snapshot.model import (
    Broker,
    ClusterSnapshot,
    Partition,
    Topic,
    partition_table,
)
from rebalance_advisor.publish.report import SHOWN_OF_EACH, failure_section, render_report


def score(lost: str, **more: Any) -> dict[str, Any]:
    return {
        "lost_type": "broker", "lost": lost, "leaders": 40, "leaderless": 0, "taken_by": 2, "most_taken": 33,
        "even_taken": 20,
    } | more  # fmt: skip


def test_a_few_of_each_are_shown_and_those_that_lead_nothing_are_not() -> None:
    scores = [score(str(number)) for number in range(20)] + [score("b", lost_type="rack"), score("x", leaders=0)]
    rows = failure_section({"after_failure": scores})
    assert [row["lost"] for row in rows] == [f"broker {number}" for number in range(SHOWN_OF_EACH)] + ["rack b"]
    assert (rows[0]["taken"], rows[0]["even"]) == ("broker 2: 33", "20")
    assert failure_section({"after_failure": [score("1", taken_by=None, leaderless=40)]})[0]["taken"] == "nobody"
    assert failure_section({}) == []


def test_an_advisory_tells_it_of_its_reading() -> None:
    rows = [Partition("t", p, (1, 2, 3), 1, isr=(1, 2, 3), log_bytes=(1, 1, 1)) for p in range(4)]
    brokers = tuple(Broker(broker, "r") for broker in (1, 2, 3))
    document = advise(ClusterSnapshot("c", brokers, (Topic("t"),), partition_table(rows, {"t": 0})), AdviceRequest())
    advisory = document.document()
    assert advisory["after_failure"][0] == {
        "lost_type": "broker", "lost": "1", "leaders": 4, "leaderless": 0, "taken_by": 2, "most_taken": 4,
        "even_taken": 2,
    }  # fmt: skip
    assert '<td data-label="takes most of them">broker 2: 4</td>' in render_report(advisory)
