"""MirrorMaker's own connector and ours give the same partitions to the same tasks.

``CONFORMANCE_CASES`` sets how many cases (300), ``CONFORMANCE_SEED`` which ones.
"""

import json
import os
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from kafka_assignors.recorded_cases.cases import answer
from tests.live.kafka_classes import MIRROR_MAKER, Oracle, classpath, compile_java

CASES = int(os.environ.get("CONFORMANCE_CASES", "300"))
SEED = int(os.environ.get("CONFORMANCE_SEED", "1"))


def mirror_cases(count: int, seed: int) -> Iterator[dict[str, Any]]:
    for i in range(count):
        random = Random(f"mirror-{seed}-{i}")
        prefix, most = random.choice(("t", "orders.", "a_b-")), random.choice((1, 5, 60, 300))
        topics = [
            [f"{prefix}{number}", random.randint(1, random.choice((1, 6, 40)))]
            for number in random.sample(range(10 * most), random.randint(0 if i % 50 == 0 else 1, most))
        ]
        asked = {"version": MIRROR_MAKER[0], "topics": topics, "tasksMax": random.choice((1, 2, 7, 30, 1_000))}
        yield {"id": f"mirror_maker_tasks-{i}", "strategy": "mirror_maker_tasks", "input": asked}


@pytest.mark.live
def test_mirror_makers_own_class_answers_fresh_cases_as_we_do(capsys: pytest.CaptureFixture[str]) -> None:
    path = compile_java(["MirrorOracle.java"], classpath(*MIRROR_MAKER))
    cases = list(mirror_cases(CASES, SEED))
    recorded = list(Oracle("org.apache.kafka.connect.mirror.MirrorOracle", path).answers(cases))
    wrong = [
        case["id"]
        for case, theirs in zip(cases, recorded, strict=True)
        if json.loads(json.dumps(answer(case)["output"])) != theirs["output"]
    ]
    with capsys.disabled():
        print(f"\nmirror_maker_tasks: {CASES} cases, {len(wrong)} differences")
    assert not wrong
