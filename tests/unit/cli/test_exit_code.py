from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_rebalance.findings.rules import RULES, URGENT_RULES, urgent_findings
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Verdict
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot, LogDir
from rebalance_advisor.cli.exit_codes import CronCode, cron_code_of, exit_code_of
from rebalance_advisor.cli.main import main
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

DOCS = Path(__file__).parents[3] / "docs"
EVEN_ROWS = [row("t", p, [p % 3, (p + 1) % 3]) for p in range(9)]
EVEN = cluster(EVEN_ROWS, brokers(3))
UNEVEN = cluster([row("t", p, [0, 1 + p % 3]) for p in range(12)], brokers(4))
STUCK = cluster([row("t", 0, [0], 100 * GB), row("t", 1, [1]), row("t", 2, [2])], brokers(3))
DEAD = cluster(EVEN_ROWS, brokers(3, b2=BrokerState.DEAD))
UNKNOWN = cluster([], [])


def filled(share: float) -> ClusterSnapshot:
    """The even cluster with 6 GB on each broker, whose disk they fill to this share."""
    total = round(6 * GB / share)
    disk = LogDir("/data", total_bytes=total, usable_bytes=total - 6 * GB)
    return cluster(EVEN_ROWS, [replace(broker, log_dirs=(disk,)) for broker in brokers(3)])


CASES = {
    "nothing to do": (EVEN, "", CronCode.NOTHING_TO_DO, 0),
    "a plan": (UNEVEN, "", CronCode.PLAN, 0),
    "not fixable": (STUCK, "--balance-within 10%", CronCode.NOT_FIXABLE_BY_MOVING, 0),
    "cannot tell": (UNKNOWN, "", CronCode.CANNOT_TELL, 4),
    "a dead broker": (DEAD, "", CronCode.URGENT, 0),
    "room on the disk": (filled(0.84), "", CronCode.NOTHING_TO_DO, 0),
    "a full disk and no plan": (filled(0.9), "", CronCode.URGENT, 0),
}


@pytest.mark.parametrize("case", CASES)
def test_a_script_learns_what_to_do(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot, options, code, plain = CASES[case]
    (tmp_path / "cluster.json").write_text(json.dumps(snapshot_to_document(snapshot)))
    line = ["plan", str(tmp_path / "cluster.json"), "--out", str(tmp_path / "plan"), *options.split()]
    assert main([*line, "--exit-code"]) == code
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) <= 15
    assert any(line.startswith("  urgent: ") for line in shown) is (code is CronCode.URGENT)
    assert shown[-1].startswith("next: ")
    assert main([*line, "--verbose"]) == plain
    assert ("  urgent: " in capsys.readouterr().out) is (code is CronCode.URGENT)


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_code_and_urgent_outranks_it(verdict: Verdict) -> None:
    assert cron_code_of(verdict, is_urgent=True) is CronCode.URGENT
    code = cron_code_of(verdict, is_urgent=False)
    assert (code == 0) is (verdict is Verdict.NOTHING_TO_DO)
    assert exit_code_of(verdict) in (0, code)


def test_codes_are_documented() -> None:
    rows = re.findall(r"^\| `(\d+)` \| `([A-Z_]+)` \|", (DOCS / "read-an-advisory.md").read_text(), re.MULTILINE)
    assert {name: int(code) for code, name in rows} == {code.name: code.value for code in CronCode}


def test_urgent_rules_are_rules_of_an_advisory() -> None:
    assert set(URGENT_RULES) < set(RULES)


def test_a_table_of_groups_alone_has_nothing_urgent() -> None:
    assert urgent_findings(UNKNOWN, make_plan(UNKNOWN, PlanOptions())) == ()
