"""Messages due for a recipient of a cluster. O(findings + messages of 60 days).

Promises, in order: nothing is sent twice; a team's address gets that team's findings, the cluster's all; a finding is
sent when new or worse than in the previous advisory, never when muted or informal; failed and late advisories go to the
cluster's recipients, lateness once a day; after a week without messages, one says that all is well or what is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_assignors.visible_text import visible
from kafka_rebalance.amounts import counted, format_bytes
from kafka_rebalance.plans.plan import Verdict
from rebalance_advisor.publish.report import VERDICT_TEXTS, named
from rebalance_advisor.store.notifications import FindingNews, NewestState, SentMessage

WORST_FIRST = ("critical", "high", "medium", "low")  # info and ok are never sent
_AGAIN_LATE, _SILENCE = timedelta(days=1), timedelta(days=7)
_HOUR_S = 3_600.0
_MOST_FINDINGS = 3


@dataclass(frozen=True, slots=True)
class Message:
    """``kind`` and ``subject_id`` identify it in the store; texts are plain and visible."""

    kind: str
    subject_id: str
    subject: str
    lines: tuple[str, ...]


def messages_for(
    state: NewestState,
    findings: Sequence[FindingNews],
    sent: Sequence[SentMessage],
    *,
    team: str | None,
    late_after_hours: float,
    now: datetime,
) -> list[Message]:
    """``team`` None: the recipient is the cluster's.

    Example: one new finding of team ``payments`` gives a ``news`` message to that team and to the cluster's recipients.
    """
    concerned = [finding for finding in findings if finding.severity in WORST_FIRST and not finding.is_muted]
    if team is not None:
        concerned = [finding for finding in concerned if finding.team == team]
    sent_keys = {(message.kind, message.subject_id) for message in sent}
    candidates = [_news(state, concerned)]
    if team is None:
        candidates += [_failed(state), _late(state, sent, late_after_hours, now)]
    messages = [
        message
        for message in candidates
        if message is not None and (message.kind == "late" or (message.kind, message.subject_id) not in sent_keys)
    ]
    last = max((message.sent_at for message in sent), default=None)
    if not messages and state.published_run_id is not None and (last is None or now - last >= _SILENCE):
        messages = [_all_well(state, concerned, team)]
    return messages


def is_news(finding: FindingNews) -> bool:
    before = finding.severity_before
    if before not in WORST_FIRST:
        return True
    return WORST_FIRST.index(finding.severity) < WORST_FIRST.index(before)


def _news(state: NewestState, concerned: Sequence[FindingNews]) -> Message | None:
    fresh = [finding for finding in concerned if is_news(finding)]
    if not fresh or state.published_run_id is None:
        return None
    count = "1 new or worse finding" if len(fresh) == 1 else f"{len(fresh)} new or worse findings"
    head = f"{state.cluster}: {_verdict(state)}, {count}"
    return _message("news", state.published_run_id, head, [*_plan(state), *_lines(fresh)])


def _verdict(state: NewestState) -> str:
    words = VERDICT_TEXTS.get(state.verdict or "", state.verdict or "").partition(":")[0]
    return words[:1].lower() + words[1:]


def _plan(state: NewestState) -> list[str]:
    if not state.replica_moves and not state.leader_changes:
        return []
    moves, leaders = counted(state.replica_moves or 0, "replica"), counted(state.leader_changes or 0, "leader change")
    return [f"The plan moves {moves} ({format_bytes(state.bytes)}), with {leaders}."]


def _failed(state: NewestState) -> Message | None:
    if state.last_run_state not in ("failed", "refused", "given_up") or state.last_run_id is None:
        return None
    head = f"{state.cluster}: the newest advisory {_STATE_TEXTS[state.last_run_state]}"
    reasons = [state.last_failure] if state.last_run_state == "failed" and state.last_failure else []
    reasons += ["The advisory before it is still valid."] if state.published_run_id is not None else []
    return _message("failed", state.last_run_id, head, reasons)


def _late(state: NewestState, sent: Sequence[SentMessage], late_after_hours: float, now: datetime) -> Message | None:
    age_s = state.published_age_seconds
    if age_s is None or state.published_run_id is None or age_s <= late_after_hours * _HOUR_S:
        return None
    if any(message.kind == "late" and now - message.sent_at < _AGAIN_LATE for message in sent):
        return None
    head = f"{state.cluster}: no advisory for {age_s / _HOUR_S:.0f} hours"
    return _message(
        "late",
        state.published_run_id,
        head,
        [f"Look at the runs of advise_{state.cluster} and collect_{state.cluster} in Airflow."],
    )


def _all_well(state: NewestState, concerned: Sequence[FindingNews], team: str | None) -> Message:
    run_id = state.published_run_id or ""
    if not concerned:
        is_well = team is None and state.verdict == Verdict.NOTHING_TO_DO
        head = f"{state.cluster}: {'all well' if is_well else f'{_verdict(state)}, nothing new this week'}"
        none = f"No finding{'' if team is None else f' of team {team}'} is open."
        return _message("all_well", run_id, head, [*_plan(state), none])
    head = f"{state.cluster}: nothing new this week, {counted(len(concerned), 'finding')} still open"
    return _message("all_well", run_id, head, [*_plan(state), *_lines(concerned)])


def _lines(findings: Sequence[FindingNews]) -> list[str]:
    ranked = sorted(findings, key=lambda finding: WORST_FIRST.index(finding.severity))
    lines = [f"{_severity(finding)}: {_finding(finding)}" for finding in ranked[:_MOST_FINDINGS]]
    more = len(ranked) - _MOST_FINDINGS
    return [*lines, f"and {more:,} more"] if more > 0 else lines


def _severity(finding: FindingNews) -> str:
    is_worse = finding.severity_before in WORST_FIRST and is_news(finding)
    return f"{finding.severity} (was {finding.severity_before})" if is_worse else finding.severity


def _finding(finding: FindingNews) -> str:
    """The code alone for a finding of an older release."""
    if finding.recommendation_code is None:
        return f"{finding.subject_type} {finding.subject}: {finding.code.replace('_', ' ')}"
    recommendation = {"code": finding.recommendation_code, "args": finding.recommendation_args}
    return named({"recommendation": recommendation, "subject_type": finding.subject_type, "subject": finding.subject})


def _message(kind: str, subject_id: str, head: str, lines: Sequence[str]) -> Message:
    return Message(kind, subject_id, visible(head), tuple(visible(line) for line in lines))


_STATE_TEXTS = {"failed": "failed", "refused": "was refused by its gate", "given_up": "never ended"}
