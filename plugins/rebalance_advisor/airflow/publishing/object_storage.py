"""The object store that ``ADVISOR_PUBLISH_URL`` names, by Airflow's connection.

``s3://CONNECTION@BUCKET/PATH``: the provider of the scheme reads Airflow's connection, so that no secret stands in the
setting. S3 uses the provider's ``S3Hook``; for another scheme its provider has to bring a file system of fsspec,
of which four calls are used (``ObjectStoragePath``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar
from urllib.parse import urlsplit

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.outgoing_http import AbandonedThreads, OutgoingRequestError, redirect_error
from rebalance_advisor.publish.object_store.object_store import ObjectStoreError

Answer = TypeVar("Answer")

SETTING = "ADVISOR_PUBLISH_URL"
LIMIT_SETTING = "ADVISOR_PUBLISH_SECONDS"
_DEFAULT_SECONDS = 300
_S3_SCHEMES = ("s3", "s3a", "s3n")
# The connection's own ``config_kwargs`` win. Three tries of a silent server take less than ``_DEFAULT_SECONDS``.
_S3_LIMITS = {"connect_timeout": 5, "read_timeout": 30, "retries": {"mode": "standard", "total_max_attempts": 3}}
_LONGEST_REASON = 500
_EXAMPLE = "write s3://CONNECTION@BUCKET/PATH"
_LOCAL = ("file", "local", "memory")
_CONNECTION = re.compile(r"[\w.-]*", re.ASCII)


class AirflowObjectStore:
    """An ``ObjectStore`` under one path of a file system, with a longest time for each call.

    ``pipe_file`` puts an object whole; a file that is open for writing would be closed, and so be there, with what was
    written until an error came.
    """

    def __init__(self, files: Any, protocol: str, root: str, seconds: float) -> None:
        self._files, self._seconds, self._root = files, seconds, root.rstrip("/")
        self._shown = f"{protocol}://{self._root}"
        self._threads = AbandonedThreads()

    def put(self, key: str, content: bytes) -> None:
        """Make or replace it."""
        self._answer(key, lambda: self._files.pipe_file(self._path(key), content))

    def read(self, key: str) -> bytes | None:
        """``None`` where there is no such object."""
        return self._answer(key, lambda: _content(self._files, self._path(key)))

    def list(self, prefix: str) -> list[str]:
        """Asked anew each time: what fsspec remembers of others' objects is old."""
        found = self._answer(prefix, lambda: _paths(self._files, self._path(prefix)))
        under = f"{self._root}/"
        return sorted(path.removeprefix(under) for path in found if path.startswith(under))

    def delete(self, key: str) -> None:
        """Gone, or never there."""
        self._answer(key, lambda: _delete(self._files, self._path(key)))

    def address(self, key: str) -> str:
        """Without the connection: as the store's own tools take it."""
        return f"{self._shown}/{key}".rstrip("/")

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}".rstrip("/")

    def _answer(self, key: str, call: Callable[[], Answer]) -> Answer:
        """Each store's library has errors of its own: one class of ours, with the address.

        The libraries limit each step, and a server that drips ends no step: the whole call is limited by a thread.
        """
        future: Future[Answer] = self._threads.submit(call)
        try:
            return future.result(self._seconds)
        except TimeoutError as error:
            if not future.done():
                words = f"no whole answer within {self._seconds:g} s; check {SETTING}, or raise {LIMIT_SETTING}"
                raise ObjectStoreError(f"{self.address(key)}: {words}") from None
            raise self._failure(key, error) from error
        except Exception as error:
            raise self._failure(key, error) from error

    def _failure(self, key: str, error: Exception) -> ObjectStoreError:
        words = f"{type(error).__name__}: {excerpt(str(error), _LONGEST_REASON)}"
        if isinstance(error, OutgoingRequestError):
            words = error.words
        return ObjectStoreError(f"{self.address(key)}: {words}; check {SETTING}")


def _content(files: Any, path: str) -> bytes | None:
    try:
        return bytes(files.cat_file(path))
    except FileNotFoundError:
        return None


def _paths(files: Any, path: str) -> list[str]:
    files.invalidate_cache()
    return [str(found) for found in files.find(path)]


def _delete(files: Any, path: str) -> None:
    try:
        files.rm_file(path)
    except FileNotFoundError:
        return


class _S3Files:
    """The calls of fsspec that the store makes, answered by botocore.

    fsspec's own S3 (s3fs on aiohttp) sends the file and the session token to the host that a redirect names, and waits
    for ever for a server that does not answer ``Expect: 100-continue``. botocore does neither, and it verifies by the
    connection's ``verify``.
    """

    def __init__(self, connection_id: str | None) -> None:
        from airflow.providers.amazon.aws.hooks.s3 import S3Hook
        from botocore.config import Config

        hook = S3Hook(aws_conn_id=connection_id)
        self._client: Any = hook.get_client_type(config=Config(**_S3_LIMITS).merge(hook.config))
        self._client.meta.events.register_first("needs-retry.s3", _refuse_redirect)

    def pipe_file(self, path: str, content: bytes) -> None:
        """Put the object in one request, so that it is whole or not there."""
        bucket, key = _bucket_and_key(path)
        self._client.put_object(Bucket=bucket, Key=key, Body=content)

    def cat_file(self, path: str) -> bytes:
        """Return the object's content. Raises FileNotFoundError."""
        bucket, key = _bucket_and_key(path)
        try:
            return bytes(self._client.get_object(Bucket=bucket, Key=key)["Body"].read())
        except self._client.exceptions.NoSuchKey:
            raise FileNotFoundError(path) from None

    def find(self, path: str) -> list[str]:
        """Return the paths of all objects under ``path``."""
        bucket, key = _bucket_and_key(path)
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=key and f"{key}/")
        return [f"{bucket}/{found['Key']}" for page in pages for found in page.get("Contents", ())]

    def rm_file(self, path: str) -> None:
        """Remove the object; S3 says the same where there is none."""
        bucket, key = _bucket_and_key(path)
        self._client.delete_object(Bucket=bucket, Key=key)

    def invalidate_cache(self) -> None:
        """Nothing is remembered."""


def _refuse_redirect(response: tuple[Any, Any] | None, **_: object) -> None:
    """End a call that is redirected, except to the bucket's region: that one goes to an address that botocore makes.

    botocore itself would look for the region, by requests that are redirected likewise, until Python's stack is full.
    """
    if response is not None and 300 <= response[0].status_code < 400:
        status, headers = response[0].status_code, response[0].headers
        if "x-amz-bucket-region" not in headers:
            raise redirect_error(response[0].url, status, headers.get("location", ""))


def _bucket_and_key(path: str) -> tuple[str, str]:
    bucket, _, key = path.partition("/")
    return bucket, key


def object_store() -> AirflowObjectStore | None:
    """The store that the setting names; ``None`` where nothing is set, and files go to folders.

    Raises InvalidInputError for an address or a time limit that cannot be, a scheme that no installed provider knows, a
    connection that Airflow does not have.
    """
    url = os.environ.get(SETTING, "").strip()
    if not url:
        return None
    _require_address(url)
    parts, seconds = urlsplit(url), _longest_call_seconds()
    _require_scheme(parts.scheme)
    connection_id, _, bucket = parts.netloc.rpartition("@")
    if connection_id:
        _require_connection(connection_id)
    try:
        if parts.scheme in _S3_SCHEMES:
            files, root = _S3Files(connection_id or None), f"{bucket}{parts.path}"
        else:
            files, root = _files_of_provider(url)
    except Exception as error:
        raise InvalidInputError.at(SETTING, f"{type(error).__name__}: {error}", "mend the connection") from error
    return AirflowObjectStore(files, parts.scheme, root, seconds)


def _files_of_provider(url: str) -> tuple[Any, str]:
    from airflow.sdk import ObjectStoragePath

    root = ObjectStoragePath(url)
    return root.fs, str(root.path)


def _longest_call_seconds() -> float:
    given = os.environ.get(LIMIT_SETTING, "").strip() or str(_DEFAULT_SECONDS)
    if not re.fullmatch(r"[0-9]{1,5}", given, re.ASCII) or int(given) == 0:
        raise InvalidInputError.at(LIMIT_SETTING, f"{excerpt(given)} is no time", "give seconds from 1 to 99999")
    return int(given)


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
            "install the one that does, such as apache-airflow-providers-amazon for s3://, or mend the scheme",
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
