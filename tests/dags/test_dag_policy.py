"""Every DAG can be read, and says who looks after it, how, and for how long."""

import copy
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafka_rebalance.errors import UsageError
from rebalance_advisor.request.goals import FORM_OPTIONS, options_of_form
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.request.what_if import WhatIfRequest
from tests.sample import for_each
from tests.unit.request.option_sets import OPTION_SETS

DAGS = (
    "advise_audit",
    "advise_orders",
    "apply_audit",
    "apply_orders",
    "collect_audit",
    "collect_orders",
    "prune_history",
    "report_health",
    "send_notifications",
    "what_if_audit",
    "what_if_orders",
)
OF_CLUSTERS = tuple(name for name in DAGS if name.endswith(("_audit", "_orders")))
SECTIONS = ("**Purpose.**", "**Inputs.**", "**Outputs.**", "**Triage.**")

pytestmark = pytest.mark.stack


def test_a_table_that_cannot_be_read_is_an_import_error_and_takes_no_other_cluster_with_it(dag_bag, clusters_file):
    assert sorted(dag_bag.dags) == sorted(DAGS)
    assert [Path(file).name for file in dag_bag.import_errors] == ["refused_clusters.py"]
    (import_error,) = dag_bag.import_errors.values()
    assert f"{clusters_file}: [clusters.planned]: 'throtle' is not known; did you mean throttle?" in import_error


def test_the_settings_of_a_cluster_are_those_of_its_dags(dag_bag):
    orders, collect = dag_bag.dags["advise_orders"], dag_bag.dags["collect_orders"]
    assert (orders.timetable.summary, collect.timetable.summary) == ("0 4 * * 1-5", "*/30 * * * *")
    assert dag_bag.dags["advise_audit"].timetable.can_be_scheduled is False
    for dag in (orders, collect):
        assert {"orders", "prod", "kafka"} <= set(dag.tags)
        assert dag.description
        assert dag.access_control == {"orders": {"DAGs": {"can_read", "can_edit"}}}
        assert {(task.owner, task.retries) for task in dag.tasks} == {("team-orders", 5)}
        assert "`orders`, read from connection kafka_orders" in dag.doc_md
    assert dag_bag.dags["advise_audit"].access_control is None
    assert orders.params["throttle"] == 100_000_000
    assert orders.params["exclude_topic"] == ["tmp-.*"]


def test_brokers_are_chosen_from_those_of_the_last_reading(dag_bag):
    """A list gives texts; a REST call may give numbers, also of a broker that has joined since."""
    schema = dag_bag.dags["advise_orders"].params.get_param("remove_broker").schema
    assert schema["examples"] == ["2", "11"]
    assert schema["values_display"] == {"11": "11 (rack-b)"}
    assert "examples" not in dag_bag.dags["advise_audit"].params.get_param("remove_broker").schema
    lost = {name: dag_bag.dags["what_if_orders"].params.get_param(name).schema for name in ("lose_broker", "lose_rack")}
    assert lost["lose_broker"]["examples"] == schema["examples"]
    assert lost["lose_rack"]["examples"] == ["rack-b"]
    assert "examples" not in dag_bag.dags["what_if_audit"].params.get_param("lose_rack").schema
    params = copy.deepcopy(dag_bag.dags["advise_orders"].params)
    params["remove_broker"] = ["2", 99]
    asked = RunRequest.from_mapping({"remove_broker": params["remove_broker"]})
    assert asked.options.remove_brokers == {2, 99}


def test_spark_jobs_of_all_clusters_share_one_pool_and_nothing_else_waits(dag_bag):
    pools = {task.task_id: task.pool for name in OF_CLUSTERS for task in dag_bag.dags[name].tasks}
    heavy = {task for task, pool in pools.items() if pool == "advisor_heavy"}
    assert heavy == {"replay_and_plan"}
    assert {pool for task, pool in pools.items() if task not in heavy} == {"default_pool"}


def test_each_cluster_updates_assets_of_its_own(dag_bag):
    made = {
        name: [(task.task_id, asset.uri) for task in dag_bag.dags[name].tasks for asset in task.outlets]
        for name in DAGS
    }
    assert {name: assets for name, assets in made.items() if assets} == {
        f"{dag}_{cluster}": [(task, f"advisor://store/{purpose}/{cluster}")]
        for cluster in ("audit", "orders")
        for dag, task, purpose in (("advise", "publish", "advisory"), ("collect", "check_snapshot", "cluster_snapshot"))
    }


@pytest.mark.parametrize("name", DAGS)
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


@pytest.mark.parametrize("name", DAGS)
def test_airflow_ships_no_callback_of_ours_through_the_dag_processor(dag_bag, name):
    """It would go there with the run's conf, and one number in it that msgpack cannot hold ends the dag-processor."""
    dag = dag_bag.dags[name]
    for holder in (dag, *dag.tasks):
        kinds = [kind for kind in vars(holder) if kind.startswith("on_") and kind.endswith("_callback")]
        assert not [kind for kind in kinds if getattr(holder, kind)]
    assert not any(task.email for task in dag.tasks)


def test_every_task_of_ours_is_tried_again_only_after_what_time_can_mend(dag_bag):
    """But for the two questions, which Airflow itself may take for lost."""
    questions = {"approve", "carried_out"}
    works = {
        f"{name}.{task.task_id}": getattr(task, "python_callable", type(task).execute)
        for name in DAGS
        for task in dag_bag.dags[name].tasks
        if task.task_id not in questions
    }
    assert [name for name, work in works.items() if not hasattr(work, "__wrapped__")] == []


def test_failures_are_recorded_of_each_dag_of_a_cluster_but_what_if(dag_bag):
    from rebalance_advisor.airflow.cluster_dags import recorded_cluster

    kept = [name for name in OF_CLUSTERS if not name.startswith("what_if_")]
    assert {name: recorded_cluster(name) for name in DAGS} == {
        name: name.partition("_")[2] if name in kept else None for name in DAGS
    }


@pytest.mark.parametrize("name", DAGS)
def test_triage_names_only_tasks_that_exist(dag_bag, name):
    dag = dag_bag.dags[name]
    triage = dag.doc_md.split("**Triage.**")[1]
    named = {word.strip("*") for word in triage.split() if word.startswith("*") and word.endswith("*")}
    assert named
    assert named <= set(dag.task_dict)


def test_advise_goes_the_way_of_the_data(dag_bag):
    dag = dag_bag.dags["advise_audit"]
    way = [
        "check_request",
        "start_run",
        "check_input",
        "replay_and_plan",
        "check_results",
        "publish",
    ]
    assert [task.task_id for task in dag.topological_sort()] == way


def test_the_form_of_advise_refuses_what_cannot_be(dag_bag):
    from airflow.sdk.exceptions import ParamValidationError

    params = copy.deepcopy(dag_bag.dags["advise_audit"].params)
    for name, wrong in (
        ("goal", "tidy"), ("goal", None), ("snapshot", "yesterday"), ("throttle", "fast"), ("balance_within", "wide"),
        ("balance_within", -1), ("remove_broker", [-1]), ("remove_broker", ["b1"]), ("add_broker", ["rack-a"]),
        ("exclude_topic", ""), ("more", {"leaders_only": "yes"}), ("more", {"target": ["dusk=1"]}),
        ("more", {"replication_factor": 0}), ("more", {"dead_band": -0.1}), ("more", {"capacity": [1]}),
        ("more", {"max_moves": 1.5}), ("more", {"prefer": None}), ("more", {"max_hours": 1}),
        ("more", {"leaderonly": True}),
        ("more", ["seed"]),
    ):  # fmt: skip
        with pytest.raises(ParamValidationError):
            params[name] = wrong


def test_the_form_of_what_if_takes_losses_and_percent_and_has_the_rights_of_advise(dag_bag):
    from airflow.sdk.exceptions import ParamValidationError

    dag = dag_bag.dags["what_if_orders"]
    assert dag.access_control == dag_bag.dags["advise_orders"].access_control
    assert dag.timetable.can_be_scheduled is False
    params = copy.deepcopy(dag.params)
    params.update({"lose_rack": ["rack-b"], "lose_broker": ["2", 11], "growth": ["20%", "orders.*=+75%"]})
    assert WhatIfRequest.from_mapping(dict(params)).growth == ((".*", 1.2), ("orders.*", 1.75))
    for name, wrong in (
        ("lose_rack", "rack-b"), ("lose_rack", [""]), ("lose_broker", [-1]), ("lose_broker", ["b1"]),
        ("growth", ["20"]), ("growth", [20]), ("growth", "20%"),
    ):  # fmt: skip
        with pytest.raises(ParamValidationError):
            params[name] = wrong


def params_of_a_task(dag, asked):
    """What a task's process makes of them; it writes into the params of its DAG, which lives for one task alone."""
    from airflow.sdk.definitions.param import process_params

    once = SimpleNamespace(params=copy.deepcopy(dag.params))
    return process_params(once, dag.task_dict["check_request"], asked, suppress_exception=False)


@for_each("name", OPTION_SETS)
def test_the_form_and_a_rest_call_arrive_as_the_same_request(dag_bag, name):
    """Merged and checked as a task's process does it: the form sends every field, a REST call what it names."""
    dag, (_, asked) = dag_bag.dags["advise_audit"], OPTION_SETS[name]
    everything = {key: param.value for key, param in dag.params.items()}
    fields = {key: value for key, value in asked.items() if key in FORM_OPTIONS}
    others = {key: value for key, value in asked.items() if key not in FORM_OPTIONS}
    form = params_of_a_task(dag, everything | fields | {"more": others})
    rest = params_of_a_task(dag, asked)
    stored = params_of_a_task(dag, RunRequest.from_mapping(asked).document())
    expected = RunRequest.from_mapping(asked)
    requests = [RunRequest.from_mapping(options_of_form(params, {})) for params in (form, rest, stored)]
    assert requests == [expected] * 3


@pytest.mark.parametrize(("name", "fields", "questions"), [
    ("advise_audit", len(FORM_OPTIONS) + 2, {}),
    ("apply_audit", 3, {"carried_out": ["took_seconds"]}),
    ("what_if_audit", 3, {}),
    ("prune_history", 3, {}),
])  # fmt: skip
def test_the_form_stands_once_in_the_stored_dag(dag_bag, name, fields, questions):
    """No task has it too: a question would ask for it again in an Airflow that cannot tell the two apart."""
    from airflow.serialization.serialized_objects import DagSerialization

    dag = dag_bag.dags[name]
    stored = DagSerialization.to_dict(dag)["dag"]
    assert len(stored["params"]) == fields
    tasks = [task["__var"] for task in stored["tasks"]]
    asked = {task["task_id"]: [key for key, _ in task["params"]] for task in tasks if task.get("params")}
    assert asked == questions
    assert {task["task_id"] for task in tasks} == set(dag.task_dict)


def test_an_unknown_key_of_a_rest_call_reaches_the_first_task_and_is_refused_there(dag_bag):
    params = params_of_a_task(dag_bag.dags["advise_audit"], {"remove_brokers": [1]})
    with pytest.raises(UsageError, match=r"did you mean remove_broker\?"):
        RunRequest.from_mapping(options_of_form(params, {}))


def test_the_first_task_of_the_other_dags_refuses_an_unknown_key_too(dag_bag):
    from airflow.sdk.exceptions import AirflowFailException

    collect, prune = dag_bag.dags["collect_audit"].task_dict["collect"], dag_bag.dags["prune_history"]
    form = {field: param.value for field, param in prune.params.items()}
    with pytest.raises(AirflowFailException, match="'keep_snapshot_days': is no option; did you mean keep_snapshots_"):
        prune.task_dict["prune"].python_callable(params=form | {"keep_snapshot_days": 400})
    with pytest.raises(AirflowFailException, match="'clusters': is no option; did you mean cluster"):
        collect.python_callable("audit", params={"clusters": "audit"})
    with pytest.raises(AirflowFailException, match="cluster: 'orders' is not audit, which this DAG is for"):
        collect.python_callable("audit", params={"cluster": "orders"})


def test_a_task_makes_its_own_dag_alone(clusters_file, monkeypatch):
    """With a hundred clusters its process would else build a hundred DAGs before it begins."""
    from airflow.sdk.definitions.context import _AIRFLOW_PARSING_CONTEXT_DAG_ID

    from rebalance_advisor.airflow.cluster_dags import clusters_for

    assert [entry.name for entry in clusters_for("collect")] == ["audit", "orders"]
    monkeypatch.setenv(_AIRFLOW_PARSING_CONTEXT_DAG_ID, "advise_orders")
    assert [entry.name for entry in clusters_for("advise")] == ["orders"]
    assert list(clusters_for("collect")) == []


def test_schedules_can_be_switched_off(monkeypatch):
    from rebalance_advisor.airflow.policy import cron_schedule

    assert cron_schedule("0 5 * * *").summary == "0 5 * * *"
    assert cron_schedule("off") is None
    monkeypatch.setenv("ADVISOR_SCHEDULES", "off")
    assert cron_schedule("0 5 * * *") is None


@pytest.mark.parametrize(("expected", "slots"), [(None, 1), ("", 1), ("3", 3), ("0", None), ("two", None), ("²", None)])
def test_the_slots_of_the_pool_are_a_setting(monkeypatch, expected, slots):
    from rebalance_advisor.airflow.policy import HEAVY_SLOTS, heavy_slots

    monkeypatch.delenv(HEAVY_SLOTS, raising=False)
    if expected is not None:
        monkeypatch.setenv(HEAVY_SLOTS, expected)
    if slots is None:
        with pytest.raises(ValueError, match="is no number from 1"):
            heavy_slots()
    else:
        assert heavy_slots() == slots
