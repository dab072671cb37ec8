"""Where the files of a run go: ``ADVISOR_PUBLISH_DIR/CLUSTER/RUN``, or the same in an object store."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from rebalance_advisor.airflow.publishing.published_files import FolderFiles, ObjectFiles, PublishedFiles
from rebalance_advisor.publish.object_store.manifest import LATEST, Manifest
from rebalance_advisor.publish.object_store.object_store import ObjectStore

SETTING = "ADVISOR_PUBLISH_DIR"
# Names of ours beside the folders of runs, and names that Windows' file systems keep for devices.
_RESERVED = re.compile(r"latest(\.json)?|(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_LONGEST_NAME = 200
_SHOWN_OF_LONG = 100


class Place(Protocol):
    """A run's own place, and beside it what leads to the cluster's newest."""

    def find(self, plan_id: str) -> PublishedFiles | None:
        """All files of this plan, where they are whole."""

    def write(self, files: Mapping[str, bytes], plan_id: str) -> PublishedFiles:
        """Put them there; who reads what was there before still can, or finds the new ones."""

    def show_as_latest(self, plan_id: str) -> str | None:
        """Let the cluster's newest lead here; what hinders it, in words."""


@dataclass(frozen=True, slots=True)
class FolderPlace:
    """A folder of one run, replaced whole; the link ``latest`` beside it."""

    folder: Path
    run_id: str

    def find(self, plan_id: str) -> PublishedFiles | None:
        """By the folder's marker."""
        from rebalance_advisor.publish.folders.folder_marker import read_marker
        from rebalance_advisor.publish.folders.version_folders import advisory_folder

        folder = advisory_folder(self.folder)
        marker = read_marker(folder)
        is_this = marker is not None and (marker.plan_id, marker.run_id) == (plan_id, self.run_id)
        return FolderFiles(folder) if is_this else None

    def write(self, files: Mapping[str, bytes], plan_id: str) -> PublishedFiles:
        """In one step. Raises UsageError where the folder holds an advisory of another run."""
        from rebalance_advisor.publish.folders.whole_folder import replace_folder

        return FolderFiles(replace_folder(self.folder, files, plan_id, run_id=self.run_id))

    def show_as_latest(self, plan_id: str) -> str | None:
        """The link."""
        from rebalance_advisor.publish.folders import latest_link

        link = self.folder.parent / latest_link.LATEST
        if self.find(plan_id) is None:
            return f"{self.folder}: the files are gone, {link} stays as it is"
        return None if latest_link.point_latest(self.folder) else f"{link} is no link and stays as it is"


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """Keys under ``CLUSTER/RUN``; ``latest.json`` beside them."""

    store: ObjectStore
    cluster: str
    run_id: str

    def find(self, plan_id: str) -> PublishedFiles | None:
        """By the manifests there."""
        found = self._manifest(plan_id)
        return None if found is None else self._files(found)

    def write(self, files: Mapping[str, bytes], plan_id: str) -> PublishedFiles:
        """Each as an object, in a folder that no other bytes have."""
        from rebalance_advisor.publish.object_store.advisory_objects import put_advisory

        made = Manifest(self.cluster, self.run_id, plan_id, folder_name(self.run_id), datetime.now(UTC), {})
        return self._files(put_advisory(self.store, folder_name(self.cluster), made, files))

    def show_as_latest(self, plan_id: str) -> str | None:
        """One object, put whole."""
        from rebalance_advisor.publish.object_store.advisory_objects import point_latest

        found = self._manifest(plan_id)
        if found is None:
            return f"{self.store.address(folder_name(self.cluster))}: the files are gone, {LATEST} stays as it is"
        point_latest(self.store, folder_name(self.cluster), found)
        return None

    def _manifest(self, plan_id: str) -> Manifest | None:
        from rebalance_advisor.publish.object_store.advisory_objects import find_advisory

        found = find_advisory(self.store, folder_name(self.cluster), folder_name(self.run_id), plan_id)
        return found if found is not None and found.run_id == self.run_id else None

    def _files(self, manifest: Manifest) -> PublishedFiles:
        return ObjectFiles(self.store, f"{folder_name(self.cluster)}/{manifest.folder}")


def place_of(cluster: str, run_id: str) -> Place:
    """Where the files of a run go. Raises InvalidInputError where the object store's address cannot be."""
    from rebalance_advisor.airflow.publishing.object_storage import object_store

    store = object_store()
    if store is not None:
        return ObjectPlace(store, cluster, run_id)
    return FolderPlace(publish_folder(cluster, run_id), run_id)


def require_place(cluster: str) -> None:
    """Asked before the work, so that nobody waits for a refusal: does the store know its address, and may we look?

    Raises InvalidInputError where the address cannot be, ObjectStoreError where the store refuses or does not answer.
    """
    from rebalance_advisor.airflow.publishing.object_storage import object_store

    store = object_store()
    if store is not None:
        store.list(f"{folder_name(cluster)}/{LATEST}")


def publish_folder(cluster: str, run_id: str) -> Path:
    """The folder of a run."""
    return publish_root() / folder_name(cluster) / folder_name(run_id)


def publish_root() -> Path:
    """The folder of the folders: one for each cluster. Small files of this machine lie here, too."""
    return Path(os.environ.get(SETTING) or Path.cwd() / "published")


def folder_name(name: str) -> str:
    """Return the folder's name, or the object key's part, for a name: two names never share one.

    Lower-case letters, digits, ``_``, ``-``, ``+`` and inner dots stay; of all else each byte of UTF-8 becomes ``=xx``:
    names stay apart where upper and lower case are one. Long ones end with ``==`` and the SHA-256 of the name.
    """
    name_bytes = name.encode("utf-8", "surrogatepass")
    escaped = re.sub(rb"[^a-z0-9_.+-]|^\.|\.$", lambda found: b"=%02x" % ord(found[0]), name_bytes).decode("ascii")
    if not escaped or _RESERVED.fullmatch(escaped):
        escaped = f"={name_bytes[:1].hex()}{escaped[1:]}"
    if len(escaped) > _LONGEST_NAME:
        return f"{escaped[:_SHOWN_OF_LONG]}=={hashlib.sha256(name_bytes).hexdigest()}"
    return escaped
