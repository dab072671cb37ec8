"""The tasks and questions of ``apply_NAME`` as plain calls on a real store; the DAG as the dag-processor reads it."""

from __future__ import annotations

import copy
import re
import subprocess
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_rebalance.render.steps import step_lines
from rebalance_advisor import store
from rebalance_advisor.publish.escape import markdown_line
from rebalance_advisor.publish.plan_files import plan_files
from rebalance_advisor.store.applications import Application
from tests.sql.test_applications import cluster, done

__all__ = ["cluster"]
pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
RUN = SimpleNamespace(dag_id="apply_prod", run_id="manual__1")
ID = "apply_prod.manual__1"
ADA = {"id": "1", "name": "ada"}


def show(**form: Any) -> dict[str, str]:
    from rebalance_advisor.airflow.apply import apply_form, show_plan

    everything = {name: param.value for name, param in apply_form().items()}
    return show_plan.function("prod", params=everything | form, dag_run=RUN)


def question() -> Any:
    from rebalance_advisor.airflow.apply import MayBeCarriedOut

    return MayBeCarriedOut(task_id="approve", subject="s", body="b", application_id=ID)


def event(option: str) -> dict[str, Any]:
    return {"chosen_options": [option], "params_input": {}, "responded_at": NOW, "responded_by_user": ADA}


def where_it_stands(connection: store.Connection) -> Application:
    return store.load_application(connection, ID)


def test_a_plan_goes_from_the_question_to_its_outcome(cluster, connection, monkeypatch) -> None:
    from rebalance_advisor.airflow import apply

    start, plan, becomes, folder = cluster
    shown = show()
    assert (shown["application_id"], shown["run_id"], shown["folder"]) == (ID, "r", str(folder))
    assert f"Plan `{plan.plan_id[:12]}` of prod." in shown["words"]
    assert "Verdict: rebalance" in shown["words"]
    question().execute_complete({}, event("Approve"))
    assert where_it_stands(connection).state == "approved"
    assert apply.check_again.function(shown) == []
    commands = apply.show_commands.function(shown, ["sizes changed"])
    assert f"cd {folder}\n" in commands
    assert f"- `{folder}/waves/01.json`" in commands
    assert "- sizes changed" in commands
    assert "BOOTSTRAP=broker:9092" in commands, "read from a file: nobody knows the address"
    assert f"{shown['files']['waves/01.json']}  waves/01.json\n" in commands
    becomes(done(start, plan))
    reported = apply.verify.function(shown, event("Carried out") | {"params_input": {"took_seconds": 7}})
    assert reported == {"state": "verified", "moves": {"applied": len(plan.moves)}, "folder": str(folder)}
    assert apply.outcome.function(dag_run=RUN) == "verified"


def test_the_commands_come_from_the_store_and_compare_the_files_before_they_run(cluster) -> None:
    from rebalance_advisor.airflow import apply

    *_, plan, _, folder = cluster
    shown = show()
    commands = apply.show_commands.function(shown, [])
    (checked,) = re.findall(r"```sh\n(cd .*?\nAPPROVED)\n```", commands, re.DOTALL)
    assert plan_files(plan)["commands.md"].decode() in commands
    assert subprocess.run(["sh", "-ec", checked], check=False).returncode == 0
    (folder / "waves" / "01.json").write_text("{}")
    assert subprocess.run(["sh", "-ec", checked], capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize("name", ["waves/01.json", "plan.json", "commands.md"])
@pytest.mark.parametrize("is_gone", [False, True])
def test_files_that_are_not_as_approved_stop_every_step(cluster, name: str, is_gone: bool) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow import apply

    *_, folder = cluster
    shown = show()
    (folder / name).unlink() if is_gone else (folder / name).write_text("{}")
    text = re.escape(f"{folder}/{name}: is not as it was approved (1 of {len(shown['files'])} files differ)")
    for step in (
        lambda: apply.check_again.function(shown),
        lambda: apply.show_commands.function(shown, []),
        lambda: apply.verify.function(shown, event("Carried out")),
    ):
        with pytest.raises(AirflowFailException, match=text):
            step()
    with pytest.raises(AirflowFailException, match=r"is not as the stored plan .* clear the task publish"):
        show()


def test_files_that_differ_are_published_again_by_the_same_run(cluster, dsn) -> None:
    from rebalance_advisor.airflow.publishing import publish_run, publish_target

    *_, folder = cluster
    (folder / "waves" / "01.json").write_text("{}")
    publish_run(dsn, run_id="r", cluster="prod", target=publish_target("prod", "r"))
    assert show()["run_id"] == "r"


def test_another_plan_of_the_run_is_not_the_one_that_was_approved(cluster) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow import apply

    shown = show() | {"plan_id": "f" * 64}
    with pytest.raises(AirflowFailException, match=r"run r: has plan [0-9a-f]{12}, but plan f{12} was approved"):
        apply.check_again.function(shown)


def test_what_holds_no_more_fails_in_words_and_so_does_the_run(cluster) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow import apply

    start, plan, becomes, _ = cluster
    shown = show(advisory="r")
    becomes(done(start, plan))
    with pytest.raises(AirflowFailException, match=r"the plan is not worth it by now: "):
        apply.check_again.function(shown)
    with pytest.raises(AirflowFailException, match="refused: approved, but it does not hold any more"):
        apply.outcome.function(dag_run=RUN)


def test_rejected_ends_well_and_nobody_in_time_does_not(cluster, connection) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow import apply

    with pytest.raises(AirflowFailException, match="nobody was asked: show_plan failed"):
        apply.outcome.function(dag_run=RUN)
    show()
    with pytest.raises(AirflowFailException, match="stopped before its end"):
        apply.outcome.function(dag_run=RUN)
    question().execute_complete({}, event("Reject"))
    assert apply.outcome.function(dag_run=RUN) == "rejected"
    show()
    with pytest.raises(AirflowFailException, match="nobody answered in time"):
        question().execute_complete({}, {"error": "passed", "error_type": "timeout"})
    with pytest.raises(AirflowFailException, match="timed_out: nobody answered in time"):
        apply.outcome.function(dag_run=RUN)
    assert where_it_stands(connection).state == "timed_out"


def test_an_unknown_key_and_a_plan_that_is_not_there_are_refused(cluster) -> None:
    from airflow.sdk.exceptions import AirflowFailException

    with pytest.raises(AirflowFailException, match="'advisery': is no option; did you mean advisory"):
        show(advisery="r")
    with pytest.raises(AirflowFailException, match="no run unknown was started"):
        show(advisory="unknown")


def test_the_dag_asks_checks_shows_asks_and_verifies(tmp_path) -> None:
    from airflow.sdk.exceptions import ParamValidationError

    from rebalance_advisor.airflow.apply import build_apply_dag
    from rebalance_advisor.airflow.apply_snapshots import plan_in_short
    from rebalance_advisor.airflow.policy import task_defaults
    from tests.sql.sample_clusters import small_plan

    dag = build_apply_dag("prod", {"dag_id": "apply_prod", "catchup": False, "default_args": task_defaults()})
    ids = [task.task_id for task in dag.topological_sort()]
    assert ids == ["show_plan", "approve", "check_again", "show_commands", "carried_out", "verify", "outcome"]
    assert dag.dagrun_timeout is not None
    assert all(task.retries >= 1 and task.execution_timeout is not None for task in dag.tasks)
    params = copy.deepcopy(dag.params)
    for name, wrong in (("advisory", 3), ("answer_within_minutes", 0), ("carried_out_within_hours", 1000)):
        with pytest.raises(ParamValidationError):
            params[name] = wrong
    plan = small_plan("s")
    text = plan_in_short(plan, tmp_path)
    assert "It holds until 2026-11-21T11:00:00Z" in text
    steps = [f"- {markdown_line(f'  {line}')}" for line in step_lines(plan.document)]
    assert [line for line in text.splitlines() if line in steps] == steps
    assert len(steps) == 2
