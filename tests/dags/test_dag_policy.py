"""Every DAG can be read, and says who looks after it, how, and for how long."""

import copy
from pathlib import Path

import pytest

from kafka_rebalance.errors import UsageError
from rebalance_advisor.request.option_table import OPTIONS
from rebalance_advisor.request.run_request import RunRequest
from tests.unit.request.option_sets import OPTION_SETS

CHECKOUT = Path(__file__).resolve().parents[2]
FILES = sorted(path.stem for path in (CHECKOUT / "dags").glob("*.py"))
SECTIONS = ("**Purpose.**", "**Inputs.**", "**Outputs.**", "**Triage.**")

pytestmark = pytest.mark.stack


def test_no_dag_has_an_import_error(dag_bag):
    assert dag_bag.import_errors == {}


def test_each_file_holds_the_one_dag_that_it_is_named_after(dag_bag):
    assert sorted(dag_bag.dags) == FILES


@pytest.mark.parametrize("name", FILES)
def test_dag_keeps_the_policy(dag_bag, name):
    dag = dag_bag.dags[name]
    assert all(section in dag.doc_md for section in SECTIONS), "doc_md tells purpose, inputs, outputs and triage"
    assert any(tag.startswith("tier/") for tag in dag.tags)
    assert dag.max_active_runs == 1, "two runs of one cluster are never under way at once"
    assert dag.catchup is False
    assert dag.dagrun_timeout is not None
    for task in dag.tasks:
        assert task.owner not in ("", "airflow"), task.task_id
        assert task.retries >= 1, task.task_id
        assert task.execution_timeout is not None, task.task_id


@pytest.mark.parametrize("name", FILES)
def test_triage_names_only_tasks_that_exist(dag_bag, name):
    dag = dag_bag.dags[name]
    triage = dag.doc_md.split("**Triage.**")[1]
    named = {word.strip("*") for word in triage.split() if word.startswith("*") and word.endswith("*")}
    assert named
    assert named <= {task_id.rpartition(".")[2] for task_id in dag.task_dict}


def test_advise_goes_the_way_of_the_data(dag_bag):
    dag = dag_bag.dags["advise"]
    way = [
        "check_request",
        "start_run",
        "check_input",
        "replay",
        "search_plan",
        "derive_findings",
        "check_results",
        "publish",
    ]
    ids = [task.task_id.rpartition(".")[2] for task in dag.topological_sort()]
    assert ids == way


def test_the_form_of_advise_refuses_what_cannot_be(dag_bag):
    from airflow.sdk.exceptions import ParamValidationError

    params = copy.deepcopy(dag_bag.dags["advise"].params)
    for name, wrong in (
        ("snapshot", "yesterday"), ("leaders_only", "yes"), ("target", ["dusk=1"]), ("replication_factor", 0),
        ("throttle", "fast"), ("balance_within", "wide"), ("dead_band", -0.1), ("capacity", [1]),
        ("balance_within", -1), ("max_moves", 1.5), ("remove_broker", [-1]),
        ("add_broker", ["rack-a"]), ("include_topic", ""), ("seed", None),
    ):  # fmt: skip
        with pytest.raises(ParamValidationError):
            params[name] = wrong


@pytest.mark.parametrize("name", OPTION_SETS)
def test_the_form_and_a_rest_call_arrive_as_the_same_request(dag_bag, name):
    """Merged and checked as a task's process does it: the form sends every field, a REST call what it names."""
    from airflow.sdk.definitions.param import process_params

    dag, (_, asked) = dag_bag.dags["advise"], OPTION_SETS[name]
    task = dag.task_dict["check_request"]
    everything = {key: param.value for key, param in dag.params.items()}
    assert everything == {option.name: option.default for option in OPTIONS}
    form = process_params(dag, task, everything | asked, suppress_exception=False)
    rest = process_params(dag, task, asked, suppress_exception=False)
    stored = process_params(dag, task, RunRequest.from_mapping(asked).document(), suppress_exception=False)
    expected = RunRequest.from_mapping(asked)
    assert [RunRequest.from_mapping(params) for params in (form, rest, stored)] == [expected] * 3


def test_an_unknown_key_of_a_rest_call_reaches_the_first_task_and_is_refused_there(dag_bag):
    from airflow.sdk.definitions.param import process_params

    dag = dag_bag.dags["advise"]
    params = process_params(dag, dag.task_dict["check_request"], {"remove_brokers": [1]}, suppress_exception=False)
    with pytest.raises(UsageError, match=r"did you mean remove_broker\?"):
        RunRequest.from_mapping(params)


@pytest.mark.parametrize(
    ("name", "task", "key", "near"),
    [
        ("collect_snapshot", "choose_clusters", "clusters", "cluster"),
        ("prune_history", "prune", "keep_snapshot_days", "keep_snapshots_days"),
    ],
)
def test_the_first_task_of_the_other_dags_refuses_an_unknown_key_too(dag_bag, name, task, key, near):
    from airflow.sdk.exceptions import AirflowFailException

    dag = dag_bag.dags[name]
    params = {field: param.value for field, param in dag.params.items()} | {key: 400}
    with pytest.raises(AirflowFailException, match=f"'{key}': is no option; did you mean {near}"):
        dag.task_dict[task].python_callable(params=params)


def test_schedules_can_be_switched_off(monkeypatch):
    from rebalance_advisor.airflow.policy import cron_schedule

    assert cron_schedule("0 5 * * *").expression == "0 5 * * *"
    monkeypatch.setenv("ADVISOR_SCHEDULES", "off")
    assert cron_schedule("0 5 * * *") is None
