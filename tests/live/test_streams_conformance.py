"""The coordinator's own assignor of Streams groups and ours answer the same fresh groups the same way.

``CONFORMANCE_CASES`` sets how many a release (300), ``CONFORMANCE_SEED`` which ones.
"""

import os
from collections import Counter

import pytest

from kafka_assignors.recorded_cases.cases import answer
from tests.conformance.recorded import is_recorded_answer
from tests.live.kafka_classes import STREAMS_COORDINATORS, Oracle, classpath, compile_java
from tests.live.streams_cases import streams_cases

CASES = int(os.environ.get("CONFORMANCE_CASES", "300"))
SEED = int(os.environ.get("CONFORMANCE_SEED", "1"))
MUST_REACH = {
    "fresh", "former target", "anything", "several threads", "hash order", "standbys", "several owners",
    "tasks that are gone", "offsets", "no members", "a hundred members",
}  # fmt: skip


@pytest.mark.live
@pytest.mark.parametrize("release", STREAMS_COORDINATORS, ids=lambda release: release[0])
def test_the_coordinators_own_class_answers_fresh_cases_as_we_do(
    release: tuple[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    sources = ["StreamsOracle.java", "OracleLoop.java"]
    oracle = Oracle("StreamsOracle", compile_java(sources, classpath(*release)))
    reached: Counter[str] = Counter()
    given: Counter[str] = Counter()
    cases = list(streams_cases(release[0], CASES, SEED, reached))
    wrong = []
    for case, recorded in zip(cases, oracle.answers(cases), strict=True):
        given[recorded["output"].get("error", "an answer")] += 1
        if not is_recorded_answer(answer(case)["output"], recorded["output"], "streams_sticky"):
            wrong.append(case["id"])
    with capsys.disabled():
        print(f"\nstreams_sticky of {release[0]}: {CASES} cases, seed {SEED}, {len(wrong)} differences; "
              f"reached {dict(reached)}; Java gave {dict(given)}")  # fmt: skip
    assert not wrong
    assert CASES < 300 or {trap for trap, count in reached.items() if count} >= MUST_REACH
