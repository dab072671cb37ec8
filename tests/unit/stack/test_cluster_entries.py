import tomllib

from rebalance_advisor.airflow.clusters import read_clusters
from stack.airflow.cluster_entries import write_entry


def test_a_new_file_holds_the_entry_and_says_what_it_is_for(tmp_path):
    file = tmp_path / "run" / "clusters.toml"
    write_entry(file, "demo", {"folder": '/some where/"odd"'})
    assert tomllib.loads(file.read_text()) == {"clusters": {"demo": {"folder": '/some where/"odd"'}}}
    assert file.read_text().startswith("#")


def test_what_somebody_else_wrote_stays_as_it_is(tmp_path):
    file = tmp_path / "clusters.toml"
    mine = '# ours\n[clusters.orders]\nconnection = "kafka_orders"  # the big one\n'
    file.write_text(mine)
    write_entry(file, "live", {"connection": "kafka_live"})
    write_entry(file, "live", {"connection": "kafka_other"})
    assert file.read_text().startswith(mine.strip())
    assert {name: entry.connection for name, entry in read_clusters(file).entries.items()} == {
        "live": "kafka_other", "orders": "kafka_orders",
    }  # fmt: skip


def test_the_same_entry_again_changes_nothing(tmp_path):
    file = tmp_path / "clusters.toml"
    write_entry(file, "demo", {"folder": "/demo"})
    before = file.stat().st_mtime_ns, file.read_bytes()
    write_entry(file, "demo", {"folder": "/demo"})
    assert (file.stat().st_mtime_ns, file.read_bytes()) == before
