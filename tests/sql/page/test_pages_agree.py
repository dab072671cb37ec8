"""Pages, report, digest, terminal, commands and messages say the same of an advisory, in whole sentences."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from kafka_rebalance.amounts import counted, format_bytes, format_seconds
from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.findings.finding import CODES
from kafka_rebalance.log_dir_plans.make import LogDirRequest, make_log_dir_plan
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import require_options_fit
from kafka_rebalance.render import render_document
from kafka_rebalance.render.findings import ACTORS
from kafka_rebalance.render.steps import step_figures, step_lines
from kafka_rebalance.snapshot.figures import LoadStatistic
from kafka_rebalance.snapshot.history import has_rates
from kafka_rebalance.snapshot.model import ClusterSnapshot, partition_table
from kafka_rebalance.verify.log_dirs import check_log_dir_plan
from rebalance_advisor import store
from rebalance_advisor.airflow.publishing import FolderTarget, publish_run
from rebalance_advisor.cli.log_dirs import JSON_FILE, log_dir_files, log_dir_lines
from rebalance_advisor.notify import messages_for
from rebalance_advisor.page import queries as ask
from rebalance_advisor.page.reader import Reader
from rebalance_advisor.page.rendering import begin_sentence
from rebalance_advisor.publish.digest import describe_ending
from rebalance_advisor.publish.report import (
    TOP_FINDINGS,
    TOP_GROUPS,
    VERDICT_TEXTS,
    describe_owner,
    describe_size,
    first_screen,
    format_time,
    key_figures,
)
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.run_advice import advise_run, read_question, save_advice
from rebalance_advisor.store.notifications import SentMessage, load_news, load_state
from tests.properties.any_advisory import any_advisory
from tests.sample import for_each

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]
# kafka-python's own words are ``KeyError: (None, ...)``.
BROKEN = re.compile(
    r"(?<!\()\bNone\b|\bnan\b|\binf\b|unknown the|gone in never|ends in unknown|(?<![\w.-])-0\b(?![.\d-])|[,;] ?[.,;]"
)
CODE = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
HOURS = 8  # of the window of a run that asks for its hours
OF_ALL_LAG = ("lag_growing", "share_group_behind")  # findings about a group's whole lag
MOST_COMMITTED_LATE = 5_000  # messages: some seconds of the fastest topics that are drawn
# Resources, DAGs, and the setting of Python's clients.
NAMES = ("leader_in", "potential_out", "advise_", "collect_", "apply_", "what_if_", "partition_assignment_strategy")
PROSE = ("digest", "terminal", "message", "quiet message", "/")
RAW_CODES = {code for code in {*CODES, *FactCode, *VERDICT_TEXTS} if "_" in code}
PLURALS = (
    "replicas", "partitions", "brokers", "topics", "groups", "members", "racks", "leaders", "moves", "waves", "changes",
    "findings", "plans", "messages", "copies", "steps", "tasks", "instances", "workers", "connectors", "lists", "dirs",
    "disks", "hours", "days", "points", "reasons", "gaps", "records", "threads", "restarts", "rebalances", "readers",
)  # fmt: skip
# Not "broker 1 leads", nor "1 leader changes, and with it its clients".
WRONG_NUMBER = re.compile(
    r"(?<!broker )(?<!wave )(?<!step )(?<!tier )(?<!partition )(?<![\d.,/:-])1 "
    rf"(?:(?:more |other |replica )?(?:{'|'.join(PLURALS)})|leader changes(?!,))\b"
)
DOUBLED = re.compile(r"\b(?!connect )([A-Za-z]{2,}) \1\b(?!-)")
BLOCK = re.compile(
    r"</?(?:td|th|tr|li|ul|ol|p|div|h\d|table|thead|tbody|caption|details|summary|nav|section|form|label|option|select"
    r"|button|title|svg|text|strong|main)\b[^>]*>"
)


def shown(markup: str) -> str:
    """The text of a page as a reader sees it, in one line, with a bar between its parts."""
    body = re.sub(r"<style.*?</style>", " ", markup, flags=re.DOTALL)
    body = re.sub(r"</b>(?=<span|\w)", " ", BLOCK.sub(" | ", body))
    return re.sub(r"(?:\| *)+", "| ", re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", body))))


def table_rows(markup: str) -> list[list[str]]:
    """The cells of each row."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", markup, re.DOTALL)
    return [
        [shown(cell).strip("| ") for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)] for row in rows
    ]


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)


def sentence_of(finding: Mapping[str, Any]) -> str:
    return one_line(render_document(finding["recommendation"]))


@dataclass(frozen=True)
class Surfaces:
    """All that is published of one advisory. ``pages``: by address, each page that a link leads to."""

    snapshot: ClusterSnapshot
    advisory: Mapping[str, Any]
    files: Mapping[str, str]
    pages: Mapping[str, str]
    messages: Sequence[str]
    quiet_messages: Sequence[str]
    affected: Mapping[int, tuple[int, int]]
    has_earlier: bool

    @property
    def plan(self) -> Mapping[str, Any]:
        return self.advisory["plan"]

    def page(self, *parts: str, **query: object) -> str:
        path = "/".join(("", "clusters", self.advisory["cluster"], *parts))
        return self.pages[path + (f"?{urlencode(query)}" if query else "")]

    @cached_property
    def texts(self) -> dict[str, str]:
        return {
            "report": shown(self.files["report.html"]),
            "digest": self.files["digest.md"].replace("\\", ""),
            "terminal": "\n".join(describe_ending(self.advisory)),
            "message": "\n".join(self.messages),
            "quiet message": "\n".join(self.quiet_messages),
            **{address: shown(markup) for address, markup in self.pages.items() if "plan.json" not in address},
        }

    @cached_property
    def audible(self) -> list[Mapping[str, Any]]:
        return [finding for finding in self.advisory["findings"] if finding["muted_until"] is None]

    def about(self, kind: str, name: str) -> list[Mapping[str, Any]]:
        """Findings about a subject or a part of it, and those that explain one."""
        return [
            finding
            for finding in self.advisory["findings"]
            if any((kind, name) in subjects(one) for one in (finding, *finding["symptoms"]))
        ]


def subjects(finding: Mapping[str, Any]) -> set[tuple[str, str]]:
    kind, name = finding["subject_type"], finding["subject"]
    of_part = {"partition": ("topic", name.rpartition("-")[0]), "coordinator": ("broker", name)}
    return {(kind, name), of_part.get(kind, (kind, name))}


@for_each("seed", range(300), fast=range(24), rest_mark=pytest.mark.matrix, rest_items=3)
def test_no_surface_contradicts_another(
    seed: int, dsn: str, connection: Any, open_page: Any, reader: Reader, tmp_path: Path
) -> None:
    cluster = f"c{seed}"
    snapshot, request = any_advisory(seed)
    snapshot, request = replace(snapshot, cluster=cluster), replace(request, cluster=cluster)
    try:
        require_options_fit(snapshot, request.options)
    except UsageError:  # the cluster contradicts the options
        request = replace(request, options=PlanOptions(with_frontier=False))
    now = datetime.now(UTC) - timedelta(hours=2 if request.age_limit_s else 30 * (seed % 10 == 9))
    random = Random(-seed)
    past = random.choice(("none", "none", "an advisory", "a history", "hours"))
    if past == "an advisory" and not request.age_limit_s:
        yesterday = replace(snapshot, captured_at=now - timedelta(days=1))
        earlier = publish(dsn, connection, tmp_path, "earlier", yesterday, request)
        moves = json.loads((earlier / "plan.json").read_text())["moves"]
        snapshot = carried_out(snapshot, moves[: len(moves) // (1 + seed % 2)])
    elif past == "a history":
        for days in (3, 2, 1):
            older = smaller(replace(snapshot, captured_at=now - timedelta(days=days)), 1 - 0.02 * days)
            save(connection, with_former_broker(older) if days == 3 else older)
    elif past == "hours" and has_rates(snapshot):
        request = replace(request, load=random.choice([one.value for one in LoadStatistic]), window_hours=HOURS)
        for hours in range(HOURS - 1, 0, -1):
            save(connection, busier(random, replace(snapshot, captured_at=now - timedelta(hours=hours))))
    snapshot = replace(snapshot, captured_at=now)
    folder = publish(dsn, connection, tmp_path, "newest", snapshot, request)
    faults = list(faults_of(surfaces_of(snapshot, folder, open_page(cluster), connection, reader)))
    assert not faults, "\n".join(faults)


def save(connection: Any, snapshot: ClusterSnapshot) -> str:
    snapshot_id = store.save_snapshot(connection, snapshot)
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return snapshot_id


def publish(dsn: str, connection: Any, folder: Path, name: str, snapshot: ClusterSnapshot, request: RunRequest) -> Path:
    """Return the folder of the published advisory."""
    run_id = f"{name}.{snapshot.cluster}"
    parameters = request.document()
    store.start_run(
        connection, run_id=run_id, cluster=snapshot.cluster, snapshot_id=save(connection, snapshot),
        parameters=parameters, seed=0, advisor_version="test",
    )  # fmt: skip
    now = datetime.now(UTC) if name == "newest" else snapshot.captured_at
    save_advice(connection, run_id, advise_run(read_question(connection, run_id), now))
    _, written = publish_run(dsn, run_id=run_id, cluster=snapshot.cluster, target=FolderTarget(folder / name, run_id))
    return Path(written)


def carried_out(snapshot: ClusterSnapshot, moves: Sequence[Mapping[str, Any]]) -> ClusterSnapshot:
    """The cluster once these moves are made."""
    known = {broker.id for broker in snapshot.brokers}
    made = {(move["topic"], move["partition"]): move for move in moves if set(move["to"]) <= known}
    rows = []
    for row in snapshot.each_partition():
        if move := made.get((row.topic, row.partition)):
            sizes = dict(zip(row.replicas, row.log_bytes, strict=True))
            to = tuple(move["to"])
            copied = tuple(sizes.get(broker, sizes.get(row.leader)) for broker in to)
            after = {"replicas": to, "leader": move["leader_to"], "isr": to, "log_bytes": copied}
            rows.append(replace(row, **after, log_dirs=(), offline=()))
        else:
            rows.append(row)
    if not made:
        return snapshot
    return replace(snapshot, partitions=partition_table(rows, topic_numbers(snapshot)))


def topic_numbers(snapshot: ClusterSnapshot) -> dict[str, int]:
    return {topic.name: number for number, topic in enumerate(snapshot.topics)}


def smaller(snapshot: ClusterSnapshot, share: float) -> ClusterSnapshot:
    table = snapshot.partitions
    sizes = table.replica_log_bytes.copy()
    sizes[sizes > 0] = (sizes[sizes > 0] * share).astype(sizes.dtype)
    return replace(snapshot, partitions=replace(table, replica_log_bytes=sizes))


def with_former_broker(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """The cluster before its largest broker had its id."""
    if not len(snapshot.partitions.replicas):
        return snapshot
    old = Counter(snapshot.partitions.replicas.tolist()).most_common(1)[0][0]
    new = max(broker.id for broker in snapshot.brokers) + 1
    brokers = tuple(replace(one, id=new) if one.id == old else one for one in snapshot.brokers)
    rows = (
        replace(
            row,
            leader=new if row.leader == old else row.leader,
            **{
                name: None if brokers_of is None else tuple(new if one == old else one for one in brokers_of)
                for name in ("replicas", "isr", "adding", "removing", "offline", "observers", "eligible")
                for brokers_of in [getattr(row, name)]
            },
            future=(),
        )
        for row in snapshot.each_partition()
    )
    return replace(snapshot, brokers=brokers, partitions=partition_table(list(rows), topic_numbers(snapshot)))


def busier(random: Random, snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Rates of another hour."""
    columns = {
        kind: replace(column, values=column.values * [random.uniform(0.2, 4) for _ in column.values], window_s=3600.0)
        for kind, column in snapshot.loads.columns.items()
    }
    return replace(snapshot, loads=replace(snapshot.loads, columns=columns))


def surfaces_of(snapshot: ClusterSnapshot, folder: Path, client: Any, connection: Any, reader: Reader) -> Surfaces:
    cluster = snapshot.cluster
    files = {file.name: file.read_text() for file in folder.iterdir() if file.is_file()}
    advisory = json.loads(files["advisory.json"])
    advisory |= {name: json.loads(files[f"{name}.json"]) for name in ("plan", "findings", "groups")}
    state, news, now = load_state(connection, cluster), load_news(connection, cluster), datetime.now(UTC)
    assert state is not None
    week = SentMessage("news", f"newest.{cluster}", now - timedelta(days=8))
    loud, quiet = (messages_for(state, news, sent, team=None, late_after_hours=26, now=now) for sent in ((), (week,)))
    lines = [[line for message in some for line in (message.subject, *message.lines)] for some in (loud, quiet)]
    return Surfaces(
        snapshot, advisory, files, crawled(client, cluster), *lines,
        affected={
            row["step"]: (row["topic_count"], row["group_count"])
            for row in reader.rows(ask.affected(cluster, f"newest.{cluster}"))
        },
        has_earlier=len(reader.rows(ask.attempts(cluster, limit=2, offset=0))) > 1,
    )  # fmt: skip


FOLLOWED = {"id", "name", "run", "wave", "page"}


def crawled(client: Any, cluster: str) -> dict[str, str]:
    """All pages that links lead to from the first one, but for other orders and filters of a list."""
    pages: dict[str, str] = {}
    waiting, targets, linked = [f"/clusters/{cluster}/commands.md", "/"], [], {}
    while waiting:
        address = waiting.pop()
        if address in pages:
            continue
        answer = client.get(address)
        assert answer.status_code == 200, (address, linked.get(address), shown(answer.text)[-300:])
        pages[address] = answer.text
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        assert answer.text.rstrip().endswith("</html>"), address
        for href in re.findall(r'href="([^"]*)"', answer.text):
            path, query, fragment = (
                (parts := urlsplit(html.unescape(href))).path,
                parse_qsl(parts.query),
                parts.fragment,
            )
            if fragment:
                targets.append((address if not path else None, path, fragment))
            if path and path != "/page.css" and {key for key, _ in query} <= FOLLOWED:
                is_kept = path.endswith("/gates") or "newest." not in dict(query).get("run", "newest.")
                values = [(key, value) for key, value in query if key != "run" or is_kept]
                waiting.append(path + (f"?{urlencode(values)}" if values else ""))
                linked.setdefault(waiting[-1], address)
    for page, path, fragment in targets:
        some = [pages[page]] if page else [text for address, text in pages.items() if address.split("?")[0] == path]
        assert any(f'id="{fragment}"' in text for text in some), (page, path, fragment)
    return pages


def faults_of(surfaces: Surfaces) -> Iterator[str]:
    checks: tuple[Callable[[Surfaces], Iterator[str]], ...] = (
        word_faults, verdict_faults, finding_faults, plan_faults, subject_faults, list_faults, group_faults,
        log_dir_faults,
    )  # fmt: skip
    for check in checks:
        yield from (f"{check.__name__}: {fault}" for fault in check(surfaces))


def word_faults(surfaces: Surfaces) -> Iterator[str]:
    for name, text in surfaces.texts.items():
        for pattern in (BROKEN, WRONG_NUMBER, DOUBLED):
            if found := pattern.search(text):
                yield f"{name}: {found[0]!r} in {text[max(0, found.start() - 80) : found.end() + 40]!r}"
        words = {word for word in CODE.findall(text) if not word.startswith(NAMES)}
        if raw := words if name in PROSE else words & RAW_CODES:
            place = text.index(min(raw))
            yield f"{name}: code {sorted(raw)} in {text[max(0, place - 60) : place + 60]!r}"


def verdict_faults(surfaces: Surfaces) -> Iterator[str]:
    texts, verdict = surfaces.texts, surfaces.plan["verdict"]
    cluster = f"/clusters/{surfaces.advisory['cluster']}"
    for name in ("report", "digest", "/", cluster, f"{cluster}/plan"):
        for other, words in VERDICT_TEXTS.items():
            if (words in texts[name]) != (other == verdict):
                yield f"{name} has {words!r}, the verdict is {verdict}"
    name_of = VERDICT_TEXTS[verdict].partition(":")[0].lower()
    for name, words in (("terminal", verdict.replace("_", " ")), ("message", name_of), ("quiet message", name_of)):
        if words not in texts[name].lower() and not re.search("all well|this week", texts[name]):
            yield f"{name} lacks the verdict {words!r}: {texts[name]!r}"
    if "all well" in texts["quiet message"] and verdict != "nothing_to_do":
        yield f"{texts['quiet message']!r}, the verdict is {verdict}"
    taken, expires = format_time(surfaces.advisory["captured_at"]), format_time(surfaces.plan["expires_at"])
    for name in ("report", cluster):
        if taken not in texts[name]:
            yield f"{name} lacks the snapshot's time {taken}"
    is_over = datetime.fromisoformat(surfaces.plan["expires_at"]) < datetime.now(UTC)
    if surfaces.plan["moves"] and any(
        ("expired" in texts[name]) != is_over for name in ("/", cluster, f"{cluster}/plan")
    ):
        yield f"a page does not say whether the plan expired: {is_over}"
    if surfaces.plan["moves"] and expires and any(expires not in texts[name] for name in ("report", f"{cluster}/plan")):
        yield f"a surface lacks the end {expires}"


def finding_faults(surfaces: Surfaces) -> Iterator[str]:
    texts, cluster = surfaces.texts, f"/clusters/{surfaces.advisory['cluster']}"
    worth = [one for one in surfaces.audible if one["severity"] not in ("info", "ok")]
    if surfaces.audible:
        for name in ("report", "digest", "terminal", cluster):
            if sentence_of(surfaces.audible[0]) not in one_line(texts[name]):
                yield f"{name} lacks the first finding {sentence_of(surfaces.audible[0])!r}"
    for name in ("quiet message", "/") if surfaces.has_earlier else ("message", "quiet message", "/"):
        if worth and sentence_of(worth[0]) not in one_line(texts[name]):
            yield f"{name} lacks {sentence_of(worth[0])!r}"
    for name in ("quiet message",) if surfaces.has_earlier else ("message", "quiet message"):
        if worth and not re.search(rf"\b{len(worth)} (?:new or worse )?finding", texts[name]):
            yield f"{len(worth)} findings, {name}: {texts[name]!r}"
    listed = Counter(re.findall(r'<span class="severity (\w+)">', surfaces.page()))
    expected = Counter(finding["severity"] for finding in surfaces.advisory["findings"]) or Counter(["ok"])
    if listed != expected and expected.total() < 100:
        yield f"the cluster's page lists {dict(listed)}, found were {dict(expected)}"
    by_actor = {
        heading: [one["severity"] for one in surfaces.advisory["findings"] if one["actor"] == actor]
        for actor, heading in ACTORS.items()
    }
    grouped = {
        heading: re.findall(r'<span class="severity (\w+)">', markup)
        for heading, markup in re.findall(
            r'<h3>(.*?)</h3>\s*<ul class="findings">(.*?)</ul>', surfaces.page(), re.DOTALL
        )
    }
    if expected.total() < 100 and grouped != {heading: listed for heading, listed in by_actor.items() if listed}:
        yield f"the cluster's page groups {grouped}, expected {by_actor}"
    if surfaces.has_earlier:
        gone = [one["code"].replace("_", " ") for one in surfaces.advisory["resolved"]]
        line = re.search(r"Resolved since the advisory before: (.*?)</p>", surfaces.page(), re.DOTALL)
        resolved = [] if line is None else re.findall(r"(\w[\w ]*) \(", line[1])
        if len(gone) <= 10 and sorted(resolved) != sorted(gone):
            yield f"the cluster's page says {resolved} are resolved, the advisory {gone}"
    if any(one["actor"] == "plan" for one in surfaces.advisory["findings"]) and not surfaces.plan["moves"]:
        yield "a finding is the plan's, which moves nothing"
    counts = Counter(finding["severity"] for finding in worth)
    words = [f"{counts[severity]} {severity}" for severity in ("critical", "high") if counts[severity]]
    rest = len(worth) - counts["critical"] - counts["high"]
    if f"| {', '.join([*words, f'{rest} medium or low'])} |" not in texts["/"]:
        yield f"the first page lacks {words} of {len(worth)} findings"
    more = len(surfaces.audible) - TOP_FINDINGS
    if more > 0 and not re.search(rf"\b{more} more finding", texts["report"]):
        yield f"the report lacks its {more} other findings"
    if surfaces.audible and ("Nothing to report" in texts["report"] or "Nothing was found" in texts[cluster]):
        yield f"'nothing' beside {len(surfaces.audible)} findings"
    if worth and re.search(r"nothing was found|No finding is open", texts["/"] + texts["quiet message"]):
        yield f"'nothing' beside {len(worth)} findings"
    gaps = int(re.search(r"could not be read: ([\d,]+)", texts[cluster])[1].replace(",", ""))
    if gaps != len(surfaces.advisory["coverage"]):
        yield f"{gaps} gaps on the cluster's page, {len(surfaces.advisory['coverage'])} in the advisory"
    left_out = int(re.search(r"their loads are unknown: ([\d,]+)", texts[cluster])[1])
    if left_out != len(surfaces.plan["left_out"]):
        yield f"{left_out} resources left out on the cluster's page, {sorted(surfaces.plan['left_out'])} in the plan"
    size = surfaces.advisory["size"]
    words = ", ".join(counted(size[f"{noun}s"], noun) for noun in ("broker", "topic", "partition", "group"))
    if f"{words}. Advisory" not in texts[cluster] or describe_size(size) not in texts["report"] + texts["digest"]:
        yield f"a surface lacks the size {words}"
    muted = len(surfaces.advisory["findings"]) - len(surfaces.audible)
    for name in ("report", "digest", "terminal"):
        if [int(count) for count in re.findall(r"(\d+) muted, the first", texts[name])] != [muted] * bool(muted):
            yield f"{name}: {muted} findings are muted"


def plan_faults(surfaces: Surfaces) -> Iterator[str]:
    texts, plan, cluster = surfaces.texts, surfaces.plan, f"/clusters/{surfaces.advisory['cluster']}"
    if surfaces.page("commands.md") != surfaces.files.get("commands.md", surfaces.page("commands.md")):
        yield "the page's commands are not those of the published file"
    if surfaces.affected != affected_by(plan, surfaces.snapshot):
        yield f"affected: {surfaces.affected}, expected {affected_by(plan, surfaces.snapshot)}"
    figures = [f"{figure['value']} {figure['name']}" for figure in key_figures(plan)[:4]] if plan["moves"] else []
    for name in ("report", "digest", "terminal", cluster, f"{cluster}/plan"):
        for figure in figures:
            if figure not in texts[name]:
                yield f"{name} lacks {figure!r}"
    if figures and not {figures[0].split()[0], figures[1].removesuffix(" copied")} <= set(
        re.split(r"[ |]*\| | (?=replica)|, ", texts["/"])
    ):
        yield f"the first page lacks {figures[:2]}"
    if figures and f", {counted(plan['cost']['leader_changes'], 'leader change')} " not in texts["/"]:
        yield "the first page lacks the leader changes"
    if plan["steps"] and plan["cost"]["seconds"] is not None:
        seconds = sum(step["cost"]["seconds"] for step in plan["steps"])
        if seconds != pytest.approx(plan["cost"]["seconds"]):
            yield f"steps take {seconds} s, the plan {plan['cost']['seconds']}"
    for row in table_rows(surfaces.page("plan")):
        chosen = row and "this plan, recommended" in row[0]
        if chosen and (row[2], row[3], row[4]) != (
            format_bytes(plan["cost"]["bytes"]),
            f"{plan['cost']['replica_moves']:,}",
            f"{plan['cost']['leader_changes']:,}",
        ):
            yield f"the frontier's plan has {row}, the plan {plan['cost']}"
    steps = [
        [row[:7] for row in table_rows(steps_table(page))]
        for page in (surfaces.files["report.html"], surfaces.page(), surfaces.page("plan"))
    ]
    if not steps[0] == steps[1] == steps[2] or len(steps[0]) != (len(plan["steps"]) + 1 if plan["steps"] else 0):
        yield f"steps differ: {steps}"
    start = first_screen(surfaces.advisory)["start"] if plan["steps"] else ""
    for name in ("report", cluster, f"{cluster}/plan"):
        if one_line(start) not in one_line(texts[name]):
            yield f"{name} lacks {start!r}"
    for line in step_lines(plan):
        for name in ("terminal", f"{cluster}/commands.md"):
            if one_line(line) not in one_line(texts[name]):
                yield f"{name} lacks {line!r}"
    yield from move_faults(surfaces)


def steps_table(markup: str) -> str:
    found = re.search(r'<table id="steps">.*?</table>', markup, re.DOTALL)
    return found[0] if found else ""


def move_faults(surfaces: Surfaces) -> Iterator[str]:
    """Counts and bytes of moves: of all, of each wave, and of each broker."""
    plan = surfaces.plan
    by_wave = {number: [plan["moves"][move] for move in wave["moves"]] for number, wave in enumerate(plan["waves"], 1)}
    for number, moves in [(None, plan["moves"]), *by_wave.items()]:
        page = surfaces.pages.get(
            f"/clusters/{surfaces.advisory['cluster']}/plan" + (f"?wave={number}" if number else "")
        )
        if page is None:
            continue
        total = shown(re.search(r'<p id="totals">(.*?)</p>', page)[1])
        copied = [move["bytes"] for move in moves if set(move["to"]) - set(move["from"])]
        if not re.match(rf"{len(moves):,} moves?\b", total):
            yield f"wave {number}: {total!r}, {len(moves)} moves"
        if any(size is None for size in copied) and "unknown" not in total:
            yield f"wave {number}: {total!r}, a size is unknown"
    for broker in surfaces.snapshot.brokers:
        touched = sum(broker.id in {*move["from"], *move["to"]} for move in plan["moves"])
        text = surfaces.texts[f"/clusters/{surfaces.advisory['cluster']}/broker?id={broker.id}"]
        words = f"The plan changes {touched:,} partition" if touched else "The plan changes nothing on it"
        if words not in text:
            yield f"broker {broker.id} lacks {words!r}"


def affected_by(plan: Mapping[str, Any], snapshot: ClusterSnapshot) -> dict[int, tuple[int, int]]:
    """By step: how many topics it moves, and how many groups have offsets in them."""
    counts = {}
    for step in step_figures(plan):
        waves = plan["waves"][step.first_wave - 1 : step.last_wave]
        topics = {plan["moves"][move]["topic"] for wave in waves for move in wave["moves"]}
        readers = [group for group in snapshot.groups if topics & {one.topic for one in group.committed}]
        counts[step.step] = (len(topics), len(readers))
    return counts


SUBJECTS = {"broker": "id", "topic": "name", "group": "name"}


def subject_faults(surfaces: Surfaces) -> Iterator[str]:
    """Each subject's page has the findings about it and its parts, as its list has the worst of them."""
    worst = {
        (kind, row[0].removeprefix("broker ")): row[2 if kind == "broker" else 1]
        for kind in SUBJECTS
        for row in list_rows(surfaces, kind)
    }
    owners = {row[0]: row[2] for row in list_rows(surfaces, "group")}
    named = {
        subject
        for one in surfaces.advisory["findings"]
        for part in (one, *one["symptoms"])
        for subject in subjects(part)
    }
    named |= {
        ("broker", str(group.coordinator))
        for group in surfaces.snapshot.groups
        if group.coordinator is not None and group.coordinator >= 0
    }
    for kind, name in sorted(worst.keys() | {(kind, name) for kind, name in named if kind == "broker"}):
        page, found = surfaces.page(kind, **{SUBJECTS[kind]: name}), surfaces.about(kind, name)
        listed = re.findall(r'<li><span class="severity (\w+)">', page)
        if listed != ([finding["severity"] for finding in found][:20] or ["ok"]):
            yield f"{kind} {name}: its page lists {listed}, found were {[one['finding_key'] for one in found]}"
        text = one_line(shown(page))
        yield from (f"{kind} {name} lacks {one['code']}" for one in found[:20] if sentence_of(one) not in text)
        audible = [finding for finding in found if finding["muted_until"] is None]
        expected = f"{audible[0]['severity']} {audible[0]['code'].replace('_', ' ')}" if audible else ""
        if kind == "group" and owners[name] != (describe_owner(audible[0]) if audible else ""):
            yield f"group {name}: its list has owner {owners[name]!r}, its first finding {audible[:1]}"
        if worst.get((kind, name), expected) != expected:
            yield f"{kind} {name}: its list has {worst[kind, name]!r}, expected {expected!r}"
    listed_subjects = {kind: {name for kind_of, name in worst if kind_of == kind} for kind in SUBJECTS}
    snapshot = surfaces.snapshot
    known = {
        "broker": {str(broker.id) for broker in snapshot.brokers},
        "topic": {topic.name for topic in snapshot.topics},
        "group": {group.id for group in snapshot.groups},
    }
    yield from (
        f"lists of {kind}s: {listed_subjects[kind] ^ known[kind]}"
        for kind in SUBJECTS
        if listed_subjects[kind] != known[kind]
    )


def list_rows(surfaces: Surfaces, kind: str) -> list[list[str]]:
    return [row for row in table_rows(surfaces.page(f"{kind}s"))[1:] if row]


def count_of(cell: str) -> int | None:
    return None if cell.startswith("unknown") else int(cell.split(maxsplit=1)[0].replace(",", ""))


def list_faults(surfaces: Surfaces) -> Iterator[str]:
    """Figures of lists are those of the snapshot, and of each one's own page."""
    rows = list(surfaces.snapshot.each_partition())
    for row in list_rows(surfaces, "broker"):
        broker = int(row[0].removeprefix("broker "))
        expected = (sum(one.leader == broker for one in rows), sum(broker in one.replicas for one in rows))
        if tuple(map(count_of, row[6:8])) != expected:
            yield f"broker {broker}: {row[6:8]}, expected {expected}"
        loads = surfaces.page("broker", id=broker).partition('id="loads">')[2].partition("</table>")[0]
        levels = {cells[0]: cells[2:4] for cells in table_rows(loads)[1:]}
        for name, cell in zip(("in", "out", "leaders", "replicas"), row[4:8], strict=True):
            load, after = levels.get(name, ("unknown", "unknown"))
            now = cell.split(maxsplit=1)[0] if name in ("leaders", "replicas") else load
            change = f" → {after}" if after not in ("unknown", now) else ""
            if not re.fullmatch(rf"{re.escape(now)}( [\d,.]+ [×%])?{change}( \|.*)?", cell):
                yield f"broker {broker}: {name} is {cell!r} in its list, {load} and {after} on its page"
        counts = tuple(count_of(levels[name][0]) for name in ("leaders", "replicas") if name in levels)
        words = f"Now it holds {counted(expected[1], 'replica')} and leads {counted(expected[0], 'partition')}."
        if counts and (counts != expected) != (words in shown(loads)):
            yield f"broker {broker}: {counts} on its page, expected {expected}: {shown(loads)[:200]!r}"
        relief = next(
            (step for step in step_figures(surfaces.plan) if (step.kind, step.resource) == ("relieve", "disk")), None
        )
        if relief is not None and broker == relief.fullest_broker_before == relief.fullest_broker_after:
            percents = [f"{100 * ratio:.0f}" for ratio in (relief.used_ratio_before or 0, relief.used_ratio_after or 0)]
            listed_ratios = re.findall(r"(\d+) %", row[3])
            shown_ones = [listed_ratios[0], listed_ratios[-1]]
            is_first, is_last = relief.step == 1, relief.step == len(surfaces.plan["steps"])
            is_same = [shown_ones[0] == percents[0] or not is_first, shown_ones[1] == percents[1] or not is_last]
            if relief.used_ratio_before and not all(is_same):
                yield f"broker {broker}: disk {row[3]} in its list, {percents} in its step"
        state = next(one.state.value for one in surfaces.snapshot.brokers if one.id == broker)
        if not row[8].startswith(state) or f", {state}" not in shown(surfaces.page("broker", id=broker)):
            yield f"broker {broker}: {row[8]}, its state is {state}"
    for row in list_rows(surfaces, "topic"):
        own = [one for one in rows if one.topic == row[0]]
        lagging = sum(one.isr is not None and len(one.isr) < len(one.replicas) for one in own)
        least = min((len(one.replicas) for one in own), default=None)
        readers = sum(any(commit.topic == row[0] for commit in group.committed) for group in surfaces.snapshot.groups)
        is_known = bool(own and least and own[0].isr is not None)
        expected_cells = (len(own), least or None, lagging if is_known else None, readers)
        if (found := tuple(map(count_of, row[5:9]))) != expected_cells:
            yield f"topic {row[0]}: {found}, expected {expected_cells}"
        text = shown(surfaces.page("topic", name=row[0]))
        if not re.search(rf"\b{len(own):,} partitions?\b", text):
            yield f"topic {row[0]}: its page lacks {len(own)} partitions"
        listed_readers = [
            cells
            for cells in table_rows(text_after(surfaces.page("topic", name=row[0]), "Groups that read it"))[1:]
            if len(cells) == 4
        ]
        if len(listed_readers) != readers:
            yield f"topic {row[0]}: {readers} groups, {len(listed_readers)} on its page"
        furthest = next(iter(listed_readers), None)
        behind = "" if furthest is None else "unknown" if furthest[2] == "unknown" else f"{furthest[2]} {furthest[0]}"
        if row[9] != behind:
            yield f"topic {row[0]}: {row[9]!r} is behind in its list, {behind!r} on its page"
    for row in list_rows(surfaces, "group"):
        if (count_of(row[3]) or 0) > MOST_COMMITTED_LATE and row[6] == "keeps up":
            yield f"group {row[0]}: {row[3]} behind, and it keeps up"
        text = shown(surfaces.page("group", name=row[0]))
        if not re.search(rf"\b{row[7]} members?\b", text) or f"{row[11].split(',')[0]} group" not in text:
            yield f"group {row[0]}: its list has {row[7]} members and {row[11]}, its page not"
        lags = [
            cells[2] for cells in table_rows(text_after(surfaces.page("group", name=row[0]), "Topics it reads"))[1:]
        ]
        known = [count_of(cell) for cell in lags]
        if (
            lags
            and len(lags) < ask.LIST_ROWS
            and None not in known
            and count_of(row[3]) != sum(map(int, filter(None, known)))
        ):
            yield f"group {row[0]}: {row[3]} behind in its list, {known} on its page"
        time = "" if row[4] == "unknown" else f" ({row[4]} of writing)"
        if lags and not re.search(rf", {row[3]} messages? behind{re.escape(time)}[,.]", text):
            yield f"group {row[0]}: {row[3]} and {row[4]} behind in its list, not on its page"
        for finding in surfaces.about("group", row[0]):
            for part in (finding, *finding["symptoms"]):
                seconds = part["evidence"].get("lag_seconds")
                if part["subject"] == row[0] and part["code"] in OF_ALL_LAG and row[4] != format_seconds(seconds):
                    yield f"group {row[0]}: {row[4]} behind in its list, {seconds} s by {part['code']}"
    trends = surfaces.page("groups").count('class="trend"><svg')
    charts = sum('id="lag"' in surfaces.page("group", name=group.id) for group in surfaces.snapshot.groups)
    if trends != charts:
        yield f"{trends} groups have a trend in their list, {charts} on their pages"


def text_after(markup: str, heading: str) -> str:
    return markup.partition(f"<h2>{heading}</h2>")[2]


def group_faults(surfaces: Surfaces) -> Iterator[str]:
    """The advice of ``groups.json`` is the headline of a group's page, and what lists and the report say of it."""
    listed = {row[0]: row for row in list_rows(surfaces, "group")}
    in_trouble = {row[0]: row for row in table_rows(text_after(surfaces.page(), "Groups in trouble"))[1:] if row}
    for group in surfaces.advisory["groups"]:
        name, advised, advice = group["group"], group["advised"], group["advice"]
        text, row = one_line(shown(surfaces.page("group", name=name))), listed[name]
        if advice["code"] == "change_strategy":
            if f"Change its strategy to {advised} " not in text:
                yield f"group {name}: its page lacks the change to {advised}"
        elif begin_sentence(one_line(advice["text"])) not in text:
            yield f"group {name}: its page lacks {advice['text']!r}"
        if len(surfaces.advisory["groups"]) <= TOP_GROUPS and one_line(advice["text"]) not in surfaces.texts["report"]:
            yield f"group {name}: the report lacks {advice['text']!r}"
        for step in group["rollover"]:
            if begin_sentence(one_line(step["text"])) not in text:
                yield f"group {name}: its page lacks the step {step['text']!r}"
        if (advised is not None) != ("Change its strategy to" in text):
            yield f"group {name}: groups.json advises {advised}, its page does not say so"
        if (row[10].partition("→")[2].strip() or None) != advised:
            yield f"group {name}: groups.json advises {advised}, its list has {row[10]!r}"
        if count_of(row[7]) != group["members"] and group["members"] is not None:
            yield f"group {name}: {group['members']} members in groups.json, {row[7]} in its list"
        if count_of(row[8]) != group["idle_members"]:
            yield f"group {name}: {group['idle_members']} idle in groups.json, {row[8]} in its list"
        if group["members_falling_behind"] and not row[6].startswith("never"):
            yield f"group {name}: its members fall behind, its list has {row[6]!r}"
        if (cells := in_trouble.get(name)) and not (
            advised in cells[2] if advised else advice["text"] in one_line(cells[2])
        ):
            yield f"group {name}: {cells[2]!r} on the cluster's page, advice {advice['text']!r}"


def log_dir_faults(surfaces: Surfaces) -> Iterator[str]:
    """A finding about a full disk counts the moves of the plan between log dirs that it names."""
    found = [
        part
        for finding in surfaces.advisory["findings"]
        for part in (finding, *finding["symptoms"])
        if part["code"] == "log_dir_full"
    ]
    if not found:
        return
    plan = make_log_dir_plan(surfaces.snapshot, LogDirRequest(within=0.1))
    files = {name: content for name, content in log_dir_files(plan).items() if name != JSON_FILE}
    yield from map(str, check_log_dir_plan(plan.document(), surfaces.snapshot, files))
    lines = "\n".join((*log_dir_lines(plan), files["commands.md"].decode()))
    yield from (f"{broken[0]!r} in {lines}" for pattern in (BROKEN, WRONG_NUMBER) if (broken := pattern.search(lines)))
    for finding in found:
        broker, evidence = int(finding["subject"]), finding["evidence"]
        planned = next((one for one in plan.brokers if one.broker == broker), None)
        if planned is None:
            yield f"broker {broker} is left out of the plan between log dirs: {plan.left_out.get(str(broker))}"
            continue
        (full,) = (place for place in planned.places if list(place.paths) == evidence["paths"])
        ends = [move.dirs_to[move.replicas.index(broker)] for move in plan.moves if broker in move.replicas]
        counts = (len(ends) - ends.count(None), planned.dir_bytes, planned.lower_bound_bytes)
        is_relieved = (full.used_after or 0) < (full.used_before or 0)
        names = ("replica_moves_between_dirs", "dir_bytes", "dir_bytes_lower_bound")
        if tuple(evidence[name] for name in names) != (counts if is_relieved else (0, 0, 0)):
            yield f"broker {broker}: {evidence}, the plan between log dirs has {counts}"
