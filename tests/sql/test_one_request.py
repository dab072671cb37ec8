"""The same options give the same ``plan.json``, byte for byte: from a shell, from a form, and from a REST call."""

import json
import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafka_assignors.errors import UnknownNameError
from kafka_rebalance.errors import UsageError
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import Capacity
from rebalance_advisor import store
from rebalance_advisor.airflow.publishing import FolderTarget, publish_run
from rebalance_advisor.airflow.requested_runs import requested_run, start_requested_run
from rebalance_advisor.cli.main import main
from rebalance_advisor.request import names_in_cluster
from rebalance_advisor.request.run_request import OPTIONS
from rebalance_advisor.run_advice import advise_run, read_question, save_advice
from stack.airflow.cluster_entries import write_entry
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.request.option_sets import OPTION_SETS, OWN

pytestmark = pytest.mark.usefixtures("brief_search")

FEW = ("remove", "targets", "preferred election")  # seconds of work each: the others run in `make test-all`
WINDOW = "load of a window"  # needs hours: test_load_history.py
# The reading of these tests has a fixed time; how its age is judged is test_old_reading.py's.
ANY_AGE = {"age_limit": "3650d"}
DEFAULTS = {option.name: option.default for option in OPTIONS}


@pytest.fixture(scope="session")
def input_file(tmp_path_factory):
    """Six brokers on three racks, of disks that are known; the first two hold most, and lead most."""
    rng = random.Random(4)
    pairs = [(0, 1), (0, 1), (1, 0), (0, 4), (1, 3), (2, 0), (1, 5), (0, 5), (4, 0)]
    rows = [
        row(f"t{topic}", p, replicas := rng.choice(pairs), rng.randint(1, 9) * GB, leader=replicas[p % 4 == 3])
        for topic in range(2)
        for p in range(7)
    ]
    file = tmp_path_factory.mktemp("input") / "test.json"
    sized = tuple(replace(broker, capacity=Capacity(disk_bytes=200 * GB)) for broker in brokers(6, racks=3))
    file.write_text(json.dumps(snapshot_to_document(cluster(rows, sized))))
    return file


@pytest.fixture
def listed(input_file, tmp_path, monkeypatch):
    """A list of one cluster, which lies in the file."""
    write_entry(tmp_path / "clusters.toml", "test", {"file": str(input_file)})
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(tmp_path / "clusters.toml"))


def runs_in_the_store(connection):
    return [name for (name,) in connection.execute("SELECT run_id FROM store.run").fetchall()]


def published(dsn, connection, params, run_id, folder):
    """``plan.json`` of one run, by what the tasks and the Spark job call, without Airflow and Spark around them."""
    document = requested_run(connection, "test", params | ANY_AGE)
    start_requested_run(connection, json.loads(json.dumps(document)), run_id)
    save_advice(
        connection, run_id, advise_run(replace(read_question(connection, run_id), previous=None), datetime.now(UTC))
    )
    folder = Path(publish_run(dsn, run_id=run_id, cluster="test", target=FolderTarget(folder, run_id))[1])
    return (folder / "plan.json").read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        name if name in FEW else pytest.param(name, marks=pytest.mark.slow)
        for name in OPTION_SETS
        if name not in (WINDOW, OWN)
    ],
)
def test_shell_form_and_rest_call_give_the_same_bytes(name, dsn, connection, listed, input_file, tmp_path):
    text, asked = OPTION_SETS[name]
    assert main(["plan", str(input_file), "--out", str(tmp_path / "shell"), *text.split()]) in (0, 3)
    expected = (tmp_path / "shell" / "plan.json").read_bytes()
    form = DEFAULTS | asked | {"cluster": "test", "snapshot": "fresh"}
    rest = asked | {"cluster": "test"}
    assert published(dsn, connection, form, "form", tmp_path / "form") == expected
    assert published(dsn, connection, rest, "rest", tmp_path / "rest") == expected
    assert bool(json.loads(expected)["moves"]) == (name != "dead band")


def test_capacities_of_a_form_are_those_of_a_shells_file(dsn, connection, listed, input_file, tmp_path):
    (tmp_path / "capacity.csv").write_text(
        "broker,disk_bytes\n" + "".join(f"{b},{(b + 1) * 10**11}\n" for b in range(6))
    )
    arguments = ["--capacity", str(tmp_path / "capacity.csv"), "--balance-within", "10%"]
    main(["plan", str(input_file), "--out", str(tmp_path / "shell"), *arguments])
    asked = {"capacity": {str(b): {"disk_bytes": (b + 1) * 10**11} for b in range(6)}, "balance_within": 0.1}
    result = published(dsn, connection, asked, "rest", tmp_path / "rest")
    assert result == (tmp_path / "shell" / "plan.json").read_bytes()


LOST = {
    "format": "kafka-rebalance-scenario", "format_version": 1, "name": "n",
    "changes": [{"change": "rack_lost", "rack": "a"}],
}  # fmt: skip


@pytest.mark.parametrize("choice", ["latest", "fresh"])
@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"remove_brokers": [1]}, "'remove_brokers'.*did you mean remove_broker?"),
        ({"remove_broker": [99]}, "--remove-broker 99: broker 99 is not in the cluster"),
        ({"exclude_broker": [99]}, "--exclude-broker 99: broker 99 is not in the cluster"),
        ({"add_broker": ["3:rack-9"]}, "--add-broker 3:rack-9: broker 3 is in the cluster already"),
        ({"add_broker": ["7"]}, r"--add-broker 7: give its rack, for example 7:rack-0 \(racks: "),
        ({"add_broker": ["7:rack-x"]}, "--add-broker 7:rack-x: .* a rack that is new takes --new-rack rack-x"),
        ({"target": ["cpu=1.1"]}, "--target cpu: INPUT does not tell it"),
        ({"cap": ["cpu=80%"]}, "--cap cpu: INPUT does not tell it"),
        ({"survive": "rack"}, "--survive rack: of in, out or cpu no load is known with every broker's capacity"),
        ({"leaders_only": True, "remove_broker": [1]}, "--leaders-only and --remove-broker contradict"),
        ({"scenario": [LOST]}, "scenario: a run has no what-if; ask plan or advise with --scenario in a shell"),
        ({"own_strategy": ["os:system"]}, "own_strategy: 'os:system' is not in the table of test; let own_strategy in"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_collected(connection, listed, asked, message, choice):
    with pytest.raises(UsageError, match=message):
        requested_run(connection, "test", asked | {"snapshot": choice})
    assert store.latest_snapshot_id(connection, "test") is None
    assert runs_in_the_store(connection) == []


def test_a_value_that_is_given_twice_is_refused(connection, listed):
    """The form does not compare a list's values: of thousands of objects that takes Airflow's API minutes."""
    twice = {"pattern": "a", "team": "x"}
    for asked in ({"exclude_topic": ["a", "b", "a"]}, {"owners": [twice, {"team": "x", "pattern": "a"}]}):
        with pytest.raises(UsageError, match="is given twice; give it once"):
            requested_run(connection, "test", asked)


def test_an_endless_pattern_is_refused_on_the_stored_names_or_on_the_first_reading(connection, listed, monkeypatch):
    monkeypatch.setattr(names_in_cluster, "CPU_SECONDS", 0.2)
    asked = {"exclude_topic": [r"((\w|.)*)*!"], "age_limit": "3650d"}
    long_name = "t" * 40
    monkeypatch.setattr(names_in_cluster, "names_of", lambda _: [long_name])
    with pytest.raises(UsageError, match=r"--exclude-topic: .* takes more than 0.2 s of CPU"):
        start_requested_run(connection, requested_run(connection, "test", asked), "form")
    assert store.latest_snapshot_id(connection, "test") is not None
    with pytest.raises(UsageError, match=r"--exclude-topic: .* takes more than 0.2 s of CPU"):
        requested_run(connection, "test", asked)
    assert runs_in_the_store(connection) == []


def test_a_pattern_that_matches_nothing_is_refused_unless_the_clusters_table_holds_it(
    connection, input_file, tmp_path, monkeypatch
):
    """A person may have mistyped it; a schedule does not stop because a topic of its table is gone."""
    clusters = tmp_path / "clusters.toml"
    clusters.write_text(f"[clusters.test]\nfile = '{input_file}'\nexclude_topic = ['tmp-.*']\nage_limit = '3650d'\n")
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(clusters))
    of_table = {"exclude_topic": ["tmp-.*"], "age_limit": "3650d"}
    start_requested_run(connection, requested_run(connection, "test", of_table), "scheduled")
    assert runs_in_the_store(connection) != []
    for asked in ({"exclude_topic": ["tmp-.*", "t-0"]}, {"include_topic": ["tmp.*"]}):
        with pytest.raises(UsageError, match=r"matches no topic; (a pattern matches whole names|did you mean)"):
            requested_run(connection, "test", of_table | asked)


def test_a_class_of_ones_own_that_stands_in_the_clusters_table_may_be_asked_for(
    connection, input_file, tmp_path, monkeypatch
):
    places = ["platform.strategies:Nearest", "platform.strategies:Weighted"]
    write_entry(tmp_path / "clusters.toml", "test", {"file": str(input_file), "own_strategy": places})
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(tmp_path / "clusters.toml"))
    assert requested_run(connection, "test", {"own_strategy": places[1:]})["own_strategy"] == places[1:]
    with pytest.raises(UsageError, match="'platform:Nearest' is not in the table"):
        requested_run(connection, "test", {"own_strategy": [*places, "platform:Nearest"]})


def test_a_cluster_that_is_not_in_the_list_is_refused(connection, listed):
    with pytest.raises(UnknownNameError, match="known: test"):
        requested_run(connection, "prod", {})
    with pytest.raises(UsageError, match="cluster: 'prod' is not test, which this DAG is for; start its own DAG"):
        requested_run(connection, "test", {"cluster": "prod"})


@pytest.mark.parametrize(
    ("entry", "asked", "limit"),
    [
        ({}, {}, "2h"),  # twice the hour in which readings are taken
        ({"collect_schedule": "*/15 * * * *"}, {"age_limit": None}, "30min"),
        ({"collect_schedule": "*/15 * * * *"}, {"age_limit": "1d"}, "1d"),
    ],
)
def test_the_age_limit_of_a_request_is_the_clusters_unless_it_says_one(
    connection, input_file, tmp_path, monkeypatch, entry, asked, limit
):
    write_entry(tmp_path / "clusters.toml", "test", {"file": str(input_file), **entry})
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(tmp_path / "clusters.toml"))
    assert requested_run(connection, "test", asked)["age_limit"] == limit


def test_a_broker_that_joined_since_is_found_by_a_fresh_reading_only(connection, listed, input_file):
    rows = [row("t0", p, (0, 1)) for p in range(4)]
    store.save_snapshot(connection, cluster(rows, brokers(3, racks=3), captured_at="2026-11-19T12:00:00Z"))
    with pytest.raises(UsageError, match="broker 5 is not in the cluster"):
        requested_run(connection, "test", {"remove_broker": [5], "snapshot": "latest"})
    document = requested_run(connection, "test", {"remove_broker": [5], "snapshot": "fresh"})
    start_requested_run(connection, document, "run")
    assert runs_in_the_store(connection) == ["run"]


def test_a_broker_that_left_since_is_refused_before_a_run_is_started(connection, listed, input_file):
    rows = [row("t0", p, (0, 9)) for p in range(4)]
    gone = [*brokers(6, racks=3), *brokers(10, racks=3)[9:]]
    store.save_snapshot(connection, cluster(rows, gone, captured_at="2026-11-19T12:00:00Z"))
    document = requested_run(connection, "test", {"remove_broker": [9], "snapshot": "fresh"})
    with pytest.raises(UsageError, match="broker 9 is not in the cluster"):
        start_requested_run(connection, document, "run")
    assert runs_in_the_store(connection) == []


def test_the_store_keeps_the_whole_request(connection, listed):
    document = requested_run(connection, "test", {"remove_broker": [1], "max_move_bytes": "5GB", "dead_band": 1e-6})
    start_requested_run(connection, document, "run")
    assert store.load_run(connection, "run").parameters == document
    assert read_question(connection, "run").request.document() == document
