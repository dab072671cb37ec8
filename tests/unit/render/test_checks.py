from __future__ import annotations

import inspect
from typing import Any

import pytest

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.render import render
from kafka_rebalance.render.checks import CHECKS

SAMPLES: dict[str, Any] = {
    "int": 3, "float": 0.5, "float | None": 0.5, "bool": True, "str": "x", "str | None": None, "Sequence[int]": (1, 2),
    "Sequence[str]": ("t-0", "t-1"),
}  # fmt: skip


@pytest.mark.parametrize("code", CHECKS)
def test_each_code_has_words(code: FactCode) -> None:
    given = {name: SAMPLES[str(item.annotation)] for name, item in inspect.signature(CHECKS[code]).parameters.items()}
    assert render(Fact(code, given | ({"resource": "disk"} if "resource" in given else {})))


def test_words_of_some() -> None:
    elsewhere = fact(FactCode.NOW_OTHER_REPLICAS, partition="t-0", now=(1, 2), then=(2, 3))
    assert render(elsewhere) == "t-0 is on [1, 2] now, the plan was made for [2, 3]"
    left = fact(FactCode.MOVES_ARE_LEFT, moves=2, gain=0.25, imbalance=0.5)
    assert render(left) == "2 moves are left: they lower the imbalance by 0.25, from 0.5 (0 is even)"
    lost = fact(FactCode.BROKER_NOW_IN_STATE, broker=5, state="silent")
    assert render(lost) == "by this snapshot broker 5 did not answer in time"
