"""Plans of older versions are still read: those that such advisors wrote, and plans of all kinds turned back."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.check import check_plan
from kafka_rebalance.plans.check.reasons import ReasonCode
from kafka_rebalance.plans.document import plan_from_document
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import plan_id, to_document
from kafka_rebalance.plans.versions import ADDED, COUNTED_FROM_ONE, FORMAT_VERSION, RENAMED, as_newest, as_version
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_id
from kafka_rebalance.verify import verify_folder, verify_plan
from rebalance_advisor.cli.main import main
from rebalance_advisor.dumps import read_input
from rebalance_advisor.publish.plan_files import plan_files
from tests.sample import for_each
from tests.unit.verify.plan_kinds import KINDS
from tests.unit.verify.sample_plans import sealed

DATA = Path(__file__).resolve().parents[2] / "data"
OLD = DATA / "version_1"
OLD_VERSIONS = range(1, FORMAT_VERSION)
FORMAT_PAGE = Path(__file__).resolve().parents[3] / "docs" / "plan-format.md"


# Kinds of plans that need a field which an older version has not.
SAYS_WHAT_IS_NEW: frozenset[str] = frozenset({"moves_first", "time_first", "follower_order"})


@pytest.fixture
def old_snapshot():
    return read_input(OLD / "snapshot.json")


@pytest.fixture
def old_plan() -> dict[str, Any]:
    return json.loads((OLD / "plan" / "plan.json").read_bytes())


def test_the_file_is_one_of_version_1(old_plan):
    """Else everything below would prove nothing."""
    assert (old_plan["format_version"], old_plan["parameters"]["is_order"]) == (1, True)
    assert {move["wave"] for move in old_plan["moves"]} == {0, 1}
    assert any("GB" in line for line in old_plan["explanations"])


@pytest.mark.parametrize("version", OLD_VERSIONS)
def test_a_folder_of_an_older_version_is_verified_with_all_its_files(old_snapshot, version):
    folder = DATA / f"version_{version}" / "plan"
    contents = {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    verification = verify_folder(contents, old_snapshot)
    assert [str(fault) for fault in verification.wrong] == []


def test_a_plan_of_version_1_is_checked_by_its_own_hash(old_plan, old_snapshot):
    result = check_plan(old_plan, old_snapshot)
    assert (result.status, result.left) == (0, len(old_plan["moves"]))
    with pytest.raises(InvalidInputError, match="is not the hash"):
        check_plan(dict(as_newest(old_plan)), old_snapshot)


def test_an_expired_plan_of_version_1_is_stale(old_plan, old_snapshot):
    later = replace(old_snapshot, captured_at=old_snapshot.captured_at + timedelta(hours=24, seconds=1))
    assert ReasonCode.EXPIRED in check_plan(old_plan, later).codes


def test_a_plan_of_version_1_is_confirmed_as_the_previous_one(old_plan, old_snapshot):
    again = make_plan(old_snapshot, PlanOptions(within=0.3, with_frontier=False), previous=old_plan)
    assert again.continues == old_plan["plan_id"]
    confirmed = {(move.topic, move.partition): move.to_replicas for move in again.moves}
    assert confirmed == {(move["topic"], move["partition"]): tuple(move["to"]) for move in old_plan["moves"]}


UNSAID = ("after_failure", "preferred_leaders")


@pytest.mark.parametrize("version", OLD_VERSIONS)
def test_a_stored_plan_of_an_older_version_is_written_again_as_it_was(version):
    folder = DATA / f"version_{version}" / "plan"
    old_plan = json.loads((folder / "plan.json").read_bytes())
    plan = plan_from_document(old_plan)
    assert (old_plan["format_version"], {move.wave for move in plan.moves}) == (version, {1, 2})
    assert to_document(plan) == old_plan
    files = plan_files(plan)
    assert files["plan.json"] == (folder / "plan.json").read_bytes()
    assert files["moves.csv"] == (folder / "moves.csv").read_bytes()


def test_the_shell_reads_version_1(capsys, tmp_path):
    plan, snapshot = str(OLD / "plan"), str(OLD / "snapshot.json")
    assert main(["verify", plan, snapshot]) == 0
    assert main(["check", plan, snapshot, "--json"]) == 10
    *_, told = capsys.readouterr().out.splitlines()
    codes = [reason["code"] for reason in json.loads(told)["reasons"]]
    assert codes == ["expired"], "by the clock of this machine its day is over, and nothing else is wrong"


@for_each("version", OLD_VERSIONS)
@for_each("kind", sorted(KINDS), fast=("balance", "budget", "infeasible", "moves_first", "plain"))
def test_any_kind_of_plan_turned_back_to_an_older_version_is_read_alike(kind, version):
    """As long as it uses nothing that the older version could not say."""
    world = KINDS[kind]()
    newest = _without_leader_steps(world.document)
    older = sealed(as_version(newest, version))
    assert older["plan_id"] != newest["plan_id"]
    assert to_document(plan_from_document(older)) == older
    if kind in SAYS_WHAT_IS_NEW or newest["proofs"] or newest["within_budget"]:
        return
    assert dict(as_newest(older)) == newest | {"plan_id": older["plan_id"], "trace": []}
    new, old = verify_plan(newest, world.snapshot), verify_plan(older, world.snapshot)
    assert (old.is_right, old.bounds) == (True, new.bounds)
    assert check_plan(older, world.snapshot) == check_plan(newest, world.snapshot)


@pytest.mark.parametrize("told", ["2026-11-20T13:00:00+0100", "2026-11-20 12:00Z", "2026-11-20T12:00:00.000+00:00"])
def test_a_plan_of_version_1_has_its_time_as_the_input_wrote_it(old_plan, told):
    """So had its snapshot, whose id such a plan names."""
    text = (OLD / "snapshot.json").read_text().replace("2026-11-20T13:00:00+01:00", told)
    snapshot = snapshot_from_document(json.loads(text))
    later = told.replace("-20", "-21")
    times = {"captured_at": told, "expires_at": later, "snapshot_id": snapshot_id(snapshot, captured_at=told)}
    assert [str(fault) for fault in verify_plan(sealed(old_plan | times), snapshot).wrong] == []
    assert check_plan(sealed(old_plan | times), snapshot).status == 0
    another = sealed(old_plan | times | {"captured_at": told.replace(":00", ":01", 1)})
    assert "identity" in verify_plan(another, snapshot).counts


def _without_leader_steps(document: dict[str, Any]) -> dict[str, Any]:
    """The same plan where leader changes are not limited, and so are not told: older versions know of no such limit.
    Nor do they tell what a failure would come to, nor which bands were ordered.
    """
    nothing = dict.fromkeys(("leader_changes", "leader_in_bytes_per_s", "leader_out_bytes_per_s"))
    rollback = document["rollback"]
    back = rollback and rollback | {"waves": [wave | nothing for wave in rollback["waves"]]}
    waves = [wave | nothing for wave in document["waves"]]
    parameters = document["parameters"] | {"max_leader_changes_per_wave": None, "is_within_ordered": None}
    resources = [resource | {"is_ordered": None} for resource in document["resources"]]
    told = {"parameters": parameters, "resources": resources, "waves": waves, "rollback": back}
    return sealed(document | told | dict.fromkeys(UNSAID))


def _labelled_1(document: dict[str, Any]) -> dict[str, Any]:
    return document | {"format_version": 1}


def _labelled_newest(document: dict[str, Any]) -> dict[str, Any]:
    return as_version(document, 1) | {"format_version": FORMAT_VERSION}


def _with_both_names(document: dict[str, Any]) -> dict[str, Any]:
    older = as_version(document, 1)
    return older | {"parameters": older["parameters"] | {"is_explicit": True}}


def _waves_from_1(document: dict[str, Any]) -> dict[str, Any]:
    return as_version(document, 1) | {"moves": document["moves"]}


def _waves_from_minus_1(document: dict[str, Any]) -> dict[str, Any]:
    moves = [move | {"wave": move["wave"] - 2} for move in document["moves"]]
    return as_version(document, 1) | {"moves": moves}


@pytest.mark.parametrize(
    ("forge", "rule"),
    [
        (_labelled_1, "shape"), (_labelled_newest, "shape"), (_with_both_names, "shape"),
        (_waves_from_1, "wave_members"),
        (_waves_from_minus_1, "wave_members"),
        (lambda document: as_version(document, 1) | {"format_version": True}, "shape"),
        (lambda document: as_version(document, 1) | {"format_version": 0}, "shape"),
    ],
)  # fmt: skip
def test_versions_cannot_be_mixed(forge, rule):
    world = KINDS["plain"]()
    forged = sealed(forge(world.document))
    assert rule in verify_plan(forged, world.snapshot).counts
    if forge is _labelled_newest:
        with pytest.raises(InvalidInputError, match=r"plan\.parameters: '\w+' is missing"):
            check_plan(forged, world.snapshot)
    elif rule == "shape":
        with pytest.raises(InvalidInputError):
            plan_from_document(forged)


def test_a_hash_of_version_1_is_of_the_bytes_of_version_1(old_plan, old_snapshot):
    """The document read as the newest and sealed as such is another plan: it cannot pass as the old one."""
    assert plan_id(old_plan) == old_plan["plan_id"]
    resealed = old_plan | {"plan_id": plan_id(as_newest(old_plan))}
    assert set(verify_plan(resealed, old_snapshot).counts) == {"hash"}


def test_the_page_tells_the_map_and_every_field():
    page = FORMAT_PAGE.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", page, re.MULTILINE))
    assert rows.items() >= RENAMED.items()
    assert all(f"`{path}`" in page for path in (*COUNTED_FROM_ONE, *(path for new in ADDED.values() for path in new)))
    named = set(re.findall(r"`([a-z_]+)`", page))
    document = KINDS["plain"]().document
    parts = (document, document["parameters"], document["moves"][0], document["waves"][0], document["rollback"],
             document["resources"][0], document["cost"], document["lower_bound"][0], document["seen"])  # fmt: skip
    assert {name for part in parts for name in part} - named == set()
