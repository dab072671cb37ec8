from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.cli.main import main
from rebalance_advisor.request import names_in_cluster
from rebalance_advisor.request.names_in_cluster import patterns_of, require_quick
from rebalance_advisor.request.run_request import OPTIONS, RunRequest
from tests.unit.planner.sample_clusters import brokers, cluster, row

ENDLESS = r"((\w|.)+)+!"
NAME = "payments-of-the-eastern-region-of-the-company"
# A value of each option that holds patterns, with the pattern in it.
HOLDERS: dict[str, Any] = {
    "include_topic": ENDLESS,
    "exclude_topic": ENDLESS,
    "topic_brokers": f"{ENDLESS}=0,1",
    "min_topic_leaders": f"{ENDLESS}=1",
    "owners": {"pattern": ENDLESS, "team": "t"},
    "mutes": {"pattern": ENDLESS, "until": "2030-01-01", "reason": "r"},
    "clients": {"pattern": ENDLESS, "client": "java"},
    "scenario": {
        "format": "kafka-rebalance-scenario", "format_version": 1, "name": "s",
        "changes": [{"change": "topic_removed", "topics": ENDLESS}],
    },
}  # fmt: skip


@pytest.fixture
def quick(monkeypatch):
    """A tenth of the seconds: the limit itself is no subject here."""
    monkeypatch.setattr(names_in_cluster, "CPU_SECONDS", 0.2)


def test_every_option_that_holds_patterns_is_among_those_that_are_tried() -> None:
    takes = {option.name for option in OPTIONS if option.metavar.startswith("RE") and "RESOURCE" not in option.metavar}
    in_objects = {
        option.name for option in OPTIONS if "pattern" in option.schema.get("items", {}).get("properties", {})
    }
    assert takes | in_objects | {"scenario"} == set(HOLDERS)


@pytest.mark.parametrize("option", HOLDERS)
def test_an_endless_pattern_is_found_in_each_of_them(option: str) -> None:
    request = RunRequest.from_mapping({option: [HOLDERS[option]]})
    assert list(patterns_of(request)) == [(f"--{option.replace('_', '-')}{' s' * (option == 'scenario')}", ENDLESS)]


def test_an_endless_pattern_is_refused_with_its_place_and_what_to_do(quick) -> None:
    message = (
        r"^--clients: '.*!' takes more than 0.2 s of CPU on the names of this cluster; write it without a repetition"
    )
    with pytest.raises(UsageError, match=message):
        require_quick([("--owners", ".*"), ("--clients", ENDLESS), ("--mutes", "x")], ["a", NAME])


def test_ordinary_patterns_on_many_names_are_taken() -> None:
    names = [f"team-{number % 97}.orders-{number}.v1" for number in range(100_000)]
    require_quick([("x", pattern) for pattern in (".*", r"team-\d+\..*", "(?:a|b|team-1).*", r"(?=x)\ud800")], names)
    require_quick([], names)


def test_a_pattern_that_ends_its_process_otherwise_is_refused_too() -> None:
    with pytest.raises(UsageError, match=r"^here: '\(' cannot be tried on the names"):
        require_quick([("here", "(")], [NAME])


def small_input(folder: Path) -> Path:
    snapshot = cluster([row(NAME, p, [0, 1]) for p in range(3)], brokers(3))
    file = folder / "input.json"
    file.write_text(json.dumps(snapshot_to_document(snapshot)))
    return file


def test_each_command_of_a_shell_refuses_it(quick, tmp_path, capsys) -> None:
    """Patterns in options, in a plan's parameters and in a policy."""
    source, out = small_input(tmp_path), tmp_path / "out"
    for command in ("plan", "advise"):
        assert main([command, str(source), "--out", str(out), "--exclude-topic", ENDLESS]) == 2
        assert "--exclude-topic: " in capsys.readouterr().err
    assert main(["plan", str(source), "--out", str(out)]) == 0
    plan = json.loads((out / "plan.json").read_text())
    assert plan["moves"]
    (tmp_path / "policy.toml").write_text(f"never_moved = ['{ENDLESS}']\n")
    capsys.readouterr()
    for command in ("check", "verify"):
        assert main([command, str(out / "plan.json"), str(source), "--policy", str(tmp_path / "policy.toml")]) == 2
        assert "never_moved: " in capsys.readouterr().err
    plan["parameters"]["exclude_topics"] = [ENDLESS]
    (out / "plan.json").write_text(json.dumps(plan))
    assert main(["verify", str(out / "plan.json"), str(source)]) == 2
    assert "plan.parameters.exclude_topics: " in capsys.readouterr().err
