"""Alert rules as Prometheus reads them: Debian's promtool checks them, and each fires when it should, no sooner."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from stack.prometheus import prometheus_program

pytestmark = pytest.mark.live

RULES = Path(__file__).resolve().parents[2] / "docker" / "prometheus" / "advisor-alerts.yml"
CLUSTER = '{cluster="orders"}'
HEALTH = "nobody writes the advisor's health file"


def promtool(*arguments: str) -> str:
    """Its words. Raises AssertionError with them where it ends badly."""
    done = subprocess.run(
        [str(prometheus_program().with_name("promtool")), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# What Prometheus scrapes each minute, from second 0 on; then: the alert, the minute before which it is silent, and what
# it says there. A value of 0 is the moment 0.
CASES = {
    "a reading of moment 0": (
        {f"advisor_last_reading_timestamp_seconds{CLUSTER}": "0x600"},
        ("AdvisorReadingTooOld", 195, {"cluster": "orders"}, "orders was read 3h 16m 0s ago"),
    ),
    "an advisory of moment 0": (
        {f"advisor_last_published_timestamp_seconds{CLUSTER}": "0x1700"},
        ("AdvisorAdvisoryTooOld", 26 * 60 + 30, {"cluster": "orders"}, "orders was advised 1d 2h 31m 0s ago"),
    ),
    "never an advisory": (
        {f"advisor_published_runs{CLUSTER}": "0x1700"},
        ("AdvisorNeverAdvised", 26 * 60 - 1, {"cluster": "orders"}, "orders is read, and never got an advisory"),
    ),
    "a run fails at minute 10": (
        {'advisor_last_run_state{cluster="orders", state="failed"}': "0x9 1x20"},
        (
            "AdvisorRunFailed",
            9,
            {"cluster": "orders", "state": "failed"},
            "the newest advisory of orders is failed",
        ),
    ),
    "a reading is refused each minute": (
        {f"advisor_refused_readings{CLUSTER}": "0+1x20"},
        (
            "AdvisorReadingsRefused",
            3,
            {"cluster": "orders", "severity": "info"},
            "4 readings of orders contradicted themselves this week",
        ),
    ),
    "a task fails each minute": (
        {f"advisor_task_failures{CLUSTER}": "0+1x20"},
        (
            "AdvisorTasksFail",
            5,
            {"cluster": "orders", "severity": "info"},
            "6 tasks for orders were given up this week",
        ),
    ),
    "the file is of moment 0": (
        {"advisor_health_written_timestamp_seconds": "0x100"},
        ("AdvisorHealthUnknown", 35, {}, HEALTH),
    ),
}


def test_promtool_finds_nothing_wrong() -> None:
    assert "7 rules found" in promtool("check", "rules", str(RULES))


@pytest.mark.parametrize("case", CASES)
def test_an_alert_fires_when_it_should_and_no_minute_sooner(case: str, tmp_path: Path) -> None:
    series, (name, silent_until, labels, summary) = CASES[case]
    fires = [{"exp_labels": {"severity": "warning"} | labels, "exp_annotations": {"summary": summary}}]
    checks = [
        {"eval_time": f"{silent_until}m", "alertname": name, "exp_alerts": []},
        {"eval_time": f"{silent_until + 1}m", "alertname": name, "exp_alerts": fires},
    ]
    asked = {
        "rule_files": [str(RULES)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": name_and_labels, "values": values} for name_and_labels, values in series.items()
                ],
                "alert_rule_test": checks,
            }
        ],
    }
    file = tmp_path / "rules_test.yml"
    file.write_text(json.dumps(asked))  # JSON is YAML
    promtool("test", "rules", str(file))


def test_a_health_file_that_never_was_is_told_within_minutes(tmp_path: Path) -> None:
    unknown = {"exp_labels": {"severity": "warning"}, "exp_annotations": {"summary": HEALTH}}
    check = {"eval_time": "6m", "alertname": "AdvisorHealthUnknown", "exp_alerts": [unknown]}
    nothing = {"interval": "1m", "input_series": [], "alert_rule_test": [check]}
    file = tmp_path / "rules_test.yml"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [nothing]}))
    promtool("test", "rules", str(file))
