from __future__ import annotations

import inspect
from typing import Any

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.render import render
from kafka_rebalance.render.coverage import COVERAGE
from kafka_rebalance.render.uncovered import describe_gap, describe_uncovered
from kafka_rebalance.snapshot.coverage import REASONS, WHAT, CoverageGap, Right, read_fact, right_gap

SAMPLES: dict[type, Any] = {str: "x", int: 3, float: 0.5, bool: True, tuple: (3, 4), Fact: fact(FactCode.NO_LEADER)}
SHARES = ("exact", "by_messages", "by_size", "evenly", "elsewhere", "spread")


def sample(code: FactCode, arguments: dict[str, tuple[type, ...]]) -> Fact:
    args = {name: SAMPLES[kinds[0]] for name, kinds in arguments.items()}
    return Fact(code, args | ({"parts": (fact(FactCode.LACKS_LOG_DIRS),)} if "parts" in args else {}))


def test_arguments_of_each_code_are_those_of_its_message() -> None:
    assert COVERAGE.keys() == WHAT.keys() | REASONS.keys()
    for code, arguments in {**WHAT, **REASONS}.items():
        names = set(inspect.signature(COVERAGE[code]).parameters)
        if "shares" in names:
            names = names - {"shares"} | set(SHARES)
        assert names == set(arguments), code
        assert render(sample(code, dict(arguments)))


def test_a_gap_is_the_same_after_its_document() -> None:
    for known in (WHAT, REASONS):
        for code, arguments in known.items():
            first = sample(code, dict(arguments))
            assert read_fact(first.document(), known, "gap") == first
            assert len({first, read_fact(first.document(), known, "gap")}) == 1


@pytest.mark.parametrize(
    "document",
    [
        None, "log dirs", [], {"code": "lacks_log_dir"}, {"code": "no such code", "args": {}},
        {"code": "no_leader", "args": {}}, {"code": "lacks_log_dir", "args": {}},
        {"code": "lacks_log_dir", "args": {"path": 5}}, {"code": "lacks_log_dirs", "args": {"path": "/a"}},
        {"code": "lacks_members_of_groups", "args": {"groups": True}}, {"code": "lacks_log_dirs", "args": []},
        {"code": "lacks_parts", "args": {"parts": ["a"]}}, {"code": "lacks_parts", "args": {"parts": [None]}},
        {"code": "lacks_parts", "args": {"parts": [{"code": "no_leader", "args": {}}]}},
    ],
)  # fmt: skip
def test_other_codes_and_arguments_are_refused(document: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^gap\.what"):
        read_fact(document, WHAT, "gap.what")


def test_facts_that_are_nested_too_deep_are_refused() -> None:
    deep: dict[str, Any] = {"code": "no_leader", "args": {}}
    for _ in range(5_000):
        deep = {"code": "not_told_again", "args": {"why": deep}}
    with pytest.raises(InvalidInputError, match="nested too deep"):
        read_fact(deep, REASONS, "gap.reason")


def test_words_of_gaps() -> None:
    unheard = fact(
        FactCode.BROKER_UNHEARD, state="silent", why=fact(FactCode.NO_ANSWER_IN_TIME, seconds=5.0, text=None),
        address="h:9092",
    )  # fmt: skip
    parts = (fact(FactCode.LACKS_LOG_DIRS), fact(FactCode.LACKS_COMMITS_OF_GROUPS, groups=1))
    gap = CoverageGap("broker", "3", fact(FactCode.LACKS_PARTS, parts=parts), unheard)
    assert describe_gap(gap) == (
        "broker 3: log dirs, committed offsets of 1 group that it coordinates: silent (no answer within 5 s at h:9092)"
    )
    assert gap.lacks(FactCode.LACKS_LOG_DIRS)
    rates = CoverageGap("cluster", "c", fact(FactCode.LACKS_RATES), fact(FactCode.GROUPS_MAY_BE_HIDDEN))
    assert describe_uncovered([gap, rates, right_gap(Right.DESCRIBE_GROUPS)]) == (
        "what needs the right Describe on Group (members, assignments and commits of groups); rates; parts of broker 3"
    )
