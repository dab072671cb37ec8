import pytest

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


ODD_CLUSTERS = (
    "orders", "Orders", "orders/", "orders/eu", "orders%2Feu", "orders eu", "orders_eu", "orders-eu", "orders.", "..",
    "orders?eu", "orders#eu", "a@b:c", "ördërs", "o\\rders", "x" * 60,
)  # fmt: skip


def test_assets_keep_the_names_that_others_schedule_on():
    from rebalance_advisor.airflow.cluster_dags import advisory, cluster_snapshot

    assets = [(asset.name, asset.uri, asset.group) for asset in (cluster_snapshot("eu-1"), advisory("eu-1"))]
    assert assets == [
        ("cluster_snapshot/eu-1", "advisor://store/cluster_snapshot/eu-1", "advisor"),
        ("advisory/eu-1", "advisor://store/advisory/eu-1", "advisor"),
    ]


def test_no_two_clusters_and_purposes_share_an_asset():
    """Airflow changes some addresses (a slash at the end, what follows a #): ours are left as they are."""
    from rebalance_advisor.airflow.cluster_dags import advisory, cluster_snapshot

    made = [make(cluster) for make in (advisory, cluster_snapshot) for cluster in ODD_CLUSTERS]
    assert len({asset.name for asset in made}) == len({asset.uri for asset in made}) == len(made)
    assert all(asset.uri == f"advisor://store/{asset.name}" for asset in made)
    assert all(asset.name.isascii() and asset.name.isprintable() for asset in made)


def test_the_plugin_is_one_that_airflow_takes():
    """``validate`` is what Airflow's loader calls."""
    from importlib.metadata import entry_points

    from rebalance_advisor.airflow.plugin import AdvisorPlugin

    AdvisorPlugin.validate()
    assert AdvisorPlugin.name == "rebalance_advisor"
    (entry,) = [
        entry_point for entry_point in entry_points(group="airflow.plugins") if entry_point.name == AdvisorPlugin.name
    ]
    assert entry.value == f"{AdvisorPlugin.__module__}:{AdvisorPlugin.__name__}"
