"""docker/spark/start.sh, and a driver by a connection's settings: who does not know the secret gets no work done."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest

from rebalance_advisor.airflow.spark import SparkConnection
from stack.waiting import wait_for
from tests.spark.standalone.cluster import CHECKOUT, StandaloneCluster

pytestmark = [pytest.mark.stack, pytest.mark.slow]
JOB = """
import sys
from pyspark import SparkContext
with SparkContext() as context:
    print("SUM", context.parallelize(range(5), 1).sum(), context.uiWebUrl, context.getConf().get("spark.odd"))
"""
ODD = "a: =#!\\\tb=c ü"


@dataclass(frozen=True)
class SecretCluster(StandaloneCluster):
    """Master and workers as the containers start them; worker-2 has another secret."""

    def command(self, program: str, arguments: tuple[str, ...]) -> list[str]:
        return ["bash", str(CHECKOUT / "docker/spark/start.sh"), *super().command(program, arguments)[1:]]

    def environment(self, name: str = "") -> dict[str, str]:
        known = super().environment(name)
        (self.folder / name).mkdir(exist_ok=True)
        own = {"HOME": str(self.folder / name), "SPARK_AUTH_SECRET": "other" if name == "worker-2" else "the s3cret"}
        return known | own | {"PATH": f"{CHECKOUT / '.venv/bin'}:{known['PATH']}"}


def test_only_who_knows_the_secret_joins_and_submits(tmp_path) -> None:
    cluster = SecretCluster(tmp_path / "cluster", worker_count=1)
    (tmp_path / "job.py").write_text(JOB)
    try:
        address = cluster.start()
        for name in ("master", "worker-1"):
            assert (cluster.folder / name / "spark.properties").stat().st_mode & 0o777 == 0o600
        cluster.start_worker("worker-2", address)
        wait_for("the refusal", lambda: "Failed to connect to master" in (cluster.folder / "worker-2.log").read_text())
        settings = {
            "spark.authenticate": "true", "spark.authenticate.secret": "the s3cret", "spark.odd": ODD,
            "spark.network.crypto.enabled": "true", "spark.ui.enabled": "false", "spark.executor.memory": "512m",
            "spark.pyspark.python": sys.executable, "spark.pyspark.driver.python": sys.executable,
        }  # fmt: skip
        with SparkConnection(address, ("--master", address), settings).all_arguments() as arguments:
            run = subprocess.run(
                [f"{CHECKOUT}/.venv/bin/spark-submit", *arguments, str(tmp_path / "job.py")],
                env=cluster.driver_environment(), capture_output=True, text=True, check=False,
            )  # fmt: skip
        assert f"SUM 10 None {ODD}" in run.stdout, run.stdout + run.stderr[-4000:]
        assert (cluster.folder / "master.log").read_text().count("Registering worker") == 1
        assert "s3cret" not in "".join(log.read_text() for log in cluster.folder.glob("*.log"))
    finally:
        cluster.stop()
