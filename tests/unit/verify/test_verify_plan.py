import json
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.partition_table import partition_table
from kafka_rebalance.snapshot.times import parse_time
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.files import expected_files
from tests.unit.verify.plan_kinds import KINDS
from tests.unit.verify.sample_plans import SamplePlan, as_if_made_from, busy_plan, plain_plan, sealed
from tests.unit.verify.test_forgeries import is_free, leaves, put, value_at


def sample_of(name: str) -> SamplePlan:
    return busy_plan() if name == "busy" else plain_plan()


@pytest.mark.parametrize("name", ["busy", "plain"])
def test_an_untouched_plan_is_right(name: str) -> None:
    sample = sample_of(name)
    verification = verify_plan(sample.document, sample.snapshot)
    assert [str(fault) for fault in verification.wrong] == []
    assert verification.is_right
    assert verification.bounds["bytes"] > 0


@pytest.mark.parametrize("document", [None, [], "plan", {}, {"plan_id": 1}, {"moves": [{"from": "x"}]}])
def test_what_is_no_plan_at_all_is_a_fault_and_no_crash(document: object) -> None:
    verification = verify_plan(document, plain_plan().snapshot)
    assert set(verification.counts) == {"shape"}


def test_many_faults_of_one_kind_are_counted_and_the_first_shown() -> None:
    sample = plain_plan()
    document = sample.document
    for move in document["moves"]:
        move["reason"] = {"code": "unknown", "args": {}}
    verification = verify_plan(sealed(document), sample.snapshot)
    assert verification.counts["explanation"] == len(document["moves"]) > 20
    assert sum(fault.code == "explanation" for fault in verification.faults) == 20


class Alike:
    """Draws another value of the same form: one that the shape check lets pass."""

    def __init__(self, sample: SamplePlan, draw: random.Random) -> None:
        self.draw = draw
        self.topics = [topic.name for topic in sample.snapshot.topics]
        self.brokers = [broker.id for broker in sample.snapshot.brokers]
        self.racks = sorted({broker.rack for broker in sample.snapshot.brokers if broker.rack is not None})
        self.waves = len(sample.document["waves"])
        document = sample.document
        # Words under one field name somewhere in the plan: the members of its enum.
        self.words: dict[str, set[str]] = {"kind": {"move", "leader", "reorder"}}
        for path in leaves(document):
            value = value_at(document, path)
            if isinstance(path[-1], str) and isinstance(value, str):
                self.words.setdefault(path[-1], set()).add(value)

    def _other(self, choices: Iterable[Any], old: Any) -> Any:
        left = [choice for choice in choices if choice != old]
        return self.draw.choice(left) if left else None

    def value(self, path: tuple[Any, ...], old: Any) -> Any:
        """None where there is no other value."""
        field = next(step for step in reversed(path) if isinstance(step, str))
        if isinstance(old, bool):
            return not old
        if isinstance(old, str):
            return self._text(field, old)
        if field == "wave":
            return self._other(range(1, self.waves + 1), old)
        if field in ("from", "to", "leader_from", "leader_to") or field.endswith("_brokers"):
            return self._other(self.brokers, old)
        if isinstance(old, int):
            return abs(old + self.draw.choice([1, -1, max(abs(old) // 10, 1), 7])) if old else self.draw.randint(1, 5)
        return old * self.draw.choice([0.9, 1.1, 1.5]) if isinstance(old, float) and old else None

    def _text(self, field: str, old: str) -> Any:
        if old in self.topics:
            return self._other(self.topics, old)
        if old in self.racks:
            return self._other(self.racks, old)
        if re.fullmatch(r"[0-9a-f]{64}", old):
            return old[::-1] if old[::-1] != old else None
        if re.fullmatch(r"\d{4}-\d\d-\d\dT.*Z", old):
            return old.replace("T1", "T2").replace("T0", "T1") if "T2" not in old else old.replace("T2", "T0")
        return self._other(self.words.get(field, ()), old)

    def order(self, path: tuple[Any, ...], old: list[Any]) -> list[Any] | None:
        """The same elements in another order; of new replicas another first, since follower order is free."""
        if path[0] == "seen":
            return None  # its lists are sets
        mixed = old[1:] + old[:1] if path[-1] == "to" else self.draw.sample(old, len(old))
        return mixed if mixed != old else old[::-1] if old[::-1] != old else None


def changes_of(sample: SamplePlan, draw: random.Random) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """One value of each field replaced by another of its form, and one list of each field in another order."""
    alike, document = Alike(sample, draw), sample.document
    by_field: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path in leaves(document):
        for cut in range(1, len(path) + 1):
            held, field = value_at(document, path[:cut]), tuple(step for step in path[:cut] if isinstance(step, str))
            is_list = isinstance(held, list)
            if not isinstance(held, dict) and not is_free((*path[:cut], 0) if is_list else path[:cut]):
                key = (is_list, *(step for step in field if not step.isdecimal()))
                by_field.setdefault(key, []).append(path[:cut])
    for _, paths in sorted(by_field.items()):
        path = draw.choice(paths)
        old = value_at(document, path)
        new = alike.order(path, old) if isinstance(old, list) else alike.value(path, old)
        if new is not None:
            yield path, new


def refused_by_rules(kind: str, seed: int) -> None:
    """A rule refuses each change; next to none of them ends at the shape check."""
    sample, changed, at_the_shape, missed = KINDS[kind](), 0, 0, []
    for path, new in changes_of(sample, random.Random(f"{kind} {seed}")):
        document = sample.document
        old = value_at(document, path)
        put(document, path, new)
        verification = verify_plan(sealed(document), sample.snapshot)
        changed += 1
        at_the_shape += "shape" in verification.counts
        if verification.is_right or set(verification.counts) <= {"hash"}:
            missed.append((path, old, new))
    assert missed == []
    assert changed >= 35
    assert at_the_shape <= 2, f"{at_the_shape} of {changed} changes: they say nothing of the rules"


@pytest.mark.parametrize("kind", ["balance", "leaders_only", "nothing_to_do"])
def test_a_changed_value_of_the_right_form_is_refused_by_a_rule(kind: str) -> None:
    """Another broker, wave, topic, number or word, or another order of a list."""
    refused_by_rules(kind, 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_changed_values_of_the_right_form_are_refused_on_every_kind_of_plan(kind: str) -> None:
    refused_by_rules(kind, 0)


def test_files_beside_the_plan_are_judged_with_it() -> None:
    sample = busy_plan()
    files = expected_files(sample.document)
    assert "waves/01.json" in files
    assert "rollback/01.json" in files
    assert "file" not in verify_plan(sample.document, sample.snapshot, files).counts
    spoiled = json.loads(json.dumps(files))
    spoiled["waves/02.json"]["partitions"][0]["replicas"].reverse()
    del spoiled["rollback/01.json"]
    spoiled["elections/99.json"] = {"partitions": []}
    places = [
        fault.location
        for fault in verify_plan(sample.document, sample.snapshot, spoiled).faults
        if fault.code == "file"
    ]
    assert places == ["rollback/01.json", "elections/99.json", "waves/02.json"]


def test_a_partition_without_a_leader_cannot_be_moved() -> None:
    sample = plain_plan()
    moved = sample.document["moves"][0]
    rows = [
        replace(partition, leader=None)
        if (partition.topic, partition.partition) == (moved["topic"], moved["partition"])
        else partition
        for partition in sample.snapshot.each_partition()
    ]
    index = {topic.name: i for i, topic in enumerate(sample.snapshot.topics)}
    snapshot = replace(sample.snapshot, partitions=partition_table(rows, index))
    assert "unmovable" in verify_plan(as_if_made_from(snapshot, sample.document), snapshot).counts


def test_of_another_snapshot_only_that_is_told_and_what_needs_none() -> None:
    sample = plain_plan()
    later = replace(sample.snapshot, captured_at=parse_time("2026-11-20T13:00:00Z", "here"), cluster="another")
    verification = verify_plan(sample.document, later)
    assert verification.is_of_another_snapshot
    assert not verification.is_right
    (fault,) = verification.faults
    made, given = sample.document["snapshot_id"][:8], snapshot_id(later)[:8]
    assert fault.message.startswith(f"this plan was made from snapshot {made}, INPUT is {given}, not what it was made")
    assert set(verify_plan(sample.document | {"seed": -7}, later).counts) == {"hash", "identity"}
    assert not verify_plan(sample.document, sample.snapshot).is_of_another_snapshot
