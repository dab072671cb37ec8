"""Real Kafka clusters for the live tests: one for each version, started once and shared by the modules that use it."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.kafka_tools import NEWEST, OLDER
from stack.live_world import LiveWorld, start_world

# On a busy machine the client complains about slow tasks, thousands of lines long; failures are told by other ways.
logging.getLogger("kafka").setLevel(logging.CRITICAL)


@pytest.fixture(scope="session", params=[NEWEST, OLDER])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveWorld]:
    """Four brokers in three racks, traffic running."""
    folder: Path = tmp_path_factory.mktemp("kafka") / "cluster"
    with start_world(folder, request.param) as started:
        yield started
