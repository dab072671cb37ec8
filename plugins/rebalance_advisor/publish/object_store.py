"""Put an advisory into an object store: ``CLUSTER/RUN/DIGEST/…``, then ``CLUSTER/latest.json``, which names it.

Promises, in order
1. ``latest.json`` names only existing files with the named bytes. The digest in a folder's name is a hash of its files,
   so files are never overwritten with other bytes.
2. A run killed before its last step leaves ``latest.json`` unchanged, since one object is put whole.
3. Leftovers are found: a folder's manifest is put first and removed last (``remove_older_objects``).

One run at a time writes. ``manifest.json`` and ``latest.json`` have one form, with a sha-256 for each file. One call a
file. Example: ``orders/run_1/0f3a…/manifest.json``, ``…/plan.json``; then ``orders/latest.json``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import visible_json
from kafka_rebalance.snapshot.times import time_text
from rebalance_advisor.publish.folders import PUBLISHED_NAME


class ObjectStoreError(AdvisorError):
    """No answer, or refused; a retry may help."""


class ObjectStore(Protocol):
    """Relative keys. Each call sees earlier ones, as S3 promises, and raises ObjectStoreError with the address."""

    def put(self, key: str, content: bytes) -> None:
        """Atomic."""

    def read(self, key: str) -> bytes | None:
        """None if there is none."""

    def list(self, prefix: str) -> list[str]:
        """Sorted keys; '' means all."""

    def delete(self, key: str) -> None:
        """A missing object is no error."""

    def address(self, key: str) -> str:
        """For people."""


MANIFEST, LATEST = "manifest.json", "latest.json"
_FORMAT = 1
_DIGEST_SHOWN = 16
_TEXTS = ("cluster", "run_id", "plan_id", "folder", "written_at")


@dataclass(frozen=True, slots=True)
class Manifest:
    """``folder``: below the cluster's; ``files``: sha-256 by name."""

    cluster: str
    run_id: str
    plan_id: str
    folder: str
    written_at: datetime
    files: Mapping[str, str]

    def content(self) -> bytes:
        document = {
            "format": _FORMAT, "cluster": self.cluster, "run_id": self.run_id, "plan_id": self.plan_id,
            "folder": self.folder, "written_at": time_text(self.written_at), "files": dict(sorted(self.files.items())),
        }  # fmt: skip
        return (visible_json(json.dumps(document, indent=1, ensure_ascii=False)) + "\n").encode()


def manifest_of(content: bytes | None) -> Manifest | None:
    try:
        document: Any = json.loads(content or b"")
        texts = {name: document[name] for name in _TEXTS}
        files = document["files"]
        is_ours = document["format"] == _FORMAT and all(isinstance(text, str) for text in texts.values())
        if not is_ours or not all(
            isinstance(sha, str) and PUBLISHED_NAME.fullmatch(name) for name, sha in files.items()
        ):
            return None
        texts["written_at"] = datetime.fromisoformat(texts["written_at"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return Manifest(files=files, **texts) if texts["written_at"].tzinfo is not None else None


def sha256_of(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def digest_of(sums: Mapping[str, str]) -> str:
    lines = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))
    return hashlib.sha256(lines.encode()).hexdigest()[:_DIGEST_SHOWN]


def put_advisory(store: ObjectStore, cluster_key: str, made: Manifest, files: Mapping[str, bytes]) -> Manifest:
    """Return the full manifest."""
    sums = sha256_of(files)
    put = replace(made, folder=f"{made.folder}/{digest_of(sums)}", files=sums)
    folder = f"{cluster_key}/{put.folder}"
    store.put(f"{folder}/{MANIFEST}", put.content())
    for name, content in files.items():
        store.put(f"{folder}/{name}", content)
    return put


def find_advisory(store: ObjectStore, cluster_key: str, run_key: str, plan_id: str) -> Manifest | None:
    """Newest complete manifest of this plan."""
    keys = frozenset(store.list(f"{cluster_key}/{run_key}"))
    whole: list[Manifest] = []
    for key in sorted(key for key in keys if key.endswith(f"/{MANIFEST}")):
        folder, manifest = key.removesuffix(f"/{MANIFEST}"), manifest_of(store.read(key))
        if (
            manifest is not None
            and manifest.plan_id == plan_id
            and keys >= {f"{folder}/{name}" for name in manifest.files}
        ):
            whole.append(replace(manifest, folder=folder.removeprefix(f"{cluster_key}/")))
    return max(whole, key=lambda manifest: manifest.written_at, default=None)


def point_latest(store: ObjectStore, cluster_key: str, put: Manifest) -> None:
    store.put(f"{cluster_key}/{LATEST}", put.content())


def clusters_in(store: ObjectStore) -> list[str]:
    return sorted({key.split("/")[0] for key in store.list("") if key.endswith(f"/{MANIFEST}")})


def remove_older_objects(store: ObjectStore, cluster_key: str, before: datetime) -> list[str]:
    """Return the removed folders' keys.

    Keeps the target of ``latest.json``, everything if that is unreadable, and what no manifest names. The manifest goes
    last.
    """
    latest = manifest_of(store.read(f"{cluster_key}/{LATEST}"))
    keys = store.list(cluster_key)
    if latest is None and f"{cluster_key}/{LATEST}" in keys:
        return []
    gone = []
    for key in (key for key in keys if key.endswith(f"/{MANIFEST}")):
        folder, manifest = key.removesuffix(f"/{MANIFEST}"), manifest_of(store.read(key))
        is_latest = latest is not None and folder == f"{cluster_key}/{latest.folder}"
        if manifest is None or is_latest or manifest.written_at >= before:
            continue
        for name in _names(manifest):
            store.delete(f"{folder}/{name}")
        store.delete(key)
        gone.append(folder)
    return gone


def _names(manifest: Manifest) -> Iterable[str]:
    from rebalance_advisor.publish.outcome_files import OUTCOME_FILES

    return (*manifest.files, *OUTCOME_FILES)
