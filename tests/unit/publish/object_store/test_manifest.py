from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rebalance_advisor.publish.object_store import Manifest, digest_of, manifest_of, sha256_of

FILES = {"plan.json": b"{}", "waves/01.json": b"[]"}
WHOLE = Manifest("orders", "run", "f" * 64, "run/0123", datetime(2026, 11, 20, 6, tzinfo=UTC), sha256_of(FILES))


def test_it_comes_back_and_is_the_same_bytes_whatever_the_order_of_files() -> None:
    turned = replace(WHOLE, files=dict(reversed(WHOLE.files.items())))
    assert manifest_of(WHOLE.content()) == WHOLE
    assert turned.content() == WHOLE.content()
    assert WHOLE.files["plan.json"] == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"


def test_names_of_others_are_shown_and_stay_one_document() -> None:
    hostile = replace(WHOLE, cluster='a"\u202e\n', run_id="\x1b[31m</script>")
    content = hostile.content()
    assert b"\x1b" not in content
    assert "\u202e" not in content.decode()
    assert manifest_of(content) == hostile


@pytest.mark.parametrize("name", ["../plan.json", "/etc/passwd", "a/b/c", ".hidden", "a/../b", "", "a/"])
def test_a_manifest_that_leads_out_of_its_folder_is_none(name: str) -> None:
    document = json.loads(WHOLE.content())
    assert manifest_of(json.dumps(document | {"files": {name: "0" * 64}}).encode()) is None


@pytest.mark.parametrize(
    "change",
    [{"format": 2}, {"format": None}, {"files": ["plan.json"]}, {"files": {"plan.json": 1}}, {"run_id": 3},
     {"written_at": "yesterday"}, {"written_at": "2026-11-20T06:00:00"}, {"written_at": 7}],
)  # fmt: skip
def test_another_format_is_none(change: dict[str, object]) -> None:
    assert manifest_of(json.dumps(json.loads(WHOLE.content()) | change).encode()) is None


def test_half_a_manifest_is_none_and_damage_never_raises() -> None:
    content = WHOLE.content()
    assert manifest_of(None) is None
    assert all(manifest_of(content[:length]) is None for length in range(len(content) - 2))
    dice = random.Random(7)
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(dice.randint(1, 4)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        manifest = manifest_of(bytes(damaged))
        assert manifest is None or all(".." not in name.split("/") for name in manifest.files)


def test_other_bytes_or_other_names_have_another_digest() -> None:
    same, other = sha256_of(FILES), sha256_of(FILES | {"plan.json": b"{ }"})
    renamed = sha256_of({"plan.json": b"{}", "waves/02.json": b"[]"})
    digests = [digest_of(sums) for sums in (same, other, renamed)]
    assert len(set(digests)) == 3
    assert digest_of(dict(reversed(same.items()))) == digests[0]
