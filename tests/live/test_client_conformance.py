"""Kafka's own client assignors and ours answer the same fresh random cases the same way, order included.

``CONFORMANCE_CASES`` sets how many a family (500), ``CONFORMANCE_SEED`` which ones.
"""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kafka_assignors.errors import AdvisorError
from kafka_assignors.recorded_cases.cases import answer
from stack.jvm.java import QUICK_JVM
from stack.jvm.maven import find_java
from tests.conformance.recorded import is_recorded_answer
from tests.live.client_cases import FAMILIES, LEGACY_FAMILIES, client_cases
from tests.live.kafka_classes import (
    LEGACY_CLIENT,
    NEWEST_CLIENT,
    OTHER_CLIENTS,
    SAMPLE_OF_CLIENTS,
    STREAMS,
    Oracle,
    classpath,
    compile_java,
)
from tests.unit.groups.test_streams_user_data import require_same

pytestmark = pytest.mark.live

CASES = int(os.environ.get("CONFORMANCE_CASES", "500"))
SEED = int(os.environ.get("CONFORMANCE_SEED", "1"))
# What the generator must reach, for the families that read it.
EVERYWHERE = {
    "static members", "ids beyond the BMP", "empty subscriptions", "topics without metadata", "unequal subscriptions",
    "topics listed twice", "empty groups",
}  # fmt: skip
PAST = {"duplicate owners", "vanished topics", "vanished partitions", "departed members"}
GENERATIONS = {"old generations"}
RACKS = {"racks"}


def oracle(main: str, classes: tuple[str, Sequence[str]]) -> Oracle:
    return Oracle(main, compile_java([f"{main}.java", "OracleLoop.java"], classpath(*classes)))


@pytest.fixture(scope="module")
def oracles() -> dict[str, Oracle]:
    return {
        "present": oracle("ClientOracle", NEWEST_CLIENT),
        "legacy": oracle("LegacyClientOracle", LEGACY_CLIENT),
    }


@pytest.mark.parametrize("family", FAMILIES + LEGACY_FAMILIES)
def test_kafkas_own_class_answers_fresh_cases_as_we_do(
    family: str, oracles: dict[str, Oracle], capsys: pytest.CaptureFixture[str]
) -> None:
    reached: Counter[str] = Counter()
    given: Counter[str] = Counter()
    cases = list(client_cases(family, CASES, SEED, reached))
    wrong = []
    for case, recorded in zip(cases, oracles[_classes(family)].answers(cases), strict=True):
        given[recorded["output"].get("error", "an assignment")] += 1
        if not is_recorded_answer(_answered(case), recorded["output"], family):
            wrong.append(case["id"])
    with capsys.disabled():
        print(f"\n{family}: {CASES} cases, {len(wrong)} differences; reached {dict(reached)}; Java gave {dict(given)}")
    assert not wrong
    assert CASES < 500 or _must_reach(family) <= set(reached)


def test_user_data_of_classic_streams_is_read_as_kafkas_own_classes_read_it() -> None:
    """Subscriptions and assignments of each version in turn."""
    path = compile_java(["StreamsUserData.java"], classpath(*STREAMS))
    command = [find_java(), *QUICK_JVM, "-cp", path, "StreamsUserData", str(2 * CASES), str(SEED)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout
    samples = [json.loads(line) for line in printed.splitlines()]
    assert len(samples) == 2 * CASES
    for sample in samples:
        require_same(sample)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "classes",
    [*SAMPLE_OF_CLIENTS, *(pytest.param(classes, marks=pytest.mark.matrix) for classes in OTHER_CLIENTS)],
    ids=lambda classes: str(classes[0]),
)
def test_the_classes_of_an_earlier_release_answer_as_we_do_for_that_release(
    family: str, classes: tuple[str, Sequence[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    """A fifth of the cases of the newest class: what its ways share with this one has been asked there."""
    release, count = classes[0], max(CASES // 5, 20)
    cases = [
        {**case, "input": {**case["input"], "version": release}}
        for case in client_cases(family, count, SEED, Counter())
    ]
    given: Counter[str] = Counter()
    wrong = []
    for case, recorded in zip(cases, oracle("ClientOracle", classes).answers(cases), strict=True):
        given[recorded["output"].get("error", "an assignment")] += 1
        answered, expected = _answered(case), recorded["output"]
        expected.pop("isSticky", None)  # told of the newest class alone
        answered.pop("isSticky", None)
        if not is_recorded_answer(answered, expected, family):
            wrong.append(case["id"])
    with capsys.disabled():
        print(f"\n{family} of {release}: {count} cases, {len(wrong)} differences; Java gave {dict(given)}")
    assert not wrong


def test_an_oracle_goes_on_after_a_case_that_never_ends(oracles: dict[str, Oracle]) -> None:
    endless = json.loads((Path(__file__).parents[1] / "conformance" / "sticky_endless.json").read_text())
    plain = {"id": "plain", "strategy": "client_sticky", "input": {"topics": [{"topic": "t", "n": 1}], "members": [
        {"id": "a", "topics": ["t"]}]}}  # fmt: skip
    answers = list(oracles["present"].answers([plain, endless, plain]))
    assert [line["output"].get("error") for line in answers] == [None, "EndlessReassignment", None]
    assert answer(endless)["output"]["error"] == "EndlessReassignment"


def _answered(case: dict[str, Any]) -> dict[str, Any]:
    try:
        return dict(answer(case)["output"])
    except AdvisorError as error:
        return {"refused": str(error)}


def _classes(family: str) -> str:
    return "legacy" if family in LEGACY_FAMILIES else "present"


def _must_reach(family: str) -> set[str]:
    if family == "legacy_sticky_2_0":
        return EVERYWHERE | PAST
    if family in ("client_sticky", "client_cooperative_sticky"):
        return EVERYWHERE | PAST | GENERATIONS | RACKS
    return EVERYWHERE | (RACKS if family == "client_range" else set())
