"""Airflow's ``ObjectStoragePath`` as the advisor's object store, on a real S3; addresses that cannot be are refused."""

from __future__ import annotations

import json

import pytest

from kafka_rebalance.errors import InvalidInputError
from rebalance_advisor.publish.object_store.object_store import ObjectStoreError
from tests.object_storage import objects, publish_url, s3_connection
from tests.unit.test_outgoing_http import web_server

__all__ = ["objects", "publish_url", "s3_connection"]
pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]
SETTING = "ADVISOR_PUBLISH_URL"


def opened(monkeypatch, url: str):
    from rebalance_advisor.airflow.publishing.object_storage import object_store

    monkeypatch.setenv(SETTING, url)
    return object_store()


def test_an_object_is_there_whole_until_it_is_deleted(objects) -> None:
    assert objects.read("a/b.json") is None
    objects.put("a/b.json", b"one")
    objects.put("a/b.json", b"two")
    assert objects.read("a/b.json") == b"two"
    objects.delete("a/b.json")
    objects.delete("a/b.json")
    assert (objects.read("a/b.json"), objects.list("")) == (None, [])


def test_what_is_large_comes_back_as_it_was(objects) -> None:
    """Larger than what S3 takes in one part."""
    content = bytes(range(256)) * 50_000
    objects.put("moves.csv", content)
    assert objects.read("moves.csv") == content


def test_keys_are_listed_by_their_parts_and_asked_anew(objects, publish_url, monkeypatch) -> None:
    for key in ("prod/run/a", "prod/run/waves/01", "prod/run-2/a", "prod-2/run/a", "prod/r\u00e9sum\u00e9/a b"):
        objects.put(key, b"")
    assert objects.list("prod/run") == ["prod/run/a", "prod/run/waves/01"]
    assert len(objects.list("prod")) == 4
    assert objects.list("prod/none") == []
    other = opened(monkeypatch, publish_url)
    other.put("prod/run/b", b"")
    assert "prod/run/b" in objects.list("prod/run")


def test_the_address_is_the_stores_own_and_names_no_connection(objects, publish_url, s3_connection) -> None:
    assert objects.address("prod/run") == publish_url.replace(f"{s3_connection}@", "") + "/prod/run"


def test_nothing_set_is_no_object_store(monkeypatch) -> None:
    assert opened(monkeypatch, " ") is None


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("bucket/path", "'bucket/path' has no scheme and bucket alone; write s3://CONNECTION@BUCKET/PATH"),
        ("s3:///path", "has no scheme and bucket alone"),
        ("s3://bucket/path?x=1", "has no scheme and bucket alone"),
        ("file:///srv/published", "is no object store; name folders in ADVISOR_PUBLISH_DIR"),
        ("s3://[bucket", "is no address"),
        ("gs://bucket/path", "no installed provider knows gs://; install the one that does"),
        ("s3://nowhere_to_be_found@bucket/path", "Airflow has no connection 'nowhere_to_be_found'; add it"),
        ("s3://AKIA1:hunter2@bucket/path", "what stands before the @ is no connection id"),
    ],
)
def test_an_address_that_cannot_be_is_refused_with_its_place(monkeypatch, url: str, words: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        opened(monkeypatch, url)
    assert str(refusal.value).startswith(f"{SETTING}: ")
    assert words in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_a_bucket_that_is_not_there_and_a_server_that_is_away_are_told_with_the_address(
    monkeypatch, s3_connection
) -> None:
    store = opened(monkeypatch, f"s3://{s3_connection}@no-such-bucket/here")
    with pytest.raises(ObjectStoreError, match=r"s3://no-such-bucket/here/prod: FileNotFoundError: .*bucket does not"):
        store.list("prod")
    extra = {"endpoint_url": "http://127.0.0.1:1", "config_kwargs": {"retries": {"total_max_attempts": 1}}}
    monkeypatch.setenv(
        "AIRFLOW_CONN_AWAY",
        json.dumps({"conn_type": "aws", "login": "key-of-test", "password": "secret-of-test", "extra": extra}),
    )
    store = opened(monkeypatch, "s3://away@bucket/here")
    with pytest.raises(ObjectStoreError, match=r"s3://bucket/here/prod/x: .*[Cc]onnect"):
        store.put("prod/x", b"")


def test_redirects_are_followed_by_the_library_as_security_md_says(monkeypatch) -> None:
    """No public option of aiobotocore turns them off. Where this fails, correct the table: it got better."""
    with web_server() as endpoint, web_server() as other:
        endpoint.status, endpoint.headers = 307, {"Location": other.url.replace("127.0.0.1", "localhost")}
        other.body = b""
        extra = {"endpoint_url": endpoint.url, "region_name": "us-east-1", "aws_session_token": "token-of-session"}
        known = {"conn_type": "aws", "login": "key", "password": "secret-of-key", "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_S3_REDIRECTED", json.dumps(known))
        opened(monkeypatch, "s3://s3_redirected@bucket/path").put("plan.json", b"content-of-plan")
    (request,) = other.seen
    assert "content-of-plan" in request
    assert "token-of-session" in request
    assert "Authorization:" not in request
    assert "secret-of-key" not in request
