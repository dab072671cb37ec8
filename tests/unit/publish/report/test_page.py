import re
from dataclasses import replace

import pytest

from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.amounts import format_bytes, format_seconds
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.render import render_document
from kafka_rebalance.render.steps import step_lines
from kafka_rebalance.snapshot.model import (
    Broker,
    ClusterSnapshot,
    LogDir,
    Partition,
    Topic,
    partition_table,
)
from rebalance_advisor.publish.digest import describe_ending, render_digest
from rebalance_advisor.publish.report import describe_evidence, render_report


@pytest.fixture(scope="module")
def advisory() -> dict:
    rows = [Partition("t", p, (1, 2), 1, isr=(1, 2), log_bytes=(10, 10)) for p in range(6)]
    brokers = tuple(Broker(i, f"r{i}", log_dirs=(LogDir("/d", 100, 40),)) for i in (1, 2, 3))
    snapshot = ClusterSnapshot("demo & co", brokers, (Topic("t"),), partition_table(rows, {"t": 0}))
    options = replace(PlanOptions(), leaders_only=True)
    return advise(snapshot, AdviceRequest(options), advisor_version="0.1.0").document()


def test_the_verdict_stands_first(advisory: dict) -> None:
    assert describe_ending(advisory)[0].startswith(f"Verdict: {advisory['plan']['verdict'].replace('_', ' ')}")
    assert describe_ending(advisory)[1] == f"  {step_lines(advisory['plan'])[0]}"
    assert render_digest(advisory).startswith("**demo & co: ")
    assert len(render_digest(advisory).splitlines()) <= 10


def test_another_balancer_stands_in_the_first_line_of_a_plan_that_moves_something() -> None:
    rows = [Partition(name, 0, (1, 2), 1, isr=(1, 2), log_bytes=(10, 10)) for name in ("__CruiseControlMetrics", "a")]
    rows += [Partition("t", p, (1, 2), 1, isr=(1, 2), log_bytes=(10, 10)) for p in range(6)]
    topics = {row.topic: number for number, row in enumerate(rows[:3])}
    snapshot = ClusterSnapshot(
        "c", (Broker(1), Broker(2)), tuple(map(Topic, topics)), partition_table(rows, topics)
    )  # fmt: skip
    document = advise(snapshot, AdviceRequest(PlanOptions(leaders_only=True)), advisor_version="0.1.0").document()
    assert document["plan"]["moves"]
    assert render_digest(document).splitlines()[0].endswith("; Cruise Control may work against it**")
    (interference,) = [reason for reason in document["plan"]["reasons"] if reason["code"] == "balancer_may_interfere"]
    assert render_document(interference).partition(" (")[0] in render_report(document)


def learn(subject: str) -> dict:
    return {"code": "learn_strategy", "args": {"group": subject}}


def test_owners_are_named_and_what_is_muted_is_counted_and_not_shown(advisory: dict) -> None:
    loud, quiet = (
        {
            "severity": "high", "subject_type": "broker", "subject": subject, "code": "dead_broker", "evidence": {},
            "actor": "plan",
            "recommendation": learn(subject), "cost": None, "team": team, "channel": "#<b>", "tier": 0,
            "muted_until": until,
        }
        for subject, team, until in (("7", "storage", None), ("8", None, "2026-12-31T00:00:00+00:00"))
    )  # fmt: skip
    document = {**advisory, "findings": [loud, quiet]}
    assert describe_ending(document)[2].startswith("  Safe to start: ")
    assert describe_ending(document)[3:] == [
        f"  high: broker 7: {render_document(learn('7'))} (storage, #<b>, tier 0)",
        "  1 muted, the first until 2026-12-31 (findings.json)",
    ]  # fmt: skip
    page = render_report(document)
    assert "storage, #&lt;b&gt;, tier 0" in page
    assert "--group 8" not in page
    assert len(render_digest(document).splitlines()) <= 10


def test_what_a_finding_explains_stands_with_it_by_code_and_not_as_lines_of_its_own(advisory: dict) -> None:
    def finding_row(code: str, kind: str, subject: str, *symptoms: dict) -> dict:
        return {
            "severity": "high", "subject_type": kind, "subject": subject, "code": code, "evidence": {},
            "actor": "owner",
            "recommendation": learn(subject), "cost": None, "team": None, "channel": None, "tier": None,
            "muted_until": None, "symptoms": symptoms,
        }  # fmt: skip

    piled = [finding_row("leaders_piled_up", "broker", str(broker)) for broker in (3, 6)]
    cause = finding_row(
        "preferred_leaders_off", "cluster", "<c>", *piled, finding_row("group_hot_partition", "group", "g")
    )
    text = "leaders piled up (broker 3, 6), group hot partition (group g)"
    document = {**advisory, "findings": [cause]}
    assert describe_ending(document)[2].startswith("  Safe to start: ")
    assert describe_ending(document)[3:] == [
        f"  high: cluster <c>: {render_document(learn('<c>'))} It explains {text}."
    ]
    page = render_report(document)
    assert f"explains: {text}" in page
    assert "--group 3" not in page


def test_a_page_shows_names_and_runs_nothing_of_them(advisory: dict) -> None:
    page = render_report(advisory)
    assert "demo &amp; co" in page
    assert advisory["plan"]["plan_id"] in page
    assert "://" not in page


def test_readers_without_a_group_stand_with_their_skew_the_most_uneven_first(advisory: dict) -> None:
    assert 'id="readers"' not in render_report(advisory)

    def read_by(name: str, kind: str, by_rate: float | None) -> dict:
        return {"name": name, "kind": kind, "readers": 1200, "idle_readers": 3, "skew_count": 1.5, "skew_rate": by_rate}

    readers = [read_by("dr", "mirror_maker", None), read_by("<fraud>", "flink", 2.25)]
    page = re.sub(r' data-label="[^"]*"', "", render_report({**advisory, "readers": readers}))
    cells = '</td><td>Flink</td><td class="n">1,200</td><td class="n">3</td><td class="n">1.50 ×</td>'
    assert f'<bdi>&lt;fraud&gt;</bdi>{cells}<td class="n">2.25 ×</td>' in page
    assert page.index("&lt;fraud&gt;") < page.index("<bdi>dr</bdi></td><td>MirrorMaker 2<")


def test_unknown_is_said_and_never_zero(advisory: dict) -> None:
    missing = advisory["loads"]["in_bytes_per_s"]
    assert missing["code"] == "load_missing"
    assert f"rate of writes: {render_document(missing)}" in render_report(advisory)


@pytest.mark.parametrize(
    ("value", "text"), [(None, "unknown"), (0, "0 B"), (1536, "1.5 KiB"), (5 << 40, "5.0 TiB"), (7 << 50, "7.0 PiB")]
)
def test_bytes_are_read_as_people_read_them(value: float | None, text: str) -> None:
    assert format_bytes(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [
        (None, "unknown"), (0, "0 s"), (0.38, "under 1 s"), (1, "1 s"), (59, "59 s"), (5400, "1 h 30 min"),
        (200_000, "2.3 days"),
    ],
)  # fmt: skip
def test_times_are_read_as_people_read_them(value: float | None, text: str) -> None:
    assert format_seconds(value) == text


def test_evidence_takes_its_unit_from_its_name() -> None:
    text = describe_evidence(
        {"disk_bytes": 1024, "in_bytes_per_s": 2048, "over_share_ratio": 1.3149, "members": 3, "x": None}
    )
    assert text == "disk: 1.0 KiB, in: 2.0 KiB/s, over share: 1.31, members: 3, x: unknown"
    text = describe_evidence(
        {"plan_bytes_out": 1024.0, "least_seconds_to_full": 5400.0, "cpu_left_out": "figure_not_measured", "dir": "a_b"}
    )
    assert text == "plan bytes out: 1.0 KiB, least to full: 1 h 30 min, cpu left out: figure not measured, dir: a_b"
