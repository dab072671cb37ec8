"""One Spark session for all tests: local, on loopback, without a web page, two partitions."""

import logging
import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """The session; its Python workers see the checkout as a job sees the installed packages."""
    from stack.jvm.spark import environment

    folder = tmp_path_factory.mktemp("spark")
    os.environ.update(environment(folder))
    os.environ["PYTHONPATH"] = f"{CHECKOUT / 'plugins'}{os.pathsep}{CHECKOUT}"
    from pyspark.sql import SparkSession

    settings = {"spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.default.parallelism": "2"}
    session = SparkSession.builder.master("local[2]").appName("tests").config(map=settings).getOrCreate()
    yield session
    session.stop()
    # Connections say goodbye when the interpreter ends, to streams that pytest has closed.
    logging.getLogger("py4j").setLevel(logging.ERROR)


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """The demo cluster's snapshot."""
    from rebalance_advisor.dumps import read_input
    from stack.demo.cluster import write_demo_cluster

    return read_input(write_demo_cluster(tmp_path_factory.mktemp("demo")), "demo")


@pytest.fixture(scope="session")
def real_map():
    """256 partitions on 23 brokers, placement alone."""
    from rebalance_advisor.dumps import read_input

    return read_input(CHECKOUT / "tests" / "data" / "kafka-kit-256-partitions-23-brokers.json", "kit")
