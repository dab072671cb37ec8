"""A standalone Spark, Pythons for its executors, and a real Postgres."""

from __future__ import annotations

import pytest

from tests.spark.standalone.cluster import NEEDED, StandaloneCluster, make_python
from tests.sql.conftest import admin, dsn, server

__all__ = ["admin", "dsn", "server"]


@pytest.fixture(scope="session")
def standalone(tmp_path_factory):
    """The cluster and its master's address."""
    cluster = StandaloneCluster(tmp_path_factory.mktemp("standalone"))
    try:
        yield cluster, cluster.start()
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def whole_python(tmp_path_factory):
    """Has what an executor needs, and nothing of ours."""
    return make_python(tmp_path_factory.mktemp("python") / "whole", NEEDED)
