"""The tasks of the three DAGs as plain functions on a real store, one after another as the DAGs call them.

Between ``check_input`` and ``check_results`` comes what the Spark job saves, made here in this process.
"""

import json
import logging
import os
import random
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from fastapi.testclient import TestClient

from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.render import with_texts
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor import gates, store
from rebalance_advisor.cli.main import main
from rebalance_advisor.dumps import read_input
from rebalance_advisor.page.access import Access
from rebalance_advisor.page.reader import Reader
from rebalance_advisor.page.routes import make_app
from rebalance_advisor.publish.folders import MARKER, replace_folder
from rebalance_advisor.publish.what_if_files import NOTHING_CHANGED
from rebalance_advisor.run_advice import advise_run, read_question, save_advice
from rebalance_advisor.version import advisor_version
from stack.airflow.cluster_entries import write_entry
from tests.sql.page.conftest import caller, readable
from tests.sql.sample_clusters import plain_snapshot

AT_ONCE = datetime(2026, 11, 20, 11, tzinfo=UTC)  # when the sample was read

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


@pytest.fixture
def listed(tmp_path, dsn, monkeypatch):
    """One cluster in the list, which lies in a file; the store under the name that Airflow knows it by."""
    (tmp_path / "prod.json").write_text(json.dumps(snapshot_to_document(plain_snapshot())))
    write_entry(tmp_path / "clusters.toml", "prod", {"file": str(tmp_path / "prod.json")})
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(tmp_path / "clusters.toml"))
    monkeypatch.setenv("ADVISOR_PUBLISH_DIR", str(tmp_path / "published"))
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", dsn)
    return tmp_path


def replay_and_plan(connection, run_id, now=AT_ONCE):
    """What the job ``replay_and_plan`` leaves in the store."""
    save_advice(connection, run_id, advise_run(read_question(connection, run_id), now))


def test_an_advisory_goes_from_the_request_to_the_folder_that_readers_see(listed, connection) -> None:
    from rebalance_advisor.airflow import tasks

    asked = {"no_frontier": True, "dead_band": 0.3, "age_limit": "3650d"}
    request = tasks.check_request.function("prod", params=asked)
    assert (request["cluster"], request["dead_band"]) == ("prod", 0.3)
    run = tasks.start_run.function(request, dag_run=SimpleNamespace(run_id="manual__1"))
    assert run == {
        "run_id": "manual__1.prod",
        "cluster": "prod",
        "snapshot_id": run["snapshot_id"],
        "partition_count": 6,
    }
    tasks.check_input.function(run)
    replay_and_plan(connection, run["run_id"])
    tasks.check_results.function(run)
    assert store.newest_published(connection, "prod") is None
    reported = tasks.publish.function(run)
    assert store.newest_published(connection, "prod") == "manual__1.prod"
    folder = listed / "published" / "prod" / "manual__1.prod"
    findings = json.loads((folder / "findings.json").read_text())
    assert (reported["run_id"], reported["folder"]) == ("manual__1.prod", str(folder))
    assert (folder.parent / "latest").resolve() == folder.resolve()
    # Its three members read 3, 3 and none of 6 partitions.
    assert "assignor_uneven:group:readers" in {finding["finding_key"] for finding in findings}
    assert reported["describe_ending"]


LOST_AND_GROWN = {"lose_rack": ["a"], "lose_broker": None, "growth": ["20%"]}


def test_a_what_if_answers_as_the_shell_does(listed, connection, capsys) -> None:
    """The first one collects, as nothing is stored yet. The run's tab shows the answer to readers of the cluster."""
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow import tasks

    for wrong, text in (
        ({}, "^what-if: nothing happens; give lose_rack, lose_broker or growth$"),
        ({"growth": ["2"]}, "^--growth: '2' is no growth; give 20%, or orders"),
        ({"lose_broker": [1, 1]}, "^lose_broker: 1 is given twice"),
        ({"cluster": "other"}, "^cluster: 'other' is not prod"),
    ):
        with pytest.raises(AirflowFailException, match=text):
            tasks.compare.function("prod", params=wrong)
    assert store.latest_snapshot_id(connection, "prod") is None
    answer = tasks.compare.function("prod", params=LOST_AND_GROWN)
    assert json.loads(json.dumps(answer)) == answer
    assert answer["snapshot_id"] == store.latest_snapshot_id(connection, "prod")
    capsys.readouterr()
    assert main(["what-if", str(listed / "prod.json"), "--lose-rack", "a", "--growth", "20%", "--json"]) == 0
    assert answer["answer"] == json.loads(capsys.readouterr().out)
    held = {("what_if_prod", "manual__1+2"): answer}
    access = Access(user=caller, readable=readable, what_if=lambda *run: held.get(run))
    client = TestClient(make_app(Reader("postgresql://nobody@127.0.0.1:1/none"), access))

    def tab(run, user="prod"):
        asked = {"dag_id": "what_if_prod", "run_id": run}
        return client.get("/run", params=asked, headers={"x-caller": user})

    shown = tab("manual__1+2").text
    for text in (NOTHING_CHANGED, "growth 20%, without rack a", "2026-11-20 11:00 UTC", "brokers in service"):
        assert text in shown
    assert "has no answer" in tab("manual__2").text
    assert tab("manual__1+2", user="other").status_code == 403


def test_a_what_if_changes_nothing_in_the_store(listed, connection) -> None:
    """Neither a run nor a failure: advisory, history, views and messages are made of these tables alone."""
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow import tasks

    request = tasks.check_request.function("prod", params={"age_limit": "3650d"})
    run = tasks.start_run.function(request, dag_run=SimpleNamespace(run_id="manual__1"))
    tasks.check_input.function(run)
    before = rows_of_the_store(connection)
    assert before["run"][0] == 1
    assert tasks.compare.function("prod", params=LOST_AND_GROWN)["snapshot_id"] == run["snapshot_id"]
    for wrong, text in (
        ({"lose_rack": ["z"]}, "^rack 'z': no rack of the cluster has it; known: a, b, c$"),
        ({"lose_broker": [9]}, "^broker 9: no broker of the cluster has it; known: 1, 2, 3$"),
    ):
        with pytest.raises(AirflowFailException, match=text):
            tasks.compare.function("prod", params=wrong)
    assert rows_of_the_store(connection) == before


def rows_of_the_store(connection) -> dict[str, tuple[int, str]]:
    """Return count and hash of the rows of each table."""
    tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'store'").fetchall()
    rows = "SELECT count(*), md5(string_agg(held::text, '|' ORDER BY held::text)) FROM store.{} AS held"
    return {table: connection.execute(rows.format(table)).fetchone() for (table,) in tables}


def test_group_tables_alone_are_advised_from_the_request_to_the_folder(listed, connection, dsn) -> None:
    """Random tables, as files and as folders of one or two readings; the shell finds the same in them."""
    from rebalance_advisor.airflow import tasks

    draw, reader = random.Random(34), Reader(dsn)
    page = TestClient(make_app(reader, Access(user=caller, readable=readable)), headers={"x-caller": "all"})
    for case in range(4):
        name, location = f"alone{case}", listed / f"alone{case}"
        readings = {0: [location], 1: [location / "table.txt"]}.get(
            case % 3, [location / day / "table.txt" for day in "12"]
        )
        ends = {("a", number): draw.randint(100, 1000) for number in draw.sample(range(9), 4)}
        for hour, file in enumerate(readings):
            file.parent.mkdir(parents=True, exist_ok=True)
            later = {key: end + hour * draw.randint(0, 50) for key, end in ends.items()}
            file.write_text(_group_table(draw, later) if case else _COUNTED)
            if len(readings) > 1:
                (file.parent / "captured_at").write_text(f"2026-11-20T0{hour}:00:00Z\n")
        write_entry(listed / "clusters.toml", name, {"folder" if location.is_dir() else "file": str(location)})
        request = tasks.check_request.function(name, params={"age_limit": "3650d"})
        run = tasks.start_run.function(request, dag_run=SimpleNamespace(run_id="manual__1"))
        tasks.check_input.function(run)
        replay_and_plan(connection, run["run_id"])
        tasks.check_results.function(run)
        said = tasks.publish.function(run)
        assert said["describe_ending"][0].startswith("Verdict: cannot tell"), case
        assert "has no broker" in said["describe_ending"][0], case
        folder = listed / "published" / name / run["run_id"]
        shell = advise(read_input(location, name), AdviceRequest(), advisor_version=advisor_version()).document()
        shell = json.loads(json.dumps(shell))
        for part in ("findings", "groups"):
            assert json.loads((folder / f"{part}.json").read_text()) == with_texts(shell[part]), (case, part)
        assert json.loads((folder / "plan.json").read_text())["snapshot_id"] == shell["plan"]["snapshot_id"], case
        gaps = connection.execute(
            "SELECT missing_code FROM advisor.coverage_latest WHERE cluster = %s", [name]
        ).fetchall()
        assert ("lacks_placement",) in gaps, case
        groups = "SELECT group_id FROM advisor.group_score_latest WHERE cluster = %s AND is_current"
        assert connection.execute(groups, [name]).fetchall() == [("readers",)], case
        failed = "SELECT rule FROM advisor.check_result WHERE cluster = %s AND failed_rows > 0"
        assert connection.execute(failed, [name]).fetchall() == [], case
        assert (folder / "report.html").exists(), case
        for path in ("", "/plan", "/history", "/brokers", "/topics", "/groups", "/group?name=readers"):
            shown = page.get(f"/clusters/{name}{path}")
            assert shown.status_code == 200, (case, path)
            assert name in shown.text, (case, path)
    reader.close()
    # The same rows without the gap are a reading that lost its brokers.
    connection.execute("DELETE FROM store.coverage_gap WHERE missing_code = 'lacks_placement'")
    result = gates.check_input(dsn, run["snapshot_id"])
    assert [check.rule for check in result.checks if not check.is_passed] == ["broker_twice_in_replicas"]
    assert result.is_blocked


# The members without --verbose: what they read is only counted.
_COUNTED = """GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS
readers m-1 /10.0.0.1 m 3
readers m-2 /10.0.0.2 m 0
"""


def _group_table(draw: random.Random, ends: dict[tuple[str, int], int]) -> str:
    rows = ["GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"]
    for (topic, number), end in ends.items():
        at, member = draw.randint(0, end), draw.randint(1, 3)
        rows.append(f"readers {topic} {number} {at} {end} {end - at} m-{member} /10.0.0.{member} m")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("asked", [{}, {"age_limit": "36h", "remove_broker": [3]}])
def test_a_reading_that_is_too_old_gives_no_plan_and_readers_are_told_why(listed, connection, asked) -> None:
    """The reading is of 20 November, 11:00; it is looked at 21 days later."""
    from rebalance_advisor.airflow import tasks

    request = tasks.check_request.function("prod", params=asked)
    run = tasks.start_run.function(request, dag_run=SimpleNamespace(run_id="manual__3"))
    replay_and_plan(connection, run["run_id"], now=AT_ONCE + timedelta(days=21))
    tasks.check_results.function(run)
    reported = tasks.publish.function(run)
    limit = "36 h" if asked else "2 h"
    text = f"the snapshot is too old, take a fresh one: it is 21 days old, the limit is {limit}"
    assert reported["describe_ending"][0].startswith(f"Verdict: cannot tell: {text}")
    folder = listed / "published" / "prod" / "manual__3.prod"
    plan = json.loads((folder / "plan.json").read_text())
    assert (plan["verdict"], plan["moves"], plan["frontier"]) == ("cannot_tell", [], [])
    assert text in (folder / "digest.md").read_text().replace("\\", "")
    assert not (folder / "waves").exists()
    shown = connection.execute("SELECT verdict, reasons->0 FROM advisor.plan_latest WHERE cluster = 'prod'").fetchall()
    assert shown == [("cannot_tell", plan["reasons"][0])]


def test_a_plan_that_expired_while_its_run_lay_is_not_published(listed, connection) -> None:
    """Somebody clears the last task days later: the plan was made in time, and is none any more."""
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow import tasks

    request = tasks.check_request.function("prod", params={"no_frontier": True, "dead_band": 0.3})
    run = tasks.start_run.function(request, dag_run=SimpleNamespace(run_id="manual__4"))
    replay_and_plan(connection, run["run_id"])
    with pytest.raises(AirflowFailException, match="the limit is 2 h, and it has expired; start a new run"):
        tasks.publish.function(run)
    assert store.newest_published(connection, "prod") is None


def test_what_nobody_can_mend_by_trying_again_fails_the_first_task_in_words(listed) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow.tasks import check_request, collect

    with pytest.raises(AirflowFailException, match="'remove_brokers': is no option; did you mean remove_broker"):
        check_request.function("prod", params={"remove_brokers": [1]})
    with pytest.raises(AirflowFailException, match="broker 99 is not in the cluster"):
        check_request.function("prod", params={"remove_broker": ["99"]})
    with pytest.raises(AirflowFailException, match="unknown cluster 'prud'"):
        collect.function("prud")


def test_a_collected_snapshot_passes_its_gate_or_fails_the_task_with_rule_and_rows(
    listed, dsn, connection, caplog
) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow.tasks import check_snapshot, check_snapshot_or_refuse, collect

    snapshot_id = collect.function("prod")
    check_snapshot.function(snapshot_id)
    connection.execute("UPDATE store.consumer_group SET state = 'Dead'")  # held in quarantine, which blocks nobody
    with caplog.at_level(logging.WARNING):
        check_snapshot.function(snapshot_id)
    assert "group_vanished" in caplog.text
    connection.execute("UPDATE store.partition SET leader = 3 WHERE partition = 0")
    with pytest.raises(
        AirflowFailException, match=rf"the gate blocks snapshot {snapshot_id}: .*replica_lists_disagree"
    ):
        check_snapshot.function(snapshot_id)
    assert store.latest_snapshot_id(connection, "prod") is None
    connection.execute("UPDATE store.partition SET leader = 1 WHERE partition = 0")
    check_snapshot_or_refuse(dsn, snapshot_id)
    assert store.latest_snapshot_id(connection, "prod") == snapshot_id


def test_results_that_contradict_themselves_block_the_run(listed, connection) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow import tasks

    request = tasks.check_request.function("prod", params={"no_frontier": True, "dead_band": 0.3})
    run = tasks.start_run.function(request, dag_run=SimpleNamespace(run_id="manual__2"))
    replay_and_plan(connection, run["run_id"])
    connection.execute("UPDATE store.resource_score SET skew = 1.3 WHERE resource = 'disk'")
    with pytest.raises(AirflowFailException, match=r"the gate blocks run manual__2\.prod: .*scores_do_not_add_up"):
        tasks.check_results.function(run)
    assert store.load_run(connection, "manual__2.prod").status == "blocked"


def test_history_goes_as_old_as_the_form_says_and_a_misspelt_number_removes_nothing(listed, connection) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow.tasks import prune

    for day in ("2020-01-01", "2020-02-01", "2020-03-01"):
        snapshot_id = store.save_snapshot(connection, plain_snapshot(captured_at=f"{day}T00:00:00Z"))
        store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    form = {"keep_whole_days": 7, "keep_snapshots_days": 30, "keep_runs_days": 30}
    with pytest.raises(AirflowFailException, match="did you mean keep_snapshots_days"):
        prune.function(params=form | {"keep_snapshot_days": 1})
    assert connection.execute("SELECT count(*) FROM store.snapshot").fetchone() == (3,)
    folder = listed / "published" / "prod" / "old"
    folder.parent.mkdir(parents=True, exist_ok=True)
    replace_folder(folder, {"plan.json": b"{}"}, "f" * 64)
    os.utime(folder / MARKER, (0, 0))
    pruned = prune.function(params=form)
    assert (pruned["folders"], folder.exists()) == (1, False)
    assert (pruned["snapshots"], pruned["runs"]) == (2, 0)  # the newest reading stays however old it is
    assert connection.execute("SELECT count(*) FROM store.snapshot").fetchone() == (1,)
