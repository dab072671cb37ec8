"""The whole stack on this machine: Postgres, the store's schema, Java and Spark, Airflow; all state is in ``run``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL

from stack.airflow.server import Airflow
from stack.installed_code import CHECKOUT, installed_code
from stack.jvm import spark
from stack.postgres import server as postgres
from stack.postgres.server import EmbeddedPostgres
from stack.processes import Program, stop
from stack.waiting import PATIENCE_S, StartError

RUN = CHECKOUT / ".run"
_STOP_WATCHING_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Machine:
    """One stack. ``settings``: more environment variables for all parts."""

    run: Path = RUN
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def clusters_file(self) -> Path:
        return Path(os.environ.get("ADVISOR_CLUSTERS_FILE") or self.run / "clusters.toml")

    @property
    def published(self) -> Path:
        return self.run / "published"

    @property
    def server(self) -> EmbeddedPostgres | None:
        return None if postgres.SETTING in os.environ else EmbeddedPostgres(self.run / "postgres")

    @property
    def airflow(self) -> Airflow:
        return Airflow(
            folder=self.run / "airflow",
            database_url=_sqlalchemy(self.dsn("airflow")),
            settings=self._airflow_settings(),
        )

    @property
    def watcher(self) -> Program:
        return Program("watch", self.run / "watch.pid", self.run / "watch.log")

    @property
    def is_running(self) -> bool:
        return (self.run / "airflow" / "identity.json").exists() and all(self.airflow.status.values())

    def dsn(self, database: str = "advisor") -> str:
        server = self.server
        return postgres.dsn(database) if server is None else server.dsn(database)

    def start(
        self, say: Callable[[str], None] = lambda _: None, with_databases: Callable[[], None] = lambda: None
    ) -> None:
        """Start all parts that do not run; return when Airflow is healthy. ``with_databases`` runs before it starts.

        Raises StartError. If no part of Airflow ran before, a first failure is retried once, on another port if the
        first is taken.
        """
        if self.server is not None:
            self.server.start()
        say("postgres is up")
        self.run.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor() as pool:
            for done in [pool.submit(self.airflow.migrate), pool.submit(self._migrate_store)]:
                done.result()
        say("databases are ready")
        with_databases()
        was_running = any(self.airflow.status.values())
        try:
            self.airflow.start()
            self.airflow.wait_until_ready()
        except StartError as error:
            if was_running:
                raise
            say(f"airflow is started once more: {str(error).splitlines()[0]}")
            self.airflow.stop()
            self.airflow.start()
            self.airflow.wait_until_ready()
        say(f"airflow is up: {self.airflow.client.address}")

    def stop(self) -> None:
        self.stop_watching()
        if (self.run / "airflow" / "identity.json").exists():
            self.airflow.stop()
        if self.server is not None:
            self.server.stop()

    def watch(self) -> None:
        paths = {"PYTHONPATH": os.pathsep.join([str(CHECKOUT), *filter(None, sys.path)])}
        self.watcher.start([sys.executable, "-m", "stack.watch", str(self.run.absolute())], os.environ | paths)

    def stop_watching(self) -> None:
        stop([self.watcher], _STOP_WATCHING_SECONDS)

    def _migrate_store(self) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "rebalance_advisor.store"],
            env={**os.environ, postgres.SETTING: self.dsn("advisor")},
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise StartError("The store's schema", "could not be migrated", done.stdout + done.stderr)

    def _airflow_settings(self) -> dict[str, str]:
        return {
            **spark.environment(self.run),
            "AIRFLOW_CONN_ADVISOR_POSTGRES": _connection(self.dsn("advisor")),
            "AIRFLOW_CONN_ADVISOR_READER": _connection(self.dsn("advisor"), role="advisor_reader"),
            "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[*]"}),
            "ADVISOR_CLUSTERS_FILE": str(self.clusters_file),
            "ADVISOR_PUBLISH_DIR": str(self.published),
            "ADVISOR_SPARK_JOBS": str(installed_code().spark_jobs),
            "GX_ANALYTICS_ENABLED": "false",
            **self.settings,
        }


def _sqlalchemy(dsn: str) -> str:
    """Address with Airflow's driver psycopg2, unless it names a driver."""
    scheme, is_url, rest = dsn.partition("://")
    if is_url and "=" not in scheme:
        return dsn if "+" in scheme else f"postgresql+psycopg2://{rest}"
    settings = conninfo_to_dict(dsn)
    is_name = not str(settings.get("host", "/")).startswith("/")  # in a URL a socket's folder can only be in the query
    url = URL.create(
        "postgresql+psycopg2", username=settings.pop("user", None), password=settings.pop("password", None),
        host=settings.pop("host") if is_name else None, port=int(settings.pop("port", 5432)),
        database=settings.pop("dbname", None), query={name: str(value) for name, value in settings.items()},
    )  # fmt: skip
    return url.render_as_string(hide_password=False)


def _connection(dsn: str, role: str | None = None) -> str:
    """Postgres connection for Airflow; ``role``: its rights limit the login's."""
    from rebalance_advisor.store.schema.connection import libpq_string

    settings = conninfo_to_dict(libpq_string(dsn, options="" if role is None else f"-c role={role}"))
    names = {"host": "host", "port": "port", "user": "login", "password": "password", "dbname": "schema"}
    fields = {field: settings.pop(name) for name, field in names.items() if name in settings}
    return json.dumps({"conn_type": "postgres", **fields, "extra": settings})
