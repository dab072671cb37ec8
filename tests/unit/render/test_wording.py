from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.facts import Fact
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.scenarios import SCENARIOS
from kafka_rebalance.plans.check import check_plan
from kafka_rebalance.plans.plan import Plan, to_document
from kafka_rebalance.render import MESSAGES
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.publish.plan_files import plan_json
from rebalance_advisor.run_advice import SCORE_COLUMNS, score_rows
from rebalance_advisor.store.rows import results, snapshot_rows
from tests.properties.any_cluster import any_case
from tests.properties.test_group_scores import random_group

ROWS = (results._plan_row, results._resource_rows, results._move_rows, results._frontier_rows)


def shouted(message: Callable[..., str]) -> Callable[..., str]:
    return lambda **args: message(**args).upper()


def shout(monkeypatch: pytest.MonkeyPatch) -> None:
    for code, message in MESSAGES.items():
        monkeypatch.setitem(MESSAGES, code, shouted(message))


def decided(snapshot: ClusterSnapshot, plan: Plan) -> list[Any]:
    """Return what is kept, stored and judged of a plan."""
    document = json.loads(plan_json(plan))
    judged, checked = verify_plan(document, snapshot), check_plan(to_document(plan), snapshot)
    reasons = [reason.document() for reason in (*checked.because, *checked.warnings)]
    rows = [*(row(plan) for row in ROWS), snapshot_rows._gaps(snapshot)]
    return [document, dict(judged.counts), checked.status, reasons, rows]


def answers() -> list[Any]:
    collected: list[Any] = []
    for seed in range(6):
        case = any_case(seed)
        options = replace(case.options, with_frontier=False)
        try:
            advice = advise(case.snapshot, AdviceRequest(options))
        except AdvisorError as error:
            collected.append(type(error).__name__)
            continue
        collected.append([advice.document(), *decided(case.snapshot, advice.plan)])
    return collected


def rows_of_groups() -> list[Any]:
    """Return what is stored of groups under every strategy and in every scenario; old brokers refuse some."""
    given = [replace(random_group(seed), kafka_version="3.7.0" if seed % 2 else "4.1.0") for seed in range(12)]
    replays = [replay_group(item, scenarios=SCENARIOS) for item in given]
    return [row for replay in replays for row in score_rows(replay)]


def test_a_change_of_wording_changes_no_stored_row_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows_of_groups()
    shout(monkeypatch)
    assert rows_of_groups() == before
    names = ("version", "subject", "error")
    columns = {name: [row[SCORE_COLUMNS.index(name)] for row in before] for name in names}
    assert all(isinstance(value, Fact | None) for values in columns.values() for value in values)
    assert all(any(values) for values in columns.values())


def test_a_change_of_wording_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    before = answers()
    shout(monkeypatch)
    after = answers()
    assert sum(isinstance(answer, list) for answer in before) >= 4
    assert after == before
