"""The files of a published advisory, wherever they lie: in a folder of this machine, or in an object store."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rebalance_advisor.publish.object_store.object_store import ObjectStore, ObjectStoreError


class PublishedFiles(Protocol):
    """Files by their names in the advisory, such as ``waves/01.json``."""

    @property
    def address(self) -> str:
        """Where people find them."""

    @property
    def way_there(self) -> str:
        """What to type in a shell to have them in the working folder."""

    def read(self, name: str) -> bytes:
        """A file's content. Raises OSError or ObjectStoreError."""

    def names(self) -> list[str]:
        """All of them, sorted."""

    def replace(self, files: Mapping[str, bytes]) -> None:
        """Put files beside those that are there, each whole or not at all."""


def files_that_differ(files: PublishedFiles, pinned: Mapping[str, str]) -> list[str]:
    """Return the names in ``pinned``, sha-256 by name, whose file is missing or has other bytes.

    Raises ObjectStoreError where the store does not answer.
    """
    there = set(files.names())
    return [name for name, sha in pinned.items() if name not in there or _sha256(files.read(name)) != sha]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class FolderFiles:
    """In a folder."""

    folder: Path

    @property
    def address(self) -> str:
        """Its path."""
        return str(self.folder)

    @property
    def way_there(self) -> str:
        """There already."""
        return f"cd {shlex.quote(str(self.folder))}"

    def read(self, name: str) -> bytes:
        """A file's content."""
        return (self.folder / name).read_bytes()

    def names(self) -> list[str]:
        """All of them, the marker too."""
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.folder).as_posix() for path in files)

    def replace(self, files: Mapping[str, bytes]) -> None:
        """Each beside, then renamed."""
        from rebalance_advisor.publish.folders.whole_file import replace_file

        for name, content in files.items():
            replace_file(self.folder / name, content)


@dataclass(frozen=True, slots=True)
class ObjectFiles:
    """In an object store, under a key."""

    store: ObjectStore
    key: str

    @property
    def address(self) -> str:
        """As the store's own tools take it."""
        return self.store.address(self.key)

    @property
    def way_there(self) -> str:
        """Fetched first; other stores have a tool like it."""
        address = shlex.quote(self.address)
        is_s3 = self.address.startswith("s3://")
        fetch = f"aws s3 cp --recursive {address} plan" if is_s3 else f"# fetch all of {address} into a folder: plan"
        return f"{fetch}\ncd plan"

    def read(self, name: str) -> bytes:
        """A file's content."""
        content = self.store.read(f"{self.key}/{name}")
        if content is None:
            raise ObjectStoreError(f"{self.store.address(f'{self.key}/{name}')}: is not there; publish the run again")
        return content

    def names(self) -> list[str]:
        """All of them, the manifest too."""
        return [key.removeprefix(f"{self.key}/") for key in self.store.list(self.key)]

    def replace(self, files: Mapping[str, bytes]) -> None:
        """One object each."""
        for name, content in files.items():
            self.store.put(f"{self.key}/{name}", content)
