"""Advisories in an object store that have had their time: removed by the names in their manifests alone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from rebalance_advisor.publish.object_store.manifest import LATEST, MANIFEST, Manifest, manifest_of
from rebalance_advisor.publish.object_store.object_store import ObjectStore
from rebalance_advisor.publish.outcome_files import OUTCOME_FILES


def clusters_in(store: ObjectStore) -> list[str]:
    """Keys of all clusters of which something of ours may lie there."""
    return sorted({key.split("/")[0] for key in store.list("") if key.endswith(f"/{MANIFEST}")})


def remove_older_objects(store: ObjectStore, cluster_key: str, before: datetime) -> list[str]:
    """Remove a cluster's advisories that were written before a time; returns the keys of their folders.

    What ``latest.json`` names stays however old it is, and everything stays where that cannot be read; so does what
    no manifest names. The manifest goes last: what a kill leaves of a folder is found again.
    """
    latest = manifest_of(store.read(f"{cluster_key}/{LATEST}"))
    keys = store.list(cluster_key)
    if latest is None and f"{cluster_key}/{LATEST}" in keys:
        return []
    gone = []
    for key in (key for key in keys if key.endswith(f"/{MANIFEST}")):
        folder, found = key.removesuffix(f"/{MANIFEST}"), manifest_of(store.read(key))
        is_latest = latest is not None and folder == f"{cluster_key}/{latest.folder}"
        if found is None or is_latest or found.written_at >= before:
            continue
        for name in _names(found):
            store.delete(f"{folder}/{name}")
        store.delete(key)
        gone.append(folder)
    return gone


def _names(found: Manifest) -> Iterable[str]:
    """What came of the plan lies beside its files, and was written after the manifest."""
    return (*found.files, *OUTCOME_FILES)
