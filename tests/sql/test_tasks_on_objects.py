"""The tasks of ``advise``, ``apply`` and ``prune`` where the setting names an object store: no folder is needed."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.object_storage import latest, objects, publish_url, s3_connection
from tests.sql.test_airflow_tasks import listed
from tests.sql.test_applications import cluster, done
from tests.sql.test_apply_tasks import event, question, show

__all__ = ["cluster", "listed", "objects", "publish_url", "s3_connection"]
pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


def test_published_applied_and_pruned_without_a_folder(cluster, connection, objects, publish_url) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow import apply
    from rebalance_advisor.airflow.publishing import prune_published
    from rebalance_advisor.airflow.tasks import publish

    start, plan, becomes, folder = cluster
    with pytest.raises(AirflowFailException, match="are not where it was published; publish the advisory again"):
        show()
    reported = publish.function({"run_id": "r", "cluster": "prod"})
    manifest = latest(objects, "prod")
    address = objects.address(f"prod/{manifest.folder}")
    assert (reported["folder"], manifest.plan_id) == (address, plan.plan_id)
    assert address.startswith("s3://bucket-")
    shown = show()
    assert f"Report: `{address}/report.html`" in shown["words"]
    question().execute_complete({}, event("Approve"))
    assert apply.check_again.function(shown) == []
    commands = apply.show_commands.function(shown, [])
    assert f"aws s3 cp --recursive {address} plan\ncd plan" in commands
    assert f"- `{address}/waves/01.json`" in commands
    becomes(done(start, plan))
    assert apply.verify.function(shown, event("Carried out"))["state"] == "verified"
    assert json.loads(objects.read(f"prod/{manifest.folder}/outcome.json"))["state"] == "verified"
    assert not (folder / "outcome.json").exists()
    late = datetime.now(UTC) + timedelta(days=1)
    assert prune_published(connection, late) == [str(folder)], "no link leads to it; the latest in the store stays"
    objects.delete("prod/latest.json")
    assert prune_published(connection, late) == [address]
    assert objects.list("") == []


def test_a_wrong_address_is_refused_before_anything_is_done(listed, connection, monkeypatch, s3_connection) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow.tasks import check_request
    from rebalance_advisor.publish.object_store import ObjectStoreError

    asked = {"age_limit": "3650d"}
    monkeypatch.setenv("ADVISOR_PUBLISH_URL", "gs://bucket/path")
    with pytest.raises(AirflowFailException, match="ADVISOR_PUBLISH_URL: no installed provider knows gs://"):
        check_request.function("prod", params=asked)
    monkeypatch.setenv("ADVISOR_PUBLISH_URL", f"s3://{s3_connection}@no-such-bucket/path")
    with pytest.raises(ObjectStoreError, match="bucket does not exist"):
        check_request.function("prod", params=asked)


def test_hostile_names_lead_to_no_other_place(objects) -> None:
    from rebalance_advisor.airflow.publishing import ObjectStoreTarget
    from tests.unit.cli.hostile.names import HOSTILE

    for number, name in enumerate(HOSTILE.values()):
        target = ObjectStoreTarget(objects, "prod", name)
        files = target.write({"plan.json": b"{}"}, f"plan {number}")
        assert target.find(f"plan {number}").read("plan.json") == b"{}"
        assert target.show_as_latest(f"plan {number}") is None
        assert latest(objects, "prod").run_id == name
        assert files.names() == ["manifest.json", "plan.json"]
    keys = [key for key in objects.list("") if key != "prod/latest.json"]
    assert {key.split("/")[0] for key in keys} == {"prod"}
    assert {key.count("/") for key in keys} == {3}, "CLUSTER/RUN/DIGEST/FILE"
