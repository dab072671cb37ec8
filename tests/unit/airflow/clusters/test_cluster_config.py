import re
from dataclasses import replace

import pytest

from kafka_assignors.errors import InvalidInputError, UnknownNameError
from rebalance_advisor.airflow.clusters import DagSettings, clusters_file, read_clusters
from rebalance_advisor.request.run_request import OPTIONS, RunRequest
from tests.sample import for_each
from tests.unit.request.option_sets import OPTION_SETS


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
    entries = read_clusters(file).entries
    assert list(entries) == ["audit", "orders", "planned"]
    assert (entries["orders"].connection, entries["orders"].path) == ("kafka_orders", None)
    assert (entries["audit"].path, entries["audit"].capacity) == (tmp_path / "dumps", tmp_path / "c.csv")
    assert str(entries["planned"].path) == "/elsewhere/p.json.gz"
    plain = DagSettings()  # except times of each cluster
    assert {
        replace(entry.settings, schedule=plain.schedule, collect_schedule=plain.collect_schedule)
        for entry in entries.values()
    } == {plain}


def test_settings_and_options_of_a_run_stand_in_the_same_table(clusters_toml):
    file = clusters_toml(
        '[clusters.a]\nconnection = "c"\nschedule = "off"\ncollect_schedule = "@daily"\nowner = "team"\n'
        'tags = ["x"]\nretries = 0\npermissions = { ops = ["can_read"] }\nthrottle = "20MiB"\nage_limit = "36h"\n'
        'balance_within = "5%"\nremove_broker = [3]\ncapacity = { 3 = { disk_bytes = 4e12 } }\n'
    )
    entry = read_clusters(file).entry("a")
    assert entry.settings == DagSettings("off", "@daily", "team", ("x",), 0, {"ops": ("can_read",)})
    assert entry.capacity is None
    request = RunRequest.from_mapping(entry.options)
    assert (request.age_limit_s, request.options.throttle_bytes_per_s, request.options.within) == (
        36 * 3600, 20 * 2**20, 0.05,
    )  # fmt: skip
    assert request.options.capacities[3].disk_bytes == 4e12


def test_a_server_that_knows_loads_and_how_it_calls_them(clusters_toml, tmp_path):
    text = '[clusters.a]\nfile = "x"\nprometheus = "http://me:secret@p:9090"\nmetric_names = "names.toml"\n'
    entry = read_clusters(clusters_toml(text)).entry("a")
    assert (entry.prometheus, entry.metric_names) == ("http://me:secret@p:9090", tmp_path / "names.toml")
    assert "secret" not in repr(entry)
    alone = read_clusters(clusters_toml('[clusters.a]\nfile = "x"\nmetric_names = "names.toml"\n'))
    with pytest.raises(InvalidInputError, match=r"\[clusters.a\] metric_names names metrics, and no server has them"):
        alone.entry("a")
    number = read_clusters(clusters_toml('[clusters.a]\nfile = "x"\nprometheus = 9090\n'))
    with pytest.raises(InvalidInputError, match="prometheus: 9090 is no text"):
        number.entry("a")


@for_each("name", OPTION_SETS)
def test_whatever_a_form_may_ask_may_stand_in_a_table(clusters_toml, name):
    _, asked = OPTION_SETS[name]
    lines = [f"{key} = {toml(value)}" for key, value in asked.items()]
    entry = read_clusters(clusters_toml("\n".join(['[clusters.a]\nfile = "x"', *lines]))).entry("a")
    assert RunRequest.from_mapping(entry.options) == RunRequest.from_mapping(asked)


def test_every_option_but_the_cluster_itself_may_stand_in_a_table():
    from rebalance_advisor.airflow.clusters import _KEYS

    assert {option.name for option in OPTIONS} - {"cluster"} <= set(_KEYS)


def toml(value):
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')


WHOLE_FILE = [
    ("", "names no cluster"),
    ("[clusters]", "names no cluster"),
    ("clusters = 3", "names no cluster"),
    ("[clusters.a", "is no TOML"),
]
ONE_TABLE = [
    ("[clusters.a]", r"\[clusters.a\] has no source; give exactly one of"),
    ('[clusters.a]\nfile = "x"\nfolder = "y"', r"\[clusters.a\] has folder and file"),
    ('[clusters.a]\nfolders = "y"', "'folders' is not known; did you mean folder"),
    ("[clusters.a]\nfile = 7", "file: 7 is no text"),
    ('[clusters.a]\nfile = ""', "file: '' is no text"),
    ("[clusters.a]\nfile = { x = 1 }", "file: .* is no text"),
    ('[clusters."../up"]\nfile = "x"', "is no name"),
    ('[clusters.Orders]\nfile = "x"', "is no name"),
    (f'[clusters.{"a" * 61}]\nfile = "x"', "is no name"),
    ("clusters.a = 1", r"\[clusters.a\]: is no table"),
    ('[clusters.a]\nfile = "x"\ncluster = "b"', "'cluster' is not known"),
    ('[clusters.a]\nfile = "x"\nremove_brokers = [1]', "'remove_brokers' is not known; did you mean remove_broker"),
    ('[clusters.a]\nfile = "x"\nthrottle = "fast"', r"\[clusters.a\] throttle: --throttle: 'fast' is no amount"),
    ('[clusters.a]\nfile = "x"\nown_strategy = "a:B"', "own_strategy: .*'a:B' is no list"),
    ('[clusters.a]\nfile = "x"\nown_strategy = ["os.system"]', "own_strategy: .*'os.system': names no class"),
    ('[clusters.a]\nfile = "x"\nage_limit = 2026-11-20', "age_limit: .* is no time span"),
    ('[clusters.a]\nfile = "x"\nschedule = "daily"', r"schedule: 'daily' is no schedule: give cron in UTC"),
    ('[clusters.a]\nfile = "x"\ncollect_schedule = "0 0 30 2 *"', "collect_schedule: .* is no schedule"),
    ('[clusters.a]\nfile = "x"\nschedule = "0 0 5 * * *"', "schedule: .* is no schedule"),
    ('[clusters.a]\nfile = "x"\nschedule = 5', "schedule: 5 is no text"),
    ('[clusters.a]\nfile = "x"\nretries = -1', "retries: -1 is no number of retries; give 0 to 20"),
    ('[clusters.a]\nfile = "x"\nretries = true', "retries: True is no number"),
    ('[clusters.a]\nfile = "x"\nowner = " "', "owner: ' ' is no text"),
    ('[clusters.a]\nfile = "x"\ntags = "prod"', "tags: 'prod' is no list"),
    (f'[clusters.a]\nfile = "x"\ntags = ["{"t" * 101}"]', "tags: .* is no tag; give 1 to 100 characters"),
    ('[clusters.a]\nfile = "x"\npermissions = "ops"', "permissions: 'ops' is no object"),
    ('[clusters.a]\nfile = "x"\npermissions = { ops = ["run"] }', "permissions: 'run' is none of can_read, can_edit"),
    ("[cluster.b]\nx = 1", "'cluster': is not known; every table is a "),
]


@pytest.mark.parametrize(("text", "message"), WHOLE_FILE)
def test_a_list_that_cannot_be_read_is_refused_whole(clusters_toml, text, message):
    file = clusters_toml(text)
    with pytest.raises(InvalidInputError, match=f"^{re.escape(str(file))}.*{message}"):
        read_clusters(file)


@pytest.mark.parametrize(("text", "message"), ONE_TABLE)
def test_a_wrong_table_is_refused_by_its_place_and_alone(clusters_toml, text, message):
    file = clusters_toml(f'{text}\n[clusters.well]\nconnection = "c"\n')
    clusters = read_clusters(file)
    assert list(clusters.entries) == ["well"]
    ((name, refusal),) = clusters.refused.items()
    with pytest.raises(InvalidInputError, match=f"^{re.escape(str(file))}.*{message}"):
        clusters.entry(name)
    assert len(str(refusal)) < 1500


def test_a_missing_list_and_a_missing_setting_are_named(tmp_path, monkeypatch):
    with pytest.raises(InvalidInputError, match=r"nowhere\.toml"):
        read_clusters(tmp_path / "nowhere.toml")
    monkeypatch.delenv("ADVISOR_CLUSTERS_FILE", raising=False)
    with pytest.raises(InvalidInputError, match="ADVISOR_CLUSTERS_FILE: is not set"):
        clusters_file()


def test_a_cluster_that_is_not_in_the_list_is_refused(clusters_toml):
    known = read_clusters(clusters_toml('[clusters.b]\nfile = "b"\n[clusters.a]\nfile = "a"\n'))
    assert known.entry("b").name == "b"
    with pytest.raises(UnknownNameError, match="unknown cluster 'c'; known: a, b"):
        known.entry("c")


def test_a_number_of_hundreds_of_digits_is_refused_with_its_key(tmp_path):
    (tmp_path / "clusters.toml").write_text(
        f'[clusters.a]\nconnection = "c"\nnotify = {{ late_after_hours = {10**400} }}\n'
        f'[clusters.b]\nconnection = "c"\nretries = {10**400}\n[clusters.c]\nconnection = "c"\nseed = {2**63}\n'
        f'[clusters.d]\nconnection = "c"\n'
        f'heavy_keys = [{{ topic = "t", partition = {2**31}, key = "k", share = 0.5 }}]\n'
    )
    refused = read_clusters(tmp_path / "clusters.toml").refused
    assert {name: str(error).partition("] ")[2].split(":")[0].split()[0] for name, error in refused.items()} == {
        "a": "notify", "b": "retries", "c": "seed", "d": "heavy_keys",
    }  # fmt: skip
