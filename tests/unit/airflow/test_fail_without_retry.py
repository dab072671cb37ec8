import importlib
import pkgutil
import urllib.error

import psycopg
import pytest

from kafka_assignors.errors import AdvisorError, InvalidInputError, UnknownNameError
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.render import describe_error
from rebalance_advisor.mended_by_time import NAMES, is_mended_by_time
from rebalance_advisor.store import StoreError

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]

# Every error of ours, and whether trying again can mend it. A new one is entered here, on purpose.
MENDED = {
    "ClusterUnreadableError", "ConnectionFailedError", "GateInterruptedError", "JobInterruptedError",
    "ObjectStoreError", "TopicUnreadableError", "NotificationError",
}  # fmt: skip
FINAL = {
    "AssignorError", "EndlessReassignmentError", "ExecutorError", "GateError", "InfeasibleError", "InvalidInputError",
    "InvalidPlanError", "InvalidSnapshotError", "NotExchangeableError",
    "OutgoingRequestError",  # never reaches a task: callers wrap it
    "PartOfInputError", "PlacementError",
    "PrometheusError", "RunPublishedError", "SqlFilesError", "StoreError", "SubmitError", "UnknownNameError",
    "UsageError",
}  # fmt: skip


def subclasses(kind):
    for inner in kind.__subclasses__():
        yield inner
        yield from subclasses(inner)


@pytest.fixture(scope="module")
def every_error():
    """All classes of the base, after each module of ours was imported."""
    for package in ("kafka_assignors", "kafka_rebalance", "rebalance_advisor"):
        root = importlib.import_module(package)
        for module in pkgutil.walk_packages(root.__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    ours = ("kafka_assignors.", "kafka_rebalance.", "rebalance_advisor.")
    return {kind.__name__: kind for kind in subclasses(AdvisorError) if kind.__module__.startswith(ours)}


def test_every_error_of_ours_is_classified_on_purpose(every_error):
    assert set(every_error) == MENDED | FINAL
    for name, kind in every_error.items():
        assert is_mended_by_time(kind.__new__(kind)) == (name in MENDED), name


def test_every_name_of_the_list_is_a_class(every_error):
    for name in NAMES:
        module, _, kind = name.rpartition(".")
        if module != "psycopg_pool":  # comes with the page alone
            assert issubclass(getattr(importlib.import_module(module), kind), BaseException), name


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize("error", [
    InvalidInputError.at("clusters.toml", "is no TOML"),
    UnknownNameError.among("cluster", "prud", ["prod"]),
    InfeasibleError(fact(FactCode.NOTHING_MOVABLE)),
    StoreError("run x holds no plan"),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_what_somebody_has_to_change_fails_at_once_with_its_words(error):
    from airflow.sdk.exceptions import AirflowFailException

    from rebalance_advisor.airflow.running import fail_without_retry

    with pytest.raises(AirflowFailException) as caught:
        fail_without_retry(failing)(error)
    assert str(caught.value) == describe_error(error)
    assert caught.value.__cause__ is error


def test_a_fault_of_ours_fails_at_once_with_its_kind():
    from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

    from rebalance_advisor.airflow.running import fail_without_retry

    with pytest.raises(AirflowFailException, match=r"^KeyError: 'x'$"):
        fail_without_retry(failing)(KeyError("x"))
    with pytest.raises(AirflowSkipException):
        fail_without_retry(failing)(AirflowSkipException("not now"))


@pytest.mark.parametrize("error", [
    TimeoutError("slow"), ConnectionResetError("gone"), urllib.error.URLError("away"),
    psycopg.errors.SerializationFailure("two at once"), psycopg.errors.AdminShutdown("restarts"),
    caused(StoreError("cannot connect to the advisor's database"), psycopg.OperationalError("refused")),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_what_time_can_mend_is_left_to_the_retries(error):
    from rebalance_advisor.airflow.running import fail_without_retry

    with pytest.raises(type(error)) as caught:
        fail_without_retry(failing)(error)
    assert caught.value is error


def failing(error):
    raise error


Returned = dict[str, int]  # a name that only this module knows


def test_airflow_sees_what_a_task_returns():
    """A task that returns a mapping stores each key by itself: the tasks after it ask for single keys."""
    from airflow.sdk import task

    from rebalance_advisor.airflow.running import fail_without_retry
    from rebalance_advisor.airflow.tasks import start_run

    def made() -> "Returned":
        return {"one": 1}

    assert start_run.multiple_outputs
    assert task(fail_without_retry(made)).multiple_outputs
