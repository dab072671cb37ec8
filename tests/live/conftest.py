"""Real Kafka clusters for the live tests: one for each version, started once and shared by the modules that use it."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from stack.kafka.live_cluster import LiveCluster, start_live_cluster
from stack.kafka.tools import NEWEST, OLDER

_HERE = Path(__file__).parent
# Each kind of test meets the older release once, in this module; all of them do in `make test-live-full`.
_ON_EVERY_RELEASE = "test_live_snapshot.py"

# On a busy machine the client complains about slow tasks, thousands of lines long; failures are told by other ways.
logging.getLogger("kafka").setLevel(logging.CRITICAL)


@pytest.fixture(scope="session", params=[NEWEST, OLDER])
def live_cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveCluster]:
    """Four brokers in three racks, traffic running."""
    folder: Path = tmp_path_factory.mktemp("kafka") / "cluster"
    with start_live_cluster(folder, request.param) as started:
        yield started


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What runs on several releases runs on the newest; the rest of that matrix is `make test-live-full`. Tests of the
    session's clusters come last: no other test runs beside their traffic.

    Waits have limits of their own: that of a whole test is for what hangs without one, beyond what any load can reach.
    """
    for item in items:
        if item.path.parent == _HERE:
            item.add_marker(pytest.mark.timeout(7_200))
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        is_older = any(isinstance(value, str) and value == OLDER for value in parameters.values())
        if is_older and item.path.name != _ON_EVERY_RELEASE:
            item.add_marker(pytest.mark.matrix)
    items.sort(key=lambda item: "live_cluster" in getattr(item, "fixturenames", ()))
