"""Advisories in a real S3: who follows ``latest.json`` finds a whole one, whenever a run is killed or tried again."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from rebalance_advisor.publish.object_store import (
    LATEST,
    MANIFEST,
    Manifest,
    ObjectStore,
    find_advisory,
    point_latest,
    put_advisory,
    remove_older_objects,
)
from tests.object_storage import KilledError, Struck, assert_whole, latest, objects, publish_url, s3_connection

__all__ = ["objects", "publish_url", "s3_connection"]
pytestmark = pytest.mark.stack
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def files_of(word: str) -> dict[str, bytes]:
    return {name: f"{name} {word}".encode() for name in ("plan.json", "waves/01.json")}


def put(store: ObjectStore, run: str, word: str, now: datetime = NOW) -> Manifest:
    return put_advisory(store, "orders", Manifest("orders", run, f"plan of {word}", run, now, {}), files_of(word))


def publish(store: ObjectStore, run: str, word: str, now: datetime = NOW) -> Manifest:
    made = put(store, run, word, now)
    point_latest(store, "orders", made)
    return made


def test_files_lie_under_the_runs_id_and_latest_names_them(objects) -> None:
    made = publish(objects, "run-1", "a")
    folder = f"orders/{made.folder}"
    assert made.folder.startswith("run-1/")
    assert objects.list("") == sorted(
        [f"orders/{LATEST}", f"{folder}/{MANIFEST}", *(f"{folder}/{n}" for n in made.files)]
    )
    manifest = latest(objects, "orders")
    assert manifest == made
    assert (manifest.run_id, manifest.plan_id) == ("run-1", "plan of a")


@pytest.mark.parametrize("is_after", [False, True])
def test_a_run_killed_anywhere_leaves_latest_as_it_was_and_comes_through_when_tried_again(objects, is_after) -> None:
    counting = Struck(objects)
    publish(counting, "count", "count")
    assert counting.changes == len(files_of("")) + 2
    for moment in range(1, counting.changes + 1):
        before = latest(objects, "orders")
        run, is_out = f"run-{moment}", is_after and moment == counting.changes
        with pytest.raises(KilledError):
            publish(Struck(objects, moment, is_after=is_after), run, run)
        now = latest(objects, "orders")
        assert now is not None
        assert now.run_id == (run if is_out else before.run_id)
        publish(objects, run, run)
        assert latest(objects, "orders").run_id == run


def test_the_same_run_again_writes_the_same_bytes_or_has_a_folder_of_its_own(objects) -> None:
    first = publish(objects, "run", "a")
    there = {key: objects.read(key) for key in objects.list("")}
    assert publish(objects, "run", "a") == first
    assert {key: objects.read(key) for key in objects.list("")} == there
    second = put(Struck(objects), "run", "b", NOW + timedelta(hours=1))
    assert second.folder != first.folder
    assert_whole(objects, "orders", first)  # readers of the first one continue
    point_latest(objects, "orders", second)
    assert latest(objects, "orders") == second
    assert_whole(objects, "orders", first)


def test_a_plan_is_found_where_it_is_whole(objects) -> None:
    with pytest.raises(KilledError):
        put(Struck(objects, 2), "run", "a")
    assert find_advisory(objects, "orders", "run", "plan of a") is None
    made = put(objects, "run", "a")
    put(objects, "run", "b")
    put(objects, "run-2", "a")
    assert find_advisory(objects, "orders", "run", "plan of a") == made
    assert find_advisory(objects, "orders", "run", "plan of c") is None
    later = put(objects, "run", "a", NOW + timedelta(hours=1))
    assert find_advisory(objects, "orders", "run", "plan of a") == later


def test_older_ones_go_and_the_latest_stays_however_old_it_is(objects) -> None:
    old, young = put(objects, "old", "a", NOW - timedelta(days=401)), put(objects, "young", "b")
    ancient = publish(objects, "ancient", "c", NOW - timedelta(days=900))
    objects.put(f"orders/{old.folder}/outcome.json", b"{}")
    assert remove_older_objects(objects, "orders", NOW - timedelta(days=400)) == [f"orders/{old.folder}"]
    assert objects.list("orders/old") == []
    assert_whole(objects, "orders", young)
    assert latest(objects, "orders") == ancient


def test_what_is_not_ours_stays_and_so_does_all_where_latest_cannot_be_read(objects) -> None:
    old = put(objects, "old", "a", NOW - timedelta(days=500))
    strange = (
        "orders/note.txt",
        f"orders/{old.folder}/note.txt",
        "orders/x/manifest.json",
        "orders-2/old/manifest.json",
    )
    for key in strange:
        objects.put(key, b"mine")
    objects.put(f"orders/{LATEST}", b"{")
    assert remove_older_objects(objects, "orders", NOW) == []
    assert_whole(objects, "orders", old)
    objects.delete(f"orders/{LATEST}")
    assert remove_older_objects(objects, "orders", NOW) == [f"orders/{old.folder}"]
    assert objects.list("") == sorted(strange)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_published_struck_and_pruned_latest_is_whole_and_nothing_is_left_for_ever(objects, seed) -> None:
    dice, now, published = random.Random(seed), NOW, None
    for step in range(12):
        now += timedelta(days=dice.randint(0, 3))
        run = f"run-{dice.randint(0, 3)}"
        word = f"{run} {dice.randint(0, 1)}"
        struck = Struck(objects, dice.choice([0, dice.randint(1, 5)]), is_after=dice.random() < 0.5)
        try:
            if dice.random() < 0.3:
                remove_older_objects(struck, "orders", now - timedelta(days=2))
            else:
                publish(struck, run, word, now)
        except KilledError:
            pass
        manifest = latest(objects, "orders")
        assert published is None or manifest is not None, step
        published = manifest
    remove_older_objects(objects, "orders", now + timedelta(days=1))
    left = [] if published is None else [f"orders/{LATEST}", *_keys(published)]
    assert objects.list("") == sorted(left)


def _keys(made: Manifest) -> list[str]:
    return [f"orders/{made.folder}/{name}" for name in (MANIFEST, *made.files)]
