"""An advisory in an object store: ``CLUSTER/RUN/DIGEST/…``, and last of all ``CLUSTER/latest.json``, which names it.

What is promised, the most important first:

1. Whoever follows ``latest.json`` finds every file that it names, with the bytes that it names. None of them is ever
   written over with other bytes: the digest in the folder's name is made of the files, so that a second try of a run
   writes the same bytes again, or has a folder of its own.
2. A run that is killed before its last step leaves ``latest.json`` as it was. That is one object, and one is put whole.
3. What a killed run left is known: the manifest is the first object of a folder and the last to go (``old_objects``).

Whose turn it is to be the latest is not known here: the caller asks the database, and lets one run at a time do it.

Example: ``orders/run_1/0f3a…/manifest.json``, ``…/plan.json``, ``…/waves/01.json``; then ``orders/latest.json``.
One call for each file, a few more for what stands beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rebalance_advisor.publish.object_store.manifest import (
    LATEST,
    MANIFEST,
    Manifest,
    digest_of,
    manifest_of,
    sha256_of,
)
from rebalance_advisor.publish.object_store.object_store import ObjectStore


def put_advisory(store: ObjectStore, cluster_key: str, made: Manifest, files: Mapping[str, bytes]) -> Manifest:
    """Put ``files``, by their names, into a folder of their own in ``made.folder``, the run's; returns where they are.

    ``made`` says whose they are, and when; its files are told here.
    """
    sums = sha256_of(files)
    put = replace(made, folder=f"{made.folder}/{digest_of(sums)}", files=sums)
    folder = f"{cluster_key}/{put.folder}"
    store.put(f"{folder}/{MANIFEST}", put.content())
    for name, content in files.items():
        store.put(f"{folder}/{name}", content)
    return put


def find_advisory(store: ObjectStore, cluster_key: str, run_key: str, plan_id: str) -> Manifest | None:
    """What holds all files of this plan in the run's folder, by what the store lists; the one that was written last."""
    keys = frozenset(store.list(f"{cluster_key}/{run_key}"))
    whole: list[Manifest] = []
    for key in sorted(key for key in keys if key.endswith(f"/{MANIFEST}")):
        folder, found = key.removesuffix(f"/{MANIFEST}"), manifest_of(store.read(key))
        if found is not None and found.plan_id == plan_id and keys >= {f"{folder}/{name}" for name in found.files}:
            whole.append(replace(found, folder=folder.removeprefix(f"{cluster_key}/")))
    return max(whole, key=lambda found: found.written_at, default=None)


def point_latest(store: ObjectStore, cluster_key: str, put: Manifest) -> None:
    """Let ``latest.json`` name it: its manifest, once more."""
    store.put(f"{cluster_key}/{LATEST}", put.content())
