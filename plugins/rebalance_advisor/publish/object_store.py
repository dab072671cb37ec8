"""Put an advisory into an object store: ``CLUSTER/RUN/DIGEST/…``, and last ``CLUSTER/latest.json``, which names it.

Promises, in order
1. A reader of ``latest.json`` finds every file that it names, with the bytes that it names. None of them is ever
   overwritten with other bytes: the digest in the folder's name is made of the files, so that a second try of a run
   writes the same bytes again, or has a folder of its own.
2. A run that is killed before its last step leaves ``latest.json`` as it was. That is one object, and one is put whole.
3. Leftovers of a killed run are known: the manifest is the first object of a folder and the last to go
   (``remove_older_objects``).

The caller asks the database which run is the latest, and lets one run at a time write it. The store needs four calls
and an address; Airflow's paths provide them (``airflow/publishing.py``).

``manifest.json`` in the folder and ``latest.json`` above are one document: ``format``, ``cluster``, ``run_id``,
``plan_id``, ``folder`` (as seen from ``latest.json``), ``written_at`` and ``files``, the sha-256 of each by its name in
the folder. So a reader of ``latest.json`` knows which files to fetch, and whether they are the published ones.

Example: ``orders/run_1/0f3a…/manifest.json``, ``…/plan.json``, ``…/waves/01.json``; then ``orders/latest.json``.
One call for each file, a few more for the manifests.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import visible_json
from kafka_rebalance.snapshot.times import time_text


class ObjectStoreError(AdvisorError):
    """The store did not answer, or refused: tried again, it may."""


class ObjectStore(Protocol):
    """Objects by key; keys are relative to the store's own place, their parts parted by ``/``.

    What each call has done is seen by every call after it, as S3 promises. Each raises ObjectStoreError, with the
    address, where the store does not answer or refuses.
    """

    def put(self, key: str, content: bytes) -> None:
        """Make the object, or replace it: whole, or not at all."""

    def read(self, key: str) -> bytes | None:
        """The object's content; ``None`` where there is none."""

    def list(self, prefix: str) -> list[str]:
        """Keys under ``prefix``, a key's first parts, sorted; of everything for the empty one."""

    def delete(self, key: str) -> None:
        """Remove the object; one that is not there is removed already."""

    def address(self, key: str) -> str:
        """Where people find the object, or what lies under these first parts of keys."""


MANIFEST, LATEST = "manifest.json", "latest.json"
_FORMAT = 1
_DIGEST_SHOWN = 16
# A name, or a name in one folder: a manifest that somebody else wrote cannot lead out of its own folder.
_NAME = re.compile(r"(?:[\w-]+/)?[\w-][\w.-]*", re.ASCII)
_TEXTS = ("cluster", "run_id", "plan_id", "folder", "written_at")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One advisory as it lies in a store. ``folder`` is relative to the cluster's; ``files``: sha-256 by name."""

    cluster: str
    run_id: str
    plan_id: str
    folder: str
    written_at: datetime
    files: Mapping[str, str]

    def content(self) -> bytes:
        """The document."""
        document = {
            "format": _FORMAT, "cluster": self.cluster, "run_id": self.run_id, "plan_id": self.plan_id,
            "folder": self.folder, "written_at": time_text(self.written_at), "files": dict(sorted(self.files.items())),
        }  # fmt: skip
        return (visible_json(json.dumps(document, indent=1, ensure_ascii=False)) + "\n").encode()


def manifest_of(content: bytes | None) -> Manifest | None:
    """``None`` for what is not there, not whole, or not of a format that is known here."""
    try:
        document: Any = json.loads(content or b"")
        texts = {name: document[name] for name in _TEXTS}
        files = document["files"]
        is_ours = document["format"] == _FORMAT and all(isinstance(text, str) for text in texts.values())
        if not is_ours or not all(isinstance(sha, str) and _NAME.fullmatch(name) for name, sha in files.items()):
            return None
        texts["written_at"] = datetime.fromisoformat(texts["written_at"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return Manifest(files=files, **texts) if texts["written_at"].tzinfo is not None else None


def sha256_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """The sha-256 of each file, in hex."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def digest_of(sums: Mapping[str, str]) -> str:
    """A short name for these files with these contents: other bytes, another name."""
    lines = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))
    return hashlib.sha256(lines.encode()).hexdigest()[:_DIGEST_SHOWN]


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
    """The plan's files, and those on its execution that were written after the manifest."""
    from rebalance_advisor.publish.outcome_files import OUTCOME_FILES

    return (*found.files, *OUTCOME_FILES)
