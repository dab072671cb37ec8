"""Alert rules ask for metrics that the file has; docs/operate-and-secure.md has each alert and metric."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from rebalance_advisor.health import METRICS, STATE, STATES, WRITTEN

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "operate-and-secure.md").read_text()
((GROUP,),) = [yaml.safe_load((ROOT / "docker/prometheus/advisor-alerts.yml").read_text()).values()]
NAMES = {metric.name for metric in METRICS} | {STATE, WRITTEN}


def test_every_alert_asks_for_metrics_that_are_written() -> None:
    (rules,) = [group["rules"] for group in GROUP]
    asked = {name for rule in rules for name in re.findall(r"\badvisor_\w+", rule["expr"])}
    assert len(rules) == len({rule["alert"] for rule in rules}) == 7
    assert asked <= NAMES
    assert asked >= NAMES - {"advisor_published_duration_seconds", "advisor_unpublished_runs"}
    for rule in rules:
        assert rule["labels"]["severity"] in ("info", "warning")
        assert rule["annotations"]["summary"]


def test_the_states_that_alert_are_states() -> None:
    (rule,) = [rule for group in GROUP for rule in group["rules"] if rule["alert"] == "AdvisorRunFailed"]
    (states,) = re.findall(r'state=~"([^"]+)"', rule["expr"])
    assert set(states.split("|")) == set(STATES) - {"published", "running"}


def test_the_page_tells_of_every_metric_and_alert_and_of_no_other() -> None:
    matches = set(re.findall(r"^\| `([Aa]dvisor\w+)` \|", PAGE, re.MULTILINE))
    assert matches == NAMES | {rule["alert"] for group in GROUP for rule in group["rules"]}
