"""One stack for these tests, under ``.run/test-stack``: Postgres and a real Airflow, removed at the end."""

import shutil

import pytest

from stack.installed_code import CHECKOUT
from stack.machine import Machine

GUEST = "guest"
_USERS = {"AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"admin:admin,{GUEST}:viewer"}
# They need no Airflow and run before it starts; the second takes over the kernels that the first compiled.
_BEFORE_AIRFLOW = ("test_report_in_a_browser.py", "test_base_install.py")


def pytest_collection_modifyitems(items):
    """Waits have limits of their own: this one is for what hangs without one, beyond what any load can reach."""
    for item in items:
        if item.path.is_relative_to(CHECKOUT / "tests" / "stack"):
            item.add_marker(pytest.mark.timeout(7_200))
    items.sort(key=lambda item: (*_BEFORE_AIRFLOW, item.path.name).index(item.path.name))


@pytest.fixture(scope="session")
def machine():
    """Started once; a run left over by a killed test session is removed first."""
    made = Machine(CHECKOUT / ".run" / "test-stack", settings=_USERS)
    remove(made)
    made.run.mkdir(parents=True)
    try:
        made.start()
        yield made
    finally:
        remove(made)


def remove(machine):
    machine.stop()
    machine.server.remove()
    shutil.rmtree(machine.run, ignore_errors=True)
