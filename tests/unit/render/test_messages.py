"""Every code has words, and no code has two."""

from __future__ import annotations

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.render import MESSAGES, render


def test_every_code_has_words() -> None:
    assert set(MESSAGES) == set(FactCode)


def test_a_fact_is_the_same_after_its_document() -> None:
    inner = fact(FactCode.FILLS_BROKER, broker=2, resource="out", times_share=0.5)
    outer = Fact(FactCode.RELIEVES_BROKER, {"broker": 1, "why": inner, "others": (3, 4), "all": (inner, inner)})
    assert Fact.from_document(outer.document()) == outer


def test_words_of_a_move() -> None:
    said = render(fact(FactCode.RELIEVES_BROKER, broker=3, resource="disk", times_share=1.314))
    assert said == "relieves broker 3: its disk holds 1.31 × its share"
