"""Kafka's own assignors of Streams, the coordinator's and the leader's, and ours answer fresh groups the same way.

``CONFORMANCE_CASES`` sets how many a release (300), ``CONFORMANCE_SEED`` which ones.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from kafka_assignors.recorded_cases.cases import answer
from tests.conformance.recorded import is_recorded_answer
from tests.live.kafka_classes import OTHER_STREAMS, STREAMS, STREAMS_COORDINATORS, Oracle, classpath, compile_java
from tests.live.streams_cases import Case, high_availability_cases, streams_cases

CASES = int(os.environ.get("CONFORMANCE_CASES", "300"))
SEED = int(os.environ.get("CONFORMANCE_SEED", "1"))
MUST_REACH = {
    "fresh", "former target", "anything", "several threads", "hash order", "standbys", "several owners",
    "tasks that are gone", "offsets", "no members", "a hundred members",
}  # fmt: skip


HIGH_AVAILABILITY_MUST_REACH = {
    "fresh", "former target", "anything", "several threads", "hash order", "standbys", "tags", "no lag counts",
    "one instance", "named topology", "dozens of instances",
}  # fmt: skip


@pytest.mark.live
@pytest.mark.parametrize("release", STREAMS_COORDINATORS, ids=lambda release: release[0])
def test_the_coordinators_own_class_answers_fresh_cases_as_we_do(
    release: tuple[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    cases = partial(streams_cases, release[0], CASES, SEED)
    require_same(release, "StreamsOracle", cases, MUST_REACH, capsys)


@pytest.mark.live
@pytest.mark.parametrize(
    "release",
    [STREAMS, *(pytest.param(other, marks=pytest.mark.matrix) for other in OTHER_STREAMS)],
    ids=lambda release: release[0],
)
def test_the_leaders_own_classes_answer_fresh_cases_as_we_do(
    release: tuple[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    cases = partial(high_availability_cases, release[0], CASES, SEED)
    require_same(release, "HighAvailabilityOracle", cases, HIGH_AVAILABILITY_MUST_REACH, capsys)


def require_same(
    release: tuple[str, tuple[str, ...]],
    program: str,
    fresh: Callable[[Counter[str]], Iterator[Case]],
    must_reach: set[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    oracle = Oracle(program, compile_java([f"{program}.java", "OracleLoop.java"], classpath(*release)))
    reached: Counter[str] = Counter()
    given: Counter[str] = Counter()
    cases = list(fresh(reached))
    wrong = []
    for case, recorded in zip(cases, oracle.answers(cases), strict=True):
        given[recorded["output"].get("error", "an answer")] += 1
        if not is_recorded_answer(answer(case)["output"], recorded["output"], case["strategy"]):
            wrong.append(case["id"])
    with capsys.disabled():
        print(f"\n{program} of {release[0]}: {CASES} cases, seed {SEED}, {len(wrong)} differences; "
              f"reached {dict(reached)}; Java gave {dict(given)}")  # fmt: skip
    assert not wrong
    assert CASES < 300 or {trap for trap, count in reached.items() if count} >= must_reach
