"""Write a run's files, publish it in the store, then update ``latest``.

``ADVISOR_PUBLISH_URL``: ``s3://CONNECTION@BUCKET/PATH`` (``S3Hook``), or any fsspec file system
(``ObjectStoragePath``).
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlsplit

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from rebalance_advisor.airflow.task_log import task_log
from rebalance_advisor.outgoing_http import AbandonedThreads, OutgoingRequestError, redirect_error
from rebalance_advisor.publish.object_store import LATEST, Manifest, ObjectStore, ObjectStoreError

if TYPE_CHECKING:
    from kafka_rebalance.plans.plan import Plan
    from rebalance_advisor.store import Connection

_log = task_log(__name__)


def publish_run(dsn: str, *, run_id: str, cluster: str, target: PublishTarget) -> tuple[list[str], str]:
    """Return a summary and the address.

    One run of a cluster at a time. Raises InvalidInputError when the stored plan differs from the verified one, or is
    too old.
    """
    from kafka_rebalance.plans.document import plan_from_document
    from rebalance_advisor import store
    from rebalance_advisor.gates import rule_results
    from rebalance_advisor.publish.advisory_files import advisory_files
    from rebalance_advisor.publish.digest import describe_ending
    from rebalance_advisor.publish.object_store import sha256_of
    from rebalance_advisor.publish.plan_files import plan_files

    with store.connect(dsn) as connection, store.publishing(connection, folder_name(cluster)):
        run = store.load_run(connection, run_id)
        document = store.load_advisory(connection, run_id)
        plan = plan_from_document(document["plan"])
        summary, plan_id = describe_ending(document), plan.plan_id
        written = target.find(plan_id) if run.status == "published" else None
        if written is not None and not files_that_differ(written, sha256_of(plan_files(plan))):
            _show_as_latest(connection, run_id, cluster, target, plan_id)
            return summary, written.address  # by an earlier, interrupted try
        _require_young(plan, run.parameters, datetime.now(UTC))
        results = rule_results(store.load_checks(connection, run_id))
        written = target.write(advisory_files(document, plan, results), plan_id)
        store.publish_run(connection, run_id)
        _show_as_latest(connection, run_id, cluster, target, plan_id)
    for line in (*summary, written.address):
        _log.info("%s: %s", cluster, line)
    return summary, written.address


def _show_as_latest(connection: Connection, run_id: str, cluster: str, target: PublishTarget, plan_id: str) -> None:
    from rebalance_advisor import store

    if store.newest_published(connection, cluster) == run_id and (hindrance := target.show_as_latest(plan_id)):
        _log.warning("%s: %s", cluster, hindrance)


def _require_young(plan: Plan, parameters: Mapping[str, Any], now: datetime) -> None:
    """A task may be cleared days after the search."""
    from kafka_rebalance.plans.plan import Verdict
    from kafka_rebalance.render import render
    from kafka_rebalance.snapshot.times import parse_time, too_old
    from rebalance_advisor.request.run_request import RunRequest

    if plan.captured_at is None or plan.verdict is Verdict.CANNOT_TELL:
        return
    request, captured_at = RunRequest.from_mapping(parameters), parse_time(plan.captured_at, "captured_at")
    limit = None if request.age_limit_s is None else timedelta(seconds=request.age_limit_s)
    reason = too_old(captured_at, now, limit)
    if reason is not None and now > captured_at + timedelta(hours=request.options.expires_after_hours):
        raise InvalidInputError.at(
            f"plan {plan.plan_id[:12]}", f"{render(reason)}, and it has expired", "start a new run"
        )


class PublishedFiles(Protocol):
    @property
    def address(self) -> str:
        """For people."""

    @property
    def way_there(self) -> str:
        """Shell command that brings the files to the working folder."""

    def read(self, name: str) -> bytes:
        """Raises OSError or ObjectStoreError."""

    def names(self) -> list[str]:
        """Sorted."""

    def replace(self, files: Mapping[str, bytes]) -> None:
        """Add files, each atomically."""


def files_that_differ(files: PublishedFiles, pinned: Mapping[str, str]) -> list[str]:
    there = set(files.names())
    return [name for name, sha in pinned.items() if name not in there or _sha256(files.read(name)) != sha]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True, slots=True)
class FolderFiles:
    folder: Path

    @property
    def address(self) -> str:
        return str(self.folder)

    @property
    def way_there(self) -> str:
        return f"cd {shlex.quote(str(self.folder))}"

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def names(self) -> list[str]:
        files = (path for path in self.folder.rglob("*") if path.is_file())
        return sorted(path.relative_to(self.folder).as_posix() for path in files)

    def replace(self, files: Mapping[str, bytes]) -> None:
        from rebalance_advisor.publish.folders import replace_file

        for name, content in files.items():
            replace_file(self.folder / name, content)


@dataclass(frozen=True, slots=True)
class ObjectFiles:
    store: ObjectStore
    key: str

    @property
    def address(self) -> str:
        return self.store.address(self.key)

    @property
    def way_there(self) -> str:
        address = shlex.quote(self.address)
        is_s3 = self.address.startswith("s3://")
        fetch = f"aws s3 cp --recursive {address} plan" if is_s3 else f"# fetch all of {address} into a folder: plan"
        return f"{fetch}\ncd plan"

    def read(self, name: str) -> bytes:
        content = self.store.read(f"{self.key}/{name}")
        if content is None:
            raise ObjectStoreError(f"{self.store.address(f'{self.key}/{name}')}: is not there; publish the run again")
        return content

    def names(self) -> list[str]:
        return [key.removeprefix(f"{self.key}/") for key in self.store.list(self.key)]

    def replace(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            self.store.put(f"{self.key}/{name}", content)


FOLDER_SETTING = "ADVISOR_PUBLISH_DIR"
# Names beside the runs' folders, and devices of Windows.
_RESERVED = re.compile(r"latest(\.json)?|(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_LONGEST_NAME = 200
_SHOWN_OF_LONG = 100


class PublishTarget(Protocol):
    def find(self, plan_id: str) -> PublishedFiles | None:
        """Only complete files."""

    def write(self, files: Mapping[str, bytes], plan_id: str) -> PublishedFiles:
        """Readers of earlier files are not disturbed."""

    def show_as_latest(self, plan_id: str) -> str | None:
        """Return what prevents it."""


@dataclass(frozen=True, slots=True)
class FolderTarget:
    folder: Path
    run_id: str

    def find(self, plan_id: str) -> PublishedFiles | None:
        from rebalance_advisor.publish.folders import advisory_folder, read_marker

        folder = advisory_folder(self.folder)
        marker = read_marker(folder)
        is_this = marker is not None and (marker.plan_id, marker.run_id) == (plan_id, self.run_id)
        return FolderFiles(folder) if is_this else None

    def write(self, files: Mapping[str, bytes], plan_id: str) -> PublishedFiles:
        from rebalance_advisor.publish.folders import replace_folder

        return FolderFiles(replace_folder(self.folder, files, plan_id, run_id=self.run_id))

    def show_as_latest(self, plan_id: str) -> str | None:
        from rebalance_advisor.publish import folders

        link = self.folder.parent / folders.LATEST
        if self.find(plan_id) is None:
            return f"{self.folder}: the files are gone, {link} stays as it is"
        return None if folders.point_latest(self.folder) else f"{link} is no link and stays as it is"


@dataclass(frozen=True, slots=True)
class ObjectStoreTarget:
    store: ObjectStore
    cluster: str
    run_id: str

    def find(self, plan_id: str) -> PublishedFiles | None:
        manifest = self._manifest(plan_id)
        return None if manifest is None else self._files(manifest)

    def write(self, files: Mapping[str, bytes], plan_id: str) -> PublishedFiles:
        from rebalance_advisor.publish.object_store import put_advisory

        made = Manifest(self.cluster, self.run_id, plan_id, folder_name(self.run_id), datetime.now(UTC), {})
        return self._files(put_advisory(self.store, folder_name(self.cluster), made, files))

    def show_as_latest(self, plan_id: str) -> str | None:
        from rebalance_advisor.publish.object_store import point_latest

        manifest = self._manifest(plan_id)
        if manifest is None:
            return f"{self.store.address(folder_name(self.cluster))}: the files are gone, {LATEST} stays as it is"
        point_latest(self.store, folder_name(self.cluster), manifest)
        return None

    def _manifest(self, plan_id: str) -> Manifest | None:
        from rebalance_advisor.publish.object_store import find_advisory

        manifest = find_advisory(self.store, folder_name(self.cluster), folder_name(self.run_id), plan_id)
        return manifest if manifest is not None and manifest.run_id == self.run_id else None

    def _files(self, manifest: Manifest) -> PublishedFiles:
        return ObjectFiles(self.store, f"{folder_name(self.cluster)}/{manifest.folder}")


def publish_target(cluster: str, run_id: str) -> PublishTarget:
    store = object_store()
    if store is not None:
        return ObjectStoreTarget(store, cluster, run_id)
    return FolderTarget(publish_folder(cluster, run_id), run_id)


def require_publish_target(cluster: str) -> None:
    """Raises InvalidInputError or ObjectStoreError before the work."""
    store = object_store()
    if store is not None:
        store.list(f"{folder_name(cluster)}/{LATEST}")


def publish_folder(cluster: str, run_id: str) -> Path:
    return publish_root() / folder_name(cluster) / folder_name(run_id)


def publish_root() -> Path:
    return Path(os.environ.get(FOLDER_SETTING) or Path.cwd() / "published")


def folder_name(name: str) -> str:
    """Unique also on case-insensitive file systems: lower-case letters, digits, ``_``, ``-``, ``+`` and inner dots
    stay, other bytes become ``=xx``, long names end with ``==`` and a SHA-256.
    """
    name_bytes = name.encode("utf-8", "surrogatepass")
    escaped = re.sub(rb"[^a-z0-9_.+-]|^\.|\.$", lambda match: b"=%02x" % ord(match[0]), name_bytes).decode("ascii")
    if not escaped or _RESERVED.fullmatch(escaped):
        escaped = f"={name_bytes[:1].hex()}{escaped[1:]}"
    if len(escaped) > _LONGEST_NAME:
        return f"{escaped[:_SHOWN_OF_LONG]}=={hashlib.sha256(name_bytes).hexdigest()}"
    return escaped


Answer = TypeVar("Answer")

URL_SETTING = "ADVISOR_PUBLISH_URL"
LIMIT_SETTING = "ADVISOR_PUBLISH_SECONDS"
_DEFAULT_SECONDS = 300
_S3_SCHEMES = ("s3", "s3a", "s3n")
# The connection's ``config_kwargs`` have priority. Three tries end within ``_DEFAULT_SECONDS``.
_S3_LIMITS = {"connect_timeout": 5, "read_timeout": 30, "retries": {"mode": "standard", "total_max_attempts": 3}}
_LONGEST_REASON = 500
_EXAMPLE = "write s3://CONNECTION@BUCKET/PATH"
_LOCAL = ("file", "local", "memory")
_CONNECTION = re.compile(r"[\w.-]*", re.ASCII)


class AirflowObjectStore:
    """Only ``pipe_file`` puts whole objects: an open file would be stored in part after an error."""

    def __init__(self, files: Any, protocol: str, root: str, seconds: float) -> None:
        self._files, self._seconds, self._root = files, seconds, root.rstrip("/")
        self._shown = f"{protocol}://{self._root}"
        self._threads = AbandonedThreads()

    def put(self, key: str, content: bytes) -> None:
        self._answer(key, lambda: self._files.pipe_file(self._path(key), content))

    def read(self, key: str) -> bytes | None:
        return self._answer(key, lambda: _content(self._files, self._path(key)))

    def list(self, prefix: str) -> list[str]:
        """Bypasses the list cache of fsspec."""
        paths = self._answer(prefix, lambda: _paths(self._files, self._path(prefix)))
        under = f"{self._root}/"
        return sorted(path.removeprefix(under) for path in paths if path.startswith(under))

    def delete(self, key: str) -> None:
        self._answer(key, lambda: _delete(self._files, self._path(key)))

    def address(self, key: str) -> str:
        return f"{self._shown}/{key}".rstrip("/")

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}".rstrip("/")

    def _answer(self, key: str, call: Callable[[], Answer]) -> Answer:
        """In a thread: libraries limit each step only."""
        future: Future[Answer] = self._threads.submit(call)
        try:
            return future.result(self._seconds)
        except TimeoutError as error:
            if not future.done():
                problem = f"no whole answer within {self._seconds:g} s; check {URL_SETTING}, or raise {LIMIT_SETTING}"
                raise ObjectStoreError(f"{self.address(key)}: {problem}") from None
            raise self._failure(key, error) from error
        except Exception as error:
            raise self._failure(key, error) from error

    def _failure(self, key: str, error: Exception) -> ObjectStoreError:
        problem = f"{type(error).__name__}: {excerpt(str(error), _LONGEST_REASON)}"
        if isinstance(error, OutgoingRequestError):
            problem = error.problem_text
        return ObjectStoreError(f"{self.address(key)}: {problem}; check {URL_SETTING}")


def _content(files: Any, path: str) -> bytes | None:
    try:
        return bytes(files.cat_file(path))
    except FileNotFoundError:
        return None


def _paths(files: Any, path: str) -> list[str]:
    files.invalidate_cache()
    return [str(key) for key in files.find(path)]


def _delete(files: Any, path: str) -> None:
    try:
        files.rm_file(path)
    except FileNotFoundError:
        return


class _S3Files:
    """fsspec calls by botocore. fsspec's s3fs sends file and session token to a redirect's host, and waits for ever
    without an answer to ``Expect: 100-continue``.
    """

    def __init__(self, connection_id: str | None) -> None:
        from airflow.providers.amazon.aws.hooks.s3 import S3Hook
        from botocore.config import Config

        hook = S3Hook(aws_conn_id=connection_id)
        self._client: Any = hook.get_client_type(config=Config(**_S3_LIMITS).merge(hook.config))
        self._client.meta.events.register_first("needs-retry.s3", _refuse_redirect)

    def pipe_file(self, path: str, content: bytes) -> None:
        bucket, key = _bucket_and_key(path)
        self._client.put_object(Bucket=bucket, Key=key, Body=content)

    def cat_file(self, path: str) -> bytes:
        bucket, key = _bucket_and_key(path)
        try:
            return bytes(self._client.get_object(Bucket=bucket, Key=key)["Body"].read())
        except self._client.exceptions.NoSuchKey:
            raise FileNotFoundError(path) from None

    def find(self, path: str) -> list[str]:
        bucket, key = _bucket_and_key(path)
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=key and f"{key}/")
        return [f"{bucket}/{item['Key']}" for page in pages for item in page.get("Contents", ())]

    def rm_file(self, path: str) -> None:
        bucket, key = _bucket_and_key(path)
        self._client.delete_object(Bucket=bucket, Key=key)

    def invalidate_cache(self) -> None:
        """No cache."""


def _refuse_redirect(response: tuple[Any, Any] | None, **_: object) -> None:
    """End redirected calls, except to the bucket's region: botocore would look up the region until a RecursionError."""
    if response is not None and 300 <= response[0].status_code < 400:
        status, headers = response[0].status_code, response[0].headers
        if "x-amz-bucket-region" not in headers:
            raise redirect_error(response[0].url, status, headers.get("location", ""))


def _bucket_and_key(path: str) -> tuple[str, str]:
    bucket, _, key = path.partition("/")
    return bucket, key


def object_store() -> AirflowObjectStore | None:
    """None when files go to folders."""
    url = os.environ.get(URL_SETTING, "").strip()
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
        raise InvalidInputError.at(URL_SETTING, f"{type(error).__name__}: {error}", "mend the connection") from error
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
    """The error does not quote the URL, which may hold a password."""
    try:
        parts = urlsplit(url)
        connection, _, host = parts.netloc.rpartition("@")
    except ValueError as error:
        raise InvalidInputError.at(URL_SETTING, f"is no address ({error})", _EXAMPLE) from error
    if not _CONNECTION.fullmatch(connection):
        raise InvalidInputError.at(
            URL_SETTING,
            "what stands before the @ is no connection id",
            f"put login and password into one, and {_EXAMPLE}",
        )
    if parts.scheme in _LOCAL:
        raise InvalidInputError.at(
            URL_SETTING, f"{excerpt(url)} is no object store", "name folders in ADVISOR_PUBLISH_DIR"
        )
    if not parts.scheme or not host or parts.query or parts.fragment:
        raise InvalidInputError.at(URL_SETTING, f"{excerpt(url)} has no scheme and bucket alone", _EXAMPLE)


def _require_scheme(scheme: str) -> None:
    from airflow.sdk.io import has_fs

    if not has_fs(scheme):
        raise InvalidInputError.at(
            URL_SETTING, f"no installed provider knows {scheme}://",
            "install the one that does, such as apache-airflow-providers-amazon for s3://, or mend the scheme",
        )  # fmt: skip


def _require_connection(connection_id: str) -> None:
    """Without it the AWS provider would use the machine's credentials."""
    from airflow.providers.common.compat.sdk import AirflowNotFoundException
    from airflow.sdk import BaseHook

    try:
        BaseHook.get_connection(connection_id)
    except AirflowNotFoundException as error:
        raise InvalidInputError.at(
            URL_SETTING,
            f"Airflow has no connection {excerpt(connection_id)}",
            "add it, or leave out what is before the @",
        ) from error


if TYPE_CHECKING:
    from rebalance_advisor.store import Connection


def prune_published(connection: Connection, before: datetime) -> list[str]:
    """Remove old files that no ``latest`` names, under the publishing lock; return addresses."""
    from rebalance_advisor import store
    from rebalance_advisor.publish.folders import remove_older
    from rebalance_advisor.publish.object_store import clusters_in, remove_older_objects

    gone = [str(folder) for folder in remove_older(publish_root(), before)]
    objects = object_store()
    if objects is None:
        return gone
    for cluster in clusters_in(objects):
        with store.publishing(connection, cluster):
            gone += [objects.address(key) for key in remove_older_objects(objects, cluster, before)]
    return gone
