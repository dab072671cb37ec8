"""Every page over stored advisories: what it says, who gets it, and that names are only text."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from kafka_assignors.connect_work import ConnectTask, Work
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Severity, SubjectType
from kafka_rebalance.groups.motion import GroupMotion, MotionCode
from kafka_rebalance.scoring import GroupScore, ResourceScore
from kafka_rebalance.snapshot.group import ConnectWorker
from kafka_rebalance.snapshot.model import Group, Member
from rebalance_advisor import store
from rebalance_advisor.gates import Gate, rules_of
from rebalance_advisor.page.pictures import FULL_SHARE, RESOURCES
from rebalance_advisor.page.queries import (
    ALL,
    GROUP_LAG,
    LISTINGS,
    PARTITION,
    applied_plans,
    carried_by,
    copies,
    disk_history,
    finding_lanes,
    heat,
    list_total,
    listed,
    topic_parts,
    worst_skews,
)
from rebalance_advisor.page.rendering import HEADERS
from rebalance_advisor.page.routes import BrokerSort, GroupSort, TopicSort
from tests.sql.page import large_cluster
from tests.sql.sample_clusters import finding, rich_snapshot
from tests.sql.test_questions import advise, read
from tests.sql.test_runs import publish

pytestmark = pytest.mark.stack

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
RUN = "manual__2026-11-20T12:00:00+00:00.prod"
HOSTILE = "<script>alert(1)</script>"
PAGES = (
    "/", "/clusters/prod", "/clusters/prod/plan", "/clusters/prod/plan.json", "/clusters/prod/history",
    "/clusters/prod/brokers", "/clusters/prod/topics", "/clusters/prod/groups", "/clusters/prod/broker?id=1",
    "/clusters/prod/topic?name=orders", "/clusters/prod/group?name=readers", "/clusters/prod/gates?run=yesterday",
    "/page.css", "/search?text=orders",
)  # fmt: skip


@pytest.fixture
def published(connection) -> str:
    """Two advisories, of yesterday and today; returns the newer one's reading."""
    snapshot = replace(rich_snapshot(), captured_at=NOW, groups=rich_snapshot().groups)
    yesterday = read(connection, NOW - timedelta(days=1))
    today = read(connection, NOW, snapshot)
    groups = [
        GroupScore("readers", "range", None, True, 3, 6, 1, 1.5, 2.0, None, drain_seconds=900.0),
        GroupScore(
            "readers", "roundrobin", None, False, 3, 6, 0, 1.0, 1.1, None, 4, drain_seconds=300.0, is_advised=True
        ),
    ]
    results = [finding(severity=Severity.CRITICAL), finding("dead_broker", "3", Severity.INFO)]
    results[0] = replace(results[0], symptoms=(results[1],), cost_bytes=5.0)
    hostile = fact(FactCode.LEARN_STRATEGY, group=HOSTILE)
    results.append(replace(results[1], subject=HOSTILE, subject_type=SubjectType.TOPIC, recommendation=hostile))
    scores = [ResourceScore("disk", "bytes", "log_dirs", 1.0, 1200.0, 400.0, 1.25, 1)]
    advise(connection, "yesterday", yesterday, NOW - timedelta(days=1))
    change = fact(
        FactCode.CHANGE_STRATEGY, advised="roundrobin", idle_members=0, skew_count=1.0, partitions_moved=4,
        is_server=False,
    )  # fmt: skip
    advice = {"readers": change}
    advise(connection, RUN, today, NOW, findings=results, resources=scores, groups=groups, advice=advice)
    return today


def test_every_column_that_the_page_names_is_in_the_contract(reader) -> None:
    for view in ALL:
        assert reader.rows(select(*view.c).limit(1)) == []


def test_pages_answer_in_html_with_strict_headers(published, open_page) -> None:
    for path in PAGES:
        answer = open_page().get(path)
        assert answer.status_code == 200, (path, answer.text)
        assert {name: answer.headers[name] for name in HEADERS if name != "Cache-Control"}.items() <= HEADERS.items()
        assert "<script" not in answer.text
        assert path.endswith((".json", ".css")) or "\\n<" not in answer.text  # what macros make is no foreign text
    assert "script-src" not in HEADERS["Content-Security-Policy"]  # default-src 'none' is what holds
    assert "default-src 'none'" in HEADERS["Content-Security-Policy"]


def test_nobody_gets_anything_but_401(published, open_page) -> None:
    nobody = open_page(None)
    paths = [route.path.replace("{cluster}", "prod").replace("{path:anything}", "x/y") for route in nobody.app.routes]
    assert len(paths) > 10
    for path in [*paths, *PAGES, "/docs", "/openapi.json", "/a%0Ab", "/clusters/prod%0A", "/clusters/%0A/x"]:
        for method in ("GET", "POST", "DELETE"):
            answer = nobody.request(method, path)
            assert answer.status_code in ((401,) if method == "GET" else (401, 405)), (method, path)
            assert "prod" not in answer.text.replace("/prod", "")


def test_a_cluster_is_seen_by_those_alone_who_may_read_it(published, open_page) -> None:
    assert "prod" in open_page("prod").get("/").text
    stranger = open_page("other")
    assert "prod" not in stranger.get("/").text
    for path in (path for path in PAGES if path.startswith("/clusters")):
        assert stranger.get(path).status_code == 403
    assert stranger.get("/run", params={"dag_id": "advise_prod", "run_id": "r"}).status_code == 403
    assert stranger.get("/clusters/nothing").status_code == 403
    assert stranger.get("/clusters/other").status_code == 404


def test_a_broker_holds_what_it_holds_now_and_has_a_page_where_a_group_alone_names_it(connection, open_page) -> None:
    """Broker 3 leads orders-0, which a running reassignment takes from it, and __consumer_offsets-0."""
    snapshot = replace(rich_snapshot(), captured_at=NOW)
    groups = (replace(snapshot.groups[0], coordinator=77), *snapshot.groups[1:])
    advise(connection, RUN, read(connection, NOW, replace(snapshot, groups=groups)), NOW)
    client = open_page()
    text = unlabelled(client.get("/clusters/prod/brokers").text)
    listed = text.partition("broker 3</a>")[2].partition("</tr>")[0]
    assert re.findall(r'<td class="load">(\d+)[ <]', listed)[-2:] == ["2", "2"]
    assert (
        'href="/clusters/prod/broker?id=77"' in client.get("/clusters/prod/group", params={"name": groups[0].id}).text
    )
    assert "Not among the brokers of the newest snapshot" in client.get("/clusters/prod/broker?id=77").text
    assert client.get("/clusters/prod/broker?id=78").status_code == 404


def test_a_group_without_lag_is_in_no_trouble_and_another_release_has_the_commands_of_its_plan(
    connection, open_page
) -> None:
    kept_up = GroupScore("readers", "range", None, True, 3, 6, 0, 1.0, 1.0, None, drain_seconds=0.0)
    advise(connection, RUN, read(connection, NOW), NOW, groups=[kept_up])
    client = open_page()
    assert "No group that was replayed lags or should change" in client.get("/clusters/prod").text
    connection.execute("UPDATE store.plan SET document = replace(document, '\"moves\"', '\"shifts\"')")
    answer = client.get("/clusters/prod/commands.md")
    assert (answer.status_code, "Another release made this plan" in answer.text) == (404, True)


def test_search_finds_brokers_by_id_and_others_by_name_in_clusters_that_the_caller_may_see(
    published, open_page
) -> None:
    client = open_page()

    def links_of(text: str, of=client) -> set[str]:
        answer = of.get("/search", params={"text": text})
        assert answer.status_code == 200
        return set(re.findall(r'href="(/clusters/[^"]+)"', answer.text))

    assert "/clusters/prod/topic?name=orders" in links_of("ORD")
    assert links_of("broker 3") == {"/clusters/prod/broker?id=3", "/clusters/prod"}
    assert "/clusters/prod/broker?id=3" in links_of("3")
    assert "/clusters/prod/group?name=readers" in links_of("readers")
    assert links_of("prod") == {"/clusters/prod"}
    assert links_of("o%s") == links_of("  ") == links_of("9" * 40) == links_of("") == set()
    assert links_of("orders", open_page("other")) == set()
    assert HOSTILE not in client.get("/search", params={"text": HOSTILE}).text
    assert client.get("/search", params={"text": "x" * 256}).status_code == 422
    assert all('action="/search"' in client.get(path).text for path in PAGES if not path.endswith((".json", ".css")))


def test_the_size_of_a_partition_is_its_leaders_where_no_dump_told_one(published, connection) -> None:
    for view in ("load", "load_latest"):
        sizes = connection.execute(
            f"SELECT topic, partition, log_bytes FROM advisor.{view} WHERE captured_at = %s ORDER BY topic, partition",
            [NOW],
        ).fetchall()
        assert sizes == [
            ("__consumer_offsets", 0, 0.0), ("__consumer_offsets", 1, 4.0), ("orders", 0, 10.0), ("orders", 1, 5.0),
            ("orders", 5, None),
        ]  # fmt: skip


def unlabelled(text: str) -> str:
    """Without the headings that cells carry for a narrow screen."""
    return re.sub(r' data-label="[^"]*"', "", text)


def test_tasks_of_a_streams_application_and_workers_of_connect_are_on_their_groups_pages(connection, open_page) -> None:
    work = Work(("sink",), (ConnectTask("sink", 0), ConnectTask("sink", 1)))
    worker = Member("w-2", worker=ConnectWorker(version=0, url="http://w-2", leader="w-2", assigned=work))
    groups = (*rich_snapshot().groups, Group("sinks", protocol_type="connect", members=(worker,)))
    publish(connection, "r-1", read(connection, NOW, replace(rich_snapshot(), groups=groups)))
    client = open_page()
    text = unlabelled(client.get("/clusters/prod/group?name=flow").text)
    assert "Tasks of this Streams application" in text
    row = re.search(r"instance dies <span class=.quiet.>p</span></th>(.*?)</tr>", text)[1]
    figures = ["2", "2", "4", "2 to 2", "0", "0", "unknown", "2", "2", "0"]
    assert re.findall(r"<td class=.n.>([^<]*)</td>", row) == figures
    assert re.search(r"<th scope=.row.>p\\</th><td class=.n.>1</td><td class=.n.>2</td><td class=.n.>1</td>", text)
    text = unlabelled(client.get("/clusters/prod/group?name=sinks").text)
    assert "Kafka Connect, classic group" in text
    assert re.search(
        r"http://w-2 <span class=.quiet.>leads the group</span></th><td class=.n.>1</td><td class=.n.>2<", text
    )
    assert "classic, Kafka Connect" in client.get("/clusters/prod/groups").text


def test_the_fleet_says_verdict_age_worst_broker_findings_and_plan(published, open_page) -> None:
    text = open_page().get("/").text
    for part in ("Rebalance: a plan is ready", "broker 1", "1.25 × the mean of disk", "1 critical", "1 replica move,"):
        assert part in text
    assert re.search(r'75 %, <a href="/clusters/prod/broker\?id=3">broker 3', text)  # the fullest disks
    assert re.search(r'<span class="severity critical">critical</span>\s*<a [^>]*>broker 1</a>', text)  # what it needs
    assert '<b class="critical">Urgent:</b>' in open_page().get("/clusters/prod").text
    assert "none of 1</td>" in text  # groups that fall behind


def test_the_partitions_of_a_broker_are_listed_largest_first_with_what_they_are_there(published, open_page) -> None:
    text = unlabelled(open_page().get("/clusters/prod/broker?id=1").text)
    listed = re.findall(
        r'">([^<]+)</a></th><td class="n">(\d)</td><td class="n">([^<]*)</td><td class="n">[^<]*</td>'
        r'<td class="short">([^<]*)</td><td class="short">(?:<a [^>]*>)?([^<]*)',
        text[text.index('id="partitions"') :],
    )
    assert listed == [
        ("__consumer_offsets", "0", "1.0 PiB", "follows", "broker 3"),
        ("orders", "0", "10 B", "follows, not in sync", "broker 3"),
        ("orders", "1", "5 B", "leads", "itself"),
        ("__consumer_offsets", "1", "4 B", "leads", "itself"),
    ]
    assert "Partitions on it" not in open_page().get("/clusters/prod/broker?id=1&page=2").text


def test_whether_a_plan_may_start_stands_below_its_steps(published, open_page, connection) -> None:
    pages = [f"/clusters/prod{page}" for page in ("", "/plan")]
    for page in pages:
        assert "Safe to start: no running reassignment" in open_page().get(page).text
    blockers = [finding("throttle_left_over", "prod"), finding("under_replicated", "orders")]
    advise(connection, "blocked", read(connection, NOW + timedelta(days=1)), NOW + timedelta(days=1), findings=blockers)
    for page in pages:
        text = open_page().get(page).text
        named = "under replicated (broker orders), throttle left over (broker prod)"
        assert f"Not safe to start before this is settled: {named}." in text
    assert "safe to start" not in open_page().get(f"/clusters/prod/plan?run={RUN}").text.lower()


def test_the_plan_is_downloaded_byte_for_byte_with_its_hash(published, open_page, connection) -> None:
    client = open_page()
    text = client.get("/clusters/prod/plan").text
    answer = client.get(re.search(r'id="download" href="([^"]+)"', text)[1].replace("&amp;", "&"))
    shown = re.search(r'id="sha256">([0-9a-f]{64})<', text)[1]
    assert hashlib.sha256(answer.content).hexdigest() == shown == answer.headers["x-content-sha256"]
    stored = connection.execute("SELECT document FROM advisor.plan WHERE run_id = %s", [RUN]).fetchone()[0]
    assert answer.content.decode() == stored


def test_an_older_plan_is_named_by_its_run(published, open_page) -> None:
    assert "yesterday" in open_page().get("/clusters/prod/plan", params={"run": "yesterday"}).text
    assert open_page().get("/clusters/prod/plan", params={"run": "never"}).status_code == 404


def gate_rows(html: str) -> dict[str, list[str]]:
    """Cells of the table of rules, by rule."""
    table = html.partition('aria-label="Rules of the gates"')[2].partition("</table>")[0]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in table.split("<tr>")[2:]]
    return {name: cells for name, *cells in rows}


def test_the_plan_shows_each_rule_of_both_gates(published, open_page, connection) -> None:
    checks = [
        store.Check(rule.name, rule.level.value, 0) for rule in rules_of(Gate.INPUT) if rule.name != "clock_ahead"
    ]
    odd = ({"subject": HOSTILE, "state": "Dead"},) * 4
    checks = [store.Check("group_vanished", "quarantine", 4, odd) if c.rule == "group_vanished" else c for c in checks]
    store.record_input_checks(connection, published, checks, [])
    html = open_page().get("/clusters/prod/plan", params={"run": RUN}).text
    assert HOSTILE not in html
    rows = gate_rows(html)
    assert len(rows) == len(rules_of(Gate.INPUT)) + len(rules_of(Gate.RESULTS))
    assert rows["partition listed twice"] == ["input", "block", "passed", "0", ""]
    assert rows["group vanished"][:4] == ["input", "quarantine", "failed", "4"]
    assert rows["group vanished"][4].endswith(" and 1 more")
    assert rows["clock ahead"] == ["input", "block", "not evaluated", "", ""]
    assert rows["plan does not add up"] == ["results", "block", "not evaluated", "", ""]


def test_an_advisory_that_a_gate_refused_shows_its_rules(published, open_page, connection) -> None:
    store.start_run(connection, run_id="refused.prod", cluster="prod", snapshot_id=published)
    store.record_result_checks(
        connection, "refused.prod", [store.Check("plan_does_not_add_up", "block", 1, ({"what": "bytes"},))]
    )
    answer = open_page().get("/run", params={"dag_id": "advise_prod", "run_id": "refused"})
    assert answer.status_code == 200
    assert "State: refused" in answer.text
    assert gate_rows(answer.text)["plan does not add up"] == ["results", "block", "failed", "1", "what bytes"]
    assert open_page("other").get("/clusters/prod/gates", params={"run": "refused.prod"}).status_code == 403
    assert open_page().get("/clusters/prod/gates", params={"run": "never"}).status_code == 404


def test_the_steps_are_on_the_pages_of_cluster_and_plan_and_waves_stand_below_theirs(published, open_page) -> None:
    for page in ("", "/plan"):
        text = open_page().get(f"/clusters/prod{page}").text
        rows = re.search(r'<table id="steps">(.*?)</table>', text, re.DOTALL)[1]
        assert re.findall(r"<b>(.*?)</b>", rows) == ["1. Relieve broker 1", "2. Even out the load"]
        assert "highest disk over mean 1.25 × → 1.05 ×" in rows
        assert "100 B" in rows
        assert unlabelled(rows).count('<td class="short">not started</td>') == 2
    waves = re.findall(r'scope="rowgroup">(.*?)<|>(wave \d)<', text)
    assert [step or wave for step, wave in waves] == [
        "1. Relieve broker 1", "wave 1", "2. Even out the load", "wave 2"
    ]  # fmt: skip
    assert "watched: broker 1 carries 500 B of 1000 B, assumed" in text


def test_the_tab_of_a_dag_run_leads_to_its_plan(published, open_page) -> None:
    asked = {"dag_id": "advise_prod", "run_id": RUN.removesuffix(".prod")}
    answer = open_page().get("/run", params=asked)
    assert answer.status_code == 200
    assert "Plan of prod" in answer.text
    assert "prod</h1>" in open_page().get("/run", params=asked | {"dag_id": "collect_prod"}).text
    assert open_page().get("/run", params=asked | {"dag_id": "somebody_elses"}).status_code == 404


def test_a_group_says_which_strategy_and_what_it_saves(published, open_page) -> None:
    text = open_page().get("/clusters/prod/group", params={"name": "readers"}).text
    assert "Change its strategy to roundrobin" in text
    assert "15 min" in text
    assert "5 min" in text


def test_a_group_that_moves_is_not_judged(connection, open_page) -> None:
    today = read(connection, NOW, replace(rich_snapshot(), captured_at=NOW))
    moving = finding("group_in_motion", "readers", Severity.LOW)
    rebalancing = GroupMotion(MotionCode.REBALANCING, None, 3).fact(FactCode.NOT_JUDGED)
    moving = replace(moving, subject_type=SubjectType.GROUP, recommendation=rebalancing)
    scores = [GroupScore("readers", "range", None, True, 3, 6, skew_count=1.5)]
    advise(connection, RUN, today, NOW, findings=[moving], groups=scores, advice={"readers": rebalancing})
    text = open_page().get("/clusters/prod/group", params={"name": "readers"}).text
    assert "<strong>Not judged: " in text
    assert "Keep range" not in text


def test_hostile_names_are_text(published, open_page) -> None:
    text = open_page().get("/clusters/prod").text
    assert HOSTILE not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "explains dead broker (broker 3)" in text
    for path in ("topic", "group"):
        answer = open_page().get(f"/clusters/prod/{path}", params={"name": HOSTILE})
        assert answer.status_code == 404
        assert HOSTILE not in answer.text


@pytest.mark.parametrize("asked", ["page=0", "sort=evil", "wave=1;2", "broker=x", "kind=none", "page=x"])
def test_a_filter_that_cannot_be_is_refused(published, open_page, asked: str) -> None:
    assert open_page().get(f"/clusters/prod/plan?{asked}").status_code == 422


def test_the_reader_cannot_write(reader, connection) -> None:
    with reader._engine.connect() as opened, pytest.raises(DBAPIError, match=r"read-only|permission denied"):
        opened.execute(text("CREATE TABLE advisor.mine (a int)"))


def test_a_broker_says_which_topic_fills_it_and_what_explains_its_trouble(published, open_page, reader) -> None:
    (first, *others) = reader.rows(carried_by("prod", 1, 10))
    sizes: Counter[str] = Counter()
    for row in reader.rows(select(*PARTITION.c).where(PARTITION.c.cluster == "prod")):
        if 1 in row["replicas"]:
            own, of_leader = (
                row["log_bytes"][row["replicas"].index(broker)] if broker in row["replicas"] else None
                for broker in (1, row["leader"])
            )
            sizes[row["topic"]] += (of_leader if own is None else own) or 0
    assert first["log_bytes"] == max(sizes.values()) > 0
    assert {row["topic"]: row["log_bytes"] or 0 for row in (first, *others)} == sizes
    text = open_page().get("/clusters/prod/broker", params={"id": 3}).text
    assert "explains dead broker (broker 3)" in text  # found of another broker


def test_a_cluster_says_what_stays_if_nothing_is_done(published, open_page) -> None:
    assert "<b>If nothing is done:</b> the most loaded brokers stay at disk 1.25 × the mean" in (
        open_page().get("/clusters/prod").text
    )


def test_the_heat_map_has_the_brokers_that_are_worst_off(connection, open_page, reader) -> None:
    """Those nearly full first, then those the furthest above their share; with what the plan makes of them."""
    large_cluster.fill(connection, large_cluster.SAMPLE, datetime.now(UTC).replace(microsecond=0))
    cluster = large_cluster.CLUSTER
    every = reader.rows(heat(cluster, "today", RESOURCES, FULL_SHARE, 100))
    assert len({row["broker"] for row in every}) == large_cluster.SAMPLE.brokers
    highest: dict[int, float] = {}
    for row in every:
        highest[row["broker"]] = max(highest.get(row["broker"], 0.0), row["times_share"] or 0.0)
    (worst,) = {row["broker"] for row in reader.rows(heat(cluster, "today", RESOURCES, FULL_SHARE, 1))}
    assert highest[worst] == max(highest.values())
    disks = {row["broker"]: row for row in every if row["resource"] == "disk"}
    assert {row["load_after"] for row in disks.values()} == {1000.0}
    (full,) = {row["broker"] for row in reader.rows(heat(cluster, "today", RESOURCES, full_share(disks.values()), 1))}
    assert full == max(disks, key=lambda broker: disks[broker]["load"])
    text = open_page().get(f"/clusters/{cluster}").text
    assert text.count('aria-label="broker ') == 50
    assert "The 50 brokers that are worst off, of 60" in text


def test_what_brokers_copy_adds_up_to_the_plan(connection, open_page, reader) -> None:
    """The brokers that copy most first; each byte is sent once and received once."""
    large_cluster.fill(connection, large_cluster.SAMPLE, datetime.now(UTC).replace(microsecond=0))
    size, cluster = large_cluster.SAMPLE, large_cluster.CLUSTER
    rows = reader.rows(copies(cluster, "today", size.brokers))
    moved = large_cluster.large_plan(size, "x").cost.bytes
    assert sum(row["received_bytes"] or 0 for row in rows) == sum(row["sent_bytes"] or 0 for row in rows) == moved
    assert {row["wave"] for row in rows} == set(range(1, size.waves + 1))
    total: Counter[int] = Counter()
    for row in rows:
        total[row["broker"]] += (row["received_bytes"] or 0) + (row["sent_bytes"] or 0)
    few = reader.rows(copies(cluster, "today", 3))
    assert list(dict.fromkeys(row["broker"] for row in few)) == sorted(total, key=lambda item: (-total[item], item))[:3]
    assert {row["broker_count"] for row in few} == {len(total)}
    assert f"that copy most, of {len(total)}" in open_page().get(f"/clusters/{cluster}/plan").text


def test_a_topic_shows_its_partitions_and_where_the_plan_puts_them(connection, open_page) -> None:
    large_cluster.fill(connection, large_cluster.SAMPLE, datetime.now(UTC).replace(microsecond=0))
    size, topic = large_cluster.SAMPLE, large_cluster.topic_name(7)
    text = open_page().get(f"/clusters/{large_cluster.CLUSTER}/topic", params={"name": topic}).text
    assert len(re.findall(r'aria-label="partition \d+: [\d.]+ .iB/s written, led by broker', text)) == 25
    moved = [move for move in large_cluster.large_plan(size, "x").moves if move.topic == topic]
    assert len(moved) == 25
    matrix = text.partition('aria-label="Replicas of each partition by broker"')[2]
    shown = {int(number) for number in re.findall(r'class="column"[^>]*>(\d+)<', matrix)}
    assert len(shown) == 40
    assert matrix.count("●+<") == sum(move.leader_to in shown for move in moved) > 0
    assert matrix.count("●−<") == sum(move.leader_from in shown for move in moved) > 0
    assert "led in rack-3" in text


def test_a_broker_shows_how_its_disk_grew_by_volumes_or_by_replicas(connection, open_page, reader) -> None:
    large_cluster.fill(connection, large_cluster.SAMPLE, now := datetime.now(UTC).replace(microsecond=0))
    cluster, since = large_cluster.CLUSTER, now - timedelta(days=30)
    volumes = reader.rows(disk_history(cluster, 3, "volumes", since))
    assert [row["used_bytes"] for row in volumes] == [8000 * large_cluster.GIB] * 2
    assert [row["moment"] for row in volumes] == [now - timedelta(days=7), now]
    replicas = reader.rows(disk_history(cluster, 3, "replicas", since))
    stored = "SELECT load FROM advisor.broker_level_by_day WHERE broker = 3 AND resource = 'disk' ORDER BY period_start"
    assert [row["used_bytes"] for row in replicas] == [load for (load,) in connection.execute(stored).fetchall()]
    assert reader.rows(disk_history(cluster, 3, "volumes", now + timedelta(days=1))) == []
    text = open_page().get(f"/clusters/{cluster}/broker?id=3").text
    assert 'aria-label="7.8 TiB of 15.6 TiB used; it grows by 0 B a day"' in text
    assert "all other topics" in text
    assert re.search(r'aria-label="broker 3, disk: [\d.]+ × its share, ', text)


def test_a_group_shows_its_members_and_its_lag_of_each_day(connection, open_page) -> None:
    large_cluster.fill(connection, large_cluster.SAMPLE, datetime.now(UTC).replace(microsecond=0))
    group = large_cluster.group_name(7)
    text = open_page().get(f"/clusters/{large_cluster.CLUSTER}/group", params={"name": group}).text
    bars = re.findall(r'<svg class="strip" role="img" aria-label="(\d) partitions"', text)
    assert bars == ["3"] * 2 * large_cluster.SAMPLE.members_a_group  # today and with the advised strategy
    days = connection.execute(
        "SELECT highest_lag_messages FROM advisor.group_lag_by_day"
        " WHERE group_id = %s AND period_start >= now() - interval '30 days' ORDER BY period_start", [group],
    ).fetchall()  # fmt: skip
    assert len(days) == 30
    assert re.findall("messages behind, at most ([0-9,]+)<", text) == [f"{highest:,}" for (highest,) in days]


def test_the_history_has_skew_by_the_day_and_findings_from_first_to_last_seen(connection, open_page, reader) -> None:
    """A finding of last week that is gone is resolved; one of both advisories is open."""
    large_cluster.fill(connection, large_cluster.SAMPLE, now := datetime.now(UTC).replace(microsecond=0))
    cluster, since = large_cluster.CLUSTER, now - timedelta(days=90)
    connection.execute(
        "DELETE FROM store.finding USING store.run WHERE run.run_key = finding.run_key AND run_id = 'today'"
        " AND subject_type = 'broker' AND subject = '0'"
    )
    result = reader.rows(finding_lanes(cluster, since, 500))
    assert len(result) == result[0]["finding_count"] == large_cluster.SAMPLE.findings
    assert [row["severity_rank"] for row in result] == sorted(row["severity_rank"] for row in result)
    seen = {(row["subject_type"], row["subject"]): row for row in result}
    gone, still = seen["broker", "0"], seen["broker", "1"]
    assert (gone["times_seen"], gone["last_seen"]) == (1, now - timedelta(days=7))
    assert (still["times_seen"], still["first_seen"], still["last_seen"]) == (2, now - timedelta(days=7), now)
    assert len(reader.rows(finding_lanes(cluster, since, 10))) == 10
    assert reader.rows(finding_lanes(cluster, now + timedelta(days=1), 10)) == []
    text = open_page().get(f"/clusters/{cluster}/history").text
    assert 'aria-label="Skew of disk by the day. ' in text
    assert re.search(r"The 30 worst of \d+", text)


def test_a_plan_that_was_applied_is_a_mark_in_the_history(connection, open_page, reader) -> None:
    large_cluster.fill(connection, large_cluster.SAMPLE, now := datetime.now(UTC).replace(microsecond=0))
    for application, state in (("one", "verified"), ("two", "rejected")):
        connection.execute(
            "INSERT INTO store.application (application_id, run_key, state, verified_at)"
            " SELECT %s, run_key, %s, %s FROM store.run WHERE run_id = 'last-week'",
            [application, state, now - timedelta(days=1)],
        )
    (applied,) = reader.rows(applied_plans(large_cluster.CLUSTER, now - timedelta(days=90)))
    assert applied["application_id"] == "one"
    text = open_page().get(f"/clusters/{large_cluster.CLUSTER}/history").text
    assert f"plan applied, seen on {now - timedelta(days=1):%Y-%m-%d}" in text


def test_the_fleet_has_the_skew_of_the_worst_resource_as_a_small_line(connection, open_page, reader) -> None:
    large_cluster.fill(connection, large_cluster.SAMPLE, now := datetime.now(UTC).replace(microsecond=0))
    days = reader.rows(worst_skews(now - timedelta(days=30)))
    worst = connection.execute("SELECT worst_resource FROM advisor.cluster_latest").fetchone()[0]
    assert [row["resource"] for row in days] == [worst] * 2
    assert reader.rows(worst_skews(now + timedelta(days=1))) == []
    assert f'aria-label="Skew of {worst} by the day. ' in open_page().get("/").text


def test_findings_say_since_when_they_are_there(connection, open_page) -> None:
    large_cluster.fill(connection, large_cluster.SAMPLE, datetime.now(UTC).replace(microsecond=0))
    connection.execute(
        "DELETE FROM store.finding USING store.run WHERE run.run_key = finding.run_key AND run_id = 'last-week'"
        " AND subject_type = 'broker' AND subject = '0'"
    )
    text = open_page().get(f"/clusters/{large_cluster.CLUSTER}").text
    badges = Counter(re.findall(r'<span class="badge">(.*?)</span>', text))
    assert badges == {"new": 1, "day 8": 99}
    connection.execute(
        "DELETE FROM store.finding USING store.run WHERE run.run_key = finding.run_key AND run_id = 'today'"
        " AND subject_type = 'broker' AND subject = '1'"
    )
    text = open_page().get(f"/clusters/{large_cluster.CLUSTER}").text
    (resolved,) = re.findall(r"Resolved since the advisory before: (.*?)</p>", text)
    assert re.sub("<.*?>", "", resolved) == "broker disk over share (broker 1)."


@pytest.mark.parametrize("changed", [0, 3])
def test_a_plan_says_what_changed_since_the_one_before(connection, open_page, changed: int) -> None:
    large_cluster.fill(connection, large_cluster.SAMPLE, datetime.now(UTC).replace(microsecond=0))
    connection.execute(
        "UPDATE store.move SET leader_to = leader_to + 1 FROM store.run WHERE run.run_key = move.run_key"
        " AND run_id = 'today' AND move.position < %s",
        (changed,),
    )
    text = open_page().get(f"/clusters/{large_cluster.CLUSTER}/plan").text
    (line,) = re.findall(r'<p id="since">Changed since the advisory before: (.*?)\.</p>', text)
    moves = large_cluster.SAMPLE.moves
    assert line == (f"new 3 of {moves:,} moves, gone 3 of {moves:,} moves" if changed else "nothing")


def full_share(disks) -> float:
    """Just below the share of the fullest disk."""
    return 0.9999 * max(row["load"] / row["capacity"] for row in disks)


def test_lists_have_figures_their_worst_finding_first_and_a_total(connection, open_page, reader) -> None:
    """A broker whose volume is 75 % full, a topic found in trouble by one of its partitions, what a group is behind."""
    snapshot = replace(rich_snapshot(), captured_at=NOW)
    hot = replace(finding("hot_partition", "orders-0"), subject_type=SubjectType.PARTITION)
    hot = replace(hot, symptoms=(finding("broker_rate_over_share", "3", Severity.LOW),))
    advise(connection, RUN, read(connection, NOW, snapshot), NOW, findings=[hot, finding("broker_disk_full", "1")])
    brokers = {row["broker"]: row for row in reader.rows(listed("brokers", "prod", "", "findings", 1))}
    assert list(brokers) == [1, 3, 2]  # high, high as a symptom, none
    assert (brokers[3]["used_bytes"], brokers[3]["total_bytes"], brokers[3]["used_ratio"]) == (750, 1000, 0.75)
    assert [brokers[number]["used_ratio"] for number in (1, 2)] == [None, None]
    assert [brokers[number]["worst_finding_code"] for number in (1, 3, 2)] == [
        "broker_disk_full",
        "hot_partition",
        None,
    ]
    topics = {row["topic"]: row for row in reader.rows(listed("topics", "prod", "", "findings", 1))}
    assert list(topics) == ["orders", "__consumer_offsets", "no-partitions"]
    offsets = topics["__consumer_offsets"]
    assert (topics["orders"]["log_bytes"], offsets["log_bytes"]) == (None, 0 + 4)  # orders-5 has no leader
    assert (offsets["partition_count"], offsets["replication_factor"], offsets["under_replicated"]) == (2, 1, 1)
    assert topics["orders"]["worst_finding_code"] == "hot_partition"
    groups = {row["group_id"]: row["lag_messages"] for row in reader.rows(listed("groups", "prod", "", "name", 1))}
    assert list(groups) == sorted(group.id for group in snapshot.groups)
    reported = Counter[str]()
    for row in reader.rows(select(*GROUP_LAG.c).where(GROUP_LAG.c.cluster == "prod")):
        if row["lag_messages"] is not None:
            reported[row["group_id"]] += row["lag_messages"]
    assert {name: lag for name, lag in groups.items() if lag is not None} == reported
    (furthest,) = reader.rows(topic_parts("prod", "orders", 1)["readers"].limit(1))  # first on the topic's page
    assert furthest["lag_messages"] is not None
    assert [topics["orders"][name] for name in ("lag_messages", "lag_group_id")] == [
        furthest["lag_messages"], furthest["group_id"],
    ]  # fmt: skip
    assert "3 brokers" in open_page().get("/clusters/prod/brokers").text
    assert "Page 1 of 1" in open_page().get("/clusters/prod/topics?sort=log_bytes&search=o").text
    assert "hot partition" in open_page().get("/clusters/prod/topic?name=orders").text
    assert open_page().get("/clusters/prod/topics?sort=evil").status_code == 422


@pytest.mark.parametrize("kind", ["brokers", "topics", "groups"])
def test_pages_of_a_list_hold_each_name_once_in_any_order(kind, connection, reader) -> None:
    large_cluster.fill(connection, large_cluster.SAMPLE, datetime.now(UTC).replace(microsecond=0))
    cluster, name = large_cluster.CLUSTER, LISTINGS[kind].name
    (total,) = reader.rows(list_total(kind, cluster, ""))
    for sort in get_args({"brokers": BrokerSort, "topics": TopicSort, "groups": GroupSort}[kind]):
        pages = [reader.rows(listed(kind, cluster, "", sort, page)) for page in range(1, 4)]
        every = [row for page in pages for row in page]
        assert len({row[name] for row in every}) == len(every) == total["rows"], sort
        if sort not in ("name", "findings"):
            values = [row[sort] for row in every if row[sort] is not None]
            assert values == sorted(values, reverse=True), sort
