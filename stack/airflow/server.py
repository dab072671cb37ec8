"""A real Airflow on this machine: api-server, scheduler and dag-processor, each in its own session, on loopback.

Settings are environment variables (``environment``): nothing is written outside ``folder``, and two of them can run
side by side. The scheduler serves no logs: on one machine the api-server reads the files.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rebalance_advisor.airflow.connections import SENSITIVE_NAMES
from stack.airflow.client import AirflowClient
from stack.installed_code import installed_code
from stack.processes import Program, stop
from stack.waiting import PATIENCE_S, StartError, wait_started

_COMPONENTS = {
    "api-server": ("api-server",),
    "scheduler": ("scheduler", "--skip-serve-logs"),
    "dag-processor": ("dag-processor",),
}
_LEAST_SLOTS = 16
_STOP_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Airflow:
    """One Airflow. ``database_url``: its metadata database, in SQLAlchemy's form; ``settings``: more variables."""

    folder: Path
    database_url: str
    dags: Path = field(default_factory=lambda: installed_code().dags)
    plugins: Path = field(default_factory=lambda: installed_code().plugins)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def programs(self) -> dict[str, Program]:
        return {
            name: Program(name, self.folder / f"{name}.pid", self.folder / "logs" / f"{name}.log")
            for name in _COMPONENTS
        }

    @property
    def client(self) -> AirflowClient:
        identity = self._identity()
        return AirflowClient(f"http://127.0.0.1:{identity['port']}", user="admin", password=identity["password"])

    @property
    def status(self) -> dict[str, bool]:
        return {name: program.is_running for name, program in self.programs.items()}

    def migrate(self) -> None:
        done = subprocess.run(
            [_airflow_command(), "db", "migrate"],
            env=self.environment(), capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise StartError("Airflow's database", "could not be migrated", done.stdout + done.stderr)

    def start(self, *names: str) -> None:
        """Start the named components, all by default; returns at once (``wait_until_ready``)."""
        if not any(self.status.values()) and not _is_free(int(self._identity()["port"])):
            self._remember(self._identity() | {"port": str(_free_port())})
        environment = self.environment()
        for name in names or _COMPONENTS:
            self.programs[name].start([_airflow_command(), *_COMPONENTS[name]], environment)

    def wait_until_ready(self) -> None:
        client = self.client
        wait_started(
            "Airflow",
            lambda: client.is_healthy(*_COMPONENTS),
            ended=lambda: [name for name, is_running in self.status.items() if not is_running],
            log=self._log_tail,
        )

    def _log_tail(self) -> str:
        status = self.status
        return "\n".join(
            f"{name}{'' if status[name] else ' (ended)'}: {line}"
            for name in sorted(status, key=lambda name: not status[name])
            for line in self.programs[name].log_tail().splitlines()
        )

    def stop(self) -> None:
        stop(self.programs.values(), _STOP_SECONDS)

    def environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
        return {**inherited, **_settings(self, self._identity()), **self.settings}

    def _identity(self) -> dict[str, str]:
        """Port, password and keys: made once, in ``folder`` for its owner alone."""
        file = self.folder / "identity.json"
        if not file.exists():
            fernet_key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
            self._remember(
                {
                    "port": str(_free_port()),
                    "password": secrets.token_urlsafe(12),
                    "jwt_secret": secrets.token_urlsafe(48),
                    "fernet_key": fernet_key,
                }
            )
        return dict(json.loads(file.read_text(encoding="utf-8")))

    def _remember(self, identity: Mapping[str, str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        _write_for_owner(self.folder / "passwords.json", json.dumps({"admin": identity["password"]}))
        _write_for_owner(self.folder / "identity.json", json.dumps(dict(identity)))


def _settings(airflow: Airflow, identity: Mapping[str, str]) -> dict[str, str]:
    address = f"http://127.0.0.1:{identity['port']}"
    by_section = {
        "CORE": {
            "DAGS_FOLDER": airflow.dags,
            "PLUGINS_FOLDER": airflow.plugins,
            "EXECUTOR": "LocalExecutor",
            # Heavy tasks have a pool; light ones of one cluster do not wait for those of another.
            "PARALLELISM": max(_LEAST_SLOTS, os.cpu_count() or 1),
            "LOAD_EXAMPLES": False,
            # Listed clusters run: without new snapshots, plans would be on old ones.
            "DAGS_ARE_PAUSED_AT_CREATION": False,
            "FERNET_KEY": identity["fernet_key"],
            "SENSITIVE_VAR_CONN_NAMES": SENSITIVE_NAMES,
            "AUTH_MANAGER": "airflow.api_fastapi.auth.managers.simple.simple_auth_manager.SimpleAuthManager",
            "SIMPLE_AUTH_MANAGER_USERS": "admin:admin",
            "SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": airflow.folder / "passwords.json",
            "EXECUTION_API_SERVER_URL": f"{address}/execution/",
        },
        "DATABASE": {"SQL_ALCHEMY_CONN": airflow.database_url, "LOAD_DEFAULT_CONNECTIONS": False},
        "LOGGING": {
            "BASE_LOG_FOLDER": airflow.folder / "logs" / "tasks",
            "DAG_PROCESSOR_CHILD_PROCESS_LOG_DIRECTORY": airflow.folder / "logs" / "dags",
        },
        "API": {
            "HOST": "127.0.0.1",
            "PORT": identity["port"],
            "BASE_URL": address,
            "WORKERS": 1,
            "SECRET_KEY": identity["jwt_secret"],
        },
        "API_AUTH": {"JWT_SECRET": identity["jwt_secret"]},
        "DAG_PROCESSOR": {"REFRESH_INTERVAL": 5, "PARSING_PROCESSES": 2},
        # Notice a killed task, scheduler or machine within two minutes instead of five.
        "SCHEDULER": {
            "SCHEDULER_HEARTBEAT_SEC": 2,
            "TASK_INSTANCE_HEARTBEAT_TIMEOUT": 120,
            "TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": 10,
            "ORPHANED_TASKS_CHECK_INTERVAL": 30,
            "ENABLE_HEALTH_CHECK": False,
        },
    }  # fmt: skip
    named = {
        f"AIRFLOW__{section}__{key}": str(value)
        for section, options in by_section.items()
        for key, value in options.items()
    }
    return {
        "AIRFLOW_HOME": str(airflow.folder),
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        **named,
    }


def _airflow_command() -> str:
    """``airflow`` beside this Python: PATH may hold another."""
    return str(Path(sys.executable).with_name("airflow"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    """No listener on the port, and no other program's connection from it."""
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def _write_for_owner(file: Path, text: str) -> None:
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
