from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_assignors.errors import AdvisorError, InvalidInputError
from kafka_rebalance.plans.check import PlanStatus, check_plan, read_planned
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_to_document
from rebalance_advisor.cli.main import main
from tests.sample import sample
from tests.unit.plans.check.plans_to_check import planned, resealed

STRANGE: list[Any] = [
    None, True, -1, 0, 3, 10**30, 0.5, 1e308, float("nan"), float("inf"), "", "x", "9" * 5000, "\ud800", "\x1b[2J", [],
    [0], [0, 0], [[]], {}, {"": None}, {"7": "x"}, "2026-99-99T00:00:00Z",
]  # fmt: skip
JUDGED = [
    "moves", "moves", "moves", "parameters", "parameters", "seen", "seen", "topic_ids", "captured_at", "expires_at",
    "verdict", "cluster", "cluster_id", "format_version", "plan_id", "waves", "resources",
]  # fmt: skip
READ = ["brokers", "brokers", "topics", "topics", "topics", "loads", "cluster_id", "captured_at"]


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(location for key, inner in items for location in places(inner, (*at, key)))]


def spoil(document: dict[str, Any], draw: random.Random, everywhere: list[tuple[Any, ...]], fields: list[str]) -> None:
    """One or two places hold something else, are gone, or twice there."""
    for _ in range(draw.randint(1, 2)):
        # First a field, then a place in it: most places are numbers of brokers in the middle of moves.
        field = draw.choice(fields)
        location = draw.choice([index for index in everywhere if index and index[0] == field])
        parent: Any = document
        try:
            for key in location[:-1]:
                parent = parent[key]
            old = parent[location[-1]]
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took it away
        action = draw.randrange(4)
        if action == 0 and isinstance(parent, dict):
            del parent[location[-1]]
        elif action == 1 and isinstance(parent, list):
            parent.append(json.loads(json.dumps(old)))
        elif action == 2 and isinstance(old, int | float):
            parent[location[-1]] = old + draw.choice([-1, 1, 7, 10**6])
        else:
            parent[location[-1]] = draw.choice(STRANGE)


def outcome(document: dict[str, Any], snapshot: Any) -> str:
    try:
        return check_plan(document, snapshot).status.name
    except AdvisorError as error:
        return "refused" if ": " in str(error) else f"refused without a place: {error}"


@pytest.mark.parametrize("times", sample((400, 2000), (400,)))
def test_spoiled_plans_and_snapshots_are_judged_or_refused(times: int) -> None:
    plan, busy = planned(), planned(is_busy=True).snapshot
    snapshot_text = json.dumps(snapshot_to_document(plan.snapshot))
    plan_places, snapshot_places = places(plan.document), places(json.loads(snapshot_text))
    draw = random.Random(20261122)
    seen: Counter[str] = Counter()
    for number in range(times):
        document, snapshot = plan.document, busy if number % 16 == 6 else plan.snapshot
        if number % 4:
            spoil(document, draw, plan_places, JUDGED)
            if number % 8:  # a forger would seal it anew
                try:
                    resealed(document)
                except (TypeError, ValueError):
                    seen["cannot be sealed"] += 1
        if number % 4 in (0, 1):
            spoiled = json.loads(snapshot_text)
            spoil(spoiled, draw, snapshot_places, READ)
            try:
                snapshot = snapshot_from_document(spoiled)
            except AdvisorError:
                seen["snapshot refused"] += 1
                continue
        seen[outcome(document, snapshot)] += 1
    print(dict(seen))
    assert {status.name for status in (PlanStatus.VALID, PlanStatus.STALE, PlanStatus.HARMFUL)} <= seen.keys()
    assert seen["refused"] > times / 10
    assert not [text for text in seen if "without a place" in text]


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a move's target": lambda document: document["moves"][0]["to"].reverse(),
    "the expiry": lambda document: document.update(expires_at="2036-01-01T00:00:00Z"),
    "the throttle": lambda document: document["parameters"].update(throttle_bytes_per_s=10**9),
    "a reason": lambda document: document["reasons"].append({"code": "trust_me", "args": {}}),
    "a field more": lambda document: document.update(note="x"),
    "the id itself": lambda document: document.update(plan_id="0" * 64),
    "no number": lambda document: document.update(seed=float("nan")),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("command", ["check", "plan --previous", "advise --previous"])
def test_a_changed_plan_is_exit_code_1_and_its_hash_is_named(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = planned()
    document = plan.document
    CHANGES[name](document)
    plan_file, snapshot_file = tmp_path / "plan.json", tmp_path / "snapshot.json"
    plan_file.write_text(json.dumps(document))
    snapshot_file.write_text(json.dumps(snapshot_to_document(plan.snapshot)))
    with pytest.raises(InvalidInputError, match="plan"):
        check_plan(document, plan.snapshot)
    if command == "check":
        arguments = ["check", str(plan_file), str(snapshot_file)]
    else:
        arguments = [
            command.split(maxsplit=1)[0],
            str(snapshot_file),
            "--previous",
            str(plan_file),
            "--out",
            str(tmp_path / "out"),
        ]
    assert main(arguments) == 1
    err = capsys.readouterr().err
    assert "plan_id" in err or "no plan can hold" in err or "no JSON" in err
    assert not (tmp_path / "out").exists()


def test_a_key_given_twice_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = planned()
    (tmp_path / "plan.json").write_text(plan.text.replace("{", '{"moves": [], ', 1))
    (tmp_path / "snapshot.json").write_text(json.dumps(snapshot_to_document(plan.snapshot)))
    assert main(["check", str(tmp_path), str(tmp_path / "snapshot.json")]) == 1
    assert "a key stands twice" in capsys.readouterr().err


def test_json_tells_codes_and_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = planned()
    (tmp_path / "plan.json").write_text(plan.text)
    later = snapshot_to_document(plan.snapshot) | {"captured_at": "2026-11-22T00:00:00Z"}
    (tmp_path / "snapshot.json").write_text(json.dumps(later))
    assert main(["check", str(tmp_path), str(tmp_path / "snapshot.json"), "--json"]) == 10
    document = json.loads(capsys.readouterr().out)
    assert document["status"] == "stale"
    (expired,) = document["reasons"]
    assert expired["code"] == "expired"
    assert expired["facts"][0]["args"] == {"expires_at": "2026-11-21T12:00:00Z"}


@pytest.mark.parametrize("value", [None, [], "x", 7, {}, {"plan_id": 3}, {"plan_id": "x" * 64}])
def test_what_is_no_plan_at_all_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError):
        read_planned(value)


def test_loads_that_nothing_can_have_are_refused() -> None:
    plan = planned()
    spoiled = snapshot_to_document(plan.snapshot)
    for column in spoiled["loads"].values():
        column["values"] = [1e308 if value is not None else None for value in column["values"]]
    try:
        snapshot = snapshot_from_document(json.loads(json.dumps(spoiled)))
    except AdvisorError:
        return  # refused by the reader already
    with pytest.raises(InvalidInputError, match="too large to be added up"):
        check_plan(plan.document, snapshot)
