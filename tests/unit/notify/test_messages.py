from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rebalance_advisor.notify import Message, is_news, messages_for
from rebalance_advisor.store.notifications import FindingNews, NewestState, SentMessage

NOW = datetime(2026, 11, 23, 6, tzinfo=UTC)
DAY = timedelta(days=1)
WELL = NewestState("orders", "run-2", "rebalance", 3_600.0, "run-2", "published", None, 0, 0.0, 0)
NEW = FindingNews("run-2", "high", "dead_broker", "broker", "3", "platform", False, None)
OLD = replace(NEW, code="idle_members", subject_type="group", subject="g", severity="low", severity_before="low")
LATELY = [SentMessage("all_well", "run-0", NOW - DAY)]  # so that no week of silence ends


def messages_of(findings, already=LATELY, state=WELL, team=None) -> list[Message]:
    return messages_for(state, findings, already, team=team, late_after_hours=26, now=NOW)


@pytest.mark.parametrize(
    ("severity", "before", "news"),
    [
        ("high", None, True), ("high", "medium", True), ("high", "high", False), ("high", "critical", False),
        ("low", "info", True), ("medium", "ok", True), ("critical", "low", True),
    ],
)  # fmt: skip
def test_news_is_what_is_new_or_worse(severity, before, news) -> None:
    assert is_news(replace(NEW, severity=severity, severity_before=before)) is news


def test_new_findings_are_told_the_worst_first_and_old_ones_are_not() -> None:
    worse = replace(OLD, severity="critical", severity_before="medium", subject="h")
    (message,) = messages_of([NEW, OLD, worse])
    assert (message.kind, message.subject_id) == ("news", "run-2")
    assert message.subject == "orders: rebalance, 2 new or worse findings"
    assert message.lines == ("critical (was medium): group h: idle members", "high: broker 3: dead broker")


def test_a_message_has_the_cost_of_the_plan_and_what_to_do() -> None:
    """The sentence of the report: subject, problem and recommendation."""
    elect = replace(NEW, recommendation_code="reorder_and_elect")
    state = replace(WELL, replica_moves=20, bytes=2.0 * 2**40, leader_changes=1)
    (message,) = messages_of([elect, replace(OLD, severity_before=None)], state=state)
    assert message.lines[0] == "The plan moves 20 replicas (2.0 TiB), with 1 leader change."
    assert message.lines[1].startswith("high: broker 3: ")
    assert "dead broker" not in message.lines[1]
    assert len(message.lines) == 3
    assert messages_of([elect], state=replace(state, replica_moves=0, leader_changes=0))[0].lines == message.lines[1:2]


def test_what_is_old_muted_or_informal_is_no_message() -> None:
    assert (
        messages_of([OLD, replace(NEW, is_muted=True), replace(NEW, severity="info"), replace(NEW, severity="ok")])
        == []
    )


def test_a_team_hears_of_its_own_findings_alone_and_of_no_failure() -> None:
    failed = replace(WELL, last_run_id="run-3", last_run_state="failed", last_failure="no executor")
    assert messages_of([NEW], state=failed, team="payments") == []
    (message,) = messages_of([NEW, replace(NEW, team="payments", subject="4")], state=failed, team="payments")
    assert message.lines == ("high: broker 4: dead broker",)


def test_nothing_is_told_twice_and_the_next_run_is_told_again() -> None:
    already = [SentMessage("news", "run-2", NOW - DAY)]
    assert messages_of([NEW], already) == []
    (message,) = messages_of([NEW], already, replace(WELL, published_run_id="run-3"))
    assert message.subject_id == "run-3"


@pytest.mark.parametrize(("state", "text"), [("failed", "failed"), ("refused", "refused"), ("given_up", "never ended")])
def test_a_run_that_came_to_nothing_is_told_once(state, text) -> None:
    bad = replace(WELL, last_run_id="run-3", last_run_state=state, last_failure="no executor is left")
    (message,) = messages_of([], state=bad)
    assert (message.kind, message.subject_id) == ("failed", "run-3")
    assert text in message.subject
    assert ("no executor is left" in message.lines) == (state == "failed")
    assert messages_of([], [SentMessage("failed", "run-3", NOW - DAY)], bad) == []


def test_lateness_is_told_once_a_day() -> None:
    late = replace(WELL, published_age_seconds=30 * 3_600.0)
    (message,) = messages_of([], state=late)
    assert (message.kind, message.subject) == ("late", "orders: no advisory for 30 hours")
    assert messages_of([], [SentMessage("late", "run-2", NOW - DAY / 2)], late) == []
    assert [item.kind for item in messages_of([], [SentMessage("late", "run-2", NOW - 2 * DAY)], late)] == ["late"]
    assert messages_of([], state=replace(WELL, published_age_seconds=25 * 3_600.0)) == []


@pytest.mark.parametrize(("days", "count"), [(6, 0), (7, 1), (30, 1)])
def test_a_week_of_silence_ends(days, count) -> None:
    quiet = replace(WELL, verdict="nothing_to_do")
    messages = messages_of([], [SentMessage("news", "run-2", NOW - days * DAY)], quiet)
    assert [message.subject for message in messages] == ["orders: all well"] * count
    still = messages_of([OLD], [SentMessage("news", "run-2", NOW - days * DAY)])
    assert [item.subject for item in still] == ["orders: nothing new this week, 1 finding still open"] * count


@pytest.mark.parametrize(
    ("verdict", "team", "head", "line"),
    [
        ("nothing_to_do", None, "all well", "No finding is open."),
        ("rebalance", None, "rebalance, nothing new this week", "No finding is open."),
        ("cannot_tell", None, "cannot tell whether anything has to move, nothing new this week", "No finding is open."),
        ("nothing_to_do", "pay", "nothing has to move, nothing new this week", "No finding of team pay is open."),
    ],
)
def test_all_is_well_only_where_nothing_has_to_move_and_no_finding_of_any_team_is_open(
    verdict, team, head, line
) -> None:
    (message,) = messages_of([replace(NEW, team="other")] if team else [], [], replace(WELL, verdict=verdict), team)
    assert (message.subject, message.lines) == (f"orders: {head}", (line,))


def test_a_cluster_without_an_advisory_is_not_well() -> None:
    never = NewestState("orders", None, None, None, None, None, None)
    assert messages_of([], [], never) == []


def test_a_long_list_is_cut_and_hidden_characters_show() -> None:
    many = [replace(NEW, subject=f"{number}\n\x1b[31m") for number in range(14)]
    (message,) = messages_of(many)
    assert len(message.lines) == 4
    assert message.lines[-1] == "and 11 more"
    assert not [line for line in message.lines if "\n" in line or "\x1b" in line]
