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

    found = [Path(each) for each in find_path_from_directory(str(PLUGINS), ".airflowignore", "glob")]
    assert [each.name for each in found if each.suffix == ".py"] == ["advisor_plugin.py"]


@pytest.mark.stack
@airflow_reads_ignore_files
def test_airflow_registers_our_plugin_without_errors(dag_bag):
    from airflow import plugins_manager

    names = [plugin.name for plugin in plugins_manager._get_plugins()[0]]
    assert names.count("rebalance_advisor") == 1
    assert plugins_manager.get_import_errors() == {}


def test_no_file_that_airflow_may_load_shadows_a_standard_module():
    loadable = [each.stem for each in PLUGINS.glob("*.py")]
    assert loadable == ["advisor_plugin"]
    assert not set(loadable) & sys.stdlib_module_names


def test_no_package_of_ours_shadows_a_standard_module():
    packages = {each.name for each in PLUGINS.iterdir() if each.is_dir() and not each.name.startswith((".", "__"))}
    assert packages == {"kafka_rebalance", "rebalance_advisor"}
    assert not packages & sys.stdlib_module_names
