"""A Spark master and workers of one core each on loopback, and Pythons for their executors without a checkout."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distribution
from pathlib import Path

from stack.jvm.java import QUICK_JVM
from stack.jvm.spark import environment
from stack.processes import Program, stop
from stack.waiting import wait_started

CHECKOUT = Path(__file__).resolve().parents[3]
# As docs/scale.md says: what must be there, with what these need themselves.
NEEDED = (
    "numpy", "scipy", "numba", "llvmlite", "pyarrow", "pydantic", "pydantic-core", "annotated-types",
    "typing-extensions", "typing-inspection",
)  # fmt: skip
_QUICK_JVM = " ".join(QUICK_JVM)
_INFO = """rootLogger.level = info
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %c{1}: %m%n
"""


def make_python(folder: Path, distributions: Sequence[str], modules: Mapping[str, str] | None = None) -> Path:
    """A Python that has these distributions, as they are installed here, and ``modules`` (name: text); nothing else."""
    venv.EnvBuilder(symlinks=True, with_pip=False).create(folder)
    (site,) = (folder / "lib").glob("python*/site-packages")
    for name in distributions:
        result = distribution(name)
        for top in {file.parts[0] for file in result.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (site / top).symlink_to(result.locate_file(top))
    for name, text in (modules or {}).items():
        (site / f"{name}.py").write_text(text)
    return folder / "bin" / "python"


@dataclass(frozen=True)
class StandaloneCluster:
    """It runs from ``start`` to ``stop``; ``folder`` holds all of its files."""

    folder: Path
    worker_count: int = 2

    def start(self) -> str:
        """The master's address, once all workers are registered."""
        conf = self.folder / "conf"
        conf.mkdir(parents=True)
        (self.folder / "home").mkdir()
        (conf / "log4j2.properties").write_text(_INFO)
        self._run("master", "Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        address = self._said("master", r"Starting Spark master at (spark://\S+)")[0]
        for name in self._workers():
            self.start_worker(name, address)
        self._said("master", r"(Registering worker)", times=self.worker_count)
        return address

    def start_worker(self, name: str, address: str) -> None:
        """One more of one core; returns at once."""
        self._run(
            name, "Worker", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", "--cores", "1",
            "--memory", "1g", "--work-dir", str(self.folder / name), address,
        )  # fmt: skip

    def stop(self) -> None:
        """Workers end their executors."""
        names = sorted((file.stem for file in self.folder.glob("*.json")), reverse=True)  # the master last
        stop([self._program(name) for name in names], patience_seconds=10)

    def _workers(self) -> tuple[str, ...]:
        return tuple(f"worker-{number}" for number in range(1, self.worker_count + 1))

    def executors_said(self) -> str:
        """What executors' Pythons wrote to their logs."""
        return "".join(path.read_text(errors="replace") for path in self.folder.glob("worker-*/app-*/*/stderr"))

    def command(self, program: str, arguments: tuple[str, ...]) -> list[str]:
        """How the master or a worker is started."""
        spark_class = str(Path(sys.executable).parent / "spark-class")
        return [spark_class, f"org.apache.spark.deploy.{program.lower()}.{program}", *arguments]

    def environment(self, name: str = "") -> dict[str, str]:
        """Of master, workers and thereby executors: no checkout, no settings of ours, a home of their own."""
        driver = environment(self.folder / "driver")
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "JAVA_HOME": driver["JAVA_HOME"],
            "SPARK_HOME": str(Path(distribution("pyspark").locate_file("pyspark"))),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": _QUICK_JVM,
        }

    def submit(self, job: str, run_id: str, master: Sequence[str], **more: str) -> subprocess.CompletedProcess[str]:
        """A job as Airflow's operator submits it; ``more`` is added to the driver's environment."""
        command = [str(Path(sys.executable).parent / "spark-submit"), *master, "--conf", "spark.executor.memory=512m"]
        command += ["--conf", f"spark.executor.extraJavaOptions={_QUICK_JVM}"]
        command += [str(CHECKOUT / "spark_jobs" / f"{job}.py"), "--run-id", run_id]
        environment = self.driver_environment() | more
        # spark-submit itself mixes what the driver's Python writes to both streams.
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def driver_environment(self) -> dict[str, str]:
        """Of who submits: our code is there."""
        own = {"PYTHONPATH": f"{CHECKOUT / 'plugins'}{os.pathsep}{CHECKOUT}"}
        return {**os.environ, **environment(self.folder / "driver"), **own}

    def _run(self, name: str, program: str, *arguments: str) -> None:
        self._program(name).start(self.command(program, arguments), self.environment(name))

    def _program(self, name: str) -> Program:
        return Program(name, self.folder / f"{name}.json", self.folder / f"{name}.log")

    def _said(self, name: str, pattern: str, times: int = 1) -> list[str]:
        """What matched in its log; a program that ended or stays silent is an error with its last words."""
        program = self._program(name)

        def matches() -> list[str]:
            return re.findall(pattern, program.log.read_text(errors="replace"))

        wait_started(
            f"Spark's {name}", lambda: len(matches()) >= times, ended=lambda: not program.is_running,
            log=program.log_tail,
        )  # fmt: skip
        return matches()
