"""The object store that ``ADVISOR_PUBLISH_URL`` names, through Airflow's ``ObjectStoragePath``.

``s3://CONNECTION@BUCKET/PATH``: the provider of the scheme reads Airflow's connection, so that no secret stands in the
setting. What a provider has to bring is a file system of fsspec, of which four calls are used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.publish.object_store.object_store import ObjectStoreError

if TYPE_CHECKING:
    from airflow.sdk import ObjectStoragePath

SETTING = "ADVISOR_PUBLISH_URL"
_EXAMPLE = "write s3://CONNECTION@BUCKET/PATH"
_LOCAL = ("file", "local", "memory")
_CONNECTION = re.compile(r"[\w.-]*", re.ASCII)


class AirflowObjectStore:
    """An ``ObjectStore`` under one path. ``pipe_file`` puts an object whole; a file that is open for writing would be
    closed, and so be there, with what was written until an error came.
    """

    def __init__(self, root: ObjectStoragePath) -> None:
        self._fs = root.fs
        self._root = str(root.path).rstrip("/")
        self._shown = f"{root.protocol}://{self._root}"

    def put(self, key: str, content: bytes) -> None:
        """Make or replace it."""
        with self._telling(key):
            self._fs.pipe_file(self._path(key), content)

    def read(self, key: str) -> bytes | None:
        """``None`` where there is no such object."""
        with self._telling(key):
            try:
                return bytes(self._fs.cat_file(self._path(key)))
            except FileNotFoundError:
                return None

    def list(self, prefix: str) -> list[str]:
        """Asked anew each time: what fsspec remembers of others' objects is old."""
        with self._telling(prefix):
            self._fs.invalidate_cache()
            found = self._fs.find(self._path(prefix))
        under = f"{self._root}/"
        return sorted(str(path).removeprefix(under) for path in found if str(path).startswith(under))

    def delete(self, key: str) -> None:
        """Gone, or never there."""
        with self._telling(key):
            try:
                self._fs.rm_file(self._path(key))
            except FileNotFoundError:
                return

    def address(self, key: str) -> str:
        """Without the connection: as the store's own tools take it."""
        return f"{self._shown}/{key}".rstrip("/")

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}".rstrip("/")

    @contextmanager
    def _telling(self, key: str) -> Iterator[None]:
        """Each store's library has errors of its own: one class of ours, with the address."""
        try:
            yield
        except Exception as error:
            kind = type(error).__name__
            raise ObjectStoreError(f"{self.address(key)}: {kind}: {excerpt(str(error))}; check {SETTING}") from error


def object_store() -> AirflowObjectStore | None:
    """The store that the setting names; ``None`` where nothing is set, and files go to folders.

    Raises InvalidInputError for an address that cannot be, a scheme that no installed provider knows, a connection that
    Airflow does not have.
    """
    from airflow.sdk import ObjectStoragePath

    url = os.environ.get(SETTING, "").strip()
    if not url:
        return None
    _require_address(url)
    root = ObjectStoragePath(url)
    _require_scheme(root.protocol)
    if root.conn_id is not None:
        _require_connection(root.conn_id)
    try:
        return AirflowObjectStore(root)
    except Exception as error:
        raise InvalidInputError.at(SETTING, f"{type(error).__name__}: {error}", "mend the connection") from error


def _require_address(url: str) -> None:
    """Nothing of the value is told where it may hold a password."""
    try:
        parts = urlsplit(url)
        connection, _, place = parts.netloc.rpartition("@")
    except ValueError as error:
        raise InvalidInputError.at(SETTING, f"is no address ({error})", _EXAMPLE) from error
    if not _CONNECTION.fullmatch(connection):
        raise InvalidInputError.at(
            SETTING, "what stands before the @ is no connection id", f"put login and password into one, and {_EXAMPLE}"
        )
    if parts.scheme in _LOCAL:
        raise InvalidInputError.at(SETTING, f"{excerpt(url)} is no object store", "name folders in ADVISOR_PUBLISH_DIR")
    if not parts.scheme or not place or parts.query or parts.fragment:
        raise InvalidInputError.at(SETTING, f"{excerpt(url)} has no scheme and bucket alone", _EXAMPLE)


def _require_scheme(scheme: str) -> None:
    from airflow.sdk.io import has_fs

    if not has_fs(scheme):
        raise InvalidInputError.at(
            SETTING, f"no installed provider knows {scheme}://",
            "install the one that does, such as apache-airflow-providers-amazon[s3fs] for s3://, or mend the scheme",
        )  # fmt: skip


def _require_connection(connection_id: str) -> None:
    """The provider for AWS would go on without, with whatever credentials the machine has."""
    from airflow.providers.common.compat.sdk import AirflowNotFoundException
    from airflow.sdk import BaseHook

    try:
        BaseHook.get_connection(connection_id)
    except AirflowNotFoundException as error:
        raise InvalidInputError.at(
            SETTING, f"Airflow has no connection {excerpt(connection_id)}", "add it, or leave out what is before the @"
        ) from error
