"""The files beside plan.json, given as parsed JSON: they must say what the plan says and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.verify.faults import FaultList


def expected_files(document: Mapping[str, Any]) -> dict[str, Any]:
    """What each JSON file beside the plan must hold: ``waves/01.json`` …, ``rollback/…``, ``elections/…``.

    Numbers have as many digits as the last one, at least two. Rollback/01 undoes the last wave; elections NN are run
    after wave NN, and again after its rollback.
    """
    moves, waves = document["moves"], document["waves"]
    back = document["rollback"]["waves"] if document["rollback"] else []
    digits = max(2, len(str(max(len(waves), len(back)))))
    files: dict[str, Any] = {}
    for number, wave in enumerate(waves, start=1):
        members = [moves[m] for m in wave["moves"]]
        files[f"waves/{number:0{digits}d}.json"] = _reassignment(members, "to")
        changed = [member for member in members if member["leader_from"] != member["leader_to"]]
        if changed:
            pairs = [{"topic": move["topic"], "partition": move["partition"]} for move in changed]
            files[f"elections/{number:0{digits}d}.json"] = {"partitions": pairs}
    for number, wave in enumerate(back, start=1):
        files[f"rollback/{number:0{digits}d}.json"] = _reassignment([moves[m] for m in wave["moves"]], "from")
    return files


def check_files(document: Mapping[str, Any], found: Mapping[str, Any], faults: FaultList) -> None:
    """``found`` holds each JSON file under waves/, rollback/ and elections/ by its path beside plan.json."""
    if not names_its_own_moves(document):
        faults.add("file", "plan.waves", "a wave names a move that is not there: its files cannot be judged")
        return
    expected = expected_files(document)
    for name in sorted(expected.keys() - found.keys()):
        faults.add("file", name, "is missing")
    for name in sorted(found.keys() - expected.keys()):
        faults.add("file", name, "does not belong to the plan")
    for name in sorted(expected.keys() & found.keys()):
        if not _is_same(expected[name], found[name]):
            faults.add("file", name, "does not say what the plan says")


def names_its_own_moves(document: Mapping[str, Any]) -> bool:
    """Every wave, forward and back, holds moves that there are, and every move names a wave that there is."""
    count, waves = len(document["moves"]), document["waves"]
    back = document["rollback"]["waves"] if document["rollback"] else []
    members = [wave["moves"] for wave in (*waves, *back)]
    return all(member and min(member) >= 0 and max(member) < count for member in members) and all(
        1 <= move["wave"] <= len(waves) for move in document["moves"]
    )


def _is_same(expected: Any, found: Any) -> bool:
    """Equal, and of the same kind: neither ``true`` nor ``1.0`` is 1. As deep as ``expected``, whatever was found."""
    if type(expected) is not type(found):
        return False
    if isinstance(expected, dict):
        return expected.keys() == found.keys() and all(_is_same(value, found[key]) for key, value in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(_is_same, expected, found))
    return bool(expected == found)


def _reassignment(members: list[dict[str, Any]], list_of: str) -> dict[str, Any]:
    rows = [{"topic": m["topic"], "partition": m["partition"], "replicas": m[list_of]} for m in members]
    return {"version": 1, "partitions": rows}
