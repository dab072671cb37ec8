from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from kafka_rebalance.log_dir_plans.make import LogDirRequest, make_log_dir_plan
from kafka_rebalance.log_dir_plans.plan import sealed_id
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.verify.log_dirs import broker_bound, check_log_dir_plan, lightest_cover
from rebalance_advisor.cli.log_dirs import JSON_FILE, log_dir_files
from tests.sample import for_each
from tests.unit.log_dir_plans.dir_clusters import three_brokers

SNAPSHOT = three_brokers()
PLAN = make_log_dir_plan(
    SNAPSHOT, LogDirRequest(0.05, frozenset({(2, "/d0"), (3, "/d1")}), partitions_per_wave=3, throttle_bytes_per_s=10)
)
FILES = {name: content for name, content in log_dir_files(PLAN).items() if name != JSON_FILE}
Document = dict[str, Any]


def of_broker_2(document: Document) -> Document:
    """A move of broker 2 alone, out of the dir that is emptied."""
    moves = document["moves"]
    result: Document = next(m for m in moves if [p for p in m["dirs_from"] if p] == ["/d0"] and _at(m, 2))
    return result


def _at(move: Document, broker: int) -> bool:
    return move["dirs_to"][move["replicas"].index(broker)] is not None if broker in move["replicas"] else False


def _swap_way(d: Document) -> None:
    move = of_broker_2(d)
    move["dirs_from"], move["dirs_to"] = move["dirs_to"], move["dirs_from"]


def _stay(d: Document) -> None:
    move = of_broker_2(d)
    move["dirs_from"] = move["dirs_to"] = [None] * len(move["replicas"])


def _elsewhere(d: Document) -> None:
    move = of_broker_2(d)
    move["dirs_to"] = [path and "/d9" for path in move["dirs_to"]]


def _same(d: Document) -> None:
    move = of_broker_2(d)
    move["dirs_to"] = list(move["dirs_from"])


def _left_out(d: Document) -> None:
    d["brokers"] = [entry for entry in d["brokers"] if entry["broker"] != 1]
    d["left_out"]["1"] = {"code": "dirs_left_out", "args": {"why": "sizes_unknown"}}


def _drop_move(d: Document) -> None:
    last = len(d["moves"]) - 1
    d["moves"].pop()
    for wave in d["waves"]:
        wave["moves"] = [m for m in wave["moves"] if m != last]
    d["waves"] = [wave for wave in d["waves"] if wave["moves"]]


def _one_wave(d: Document) -> None:
    d["waves"] = [{"moves": list(range(len(d["moves"]))), "dir_bytes": d["dir_bytes"], "seconds": d["seconds"]}]
    for move in d["moves"]:
        move["wave"] = 1


def _place(d: Document) -> Document:
    location: Document = d["brokers"][0]["places"][0]
    return location


FORGERIES: dict[str, tuple[str, Callable[[Document], Any]]] = {
    "the way is turned round": ("log_dir_way", _swap_way),
    "a dir that is not there": ("log_dir_way", _elsewhere),
    "to where it is": ("move_idle", _same),
    "a move that moves nothing": ("move_idle", _stay),
    "another kind": ("move_idle", lambda d: d["moves"][0].update(kind="replica")),
    "another list of replicas": ("from_differs", lambda d: d["moves"][0]["replicas"].reverse()),
    "dirs of fewer replicas": ("log_dir_way", lambda d: d["moves"][0]["dirs_to"].pop()),
    "another partition": ("partition_unknown", lambda d: d["moves"][0].update(partition=99)),
    "fewer bytes of a move": ("move_bytes", lambda d: d["moves"][0].update(dir_bytes=1)),
    "no reason of a move": ("explanation", lambda d: d["moves"][0].update(reasons=[])),
    "a move is missing": ("log_dir_levels", _drop_move),
    "fewer bytes of the plan": ("cost", lambda d: d.update(dir_bytes=1)),
    "fewer replicas": ("cost", lambda d: d.update(replica_moves=1)),
    "fewer seconds": ("cost", lambda d: d.update(seconds=0.5)),
    "a bound above what is proved": ("bound_not_proved", lambda d: d["brokers"][0].update(lower_bound_bytes=10**6)),
    "a bound below nothing": ("bound_not_proved", lambda d: d["brokers"][0].update(lower_bound_bytes=-1)),
    "bounds of another sum": ("gap", lambda d: d.update(lower_bound_bytes=0)),
    "another level after": ("log_dir_levels", lambda d: _place(d).update(used_after=1)),
    "another level before": ("log_dir_levels", lambda d: _place(d).update(used_before=1)),
    "another capacity": ("log_dir_levels", lambda d: _place(d).update(total_bytes=10**9)),
    "another ceiling": ("log_dir_levels", lambda d: _place(d).update(ceiling_bytes=10**9)),
    "another floor": ("log_dir_levels", lambda d: _place(d).update(floor_bytes=0)),
    "other dirs of a disk": ("log_dir_levels", lambda d: _place(d).update(paths=["/d1"])),
    "a known broker is left out": ("log_dir_levels", _left_out),
    "another dir is to be emptied": (
        "log_dir_left",
        lambda d: d["parameters"]["remove_log_dirs"].update({"1": ["/d1"]}),
    ),
    "a dir to be emptied that is none": (
        "parameter",
        lambda d: d["parameters"]["remove_log_dirs"].update({"1": ["/x"]}),
    ),
    "no share": ("parameter", lambda d: d["parameters"].update(balance_within=2)),
    "all in one wave": ("wave_limit", _one_wave),
    "a wave without bytes": ("wave_bytes", lambda d: d["waves"][0].update(dir_bytes=0)),
    "a quicker wave": ("wave_seconds", lambda d: d["waves"][0].update(seconds=0.0)),
    "a move in two waves": ("wave_members", lambda d: d["waves"][0]["moves"].append(d["waves"][1]["moves"][0])),
    "another wave": ("wave_members", lambda d: d["moves"][0].update(wave=99)),
    "another verdict": ("verdict", lambda d: d.update(verdict="nothing_to_do")),
    "no reasons": ("verdict", lambda d: d.update(reasons=[])),
    "another snapshot": ("identity", lambda d: d.update(snapshot_id="0" * 64)),
    "another topic id": ("identity", lambda d: d["topic_ids"].update(orders="x")),
    "an unknown field": ("shape", lambda d: d["moves"][0].update(note="x")),
    "a number as text": ("shape", lambda d: d["moves"][0].update(dir_bytes="1")),
}


def codes(document: Any, files: dict[str, bytes] | None = None) -> set[str]:
    return {fault.code for fault in check_log_dir_plan(document, SNAPSHOT, files)}


def test_the_plan_that_is_forged_is_right_and_has_all_there_is_to_forge() -> None:
    assert check_log_dir_plan(PLAN.document(), SNAPSHOT, FILES) == ()
    assert len(PLAN.waves) > 1
    assert {move.replicas[j] for move in PLAN.moves for j, path in enumerate(move.dirs_to) if path} == {1, 2, 3}


@for_each("name", FORGERIES)
def test_a_forgery_is_found_sealed_or_not(name: str) -> None:
    code, forge = FORGERIES[name]
    document = deepcopy(PLAN.document())
    forge(document)
    assert codes(document)
    document["plan_id"] = sealed_id(document)
    assert code in codes(document)
    assert "hash" not in codes(document)


def test_of_another_reading_only_that_is_told_and_where_to_ask() -> None:
    later = replace(SNAPSHOT, source="a later reading")
    (fault,) = check_log_dir_plan(PLAN.document(), later, FILES)
    assert fault.code == "identity"
    assert "not what it was made from" in fault.message
    assert "`rebalance-advisor check PLAN INPUT`" in fault.message


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all values that hold no others."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    return [path] if parts is None else [leaf for key, part in parts for leaf in leaves(part, (*path, key))]


# Words, which release made it, and a limit that every plan keeps that keeps a lower one.
FREE = {"reasons", "left_out", "advisor_version", "plan_id", "partitions_per_wave"}


@pytest.mark.parametrize("value", [None, 0, -1, 1.5, 2**62, "x", True, []], ids=repr)
def test_no_value_can_be_another_one(value: Any) -> None:
    """Every value of the document, one after the other, sealed anew: a fault, and never an exception."""
    for path in leaves(PLAN.document()):
        document = deepcopy(PLAN.document())
        inner: Any = document
        for key in path[:-1]:
            inner = inner[key]
        if (inner[path[-1]] == value and type(inner[path[-1]]) is type(value)) or FREE & set(path):
            continue
        inner[path[-1]] = value
        document["plan_id"] = sealed_id(document)
        result = codes(document)
        is_weaker_bound = path[-1] == "lower_bound_bytes" and len(path) > 1 and value == 0
        assert result or is_weaker_bound, path


def test_a_wave_without_room_for_both_copies_is_found() -> None:
    """Everything at once, where the plan itself needs two waves."""
    from tests.unit.log_dir_plans.dir_clusters import disks, one_broker

    snapshot = one_broker([(40, 0), (40, 1), (4, 1)], disks(40, 44, 0, total=60))
    plan = make_log_dir_plan(snapshot, LogDirRequest(None, frozenset({(1, "/d0")}))).document()
    assert check_log_dir_plan(plan, snapshot) == ()
    swap = deepcopy(plan)
    swap["moves"][0]["dirs_to"] = ["/d1"]
    results = {fault.code for fault in check_log_dir_plan(swap, snapshot)}
    assert {"log_dir_room", "log_dir_full"} <= results


def test_nothing_to_a_cordoned_dir() -> None:
    from tests.unit.log_dir_plans.dir_clusters import disks, one_broker

    open_dirs = disks(40, 0, 0)
    plan = make_log_dir_plan(one_broker([(40, 0)], open_dirs), LogDirRequest(None, frozenset({(1, "/d0")})))
    (target,) = [path for path in plan.moves[0].dirs_to if path]
    closed = tuple(replace(open_dir, is_cordoned=open_dir.path == target) for open_dir in open_dirs)
    later = one_broker([(40, 0)], closed)
    document = plan.document() | {"snapshot_id": snapshot_id(later)}
    log_dir_plan = check_log_dir_plan(document | {"plan_id": sealed_id(document)}, later)
    assert "log_dir_closed" in {fault.code for fault in log_dir_plan}


@pytest.mark.parametrize("name", ["waves/01.json", "rollback/01.json", "commands.md"])
def test_files_that_lack_or_say_something_else_are_found(name: str) -> None:
    document = PLAN.document()
    assert codes(document, {file: text for file, text in FILES.items() if file != name}) == {"file"}
    other = FILES[name].replace(b'"orders"', b'"other"').replace(b"--execute", b"--list")
    assert codes(document, {**FILES, name: other}) & {"file", "commands"}
    assert codes(document, {**FILES, "waves/99.json": b"{}"}) == {"file"}
    assert codes(document, {**FILES, "waves/01.json": b"{"}) >= {"json"}


def test_what_is_no_document_is_refused() -> None:
    for wrong in (None, [], {}, json.loads("1")):
        assert codes(wrong) == {"shape"}


def test_the_verifiers_own_bound() -> None:
    """60 and 30 cover 70 with 90, 50 and 30 with 80."""
    assert lightest_cover([60, 50, 30], 70) == 80
    assert (lightest_cover([1], 0), lightest_cover([1], 5)) == (0, 5)
    assert broker_bound([([60, 50, 30], 0, 100), ([], 0, 100)]) == 50
    assert broker_bound([([60, 50], 0, 200), ([], 55, 200)]) == 60
