import pytest

from rebalance_advisor.airflow.clusters import brokers_file, known_brokers, remember_brokers


@pytest.fixture(autouse=True)
def publish_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_PUBLISH_DIR", str(tmp_path / "published"))


def test_brokers_come_back_by_id_and_the_file_stays_untouched_where_they_are_the_same():
    assert known_brokers("orders") == ()
    remember_brokers("orders", [(10, None), (9, "b"), (100, "a")])
    assert known_brokers("orders") == ((9, "b"), (10, None), (100, "a"))
    before = brokers_file("orders").stat().st_ino
    remember_brokers("orders", [(9, "b"), (10, None), (100, "a")])
    assert brokers_file("orders").stat().st_ino == before
    remember_brokers("orders", [(9, "c")])
    assert known_brokers("orders") == ((9, "c"),)


@pytest.mark.parametrize("text", ["", "{", "[[1]]", "[1, 2]", '{"1": 2}', '[["x", "a"]]', "null", "[" * 5000])
def test_a_file_that_is_no_list_of_brokers_offers_none(text):
    brokers_file("orders").parent.mkdir()
    brokers_file("orders").write_text(text)
    assert known_brokers("orders") == ()


def test_a_folder_in_its_place_offers_none():
    brokers_file("orders").mkdir(parents=True)
    assert known_brokers("orders") == ()
