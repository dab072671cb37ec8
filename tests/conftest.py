"""What every test may rely on: nothing is skipped in silence, no analytics, no proxy to loopback."""

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.start_failures import pytest_terminal_summary  # noqa: F401

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")

TESTS = Path(__file__).parent
# No test asserts seconds: a busy machine is no fault of what is tested. Examples are the same in every run; the
# hand-run matrices ask for others by ``--hypothesis-profile=fresh --hypothesis-seed=N``.
_ANY_MACHINE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", _ANY_MACHINE, derandomize=True)
settings.register_profile("fresh", _ANY_MACHINE)
settings.load_profile("fixed")
# Tests of plans that a search made: ``make test`` runs them with a brief search, ``make test-all`` with the whole one.
PLANNED = (
    "properties/test_plans_for_any_cluster.py", "unit/findings/test_broker_reports.py",
    "unit/findings/test_findings_agree_with_plan.py",
    "unit/findings/test_rack_price.py", "unit/planner", "unit/plans", "unit/publish/report",
    "unit/publish/test_frontier_rows.py", "unit/publish/test_needed.py", "unit/publish/test_plan_files.py",
    "unit/publish/test_schemas.py", "unit/verify",
)  # fmt: skip
# Of these, what asks nothing of the search: its effort changes nothing there.
WITHOUT_SEARCH = (
    "unit/planner/followers", "unit/planner/log_dirs", "unit/planner/survive", "unit/planner/topic_leaders",
    "unit/plans/test_unresponsive_brokers.py", "unit/verify/log_dirs",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--brief-search", action="store_true", help="plans are searched for a short time: make test, make check"
    )


def pytest_configure(config: pytest.Config) -> None:
    is_controller = bool(config.getoption("numprocesses", None)) and not hasattr(config, "workerinput")
    if config.getoption("--brief-search") and not is_controller:
        from tests.brief_search import search_briefly

        search_briefly()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Without the garbage collector: it would take a fifth of the time, and later look at all tests again and again."""
    gc.disable()
    collected = yield
    gc.freeze()
    gc.enable()
    return collected


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = [path for path in PLANNED + WITHOUT_SEARCH if not (TESTS / path).exists()]
    assert not missing, f"tests/conftest.py names what is not there: {missing}"
    for item in items:
        path = item.path.relative_to(TESTS).as_posix()
        is_planned = path.startswith(PLANNED) and not path.startswith(WITHOUT_SEARCH)
        # With the whole search in ``make test`` already, a test would say the same twice.
        if is_planned and "whole_search" not in getattr(item, "fixturenames", ()):
            item.add_marker("planned")


@pytest.fixture
def whole_search() -> Iterator[None]:
    """The search as users have it, in ``make test`` too."""
    from tests.brief_search import searching_whole

    with searching_whole():
        yield


@pytest.fixture(scope="module")
def brief_search() -> Iterator[None]:
    """The search cut short, in ``make test-all`` too: of larger samples that compare surfaces, not plans."""
    from tests.brief_search import searching_briefly

    with searching_briefly():
        yield


@pytest.fixture(scope="session")
def airflow_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Airflow lives in these tests; it is told before its first import, which takes seconds."""
    home, checkout = tmp_path_factory.mktemp("airflow"), TESTS.parent
    os.environ.update(
        {
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(checkout / "dags"),
            "AIRFLOW__CORE__PLUGINS_FOLDER": str(checkout / "plugins"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
        }
    )
    return home
