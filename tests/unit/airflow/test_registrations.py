"""What Airflow learns of us by name: the assets that others schedule on, and the plugin."""

import pytest

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


def test_assets_keep_the_names_that_others_schedule_on():
    from rebalance_advisor.airflow import assets

    found = [(asset.name, asset.uri, asset.group) for asset in (assets.CLUSTER_SNAPSHOT, assets.ADVISORY)]
    assert found == [
        ("cluster_snapshot", "advisor://store/cluster_snapshot", "advisor"),
        ("advisory", "advisor://store/advisory", "advisor"),
    ]


def test_the_tasks_that_make_them_say_so():
    from rebalance_advisor.airflow.advisory_tasks import publish
    from rebalance_advisor.airflow.assets import ADVISORY, CLUSTER_SNAPSHOT
    from rebalance_advisor.airflow.snapshot_tasks import check_snapshot

    assert publish.kwargs["outlets"] == [ADVISORY]
    assert check_snapshot.kwargs["outlets"] == [CLUSTER_SNAPSHOT]


def test_the_plugin_is_one_that_airflow_takes():
    """``validate`` is what Airflow's loader calls."""
    from importlib.metadata import entry_points

    from rebalance_advisor.airflow.plugin import AdvisorPlugin

    AdvisorPlugin.validate()
    assert AdvisorPlugin.name == "rebalance_advisor"
    (entry,) = [found for found in entry_points(group="airflow.plugins") if found.name == AdvisorPlugin.name]
    assert entry.value == f"{AdvisorPlugin.__module__}:{AdvisorPlugin.__name__}"
