"""The advisor's object store by Airflow's connection: on a real S3, and on servers that are not to be trusted."""

from __future__ import annotations

import gc
import io
import json
import re

import pytest
from botocore.awsrequest import AWSResponse
from urllib3 import HTTPResponse

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.publish.object_store import ObjectStoreError
from stack.kafka.security import make_certificates
from tests.object_storage import objects, publish_url, s3_connection
from tests.unit.test_outgoing_http import dripping, web_server

__all__ = ["objects", "publish_url", "s3_connection"]
pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]
SETTING = "ADVISOR_PUBLISH_URL"


def opened(monkeypatch, url: str):
    from rebalance_advisor.airflow.publishing import object_store

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
    ("url", "message"),
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
def test_an_address_that_cannot_be_is_refused_with_its_place(monkeypatch, url: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        opened(monkeypatch, url)
    assert str(refusal.value).startswith(f"{SETTING}: ")
    assert message in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_a_bucket_that_is_not_there_and_a_server_that_is_away_are_told_with_the_address(
    monkeypatch, s3_connection
) -> None:
    store = opened(monkeypatch, f"s3://{s3_connection}@no-such-bucket/here")
    with pytest.raises(ObjectStoreError, match=r"s3://no-such-bucket/here/prod: NoSuchBucket: .*bucket does not"):
        store.list("prod")
    extra = {"endpoint_url": "http://127.0.0.1:1", "config_kwargs": {"retries": {"total_max_attempts": 1}}}
    monkeypatch.setenv(
        "AIRFLOW_CONN_AWAY",
        json.dumps({"conn_type": "aws", "login": "key-of-test", "password": "secret-of-test", "extra": extra}),
    )
    store = opened(monkeypatch, "s3://away@bucket/here")
    with pytest.raises(ObjectStoreError, match=r"s3://bucket/here/prod/x: .*[Cc]onnect"):
        store.put("prod/x", b"")


def connected(monkeypatch, url: str, **extra: object) -> str:
    """The setting for a bucket behind ``url``, with a session token, as a role's credentials have one."""
    given = {"region_name": "us-east-1", "aws_session_token": "token-of-session", **extra}
    given |= {"endpoint_url": url} if url else {}
    known = {"conn_type": "aws", "login": "key", "password": "secret-of-key", "extra": given}
    monkeypatch.setenv("AIRFLOW_CONN_S3_HOSTILE", json.dumps(known))
    return "s3://s3_hostile@bucket/path"


CALLS = {
    "put": lambda store: store.put("plan.json", b"content-of-plan"),
    "read": lambda store: store.read("plan.json"),
    "list": lambda store: store.list("prod"),
    "delete": lambda store: store.delete("plan.json"),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


@each_call
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # urllib3 fails at a 303 and leaves its socket
def test_no_redirect_is_followed(monkeypatch, call, status: int) -> None:
    with web_server() as endpoint, web_server() as other:
        endpoint.status, endpoint.body = status, b""
        endpoint.headers = {"Location": other.url.replace("127.0.0.1", "localhost")}
        store = opened(monkeypatch, connected(monkeypatch, endpoint.url))
        with pytest.raises(ObjectStoreError, match="s3://bucket/path/") as refusal:
            call(store)
    if status != 303:
        assert f"it redirects to the host 'localhost' ({status}), and no redirect is followed" in str(refusal.value)
        assert len(endpoint.seen) == 1
    assert (endpoint.seen == [], other.seen) == (False, [])
    del store, refusal
    gc.collect()


@each_call
@pytest.mark.parametrize("status", [301, 302, 307])
def test_a_bucket_of_another_region_is_asked_at_our_endpoint(monkeypatch, call, status: int) -> None:
    """A new request, signed for that region; the redirect's address is ignored."""
    with web_server() as endpoint, web_server() as other:
        endpoint.status, endpoint.body = status, b""
        endpoint.headers = {"Location": other.url, "x-amz-bucket-region": "eu-west-1"}
        with pytest.raises(ObjectStoreError, match=rf"s3://bucket/path/.*\({status}\)"):
            call(opened(monkeypatch, connected(monkeypatch, endpoint.url)))
    assert other.seen == []
    signed = [re.findall(r"/(us-east-1|eu-west-1)/s3/", request) for request in endpoint.seen]
    assert (signed[0], signed[-1]) == (["us-east-1"], ["eu-west-1"])


@each_call
def test_a_store_that_never_answers_is_abandoned_by_the_connections_limits(monkeypatch, call) -> None:
    """An S3 client waits before it sends a file (``Expect: 100-continue``): that wait ends, too."""
    limits = {"connect_timeout": 1, "read_timeout": 0.2, "retries": {"total_max_attempts": 1}}
    with dripping(b"", b"") as url:
        store = opened(monkeypatch, connected(monkeypatch, url, config_kwargs=limits))
        with pytest.raises(ObjectStoreError, match=r"s3://bucket/path/.*: ReadTimeoutError: "):
            call(store)


@each_call
@pytest.mark.parametrize(
    ("head", "drop"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", b" "),
    ],
)
def test_a_store_that_drips_is_abandoned_by_the_limit_of_a_call(monkeypatch, call, head: bytes, drop: bytes) -> None:
    with dripping(head, drop) as url:
        monkeypatch.setenv("ADVISOR_PUBLISH_SECONDS", "1")
        store = opened(monkeypatch, connected(monkeypatch, url))
        with pytest.raises(ObjectStoreError, match=r"no whole answer within 1 s; .*or raise ADVISOR_PUBLISH_SECONDS"):
            call(store)


@pytest.mark.parametrize("seconds", ["0", "-1", "1.5", "inf", "1e3", "100000", "soon"])
def test_a_limit_that_is_no_time_is_refused(monkeypatch, seconds: str) -> None:
    monkeypatch.setenv("ADVISOR_PUBLISH_SECONDS", seconds)
    with pytest.raises(InvalidInputError, match=r"ADVISOR_PUBLISH_SECONDS: .* is no time; give seconds"):
        opened(monkeypatch, "s3://bucket/path")


def test_the_stores_certificate_is_verified_by_the_connections_authority(monkeypatch, tmp_path) -> None:
    certificates = make_certificates(tmp_path / "keys")
    with web_server(certificates.broker) as server:
        server.body = b""
        for verify in ({}, {"verify": str(certificates.other_authority)}):
            store = opened(monkeypatch, connected(monkeypatch, server.url, **verify))
            with pytest.raises(ObjectStoreError, match=r"SSLError: .*certificate verify failed"):
                store.put("plan.json", b"content-of-plan")
        assert server.seen == []
        opened(monkeypatch, connected(monkeypatch, server.url, verify=str(certificates.authority))).put("a", b"b")
    assert len(server.seen) == 1


def test_a_bucket_of_another_region_of_aws_is_asked_at_an_address_of_aws(monkeypatch) -> None:
    """Without a custom endpoint; the redirect's address is ignored here, too."""
    asked: list[str] = []

    def answer(request, **_: object) -> AWSResponse:
        asked.append(request.url)
        headers = {"x-amz-bucket-region": "eu-west-1", "location": "https://elsewhere.example.org/"}
        return AWSResponse(request.url, 307, headers, HTTPResponse(io.BytesIO()))

    store = opened(monkeypatch, connected(monkeypatch, ""))
    store._files._client.meta.events.register("before-send.s3", answer)  # nothing is sent
    with pytest.raises(ObjectStoreError, match=r"\(307\)"):
        store.put("plan.json", b"content-of-plan")
    hosts = ["bucket.s3.amazonaws.com", "bucket.s3.eu-west-1.amazonaws.com"]
    assert asked == [f"https://{host}/path/plan.json" for host in hosts]
