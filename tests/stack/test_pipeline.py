"""The DAG in a real Airflow publishes what the shell finds in one process: rows and files."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.render import with_texts
from rebalance_advisor.cli.main import main
from rebalance_advisor.dumps import read_input
from rebalance_advisor.version import advisor_version
from stack.airflow.cluster_entries import write_entry
from stack.demo import history
from stack.demo import pipeline as demo
from stack.installed_code import CHECKOUT
from tests.stack.by_hand import BY_HAND

pytestmark = [pytest.mark.stack, pytest.mark.slow, pytest.mark.timeout(3600)]

REAL_MAP = CHECKOUT / "tests" / "data" / "kafka-kit-256-partitions-23-brokers.json"
MAP_NAME = REAL_MAP.stem  # as a shell names the cluster in it


def published_by_the_dag(machine, name, path, **asked):
    kind = "folder" if path.is_dir() else "file"
    write_entry(machine.clusters_file, name, {kind: str(path)} | BY_HAND)
    published = demo.advise(machine.airflow.client, name, print, **asked)
    assert published["describe_ending"][0].startswith("Verdict:")
    return Path(published["folder"]), published["run_id"]


def as_the_shell_finds_it(name, path):
    return advise(read_input(path, name), AdviceRequest(), advisor_version=advisor_version()).document()


def assert_the_same(folder, document):
    document = json.loads(json.dumps(document))
    assert json.loads((folder / "plan.json").read_text()) == document["plan"]
    assert json.loads((folder / "findings.json").read_text()) == with_texts(document["findings"])
    assert json.loads((folder / "groups.json").read_text()) == with_texts(document["groups"])


def test_the_real_map_is_advised_and_its_bytes_are_unknown_never_zero(machine):
    folder, run_id = published_by_the_dag(machine, "real-map", REAL_MAP)
    assert_the_same(folder, as_the_shell_finds_it("real-map", REAL_MAP))
    plan = json.loads((folder / "plan.json").read_text())
    assert {move["kind"] for move in plan["moves"]} == {"replica", "leader"}
    assert plan["cost"]["bytes"] is None
    assert plan["cost"]["seconds"] is None
    assert all(move["bytes"] is None for move in plan["moves"] if move["kind"] == "replica")
    assert "disk" in plan["left_out"]
    with psycopg.connect(machine.dsn("advisor")) as connection:
        connection.execute("SET ROLE advisor_reader")
        query = "SELECT run_id, bytes, replica_moves FROM advisor.plan_latest WHERE cluster = 'real-map'"
        assert connection.execute(query).fetchall() == [(run_id, None, plan["cost"]["replica_moves"])]


GROUP_TABLE = """\
GROUP  TOPIC  PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG  CONSUMER-ID HOST        CLIENT-ID
ingest events 0         5000           5000           0    rdkafka-e5  /172.18.0.5 rdkafka
ingest events 1         5000           5000           0    rdkafka-e5  /172.18.0.5 rdkafka
ingest events 2         1000           5000           4000 rdkafka-43  /172.18.0.6 rdkafka
ingest events 3         5000           5000           0    rdkafka-43  /172.18.0.6 rdkafka
"""


def test_a_group_table_alone_is_advised_and_its_brokers_are_a_coverage_gap(machine, tmp_path):
    table = tmp_path / "describe.txt"
    table.write_text(GROUP_TABLE)
    folder, run_id = published_by_the_dag(machine, "pasted", table)
    assert_the_same(folder, as_the_shell_finds_it("pasted", table))
    assert "ingest" in (folder / "report.html").read_text()
    with psycopg.connect(machine.dsn("advisor")) as connection:
        connection.execute("SET ROLE advisor_reader")
        query = "SELECT run_id, verdict FROM advisor.plan_latest WHERE cluster = 'pasted'"
        assert connection.execute(query).fetchall() == [(run_id, "cannot_tell")]
        query = (
            "SELECT reason_code FROM advisor.coverage_latest "
            "WHERE cluster = 'pasted' AND missing_code = 'lacks_placement'"
        )
        assert connection.execute(query).fetchall() == [("no_dump_of_topics",)]
        query = "SELECT subject, evidence FROM advisor.finding_latest WHERE cluster = 'pasted' AND code = %s"
        ((subject, evidence),) = connection.execute(query, ["lag_concentrated"]).fetchall()
        assert (subject, evidence["lag_messages"]) == ("ingest", 4000)


@pytest.mark.main_job
def test_the_demo_is_advised_as_from_a_shell(machine, tmp_path):
    """The product's main job, both ways: a DAG and the installed command make the same files of the same dumps.

    The small clusters beside it have their weeks in the store.
    """
    demo.write_demo(machine)
    dumps = machine.run / "demo"
    now = datetime.now(UTC)
    assert history.fill(machine.dsn("advisor"), dumps, now) == 2 * history.DAYS
    folder, run_id = published_by_the_dag(machine, "demo", dumps)
    said = shell("advise", dumps, "--out", tmp_path / "advisory")
    assert said.stdout.startswith("Verdict: rebalance")
    for name in ("plan.json", "findings.json", "groups.json"):
        assert json.loads((folder / name).read_text()) == json.loads((tmp_path / "advisory" / name).read_text()), name
    shell("verify", folder / "plan.json", dumps)
    document = {finding["code"]: finding for finding in json.loads((folder / "findings.json").read_text())}
    assert {"preferred_leaders_off", "rack_violated", "idle_members", "dead_static_member"} <= document.keys()
    assert [symptom["code"] for symptom in document["broker_disk_full"]["symptoms"]] == ["broker_disk_over_share"]
    assert (folder / "report.html").stat().st_size > 10_000
    with psycopg.connect(machine.dsn("advisor")) as connection:
        connection.execute("SET ROLE advisor_reader")
        query = "SELECT verdict, replica_moves FROM advisor.plan_latest WHERE cluster = 'demo' AND run_id = %s"
        moves = json.loads((folder / "plan.json").read_text())["cost"]["replica_moves"]
        assert connection.execute(query, [run_id]).fetchall() == [("rebalance", moves)]
        query = "SELECT DISTINCT gate FROM advisor.check_result WHERE cluster = 'demo' ORDER BY gate"
        assert connection.execute(query).fetchall() == [("input",), ("results",)]
        seen = {query: connection.execute(query).fetchall() for query in WEEKS_BEFORE}
    assert seen == WEEKS_BEFORE
    assert history.fill(machine.dsn("advisor"), dumps, now) == 0


WEEKS_BEFORE = {
    """SELECT cluster, verdict FROM advisor.cluster_latest WHERE cluster LIKE 'demo%' ORDER BY cluster""": [
        ("demo", "rebalance"), ("demo-blind", "cannot_tell"), ("demo-healthy", "nothing_to_do"),
    ],
    """SELECT cluster, count(DISTINCT period_start), min(days)
    FROM advisor.skew_by_day
    JOIN (SELECT cluster, count(*) AS days FROM advisor.run GROUP BY cluster) AS run USING (cluster)
    WHERE cluster LIKE 'demo-%' GROUP BY cluster ORDER BY cluster""": [
        ("demo-blind", 21, 21), ("demo-healthy", 21, 21),
    ],
    """SELECT min(days_of_history), count(growth_bytes_per_day), max(growth_bytes_per_day) < 2e9
    FROM advisor.broker_disk_forecast WHERE cluster = 'demo-healthy'""": [(history.CARRIED_OUT, 6, True)],
    """SELECT state, applied_count = move_count, move_count > 0, predicted_bytes > 0, realised_bytes > 0
    FROM advisor.plan_application WHERE cluster LIKE 'demo%'""": [("verified", True, True, True, True)],
}  # fmt: skip


def shell(*arguments):
    """Run the installed command; returns what it wrote. Fails with its words where it does not end with 0."""
    command = [Path(sys.executable).with_name("rebalance-advisor"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_a_rest_call_with_options_publishes_the_bytes_of_a_shell_with_the_same(machine, tmp_path):
    asked = {
        "remove_broker": [1873], "balance_within": "30%", "max_moves": 400, "include_topic": ["test_.*"],
        "moves_per_broker": 7, "seed": 3,
    }  # fmt: skip
    folder, run_id = published_by_the_dag(machine, MAP_NAME, REAL_MAP, **asked)
    text = "--remove-broker 1873 --balance-within 30% --max-moves 400 --include-topic test_.* --moves-per-broker 7"
    main(["plan", str(REAL_MAP), "--out", str(tmp_path / "out"), *text.split(), "--seed", "3"])
    assert (folder / "plan.json").read_bytes() == (tmp_path / "out" / "plan.json").read_bytes()
    with psycopg.connect(machine.dsn("advisor")) as connection:
        query = "SELECT parameters->'remove_broker', parameters->'moves_per_broker' FROM advisor.run WHERE run_id = %s"
        assert connection.execute(query, [run_id]).fetchall() == [([1873], 7)]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"remove_brokers": [1]}, "did you mean remove_broker?"),
        ({"remove_broker": [99]}, "broker 99 is not in the cluster"),
        ({"exclude_topic": ["nothing.*"]}, "matches no topic"),
    ],
)
def test_what_cannot_be_fails_the_first_task_in_words(machine, asked, message):
    write_entry(machine.clusters_file, MAP_NAME, {"file": str(REAL_MAP)} | BY_HAND)
    client = machine.airflow.client
    client.wait_for_dag(dag := f"advise_{MAP_NAME}")
    run_id = client.trigger(dag, asked)
    (failed,) = [task for task in client.follow(dag, run_id, 900) if task["state"] == "failed"]
    assert failed["task_id"] == "check_request"
    assert message in client.log(dag, run_id, failed)
    tasks = client.task_instances(dag, run_id)
    assert {task["state"] for task in tasks if task["task_id"] != "check_request"} == {"upstream_failed"}
