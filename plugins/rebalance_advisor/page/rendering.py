"""Templates to HTML, and the headers of every answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse

from kafka_rebalance.amounts import (
    amount_in_words,
    bytes_in_words,
    changing,
    counted,
    noun_of,
    percent_in_words,
    ratio_in_words,
    seconds_in_words,
)
from kafka_rebalance.facts import BoundProof
from kafka_rebalance.render import render_document
from kafka_rebalance.render.plan_reasons import PROOFS
from rebalance_advisor.page import charts
from rebalance_advisor.publish.cards import label_cells
from rebalance_advisor.publish.charts import AXES, chart_rules, page_colours
from rebalance_advisor.publish.escape import html_value
from rebalance_advisor.publish.report import VERDICT_WORDS, evidence_in_words, owner_words, symptom_words
from rebalance_advisor.store.rows.finding_evidence import numbers

if TYPE_CHECKING:
    from jinja2 import Environment

UNKNOWN = "unknown"
# No script at all. Charts carry style attributes.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def address(request: Request, *parts: str, **query: object) -> str:
    """None, "" and False are left out."""
    root = str(request.scope.get("root_path", "")).rstrip("/")
    path = "/".join(quote(part, safe="") for part in parts)
    given = {name: value for name, value in query.items() if value is not None and value is not False and value != ""}
    encoded = urlencode(given)
    return f"{root}/{path}" + (f"?{encoded}" if encoded else "")


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """In ``template``, ``at(…)`` is ``address`` of this request."""

    def at(*parts: object, **query: object) -> str:
        return address(request, *(str(part) for part in parts), **query)

    text = _environment().get_template(template).render(at=at, **values)
    return HTMLResponse(label_cells(text), status_code=status)


@cache
def style() -> str:
    environment = _environment()
    colours = {"light": page_colours("light"), "dark": page_colours("dark"), "chart_rules": chart_rules()}
    return (
        environment.get_template("report/style.css").render(**colours) + environment.get_template("page.css").render()
    )


@cache
def _environment() -> Environment:
    """Each printed text passes ``html_value``, then Jinja's escapes."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("rebalance_advisor.page"), PackageLoader("rebalance_advisor.publish")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_text,
    )
    environment.filters.update(_FILTERS)
    return environment


def _text(value: Any) -> Any:
    """Make hidden characters visible; markup of macros and charts already is."""
    from markupsafe import Markup

    return value if isinstance(value, Markup) else html_value(value)


def evidence_words(stored: Mapping[str, Any]) -> str:
    """Evidence of a finding, and the findings that it explains. ``stored``: column ``evidence``."""
    evidence = evidence_in_words(numbers(stored))
    symptoms = symptom_words(stored)
    return "; ".join(part for part in (evidence, f"explains {symptoms}" if symptoms else "") if part)


def recommendation_words(stored: Mapping[str, Any]) -> str:
    """``stored``: a row of the view. Empty from earlier releases."""
    code, args = stored["recommendation_code"], stored["recommendation_args"]
    return "" if code is None else render_document({"code": code, "args": args})


def begin_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def verdict_words(verdict: str) -> str:
    """An unknown verdict of a newer advisor stays as it is."""
    return VERDICT_WORDS.get(verdict, verdict)


def fact_words(fact: Mapping[str, Any]) -> str:
    """An unknown fact of a newer advisor gives its code."""
    try:
        return render_document(fact)
    except ValueError:
        return plain_words(fact["code"])


def moment(value: datetime | None) -> str:
    """The connection's time zone is UTC."""
    return UNKNOWN if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


def expiry_words(expires_at: datetime) -> str:
    if expires_at <= datetime.now(UTC):
        return f"It expired {moment(expires_at)}: a new advisory comes before its moves."
    return f"Not to be executed after {moment(expires_at)}."


def count(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f}"


def counted_or_unknown(value: int | None, noun: str) -> str:
    return f"{UNKNOWN} {noun}s" if value is None else counted(value, noun)


def rate(value: float | None) -> str:
    return UNKNOWN if value is None else f"{bytes_in_words(value)}/s"


def broker_list(replicas: list[int] | None) -> str:
    return ", ".join(str(broker) for broker in replicas or ()) or "none"


def plain_words(code: str) -> str:
    """``leaders_piled_up`` → ``leaders piled up``."""
    return code.replace("_", " ")


def busiest_words(skew_rate: float | None) -> str:
    """``1.31 × the mean rate``."""
    if skew_rate is None:
        return "how much each member reads is unknown"
    return (
        f"the busiest member reads {ratio_in_words(_number(skew_rate))} the mean rate"
        if skew_rate
        else "nothing is read"
    )


def lag_end_words(drain_seconds: float | None, members_falling_behind: int | None) -> str:
    if members_falling_behind:
        return f"its lag never ends: {counted(members_falling_behind, 'member')} cannot keep up"
    if drain_seconds is None:
        return "when its lag is gone is unknown"
    return f"its lag is gone in {seconds_in_words(_number(drain_seconds))}" if drain_seconds else "it keeps up"


def outlook_words(group: Mapping[str, Any]) -> str:
    """``in 25 h 11 min``, ``never: members fall behind``."""
    if group["outlook"] == "drains":
        return f"in {seconds_in_words(_number(group['drain_seconds']))}"
    return _OUTLOOKS[group["outlook"]]


def rack_words(rack: str) -> str:
    return rack or "no rack"


def level_words(broker: int, resource: str, level: Mapping[str, Any] | None) -> str:
    """``1.68 × its share, 3.4 TiB; after the plan 1.10 ×, 2.2 TiB``. ``level``: ``ask.heat``."""
    if level is None or level["times_share"] is None:
        return f"broker {broker}, {resource}: not known"
    today = f"broker {broker}, {resource}: {ratio_in_words(level['times_share'])} its share, {load_words(level)}"
    if level["load_after"] is None:
        return f"{today}; what it is after the plan is not known"
    after = dict(level, load=level["load_after"])
    times = level["times_share_after"]
    return f"{today}; after the plan {'' if times is None else ratio_in_words(times) + ', '}{load_words(after)}"


def load_words(level: Mapping[str, Any]) -> str:
    load = amount_in_words(level["load"], level["unit"])
    return load if level["capacity"] is None else f"{load} of {amount_in_words(level['capacity'], level['unit'])}"


def capacity_words(capacity: float, unit: str) -> str:
    return f"capacity {amount_in_words(capacity, unit)}"


def before_after_words(row: Mapping[str, Any], unit: str) -> str:
    """``row``: ``plan_broker``."""
    before, after = (amount_in_words(row[name], unit) for name in ("load_before", "load_after"))
    capacity = "" if row["capacity"] is None else f", {capacity_words(row['capacity'], unit)}"
    return f"broker {row['broker']}: {before} today, {after} after the plan{capacity}"


def stays_words(amount: float, unit: str, *, is_planned: bool) -> str:
    return f"{amount_in_words(amount, unit)} {'stay' if is_planned else 'today'}"


def change_words(change: float, unit: str) -> str:
    return f"{amount_in_words(abs(change), unit)} {'arrive' if change > 0 else 'leave'}"


def cost_words(cost: float, axis: str) -> str:
    return f"{bytes_in_words(cost)} {AXES[axis]}" if axis == "bytes" else f"{AXES[axis]}: {cost:,.0f}"


def frontier_label(plans: int, resources: Sequence[str]) -> str:
    return f"{counted(plans, 'plan')} by cost and highest skew of {', '.join(resources)}; the table has their figures"


def point_words(point: Mapping[str, Any], skew: float) -> str:
    return (
        f"{bytes_in_words(point['bytes'])} copied, {counted(point['replica_moves'], 'replica move')}, "
        f"{counted(point['leader_changes'], 'leader change')}, {seconds_in_words(point['seconds'])}: "
        f"highest skew {ratio_in_words(skew)}"
    )


def ask_for(point: Mapping[str, Any]) -> str:
    """Option for this point's plan; empty without one, or for the shown plan."""
    if point["is_recommended"]:
        return ""
    if point["name"]:
        return f"--at {point['name']}"
    return "" if point["tolerance"] is None else f"--balance-within {100 * point['tolerance']:.4g}%"


def share_words(share: float, unit: str) -> str:
    return f"its share {amount_in_words(share, unit)}"


def held_words(name: str, size: float) -> str:
    return f"{name}: {bytes_in_words(size)}"


def filling_words(topics: Sequence[tuple[str, float, object]], rest: float) -> str:
    parts = [held_words(name, size) for name, size, _ in topics]
    return ", ".join([*parts, held_words("all other topics", rest)] if rest else parts)


def day(moment: float) -> str:
    """``moment``: seconds since 1970."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"


def size_words(size: float) -> str:
    return bytes_in_words(size)


def limit_words(size: float) -> str:
    return f"85 %: {bytes_in_words(size)}"


def used_words(moment: float, used: float) -> str:
    return f"{day(moment)}: {bytes_in_words(used)}"


def full_words(moment: datetime, *, is_planned: bool) -> str:
    return f"85 % is used on {moment:%Y-%m-%d}{' after the plan' if is_planned else ''}"


def disk_words(disk: Mapping[str, Any]) -> str:
    used, total = bytes_in_words(disk["used_bytes"]), bytes_in_words(disk["total_bytes"])
    return f"{used} of {total} used; {growth_words(disk['growth_bytes_per_day'])}"


def growth_words(growth: float | None) -> str:
    if growth is None:
        return "how fast it grows is not known"
    return f"it {'grows' if growth >= 0 else 'shrinks'} by {bytes_in_words(abs(growth))} a day"


def reads_words(member: Mapping[str, Any] | None, unit: str) -> str:
    """``member``: ``member_score_latest``."""
    if member is None:
        return "not known"
    text = counted(member["partitions"], "partition")
    if unit != "count":
        text += f", {amount_in_words(_number(member['in_bytes_per_s']), unit)}"
    return f"{text}; falling behind" if member["is_falling_behind"] else text


def lag_words(day_of: Mapping[str, Any]) -> str:
    """``day_of``: ``group_lag_by_day``."""
    mean, most = day_of["lag_messages"], day_of["highest_lag_messages"]
    return f"{day_of['period_start']:%Y-%m-%d}: {counted(round(mean), 'message')} behind, at most {most:,.0f}"


def lag_label(days: Sequence[Mapping[str, Any]]) -> str:
    return f"Lag by the day. {lag_words(days[0])}; {lag_words(days[-1])}"


def skew_words(day_of: Mapping[str, Any]) -> str:
    """``day_of``: ``skew_by_day``."""
    text = f"{day_of['period_start']:%Y-%m-%d}: {ratio_in_words(day_of['skew'])}"
    return text if day_of["worst_broker"] is None else f"{text}, broker {day_of['worst_broker']} the highest"


def skew_label(resource: str, days: Sequence[Mapping[str, Any]]) -> str:
    return f"Skew of {resource} by the day. {skew_words(days[0])}; {skew_words(days[-1])}"


def applied_words(application: Mapping[str, Any]) -> str:
    """``application``: ``plan_application``."""
    how = "partly applied" if application["state"] == "partly_applied" else "applied"
    return f"plan {how}, seen on {application['verified_at']:%Y-%m-%d}"


def lane_words(finding: Mapping[str, Any], *, is_open: bool) -> str:
    """``seen 12 times``. ``finding``: ``ask.finding_lanes``."""
    first, last = finding["first_seen"], finding["last_seen"]
    until = "today" if is_open else f"{last:%Y-%m-%d}"
    times = f"seen {finding['times_seen']:,} times" if finding["times_seen"] > 1 else "seen once"
    return f"{first:%Y-%m-%d} to {until}, {times}"


def promise_words(outcome: Mapping[str, Any]) -> str:
    """``outcome``: ``plan_outcome``."""
    names = ("skew_before", "skew_predicted")
    before, promised = (ratio_in_words(_number(outcome[name])) for name in names)
    measured = outcome["skew_measured"]
    after = "not measured yet" if measured is None else measured_words(measured)
    return f"{outcome['resource']}: {before} then, {promised} promised, {after}"


def measured_words(skew: float) -> str:
    return f"{ratio_in_words(_number(skew))} measured"


def age_badges(findings: Sequence[Mapping[str, Any]], newest: datetime) -> dict[str, str]:
    """Finding key → ``new`` or ``day 4``; empty for a cluster's first advisory.

    ``findings``: ``ask.first_seen``; ``newest``: start of the newest advisory.
    """
    return {
        row["finding_key"]: "new" if row["first_seen"] >= newest else f"day {(newest - row['first_seen']).days + 1:,}"
        for row in findings
        if row["first_run"] < newest
    }


def partition_words(partition: int, value: float | None, unit: str, leader: int | None, rack: str) -> str:
    verb = "written" if unit == "bytes/s" else "held by its leader"
    rate = "not known" if value is None else f"{amount_in_words(value, unit)} {verb}"
    led = "without leader" if leader is None else f"led by broker {leader}{f' in {rack}' if rack else ''}"
    return f"partition {partition}: {rate}, {led}"


def replica_words(partition: int, broker: int, role: str, change: str) -> str:
    roles = {"●": "leads it", "○": "has a replica", "✕": "has a replica that is not in sync"}
    changes = {
        "": "", "+": "the plan puts it there", "−": "the plan moves it away", "↑": "the plan makes it the leader",
        "↓": "the plan takes the lead from it",
    }  # fmt: skip
    text = f"partition {partition}: broker {broker} {'will have it' if change == '+' else roles[role]}"
    return f"{text}; {changes[change]}" if change else text


def copies_words(broker: int, sent: float, received: float) -> str:
    return f"broker {broker} sends {bytes_in_words(sent)} and receives {bytes_in_words(received)}"


def copy_words(amount: float, first: int, last: int, *, is_sent: bool) -> str:
    waves = f"wave {first}" if first == last else f"waves {first} to {last}"
    return f"{'sends' if is_sent else 'receives'} {bytes_in_words(amount)} in {waves}"


_OUTLOOKS = {
    "never": "never: members fall behind", "no_lag": "keeps up", "no_members": "nobody reads", "unknown": UNKNOWN,
    None: "not judged",
}  # fmt: skip


def _number(value: Any) -> float | None:
    """SQL averages are Decimal."""
    return None if value is None else float(value)


def proof_words(code: str) -> str:
    return PROOFS[BoundProof(code)]


_FILTERS: Mapping[str, Any] = {
    "amount": lambda value, unit: amount_in_words(_number(value), unit),
    "size": lambda value: bytes_in_words(_number(value)),
    "rate": lambda value: rate(_number(value)),
    "duration": lambda value: seconds_in_words(_number(value)),
    "times": lambda value: ratio_in_words(_number(value)),
    "percent": lambda value: percent_in_words(_number(value)),
    "count": count,
    "counted": counted_or_unknown,
    "noun": noun_of,
    "changing": lambda value: changing(value or 0),
    "moment": moment,
    "expiry": expiry_words,
    "verdict": verdict_words,
    "brokers": broker_list,
    "plain": plain_words,
    "evidence": evidence_words,
    "recommendation": recommendation_words,
    "busiest": busiest_words,
    "lag_end": lag_end_words,
    "outlook": outlook_words,
    "owner": owner_words,
    "fact": fact_words,
    "begin": begin_sentence,
    "proof": proof_words,
    "grid": charts.grid,
    "strip": charts.strip,
    "growth": growth_words,
    "line_chart": charts.line_chart,
}
