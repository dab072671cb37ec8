"""Airflow executes what ``.airflowignore`` leaves under ``plugins/`` and registers it under its bare name."""

import sys
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[2] / "plugins"


# Airflow's own reading of .airflowignore uses a name that pathspec is about to rename.
airflow_reads_ignore_files = pytest.mark.filterwarnings("ignore:GitWildMatchPattern:DeprecationWarning")


@pytest.mark.stack
@airflow_reads_ignore_files
def test_airflow_loads_exactly_one_file(dag_bag):
    from airflow._shared.module_loading import find_path_from_directory

    results = [Path(path) for path in find_path_from_directory(str(PLUGINS), ".airflowignore", "glob")]
    assert [path.name for path in results if path.suffix == ".py"] == ["advisor_plugin.py"]


@pytest.mark.stack
@airflow_reads_ignore_files
def test_airflow_registers_our_plugin_without_errors(dag_bag):
    from airflow import plugins_manager

    names = [plugin.name for plugin in plugins_manager._get_plugins()[0]]
    assert names.count("rebalance_advisor") == 1
    assert plugins_manager.get_import_errors() == {}


def test_no_file_that_airflow_may_load_shadows_a_standard_module():
    loadable = [path.stem for path in PLUGINS.glob("*.py")]
    assert loadable == ["advisor_plugin"]
    assert not set(loadable) & sys.stdlib_module_names


def test_no_package_of_ours_shadows_a_standard_module():
    packages = {path.name for path in PLUGINS.iterdir() if path.is_dir() and not path.name.startswith((".", "__"))}
    assert packages == {"kafka_assignors", "kafka_rebalance", "rebalance_advisor"}
    assert not packages & sys.stdlib_module_names
