import json
from types import SimpleNamespace

import pytest

from kafka_rebalance.plans.plan import plan_id
from rebalance_advisor.publish.folders import point_latest, replace_folder
from tests.stack.kills.published_folders import half_made, latest

CLUSTER = "orders"
PLAN = {"moves": []}
PLAN_ID = plan_id(PLAN)


@pytest.fixture
def machine(tmp_path):
    """Where one advisory is published."""
    folder = tmp_path / CLUSTER / "run-1"
    replace_folder(
        folder, {"plan.json": json.dumps(PLAN | {"plan_id": PLAN_ID}).encode(), "waves/01.json": b"{}"}, PLAN_ID
    )
    point_latest(folder)
    return SimpleNamespace(published=tmp_path)


def test_a_whole_advisory_has_no_faults(machine):
    manifest = latest(machine, CLUSTER)
    assert (manifest.run_id, manifest.plan_id, manifest.faults) == ("run-1", PLAN_ID, ())
    assert half_made(machine, CLUSTER) == []


def test_before_the_first_advisory_there_is_none(tmp_path):
    assert latest(SimpleNamespace(published=tmp_path), CLUSTER) is None
    assert half_made(SimpleNamespace(published=tmp_path), CLUSTER) == []


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "waves" / "01.json").unlink(), "lacks: ['waves/01.json']"),
        (lambda folder: (folder / "more.json").write_text("{}"), "also holds: ['more.json']"),
        (lambda folder: (folder / ".rebalance-advisor").unlink(), "no marker"),
        (lambda folder: (folder / "plan.json").write_text('{"moves": [1], "plan_id": "x"}'), "plan.json says x"),
    ],
)
def test_a_half_one_is_told(machine, spoil, message):
    spoil(machine.published / CLUSTER / "run-1")
    assert message in " ".join(latest(machine, CLUSTER).faults)
    assert message in " ".join(half_made(machine, CLUSTER))


def test_what_a_kill_left_beside_is_told(machine):
    (machine.published / CLUSTER / ".run-1.new-0badcafe").mkdir()
    assert half_made(machine, CLUSTER) == [".run-1.new-0badcafe is left over"]
