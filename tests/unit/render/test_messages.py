from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.render import MESSAGES, render
from kafka_rebalance.render.moves import distinct_texts


def test_every_code_has_words() -> None:
    assert set(MESSAGES) == set(FactCode)


def test_a_fact_is_the_same_after_its_document() -> None:
    inner = fact(FactCode.FILLS_BROKER, broker=2, resource="out", times_share=0.5)
    outer = Fact(FactCode.RELIEVES_BROKER, {"broker": 1, "why": inner, "others": (3, 4), "all": (inner, inner)})
    assert Fact.from_document(outer.document()) == outer


def test_words_of_a_move() -> None:
    said = render(fact(FactCode.RELIEVES_BROKER, broker=3, resource="disk", times_share=1.314))
    assert said == "relieves broker 3: its disk holds 1.31 × its share"


def test_two_amounts_that_differ_are_never_written_alike() -> None:
    assert distinct_texts(1.0971, 1.0974) == ("1.0971", "1.0974")
    assert distinct_texts(3.0, 2.0) == ("3", "2")
    draw = np.random.default_rng(7)
    for item, change in zip(draw.uniform(0.01, 30, 300), 10.0 ** draw.uniform(-12, 1, 300), strict=True):
        left, right = distinct_texts(item, item + change)
        assert left != right, (item, change)
        assert float(left) == pytest.approx(item, rel=1e-3)


def test_a_broker_says_what_it_gives_and_gets() -> None:
    nothing = dict.fromkeys(("replicas_in", "leaders_in", "bytes_in"), 0)
    gone = fact(
        FactCode.BROKER_CHANGES, broker=3, **nothing, replicas_out=1, bytes_out=None, leaders_out=2, state="dead",
        resource=None, times_share=None, times_share_after=None,
    )  # fmt: skip
    assert render(gone) == "broker 3 gives up 1 replica, loses 2 leaderships: it is dead"


def test_a_fact_within_a_fact_is_words_within_words() -> None:
    why = fact(FactCode.LEAVES_BROKER, broker=1, state="draining")
    said = render(fact(FactCode.DROPS_OUT_OF_SYNC, broker=2, why=why))
    assert said == "leaves broker 1, which is to be removed; the replica on broker 2 is out of sync and leaves"
