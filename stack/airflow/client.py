"""Airflow's REST API, as far as triggering and following a DAG run needs it, by the standard library."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FINISHED = frozenset({"success", "failed"})
_ANSWER_SECONDS = 120
_LOOK_SECONDS = 1.0  # each look is work for the api-server
_GET_TRIES = 3
_DAG_SECONDS = 600
_REREAD_SECONDS = 120
_TELLS_OF_OTHERS = "refused_clusters.py"  # its error is a wrong table of clusters.toml, of another cluster


class AirflowApiError(RuntimeError):
    """Airflow refused a request: status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(slots=True)
class AirflowClient:
    address: str
    user: str
    password: str
    _token: str | None = field(default=None, repr=False)

    def is_healthy(self, *components: str) -> bool:
        health = self._health()
        names = {component.replace("-", "_") for component in components} - {"api_server"}
        return all(health.get(component, {}).get("status") == "healthy" for component in names | {"metadatabase"})

    def is_silent(self, component: str) -> bool:
        """True if the api-server answers that the component has not reported lately."""
        return bool(self._health().get(component.replace("-", "_"), {}).get("status") == "unhealthy")

    def _health(self) -> dict[str, Any]:
        """Empty if the api-server does not answer."""
        try:
            return self._request("GET", "/api/v2/monitor/health", is_public=True)
        except (OSError, AirflowApiError):
            return {}

    def wait_for_dag(self, dag_id: str) -> None:
        """Wait until the dag-processor has read the DAG's file. Raises AirflowApiError with import errors or 404."""
        begin = time.monotonic()
        while True:
            waited = time.monotonic() - begin
            try:
                self._request("GET", f"/api/v2/dags/{dag_id}")
            except AirflowApiError as error:
                faults = [fault for fault in self.import_errors() if fault["filename"] != _TELLS_OF_OTHERS]
                if faults and waited > _REREAD_SECONDS:  # a fixed fault stays until the file is read again
                    raise AirflowApiError(error.status, "\n".join(fault["stack_trace"] for fault in faults)) from None
                if error.status != 404 or waited > _DAG_SECONDS:
                    raise
                time.sleep(_LOOK_SECONDS)
            else:
                return

    def import_errors(self) -> list[dict[str, Any]]:
        """Errors of DAG files, each with ``filename`` and ``stack_trace``."""
        return list(self._request("GET", "/api/v2/importErrors")["import_errors"])

    def paused(self) -> dict[str, bool]:
        dags = self._request("GET", "/api/v2/dags?limit=1000")["dags"]
        return {dag["dag_id"]: dag["is_paused"] for dag in dags}

    def runs(self, dag_id: str) -> list[dict[str, Any]]:
        return list(self._request("GET", f"/api/v2/dags/{dag_id}/dagRuns?limit=1000")["dag_runs"])

    def params(self, dag_id: str) -> dict[str, Any]:
        return dict(self._request("GET", f"/api/v2/dags/{dag_id}/details")["params"])

    def pool_slots(self, pool: str) -> int:
        return int(self._request("GET", f"/api/v2/pools/{pool}")["slots"])

    def trigger(self, dag_id: str, conf: Mapping[str, Any], run_id: str | None = None) -> str:
        """Start a run with these form values, unpausing the DAG if needed. Return the run's id."""
        self._request("PATCH", f"/api/v2/dags/{dag_id}", {"is_paused": False})
        body = {"logical_date": None, "conf": dict(conf)} | ({"dag_run_id": run_id} if run_id else {})
        return str(self._request("POST", f"/api/v2/dags/{dag_id}/dagRuns", body)["dag_run_id"])

    def run_state(self, dag_id: str, run_id: str) -> str:
        return str(self._request("GET", f"/api/v2/dags/{dag_id}/dagRuns/{_quoted(run_id)}")["state"])

    def task_instances(self, dag_id: str, run_id: str) -> list[dict[str, Any]]:
        path = f"/api/v2/dags/{dag_id}/dagRuns/{_quoted(run_id)}/taskInstances?limit=1000"
        return list(self._request("GET", path)["task_instances"])

    def follow(
        self,
        dag_id: str,
        run_id: str,
        timeout_seconds: float,
        at_each_look: Callable[[list[dict[str, Any]]], None] = lambda _: None,
    ) -> Iterator[dict[str, Any]]:
        """Each task instance after each change of its state, until the run has ended.

        ``at_each_look`` gets all instances, each second. Raises TimeoutError after ``timeout_seconds``.
        """
        last_states: dict[tuple[str, int], tuple[Any, Any]] = {}
        deadline = time.monotonic() + timeout_seconds
        while True:
            state = self.run_state(dag_id, run_id)
            instances = self.task_instances(dag_id, run_id)
            for task in instances:
                key, now = (task["task_id"], task["map_index"]), (task["state"], task["try_number"])
                if task["state"] is not None and last_states.get(key) != now:
                    last_states[key] = now
                    yield task
            if state in FINISHED:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"{dag_id} {run_id} is {state} after {timeout_seconds:.0f} s")
            at_each_look(instances)
            time.sleep(_LOOK_SECONDS)

    def returned(self, dag_id: str, run_id: str, task_id: str, map_index: int = -1) -> Any:
        path = f"/api/v2/dags/{dag_id}/dagRuns/{_quoted(run_id)}/taskInstances/{task_id}/xcomEntries/return_value"
        return self._request("GET", f"{path}?map_index={map_index}&deserialize=false&stringify=false")["value"]

    def answer(
        self, dag_id: str, run_id: str, task_id: str, option: str, params: Mapping[str, Any] | None = None
    ) -> None:
        """Answer a task that waits for a human; 409 if it is answered."""
        path = f"/api/v2/dags/{dag_id}/dagRuns/{_quoted(run_id)}/taskInstances/{task_id}/-1/hitlDetails"
        self._request("PATCH", path, {"chosen_options": [option], "params_input": dict(params or {})})

    def required_action(self, dag_id: str, run_id: str, task_id: str) -> dict[str, Any]:
        path = f"/api/v2/dags/{dag_id}/dagRuns/{_quoted(run_id)}/taskInstances/{task_id}/-1/hitlDetails"
        return self._request("GET", path)

    def wait_for_state(self, dag_id: str, run_id: str, task_id: str, state: str, timeout_seconds: float) -> None:
        """Wait for a task's state. Raises RuntimeError if the run ends before, TimeoutError when time is up."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            states = {task["task_id"]: task["state"] for task in self.task_instances(dag_id, run_id)}
            if states.get(task_id) == state:
                return
            if self.run_state(dag_id, run_id) in FINISHED:
                raise RuntimeError(f"{dag_id} {run_id} has ended, {task_id} never was {state}: {states}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"{dag_id} {run_id}: {task_id} is not {state}: {states}")
            time.sleep(_LOOK_SECONDS)

    def set_connection(self, connection_id: str, conn_type: str, extra: Mapping[str, str]) -> None:
        body = {"connection_id": connection_id, "conn_type": conn_type, "extra": json.dumps(dict(extra))}
        try:
            self._request("POST", "/api/v2/connections", body)
        except AirflowApiError as error:
            if error.status != 409:
                raise
            self._request("PATCH", f"/api/v2/connections/{connection_id}", body)

    def clear(self, dag_id: str, run_id: str) -> None:
        body = {"dag_run_id": run_id, "only_failed": True, "dry_run": False, "reset_dag_runs": True}
        self._request("POST", f"/api/v2/dags/{dag_id}/clearTaskInstances", body)

    def finish(self, dag_id: str, run_id: str) -> None:
        self._request("PATCH", f"/api/v2/dags/{dag_id}/dagRuns/{_quoted(run_id)}", {"state": "failed"})

    def log(self, dag_id: str, run_id: str, task: Mapping[str, Any]) -> str:
        lines = self._log_lines(dag_id, run_id, task)
        return "\n".join(line if isinstance(line, str) else _log_line(line) for line in lines)

    def failure(self, dag_id: str, run_id: str, task: Mapping[str, Any]) -> str:
        """Why a task instance failed, in one line: the exception's message without frames."""
        return failure_text(self._log_lines(dag_id, run_id, task))

    def _log_lines(self, dag_id: str, run_id: str, task: Mapping[str, Any]) -> list[Any]:
        path = (
            f"/api/v2/dags/{dag_id}/dagRuns/{_quoted(run_id)}/taskInstances/{task['task_id']}/logs/"
            f"{max(1, task['try_number'])}?map_index={task['map_index']}"
        )
        return list(self._request("GET", path)["content"])

    def _request(self, method: str, path: str, body: Any = None, *, is_public: bool = False) -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if not is_public:
            headers["Authorization"] = f"Bearer {self._log_in()}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            return _answer(request, tries=_GET_TRIES if method == "GET" and not is_public else 1)
        except urllib.error.HTTPError as error:
            answered = error.read().decode(errors="replace")[:2000]
            raise AirflowApiError(error.code, f"{method} {path}: {error.code} {answered}") from None

    def _log_in(self) -> str:
        if self._token is None:
            credentials = {"username": self.user, "password": self.password}
            self._token = str(self._request("POST", "/auth/token", credentials, is_public=True)["access_token"])
        return self._token


_NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _answer(request: urllib.request.Request, tries: int) -> dict[str, Any]:
    """JSON of the answer; requests that only read are retried after a timeout."""
    for left in reversed(range(tries)):
        try:
            with _NO_PROXY.open(request, timeout=_ANSWER_SECONDS) as answer:
                return dict(json.loads(answer.read() or b"{}"))
        except urllib.error.HTTPError:
            raise
        except OSError:
            if not left:
                raise
            time.sleep(1)
    raise AssertionError


def _quoted(run_id: str) -> str:
    return urllib.parse.quote(run_id, safe="")


def failure_text(lines: Sequence[Any]) -> str:
    """Message of the exception that ended a task, else its last error, else ``no reason in its log``.

    ``lines`` of a log as in Airflow's REST API: objects, or texts of an older log.
    """
    errors = [line for line in lines if isinstance(line, Mapping) and line.get("level") in ("error", "critical")]
    for line in reversed(errors):
        for raised in line.get("error_detail") or ():
            message = " ".join(str(raised.get("exc_value") or "").split())
            return message or str(raised.get("exc_type"))
    return " ".join(str(errors[-1].get("event", "")).split()) if errors else "no reason in its log"


def _log_line(line: Mapping[str, Any]) -> str:
    extra = " ".join(f"{key}={value}" for key, value in line.items() if key in ("exc_info", "error_detail"))
    return f"{line.get('timestamp', '')} {line.get('level', '')} {line.get('event', '')} {extra}".strip()
