"""What runs on the server answers fresh random cases as Kafka's own classes do: assignors, placers, proposals, votes.

``CONFORMANCE_CASES`` sets how many a family (500), ``CONFORMANCE_SEED`` which ones. Their versions stand in
``tests.live.kafka_classes``.
"""

import os
from collections import Counter
from typing import Any

import pytest

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.placement.recorded_cases import answer
from tests.conformance.recorded import is_recorded_answer
from tests.live.kafka_classes import (
    LAST_WITH_ADMIN_UTILS,
    NEWEST_SERVER,
    PREVIEW_SERVERS,
    STREAMS_COORDINATORS,
    Oracle,
    classpath,
    compile_java,
)
from tests.live.server_cases import FAMILIES, replacement_cases, server_cases

pytestmark = pytest.mark.live

CASES = int(os.environ.get("CONFORMANCE_CASES", "500"))
SEED = int(os.environ.get("CONFORMANCE_SEED", "1"))
GROUPS = {
    "homogeneous", "heterogeneous", "hash order", "static members", "ids beyond the BMP", "empty subscriptions",
    "vanished topics", "vanished partitions", "duplicate owners", "departed members", "topics without metadata",
}  # fmt: skip
MUST_REACH = {
    "server_range": GROUPS,
    "server_uniform": GROUPS,
    "share_simple": GROUPS,
    "striped_replica_placer": {"racks", "racks on some brokers", "fenced brokers"},
    "admin_utils": {"racks", "racks on some brokers", "fixed start", "added partitions"},
    "reassign_generate": {"racks", "gaps in partitions"},
    "producer_partition": {"empty keys"},
    "group_vote": {"rejoin", "leave", "replace", "elect", "complete", "tables that grew", "groups that everybody left"},
    "group_partition": {"the least hash"},
}


@pytest.fixture(scope="module")
def oracles() -> dict[str, Oracle]:
    newest, older = classpath(*NEWEST_SERVER), classpath(*LAST_WITH_ADMIN_UTILS)
    return {
        "present": Oracle("ServerOracle", compile_java(["ServerOracle.java"], newest)),
        "last with AdminUtils": Oracle("AdminUtilsOracle", compile_java(["AdminUtilsOracle.java"], older)),
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_kafkas_own_class_answers_fresh_cases_as_we_do(
    family: str, oracles: dict[str, Oracle], capsys: pytest.CaptureFixture[str]
) -> None:
    reached: Counter[str] = Counter()
    given: Counter[str] = Counter()
    cases = list(server_cases(family, CASES, SEED, reached))
    oracle = oracles["last with AdminUtils" if family == "admin_utils" else "present"]
    wrong = []
    for case, recorded in zip(cases, oracle.answers(cases), strict=True):
        given[recorded["output"].get("error", "an answer")] += 1
        ours = {
            field: value
            for field, value in _answered(case).items()
            if field in {*recorded["output"], "refused", "error"}
        }
        if not is_recorded_answer(ours, recorded["output"], family):
            wrong.append(case["id"])
    with capsys.disabled():
        print(f"\n{family}: {CASES} cases, {len(wrong)} differences; reached {dict(reached)}; Java gave {dict(given)}")
    assert not wrong
    assert CASES < 500 or MUST_REACH[family] <= {trap for trap, count in reached.items() if count}


@pytest.mark.parametrize("preview", PREVIEW_SERVERS, ids=lambda preview: preview[0])
@pytest.mark.parametrize("family", ["server_range", "server_uniform"])
def test_the_previews_own_class_answers_fresh_cases_as_we_do(
    family: str, preview: tuple[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Where KIP-848 was a preview; the coordinator chose no partitions to leave out then."""
    path = classpath(*preview)
    oracle = Oracle("PreviewServerOracle", compile_java(["PreviewServerOracle.java", "OracleLoop.java"], path))
    cases = list(server_cases(family, CASES, SEED, Counter()))
    for case in cases:
        case["input"]["version"] = preview[0]
        case["input"].pop("assignable", None)
    given: Counter[str] = Counter()
    wrong = []
    for case, recorded in zip(cases, oracle.answers(cases), strict=True):
        given[recorded["output"].get("error", "an answer")] += 1
        fields = {*recorded["output"], "refused", "error"}
        ours = {field: value for field, value in _answered(case).items() if field in fields}
        if not is_recorded_answer(ours, recorded["output"], family):
            wrong.append(case["id"])
    with capsys.disabled():
        print(f"\n{family} of {preview[0]}: {CASES} cases, {len(wrong)} differences; Java gave {dict(given)}")
    assert not wrong


@pytest.mark.matrix
def test_members_are_walked_as_the_coordinator_of_4_3_walks_them_where_a_static_one_was_replaced(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = compile_java(["ReplacedMemberOracle.java", "OracleLoop.java"], classpath(*STREAMS_COORDINATORS[1]))
    cases = list(replacement_cases(CASES, SEED))
    wrong, larger = [], 0
    for case, recorded in zip(cases, Oracle("ReplacedMemberOracle", path).answers(cases), strict=True):
        as_4_4 = _answered(case | {"input": case["input"] | {"version": "4.4"}})
        larger += as_4_4["memberOrder"] != recorded["output"]["memberOrder"]
        if _answered(case)["memberOrder"] != recorded["output"]["memberOrder"]:
            wrong.append(case["id"])
    with capsys.disabled():
        print(f"\nstatic replacement: {CASES} cases, {len(wrong)} differences; {larger} in another order than in 4.4")
    assert not wrong
    assert larger


def _answered(case: dict[str, Any]) -> dict[str, Any]:
    try:
        return dict(answer(case)["output"])
    except AdvisorError as error:
        return {"refused": str(error)}
