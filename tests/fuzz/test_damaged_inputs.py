"""Damaged inputs (300 in the fast tests, 20,000 by ``make fuzz``) are read or refused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.fuzz import readers
from tests.fuzz.damage import damaged_json, damaged_text
from tests.fuzz.readers import KINDS, draw_of
from tests.fuzz.table import Outcomes, run_inputs
from tests.fuzz.worker import is_well_refused

INPUTS = 300


def test_every_damaged_input_is_read_or_refused_with_place_and_reason(capsys) -> None:
    outcomes = run_inputs(0, INPUTS)
    with capsys.disabled():
        print(f"\n{outcomes.table()}")
    assert not outcomes.failures, "\n".join(outcomes.failures)
    assert sum(outcomes.counts.values()) == INPUTS
    read = {kind for kind in KINDS if outcomes.counts[kind, "read"]}
    refused = {kind for kind in KINDS if outcomes.counts[kind, "refused"]}
    assert refused == set(KINDS), "damage of this kind is never noticed, or was never done"
    assert len(read) >= len(KINDS) - 2, "nearly all kinds have inputs that are read in spite of their damage"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "plan" not in kind])
def test_an_input_without_damage_is_read(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "damaged_text", lambda _, text: text.encode())
    monkeypatch.setattr(readers, "damaged_json", lambda _, document: json.dumps(document).encode())
    monkeypatch.setattr(readers, "PLANNED_SHARE", 0.0)
    for seed in range(2):
        (tmp_path / str(seed)).mkdir()
        KINDS[kind](draw_of(kind, seed), tmp_path / str(seed))


def test_the_same_seed_does_the_same_damage():
    document = {"a": [1, 2, {"b": "c"}], "d": None}
    for seed in range(200):
        first, other = random.Random(seed), random.Random(seed)
        assert damaged_json(first, document) == damaged_json(other, document)
        assert damaged_text(first, "a\nb,c\n") == damaged_text(other, "a\nb,c\n")


@pytest.mark.parametrize(
    "message",
    ["", "no place", "a: KeyError: 'b'", "file: Traceback (most recent call last)", "x.json: <A object at 0x7f>"],
)
def test_a_refusal_without_place_or_with_pythons_words_counts_as_a_crash(message: str) -> None:
    assert not is_well_refused(message)
    assert is_well_refused("file.json:3: is no JSON")


def test_the_table_counts_by_kind_and_names_what_went_wrong():
    outcomes = Outcomes()
    outcomes.add(0, "read", "")
    outcomes.add(1, "hang", "more than 10 s")
    assert outcomes.failures == ["input 1 (snapshot, seed 0): hang: more than 10 s"]
    lines = outcomes.table().splitlines()
    assert lines[0].split() == ["kind", "inputs", "read", "refused", "crash", "hang"]
    assert lines[2].split() == ["snapshot", "1", "0", "0", "0", "1"]
    assert lines[-1].split() == ["all", "2", "1", "0", "0", "1"]
