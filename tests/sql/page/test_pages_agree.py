"""Pages, report, digest, terminal and messages say the same of an advisory: verdict, findings, advice of groups,
commands, who is affected.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kafka_rebalance.render import render_document
from kafka_rebalance.render.steps import step_figures
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor import store
from rebalance_advisor.airflow.publishing import FolderTarget, publish_run
from rebalance_advisor.notify import messages_for
from rebalance_advisor.page import queries as ask
from rebalance_advisor.page.reader import Reader
from rebalance_advisor.page.rendering import begin_sentence
from rebalance_advisor.publish.digest import closing_words
from rebalance_advisor.publish.report import VERDICT_WORDS
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.run_advice import advise_run, read_question, save_advice
from rebalance_advisor.store.notifications import load_news, load_state
from tests.sample import for_each
from tests.unit.findings.consumers.test_followable_advice import draw_snapshot

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]
# kafka-python's own words are ``KeyError: (None, ...)``.
BROKEN = re.compile(r"(?<!\()\bNone\b|\bnan\b|\binf\b|unknown the|gone in never|ends in unknown")


def shown(markup: str) -> str:
    """The text of a page as a reader sees it, in one line."""
    body = re.sub(r"<style.*?</style>", " ", markup, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", body)))


def told_by(document: dict[str, Any]) -> str:
    """A finding's sentence: surfaces may name its subject before it."""
    return re.sub(r"\s+", " ", render_document(document["recommendation"]))


@for_each("seed", range(300), fast=range(24), rest_mark=pytest.mark.matrix, rest_items=3)
def test_no_surface_contradicts_another(
    seed: int, dsn: str, connection: Any, open_page: Any, reader: Reader, tmp_path: Path
) -> None:
    run_id, snapshot = f"run-{seed}.c{seed}", replace(draw_snapshot(Random(seed))[0], cluster=f"c{seed}")
    snapshot_id = store.save_snapshot(connection, replace(snapshot, captured_at=datetime.now(UTC)))
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    parameters = RunRequest(cluster=snapshot.cluster).document() | {"scenarios": "today", "no_frontier": True}
    store.start_run(
        connection, run_id=run_id, cluster=snapshot.cluster, snapshot_id=snapshot_id, parameters=parameters, seed=0,
        advisor_version="test",
    )  # fmt: skip
    save_advice(connection, run_id, advise_run(read_question(connection, run_id), datetime.now(UTC)))
    _, folder = publish_run(dsn, run_id=run_id, cluster=snapshot.cluster, target=FolderTarget(tmp_path, run_id))
    files = {file.name: file.read_text() for file in Path(folder).iterdir() if file.is_file()}
    advisory = json.loads(files["advisory.json"])
    advisory |= {name: json.loads(files[f"{name}.json"]) for name in ("plan", "findings", "groups")}
    faults = list(faults_of(advisory, files, open_page(), connection))
    affected = reader.rows(ask.affected(snapshot.cluster, run_id))
    reported = {row["step"]: (row["topic_count"], row["group_count"]) for row in affected}
    assert reported == affected_by(advisory["plan"], snapshot)
    assert "\n".join(faults) == ""


def affected_by(plan: dict[str, Any], snapshot: ClusterSnapshot) -> dict[int, tuple[int, int]]:
    """By step: how many topics it moves, and how many groups have offsets in them."""
    counts = {}
    for step in step_figures(plan):
        waves = plan["waves"][step.first_wave - 1 : step.last_wave]
        topics = {plan["moves"][move]["topic"] for wave in waves for move in wave["moves"]}
        readers = [group for group in snapshot.groups if topics & {item.topic for item in group.committed}]
        counts[step.step] = (len(topics), len(readers))
    return counts


def faults_of(advisory: dict[str, Any], files: dict[str, str], client: Any, connection: Any) -> Iterator[str]:
    cluster, plan, findings = advisory["cluster"], advisory["plan"], advisory["findings"]

    def page(path: str = "", **params: str) -> str:
        answer = client.get(f"/clusters/{cluster}{path}", params=params)
        assert answer.status_code == 200, (path, params, answer.text)
        return shown(answer.text)

    surfaces = {
        "report": shown(files["report.html"]), "digest": files["digest.md"].replace("\\", ""),
        "terminal": "\n".join(closing_words(advisory)), "cluster page": page(), "plan page": page("/plan"),
    }  # fmt: skip
    for name, text in surfaces.items():
        if match := BROKEN.search(text):
            yield f"{name}: {text[max(0, match.start() - 80) : match.end() + 40]!r}"
    if client.get(f"/clusters/{cluster}/commands.md").text != files["commands.md"]:
        yield "the page's commands are not those of the published file"
    sentence = VERDICT_WORDS[plan["verdict"]]
    for name in ("report", "digest", "cluster page", "plan page"):
        if sentence not in surfaces[name]:
            yield f"{name} lacks the verdict {sentence!r}"
    audible = [finding for finding in findings if finding["muted_until"] is None]
    if audible:
        for name in ("report", "digest", "terminal", "cluster page"):
            if told_by(audible[0]) not in re.sub(r"\s+", " ", surfaces[name]):
                yield f"{name} lacks the first finding {told_by(audible[0])!r}"
    state = load_state(connection, cluster)
    assert state is not None
    messages = messages_for(
        state, load_news(connection, cluster), (), team=None, late_after_hours=26, now=datetime.now(UTC)
    )
    worth = [item for item in audible if item["severity"] not in ("info", "ok")]
    if worth and not any(told_by(worth[0]) in line for message in messages for line in message.lines):
        yield f"messages lack {told_by(worth[0])!r}"
    for finding in audible:
        if finding["subject_type"] in ("broker", "topic", "group"):
            kind = finding["subject_type"]
            params = {"id": finding["subject"]} if kind == "broker" else {"name": finding["subject"]}
            if told_by(finding) not in page(f"/{kind}", **params):
                yield f"{kind} {finding['subject']}: its page lacks {finding['code']}"
    for group in advisory["groups"]:
        yield from group_faults(group, page("/group", name=group["group"]))


def group_faults(group: dict[str, Any], text: str) -> Iterator[str]:
    """The headline of a group's page is the advice of ``groups.json``."""
    advice, name = group["advice"], group["group"]
    if match := BROKEN.search(text):
        yield f"group {name}: {text[max(0, match.start() - 80) : match.end() + 40]!r}"
    advised = group["advised"]
    if advice["code"] == "change_strategy":
        if f"Change its strategy to {advised} " not in text:
            yield f"group {name}: its page lacks the change to {advised}"
    elif begin_sentence(re.sub(r"\s+", " ", advice["text"])) not in text:
        yield f"group {name}: its page lacks {advice['text']!r}"
    if (advised is not None) != ("Change its strategy to" in text):
        yield f"group {name}: groups.json advises {advised}, its page does not say so"
