from __future__ import annotations

import json
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.values import ClientRule, MuteRule, OwnerRule
from rebalance_advisor.airflow.clusters import read_clusters
from rebalance_advisor.cli.arguments import rules_in_file
from rebalance_advisor.request.run_request import RunRequest

RULES = """
[[owners]]
pattern = "pay-.*"
team = "payments"
channel = "#pay"
tier = 0

[[mutes]]
code = "idle_members"
until = 2026-12-31
reason = "spare pods on purpose"

[[mutes]]
pattern = "tmp-.*"
subject_type = "topic"
until = 2026-11-30T18:00:00+01:00
reason = "being deleted"
"""
OWNERS = (OwnerRule("pay-.*", "payments", "#pay", 0),)
MUTES = (
    MuteRule(".*", datetime(2027, 1, 1, tzinfo=UTC), "spare pods on purpose", code="idle_members"),  # the day's end
    MuteRule("tmp-.*", datetime(2026, 11, 30, 17, tzinfo=UTC), "being deleted", subject_type="topic"),
)


def test_a_file_a_document_and_a_clusters_table_give_the_same_rules(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(RULES)
    held = {"owners": rules_in_file("owners", file), "mutes": rules_in_file("mutes", file)}
    request = RunRequest.from_mapping(held)
    assert (request.owners, request.mutes) == (OWNERS, MUTES)
    stored = json.loads(json.dumps(request.document()))
    assert RunRequest.from_mapping(stored) == request
    clusters = tmp_path / "clusters.toml"
    nested = RULES.replace("[[", "[[clusters.orders.")
    clusters.write_text(f'[clusters.orders]\nfolder = "dumps"\n{nested}')
    entry = read_clusters(clusters).entry("orders")
    assert RunRequest.from_mapping({"cluster": "orders", **entry.options}).owners == OWNERS
    assert {name: entry.options[name] for name in ("owners", "mutes")} == {
        name: stored[name] for name in ("owners", "mutes")
    }


WRONG: list[tuple[str, Any, str]] = [
    ("owners", {"pattern": "a"}, "team is missing"),
    ("owners", {"pattern": "a", "team": "t", "colour": 1}, "'colour' is not known; known: pattern, team"),
    ("owners", {"pattern": "(", "team": "t"}, "no regular expression"),
    ("owners", {"pattern": "a", "team": "t", "subject_type": "shard"}, "none of cluster, broker"),
    ("owners", "payments", "is no object"),
    ("mutes", {"code": "idle_members", "until": "2026-12-31"}, "reason is missing"),
    ("mutes", {"until": "2026-12-31", "reason": "quiet!"}, "mutes everything"),
    ("mutes", {"code": "idle", "until": "2026-12-31", "reason": "r"}, "'idle' is no finding's; known: "),
    ("mutes", {"code": "idle_members", "until": "soon", "reason": "r"}, "'soon' is no day"),
    ("mutes", {"code": "idle_members", "until": None, "reason": "r"}, "until is missing"),
    ("mutes", {"code": "idle_members", "until": "9999-12-31", "reason": "r"}, "has no end"),
    ("mutes", {"code": "idle_members", "until": "2026-12-31T10:00", "reason": "r"}, "has no time zone"),
    ("clients", {"pattern": "a"}, "client is missing"),
    ("clients", {"pattern": "a", "client": "confluent"}, "'confluent' is unknown; known: java, librdkafka"),
    ("clients", {"pattern": "a", "client": "java", "version": "new"}, "expected a release"),
    ("clients", {"pattern": "a", "client": "java", "release": "2.8"}, "'release' is not known; known: pattern, client"),
    ("mutes", {"code": "idle_members", "until": 20261231, "reason": "r"}, "no day and no time"),
]


@pytest.mark.parametrize(("name", "rule", "message"), WRONG)
def test_a_wrong_rule_is_refused_with_its_option_and_what_is_wrong(name: str, rule: Any, message: str) -> None:
    with pytest.raises(UsageError, match=rf"--{name}: .*{message}"):
        RunRequest.from_mapping({name: [rule]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[owners", "is no TOML"),
        ("[[mutes]]\n", r"holds no \[\[owners\]\]"),
        ("[[owner]]\n", "owner.*is not known"),
        ("owners = 1\n", r"holds no \[\[owners\]\]"),
        (
            '[[owners]]\npattern = "a"\nteam = "t"\n[[owners]]\npattern = "b"\n',
            r"\[\[owners\]\] 2: --owners: team is missing",
        ),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        rules_in_file("owners", file)


def test_clients_of_a_file_and_of_a_document_are_the_same_rules(tmp_path: Path) -> None:
    file = tmp_path / "clients.toml"
    file.write_text('[[clients]]\npattern = "pay-.*"\nclient = "java"\nversion = "2.8.1"\n')
    request = RunRequest.from_mapping({"clients": rules_in_file("clients", file)})
    assert request.clients == (ClientRule("pay-.*", "java", "2.8.1"),)
    assert RunRequest.from_mapping(json.loads(json.dumps(request.document()))) == request
    file.write_text('[[clients]]\npattern = "pay-.*"\nclient = "jvm"\n')
    with pytest.raises(InvalidInputError, match=r"\[\[clients\]\] 1: --clients: client: 'jvm' is unknown; known: java"):
        rules_in_file("clients", file)


def test_tables_of_toml_are_read_as_they_are() -> None:
    mutes = tomllib.loads(RULES)["mutes"]
    assert RunRequest.from_mapping({"mutes": mutes}).mutes == MUTES
