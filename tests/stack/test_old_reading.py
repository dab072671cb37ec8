"""A real Airflow with one DAG a cluster: an old reading is not published as fresh, whoever asks; the list is heeded."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from kafka_rebalance.snapshot.codec import snapshot_to_document
from stack.airflow.cluster_entries import write_entry
from stack.waiting import wait_for
from tests.stack.by_hand import BY_HAND
from tests.unit.planner.sample_clusters import brokers, cluster, row

pytestmark = [pytest.mark.stack, pytest.mark.slow]

PATIENCE_S = 1_800


@pytest.fixture
def old_reading(machine):
    """Nine partitions on two of three brokers: there would be much to do, had it not been seen 21 days ago."""
    seen_at = (datetime.now(UTC) - timedelta(days=21)).isoformat()
    snapshot = cluster([row("t", p, [0, 1]) for p in range(9)], brokers(3), captured_at=seen_at)
    file = machine.run / "old.json"
    file.write_text(json.dumps(snapshot_to_document(snapshot)))
    return {"file": str(file)}


def scheduled_run(client, dag_id):
    """The first run that the schedule has made."""
    runs = client.runs(dag_id)
    return next((run["dag_run_id"] for run in runs if run["run_type"] == "scheduled"), None)


def told_by(client, dag_id, run_id):
    for _ in client.follow(dag_id, run_id, PATIENCE_S):
        pass
    assert client.run_state(dag_id, run_id) == "success"
    return client.returned(dag_id, run_id, "publish")


def test_a_reading_of_21_days_ago_gives_no_plan_by_form_or_schedule(machine, old_reading):
    client = machine.airflow.client
    write_entry(machine.clusters_file, "old-by-schedule", old_reading | BY_HAND | {"schedule": "* * * * *"})
    write_entry(machine.clusters_file, "old-by-form", old_reading | BY_HAND)
    write_entry(machine.clusters_file, "wrong", old_reading | {"throtle": "1MB"})
    client.wait_for_dag("advise_old-by-form")
    # What the form sends is a REST call with all of its fields.
    form = {name: field["value"] for name, field in client.params("advise_old-by-form").items()}
    runs = {
        "advise_old-by-form": client.trigger("advise_old-by-form", form | {"remove_broker": [1]}),
        "advise_old-by-schedule": wait_for(
            "a run by schedule", lambda: scheduled_run(client, "advise_old-by-schedule"), seconds=PATIENCE_S
        ),
    }
    write_entry(machine.clusters_file, "old-by-schedule", old_reading | BY_HAND)  # once is enough
    for dag_id, run_id in runs.items():
        reported = told_by(client, dag_id, run_id)
        assert reported["describe_ending"][0].startswith(
            "Verdict: cannot tell: the snapshot is too old, take a fresh one: it is 21 days old, the limit is 2 h"
        )
        plan = json.loads((Path(reported["folder"]) / "plan.json").read_text())
        assert (plan["verdict"], plan["moves"]) == ("cannot_tell", [])
    with psycopg.connect(machine.dsn("advisor")) as connection:
        connection.execute("SET ROLE advisor_reader")
        query = "SELECT verdict, count(*) FROM advisor.run WHERE cluster LIKE 'old-by-%' GROUP BY verdict"
        ((verdict, _),) = connection.execute(query).fetchall()
    assert verdict == "cannot_tell"
    assert_the_list_is_heeded(client)


def assert_the_list_is_heeded(client):
    """Readings are taken wherever advice is given; Spark jobs have their pool; a wrong table is told, and alone."""
    for name in ("old-by-form", "old-by-schedule"):
        client.wait_for_dag(f"collect_{name}")
    dags = client.paused()
    advised = {dag_id.removeprefix("advise_") for dag_id in dags if dag_id.startswith("advise_")}
    assert {"old-by-form", "old-by-schedule"} <= advised
    assert {name: (dags[f"advise_{name}"], dags[f"collect_{name}"]) for name in advised} == dict.fromkeys(
        advised, (False, False)
    )
    assert client.pool_slots("advisor_heavy") == 1
    (fault,) = wait_for("the refused table", client.import_errors, seconds=PATIENCE_S)
    assert fault["filename"] == "refused_clusters.py"
    assert "[clusters.wrong]: 'throtle' is not known; did you mean throttle?" in fault["stack_trace"]
    assert "advise_wrong" not in dags
