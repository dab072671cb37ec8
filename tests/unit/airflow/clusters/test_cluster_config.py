import re

import pytest
from rebalance_advisor.airflow.cluster_config import choose, clusters_file, read_clusters

from kafka_rebalance.errors import InvalidInputError, UnknownNameError


@pytest.fixture
def clusters_toml(tmp_path):
    def write(text):
        file = tmp_path / "clusters.toml"
        file.write_text(text)
        return file

    return write


def test_each_of_the_three_sources_is_read_and_paths_start_at_the_file(clusters_toml, tmp_path):
    file = clusters_toml(
        '[clusters.orders]\nconnection = "kafka_orders"\n[clusters.audit]\nfolder = "dumps"\ncapacity = "c.csv"\n'
        '[clusters.planned]\nfile = "/elsewhere/p.json.gz"\n'
    )
    found = read_clusters(file)
    assert list(found) == ["audit", "orders", "planned"]
    assert (found["orders"].connection, found["orders"].path) == ("kafka_orders", None)
    assert (found["audit"].path, found["audit"].capacity) == (tmp_path / "dumps", tmp_path / "c.csv")
    assert str(found["planned"].path) == "/elsewhere/p.json.gz"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no cluster"),
        ("[clusters]", "names no cluster"),
        ("clusters = 3", "names no cluster"),
        ("[clusters.a", "is no TOML"),
        ("[clusters.a]", r"\[clusters.a\]: has no source"),
        ('[clusters.a]\nfile = "x"\nfolder = "y"', r"\[clusters.a\]: has folder and file"),
        ('[clusters.a]\nfolders = "y"', "'folders' is not known"),
        ("[clusters.a]\nfile = 7", "file is no text: 7"),
        ('[clusters.a]\nfile = ""', "file is no text"),
        ('[clusters."../up"]\nfile = "x"', "is no name"),
        ("clusters.a = 1", r"\[clusters.a\]: is no table"),
    ],
)
def test_a_wrong_list_is_refused_by_its_place(clusters_toml, text, words):
    file = clusters_toml(text)
    with pytest.raises(InvalidInputError, match=f"^{re.escape(str(file))}.*{words}"):
        read_clusters(file)


def test_a_missing_list_and_a_missing_setting_are_named(tmp_path, monkeypatch):
    with pytest.raises(InvalidInputError, match=r"nowhere\.toml"):
        read_clusters(tmp_path / "nowhere.toml")
    monkeypatch.delenv("ADVISOR_CLUSTERS_FILE", raising=False)
    with pytest.raises(InvalidInputError, match="ADVISOR_CLUSTERS_FILE: is not set"):
        clusters_file()


def test_one_cluster_or_all_are_chosen_and_an_unknown_one_is_refused(clusters_toml):
    known = read_clusters(clusters_toml('[clusters.b]\nfile = "b"\n[clusters.a]\nfile = "a"\n'))
    assert choose(known, None) == ["a", "b"]
    assert choose(known, "b") == ["b"]
    with pytest.raises(UnknownNameError, match="unknown cluster 'c'; known: a, b"):
        choose(known, "c")
