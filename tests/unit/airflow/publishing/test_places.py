from __future__ import annotations

import random
import re

from rebalance_advisor.airflow.publishing import folder_name
from tests.unit.cli.hostile.names import HOSTILE

_ALPHABET = "aAbTt019:_-+.=%/\\ ~'\"\x00\n\r\te\u0301\u00e9\ufb01\u0131\u017f\u212a\ud800\U0001f600"
_WORDS = ["latest", "latest.json", "con", "aux.txt", "manual__2026-11-25T21:23:00+00:00", "=3a", "==", "..", "a" * 199]


def test_what_is_plain_already_keeps_its_name() -> None:
    for name in ("orders", "orders-eu_2", "r", "scheduled__2026-11-25", "a.b+c"):
        assert folder_name(name) == name


def test_other_names_are_escaped_byte_by_byte() -> None:
    assert folder_name("manual__2026-11-25T21:23:00+00:00.orders") == "manual__2026-11-25=5421=3a23=3a00+00=3a00.orders"
    assert [folder_name(name) for name in ("..", "", "latest", "nul.txt")] == ["=2e=2e", "=", "=6catest", "=6eul.txt"]


def test_the_two_runs_of_the_proof_have_two_folders() -> None:
    assert folder_name("manual__2026-11-25T21:23:00") != folder_name("manual__2026-11-25T21_23_00")


def test_random_names_never_share_a_folder_and_lead_to_no_other_place() -> None:
    chance = random.Random(41)
    names = {*_WORDS, *HOSTILE.values(), *(chance.choice("aAb.=") * chance.randint(150, 400) for _ in range(200))}
    for _ in range(20_000):
        parts = [
            chance.choice(_WORDS) if chance.random() < 0.1 else chance.choice(_ALPHABET)
            for _ in range(chance.randint(1, 6))
        ]
        names.add("".join(parts))
    # A name that is another name's folder must get a folder of its own.
    names |= {folder_name(name) for name in names}
    folders = {folder_name(name).casefold() for name in names}
    assert len(folders) == len(names)
    for folder in folders:
        assert re.fullmatch(r"[a-z0-9_=+-]([a-z0-9_=+.-]*[a-z0-9_=+-])?", folder), folder
        assert len(folder) <= 200
        assert folder not in ("latest", "latest.json")
