"""What an installed wheel does in the Airflow of its environment: DAGs, schedule, advisory, page, approval.

Run as a script by that environment's Python, in a folder with a copy of ``stack``. What is not as it should be raises;
``--triggerer``: an Airflow before 3.3 has a task wait for an answer in its triggerer, which is started too.
"""

from __future__ import annotations

import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rebalance_advisor.airflow.page import NAME, PREFIX
from stack.airflow.client import AirflowClient
from stack.demo.pipeline import advise, closing_lines, write_demo
from stack.machine import Machine
from stack.processes import Program, stop
from stack.waiting import PATIENCE_S, wait_for

APPLY, WHAT_IF = "apply_demo", "what_if_demo"
_DAGS = {
    "advise_demo", "collect_demo", APPLY, "prune_history", "report_health", "send_notifications", WHAT_IF,
}  # fmt: skip
_WAITS = ("awaiting_input", "deferred")
_ENDS = ("success", "failed", "skipped", "upstream_failed")
_READING_SECONDS = 5  # what a person takes at least
_SECONDS = 1_800


def main() -> None:
    machine = Machine()
    write_demo(machine)
    table = machine.clusters_file
    table.write_text(table.read_text() + 'schedule = "off"\ncollect_schedule = "off"\n')
    try:
        machine.start(print)
        with triggerer(machine) if "--triggerer" in sys.argv else nothing_more():
            client = machine.airflow.client
            for part in (dags, schedule, advisory, page, what_if, rejected, unanswered, approved):
                began = time.monotonic()
                reported = part(client)
                print(f"{part.__name__}: {reported} ({time.monotonic() - began:.0f} s)", flush=True)
    finally:
        machine.stop()


@contextmanager
def nothing_more() -> Iterator[None]:
    yield


@contextmanager
def triggerer(machine: Machine) -> Iterator[None]:
    folder = machine.run / "airflow"
    program = Program("triggerer", folder / "triggerer.pid", folder / "logs" / "triggerer.log")
    command = str(Path(sys.executable).with_name("airflow"))
    program.start([command, "triggerer", "--skip-serve-logs"], machine.airflow.environment())
    try:
        yield
    finally:
        stop([program], 30)


def dags(client: AirflowClient) -> str:
    """The wheel's own folder is parsed without an error."""
    client.wait_for_dag("advise_demo")
    wait_for(
        "every DAG", lambda: (set(client.paused()), client.import_errors()), seconds=_SECONDS, every_s=1,
        until=lambda seen: seen[0] >= _DAGS or seen[1],
    )  # fmt: skip
    assert client.import_errors() == [], client.import_errors()
    assert set(client.paused()) == _DAGS, client.paused()
    assert client.pool_slots("advisor_heavy") == 1  # made by the plugin's listener
    return f"{len(_DAGS)}, no import error, the pool is there"


def schedule(client: AirflowClient) -> str:
    """A DAG that is on waits for its next moment, and starts nothing before."""
    _, text = got(client, "/api/v2/dags/prune_history", token(client))
    following = datetime.fromisoformat(json.loads(text)["next_dagrun_run_after"])
    assert (following.weekday(), following.hour, following.minute) == (0, 2, 30), following
    assert following > datetime.now(following.tzinfo)
    assert client.runs("prune_history") == []
    return f"prune_history follows {following:%A %H:%M}, nothing has begun"


def advisory(client: AirflowClient) -> str:
    """Through all gates and Spark to a published plan."""
    lines = closing_lines(advise(client, "demo", lambda text: print(text, flush=True)))
    assert lines[0].startswith("Verdict: rebalance"), lines
    return lines[0]


def page(client: AirflowClient) -> str:
    """Nobody sees it without a login, Airflow's user sees the advisory; Airflow knows both places that it has."""
    known = token(client)
    for path in (f"{PREFIX}/", f"{PREFIX}/clusters/demo"):
        assert got(client, path)[0] == 401
        status, text = got(client, path, known)
        assert (status, "demo" in text) == (200, True), (path, status)
    assert "Rebalance: a plan is ready" in text
    plugins = json.loads(got(client, "/api/v2/plugins", known)[1])["plugins"]
    (ours,) = (plugin for plugin in plugins if plugin["name"] == "rebalance_advisor")
    places = {view["destination"] for view in ours["external_views"] if view["name"] == NAME}
    assert places == {"nav", "dag_run"}, ours
    return "401 without a login, 200 with one; views: navigation and DAG run"


def what_if(client: AirflowClient) -> str:
    """The run's tab shows the answer that its task returned."""
    run_id = client.trigger(WHAT_IF, {"growth": ["20%"], "lose_rack": ["rack-a"]})
    for _ in client.follow(WHAT_IF, run_id, _SECONDS):
        pass
    assert client.run_state(WHAT_IF, run_id) == "success", client.task_instances(WHAT_IF, run_id)
    status, text = got(client, f"{PREFIX}/run?dag_id={WHAT_IF}&run_id={quote(run_id, safe='')}", token(client))
    name = "growth 20%, without rack rack-a"
    assert (status, name in text) == (200, True), (status, text[-2000:])
    return f"the tab shows today and {name}"


def rejected(client: AirflowClient) -> str:
    run_id = client.trigger(APPLY, {})
    waits = answered(client, run_id, "approve", "Reject")
    states = ended(client, run_id, "success")
    assert {states[name] for name in ("check_again", "show_commands", "carried_out", "verify")} == {"skipped"}
    assert client.returned(APPLY, run_id, "outcome") == "rejected"
    return f"asked in state {waits}, rejected, the rest skipped"


def unanswered(client: AirflowClient) -> str:
    """Three seconds are given: the question fails for good, and the outcome says why."""
    run_id = client.trigger(APPLY, {"answer_within_minutes": 0.05})
    states = ended(client, run_id, "failed")
    ends = [states[name] for name in ("approve", "check_again", "outcome")]
    assert ends == ["failed", "upstream_failed", "failed"], states
    assert "nobody answered in time" in said(client, run_id)
    return "failed in words once the time to answer had passed"


def approved(client: AirflowClient) -> str:
    """Nobody carries it out here: the answer is "Stopped", and the outcome says that nothing was applied."""
    run_id = client.trigger(APPLY, {})
    answered(client, run_id, "approve", "Approve")
    answered(client, run_id, "carried_out", "Stopped", {"took_seconds": None})
    states = ended(client, run_id, "failed")
    assert (states["verify"], states["outcome"]) == ("success", "failed"), states
    state = client.returned(APPLY, run_id, "verify")["state"]
    assert state == "not_applied", state
    return f"approved, checked again, answered Stopped, verified: {state}"


def answered(
    client: AirflowClient, run_id: str, task_id: str, option: str, params: dict[str, Any] | None = None
) -> str:
    """Answer whenever it is asked; returns the state in which the task waited.

    An answer that reaches a busy scheduler before the end of the process that asked is lost: it is asked for again.
    """
    waited_in, answered_try = "", 0

    def is_answered() -> bool:
        nonlocal waited_in, answered_try
        task = next((task for task in client.task_instances(APPLY, run_id) if task["task_id"] == task_id), None)
        state, number = (None, 0) if task is None else (task["state"], task["try_number"])
        if state in _WAITS and number > answered_try:
            time.sleep(_READING_SECONDS)
            client.answer(APPLY, run_id, task_id, option, params)
            waited_in, answered_try = str(state), number
        assert answered_try or client.run_state(APPLY, run_id) not in ("success", "failed"), said(client, run_id)
        return bool(answered_try) and state in _ENDS

    wait_for(f"an answer to {task_id}", is_answered, seconds=_SECONDS, every_s=0.5)
    return waited_in


def ended(client: AirflowClient, run_id: str, state: str) -> dict[str, Any]:
    for _ in client.follow(APPLY, run_id, _SECONDS):
        pass
    assert client.run_state(APPLY, run_id) == state, said(client, run_id)
    return task_states(client, run_id)


def task_states(client: AirflowClient, run_id: str) -> dict[str, Any]:
    return {task["task_id"]: task["state"] for task in client.task_instances(APPLY, run_id)}


def said(client: AirflowClient, run_id: str) -> str:
    """The states, and the end of what each failed task wrote."""
    instances = client.task_instances(APPLY, run_id)
    logs = [client.log(APPLY, run_id, task)[-2000:] for task in instances if task["state"] == "failed"]
    return "\n".join([str(task_states(client, run_id)), *logs])


def token(client: AirflowClient) -> str:
    credentials = json.dumps({"username": client.user, "password": client.password}).encode()
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{client.address}/auth/token", credentials, headers, method="POST")
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return str(json.loads(answer.read())["access_token"])


def got(client: AirflowClient, path: str, bearer: str | None = None) -> tuple[int, str]:
    """Status and text."""
    headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
    try:
        request = urllib.request.Request(client.address + path, headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as page:
            return page.status, page.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, ""


if __name__ == "__main__":
    main()
