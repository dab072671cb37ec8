"""Run spark-submit as a child of the task, with the store's address in its environment.

Settings of ``spark_default`` (docs/scale.md) travel in a file, because command lines are visible to all users.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import selectors
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from airflow.sdk import BaseOperator

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.errors import UsageError
from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.policy import HEAVY_POOL
from rebalance_advisor.airflow.running import fail_without_retry
from rebalance_advisor.airflow.task_log import task_log
from rebalance_advisor.mended_by_time import EXIT_LATER

_CLUSTER, _CLIENT = "cluster", "client"
_EXTRA_ARGUMENTS = {"queue": "--queue", "deploy-mode": "--deploy-mode"}
_NAMESPACE = "spark.kubernetes.namespace"
_FROM_KUBERNETES = "spark.kubernetes.driver.secretKeyRef."
# Spark's page: no login, all interfaces.
_NO_PAGE = {"spark.ui.enabled": "false"}
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
# java.util.Properties.
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"} | {mark: f"\\{mark}" for mark in " :=#!"}
)


@dataclass(frozen=True, slots=True)
class SparkConnection:
    master: str
    arguments: tuple[str, ...]
    settings: Mapping[str, str]

    @contextmanager
    def all_arguments(self) -> Iterator[tuple[str, ...]]:
        with NamedTemporaryFile("w", encoding="utf-8", suffix=".properties") as file:
            for name, value in self.settings.items():
                file.write(f"{name.translate(_ESCAPES)}={value.translate(_ESCAPES)}\n")
            file.flush()
            yield *self.arguments, "--properties-file", file.name, "--load-spark-defaults"


def spark_connection(connection_id: str, secret_variable: str) -> SparkConnection:
    """Raises UsageError, also when ``secret_variable`` would be visible."""
    from airflow.sdk import BaseHook

    from rebalance_advisor.airflow.connections import mask_secrets

    connection = BaseHook.get_connection(connection_id)
    extra, location = connection.extra_dejson, f"connection {connection_id}"
    mask_secrets(extra)
    master = _master(connection, location)
    is_local = master.partition("[")[0] in ("local", "local-cluster")
    settings = _NO_PAGE | (_LOOPBACK if is_local else {}) | _settings(extra, location)
    arguments = ["--master", master]
    for name, option in _EXTRA_ARGUMENTS.items():
        value = _text(extra, name, location)
        arguments += [] if value is None else [option, value]
    mode = _text(extra, "deploy-mode", location) or _CLIENT
    if mode not in (_CLIENT, _CLUSTER):
        raise UsageError.at(f"{location}, extra, deploy-mode", f"{mode!r}", f"it is {_CLIENT} or {_CLUSTER}")
    if mode == _CLUSTER and _FROM_KUBERNETES + secret_variable not in settings:
        hint = f"use {_CLIENT}, or on Kubernetes name a secret in conf: {_FROM_KUBERNETES}{secret_variable} = NAME:KEY"
        raise UsageError.at(f"{location}, extra, deploy-mode", f"a driver elsewhere has no {secret_variable}", hint)
    return SparkConnection(master, tuple(arguments), settings)


def _master(connection: Any, location: str) -> str:
    host = connection.host or ""
    if not host and connection.conn_type in (None, "", "spark", "generic"):
        raise UsageError.at(f"{location}, host", "names no master", "give local[*], spark://HOST, k8s://URL or yarn")
    is_whole = "://" in host or (not connection.port and connection.conn_type in ("spark", "generic"))
    master = host if is_whole else f"{connection.conn_type}://{host}" if host else str(connection.conn_type)
    return f"{master}:{connection.port}" if connection.port else master


def _settings(extra: Mapping[str, Any], location: str) -> dict[str, str]:
    conf = extra.get("conf", {})
    if not isinstance(conf, Mapping):
        raise UsageError.at(f"{location}, extra, conf", f"{conf!r}", "it is an object: setting to value")
    settings = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in conf.items()}
    namespace, python = _text(extra, "namespace", location), _text(extra, "executor-python", location)
    settings |= {} if namespace is None else {_NAMESPACE: namespace}
    if python is None:
        return settings
    # Else the driver would start with the workers' Python.
    return settings | {"spark.pyspark.python": python, "spark.pyspark.driver.python": sys.executable}


def _text(extra: Mapping[str, Any], name: str, location: str) -> str | None:
    value = extra.get(name)
    if value is None or (isinstance(value, str) and value):
        return value
    raise UsageError.at(f"{location}, extra, {name}", f"{value!r}", "it is a text that is not empty")


_BINARY = "spark-submit"
_SECONDS_TO_END = 10.0
_SILENT_S = 0.5


class SubmitError(AdvisorError):
    """spark-submit is missing or failed."""


class JobInterruptedError(SubmitError):
    """Ended from outside, or by an error that time can mend."""


class Submission:
    """``end`` is safe in a signal handler."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ended = False

    def run(self, arguments: Sequence[str], added: Mapping[str, str], say: Callable[[str], None]) -> None:
        """``added``: environment. Raises SubmitError, also for an ended job that returned 0."""
        last = ""
        with subprocess.Popen(
            [spark_submit(), *arguments], env={**os.environ, **added}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
        ) as process:  # fmt: skip
            self._process = process
            try:
                for line in _lines(process):
                    if written := line.rstrip():
                        last = written
                        say(written)
            except BaseException:  # Airflow's timeout is raised here: leaving the block would wait for the job's end
                self.end()
                raise
        if process.returncode or self._is_ended:
            how = "was ended" if self._is_ended else "ended"
            code = process.returncode
            # Below 0: a signal ended spark-submit; above 128: its child.
            is_interrupted = self._is_ended or code == EXIT_LATER or code < 0 or code > 128
            kind = JobInterruptedError if is_interrupted else SubmitError
            raise kind(f"{_BINARY} {how} with code {code}; its last line: {last or 'none'}")

    def end(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return
        self._is_ended = True  # spark-submit may return 0 for a killed child
        import psutil

        family = psutil.Process(self._process.pid)
        processes = [*family.children(recursive=True), family]
        for process in processes:
            _signal(process.terminate)
        _, alive = psutil.wait_procs(processes, timeout=_SECONDS_TO_END)
        for process in alive:
            _signal(process.kill)


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    """Stop when the process is over and silent; an orphaned Python worker can hold the output open."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    pending, output = "", process.stdout
    if output is None:
        return
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            has_ended = process.poll() is not None
            if selector.select(_SILENT_S):
                read = os.read(output.fileno(), 1 << 16)
                *whole, pending = (pending + decoder.decode(read)).split("\n")
                yield from whole
                if not read:
                    break
            elif has_ended:
                break
    yield pending


def spark_submit() -> str:
    beside = Path(sys.executable).parent / _BINARY
    path = shutil.which(_BINARY) or (str(beside) if beside.is_file() else None)
    if path is None:
        raise SubmitError(f"no {_BINARY} on the PATH and none beside {sys.executable}: install pyspark there")
    return path


def _signal(send: Callable[[], None]) -> None:
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):  # ended meanwhile
        send()


SETTING = "spark.driver.memory"
_LEAST_MIB = 1_024  # Spark's default
_BASE_MIB, _BYTES_A_PARTITION = 512, 4_096  # docs/internals/spark.md


def driver_memory(connection: SparkConnection, partition_count: int | None) -> tuple[str, ...]:
    """() when the connection sets it or the size is unknown."""
    if partition_count is None or SETTING in connection.settings:
        return ()
    return "--driver-memory", f"{memory_mib(partition_count)}m"


def memory_mib(partition_count: int) -> int:
    """Driver MiB, at least Spark's default.

    >>> memory_mib(10_000), memory_mib(333_333)
    (1024, 1814)
    """
    return max(_LEAST_MIB, _BASE_MIB + partition_count * _BYTES_A_PARTITION // 2**20)


JOBS_SETTING = "ADVISOR_SPARK_JOBS"
DSN_VARIABLE = "ADVISOR_POSTGRES_DSN"
CONNECTION = "spark_default"


class AdvisorSparkJob(BaseOperator):
    template_fields = ("run_id", "partition_count")

    def __init__(self, *, job: str, run_id: Any, partition_count: Any, **kwargs: Any) -> None:
        super().__init__(
            task_id=job,
            pool=HEAVY_POOL,  # drivers share cores
            **kwargs,
        )
        self.job, self.run_id, self.partition_count = job, run_id, partition_count
        self._submission = Submission()

    @fail_without_retry
    def execute(self, context: Any) -> None:  # noqa: ARG002
        """A failed job fails the task, for good unless time can mend it."""
        dsn, log = store_dsn(), task_log(__name__)
        connection = spark_connection(CONNECTION, DSN_VARIABLE)
        log.info("spark-submit of %s.py for run %s to %s", self.job, self.run_id, connection.master)
        application = (str(jobs_folder() / f"{self.job}.py"), "--run-id", str(self.run_id))
        memory = driver_memory(connection, self.partition_count)
        with connection.all_arguments() as given:
            arguments = (*given, *memory, "--name", f"advisor-{self.job}", *application)
            self._submission.run(arguments, {DSN_VARIABLE: dsn}, lambda line: log.info("%s", line))

    def on_kill(self) -> None:
        self._submission.end()


def jobs_folder() -> Path:
    if folder := os.environ.get(JOBS_SETTING):
        return Path(folder)
    here = Path(__file__).resolve()
    in_wheel = here.parent / "jobs"
    return in_wheel if in_wheel.is_dir() else here.parents[3] / "spark_jobs"
