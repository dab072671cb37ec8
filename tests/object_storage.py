"""A real S3 over HTTP on loopback (moto), reached as a task reaches it: by Airflow's connection and its provider."""

from __future__ import annotations

import json
import logging
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rebalance_advisor.publish.object_store import LATEST, MANIFEST, Manifest, ObjectStore, manifest_of, sha256_of


@pytest.fixture(scope="session")
def s3_connection(airflow_home: Path) -> Iterator[str]:
    """The id of a connection to a server of the session's own."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    connection_id = f"s3_{port}"
    extra = {"endpoint_url": f"http://{host}:{port}", "region_name": "us-east-1"}
    os.environ[f"AIRFLOW_CONN_{connection_id.upper()}"] = json.dumps(
        {"conn_type": "aws", "login": "key-of-test", "password": "secret-of-test", "extra": extra}
    )
    yield connection_id
    server.stop()


@pytest.fixture
def publish_url(s3_connection: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new bucket, and a place in it as the setting names it."""
    from airflow.providers.amazon.aws.hooks.s3 import S3Hook

    bucket = f"bucket-{uuid.uuid4().hex[:12]}"
    S3Hook(aws_conn_id=s3_connection).create_bucket(bucket)
    url = f"s3://{s3_connection}@{bucket}/published/here"
    monkeypatch.setenv("ADVISOR_PUBLISH_URL", url)
    return url


@pytest.fixture
def objects(publish_url: str) -> ObjectStore:
    """The store that the setting names."""
    from rebalance_advisor.airflow.publishing import object_store

    store = object_store()
    assert store is not None
    return store


def latest(store: ObjectStore, cluster: str) -> Manifest | None:
    """What a reader finds who follows ``latest.json``: each file that it names is there, as it says."""
    content = store.read(f"{cluster}/{LATEST}")
    if content is None:
        return None
    manifest = manifest_of(content)
    assert manifest is not None
    assert_whole(store, cluster, manifest)
    return manifest


def assert_whole(store: ObjectStore, cluster: str, manifest: Manifest) -> None:
    """Every file with the bytes that the manifest names."""
    there = {name: store.read(f"{cluster}/{manifest.folder}/{name}") for name in manifest.files}
    assert sha256_of({name: content or b"" for name, content in there.items()}) == dict(manifest.files)
    assert manifest_of(store.read(f"{cluster}/{manifest.folder}/{MANIFEST}")) is not None


class KilledError(BaseException):
    """The process ends here: nobody catches it."""


class Struck:
    """A store whose client is killed at the ``moment``-th change, from 1: before it, or after it. At none for 0."""

    def __init__(self, store: ObjectStore, moment: int = 0, *, is_after: bool = False) -> None:
        self.store, self.moment, self.is_after, self.changes = store, moment, is_after, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def put(self, key: str, content: bytes) -> None:
        with self._counted():
            self.store.put(key, content)

    def delete(self, key: str) -> None:
        with self._counted():
            self.store.delete(key)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        self.changes += 1
        is_now = self.changes == self.moment
        if is_now and not self.is_after:
            raise KilledError
        yield
        if is_now:
            raise KilledError
