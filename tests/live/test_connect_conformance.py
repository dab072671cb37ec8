"""Connect's own assignors and ours answer the same fresh groups of workers the same way, round by round.

``CONFORMANCE_CASES`` sets how many a family (300), ``CONFORMANCE_SEED`` which ones.
"""

import json
import os
from collections import Counter

import pytest

from kafka_assignors.recorded_cases.cases import answer
from tests.live.connect_cases import FAMILIES, connect_cases
from tests.live.kafka_classes import CONNECT, OTHER_CONNECTS, Oracle, classpath, compile_java

CASES = int(os.environ.get("CONFORMANCE_CASES", "300"))
SEED = int(os.environ.get("CONFORMANCE_SEED", "1"))
MUST_REACH = {
    "connect_eager": {"no connectors"},
    "connect_cooperative": {
        "begins with work", "missed answers", "joins", "leaves", "returns with what it ran", "new leaders",
        "new configurations", "rounds that revoke", "rounds that wait",
    },
}  # fmt: skip


def compare(family: str, release: tuple[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    path = classpath(*release)
    oracle = Oracle(
        "org.apache.kafka.connect.runtime.distributed.ConnectOracle", compile_java(["ConnectOracle.java"], path)
    )
    reached: Counter[str] = Counter()
    cases = list(connect_cases(family, CASES, SEED, reached))
    wrong = []
    for case, recorded in zip(cases, oracle.answers(cases), strict=True):
        for reported in recorded["output"].get("rounds", ()):
            reached["rounds that revoke"] += bool(reported["revoked"])
            reached["rounds that wait"] += bool(reported["delayMs"])
        ours = answer({**case, "input": {**case["input"], "version": release[0]}})
        if json.loads(json.dumps(ours["output"])) != recorded["output"]:
            wrong.append(case["id"])
    with capsys.disabled():
        print(f"\n{family} of {release[0]}: {CASES} cases, {len(wrong)} differences; reached {dict(reached)}")
    assert not wrong
    assert CASES < 300 or MUST_REACH[family] <= {trap for trap, count in reached.items() if count}


@pytest.mark.live
@pytest.mark.parametrize("family", FAMILIES)
def test_the_newest_class_answers_fresh_cases_as_we_do(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    compare(family, CONNECT, capsys)


@pytest.mark.matrix
@pytest.mark.live
@pytest.mark.parametrize("release", OTHER_CONNECTS, ids=lambda release: release[0])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_class_of_another_release_answers_fresh_cases_as_we_do(
    family: str, release: tuple[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    compare(family, release, capsys)
