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
    changing,
    counted,
    format_amount,
    format_bytes,
    format_percent,
    format_ratio,
    format_seconds,
    noun_of,
)
from kafka_rebalance.facts import BoundProof
from kafka_rebalance.render import render_document
from kafka_rebalance.render.findings import ACTOR_OF_ONE
from kafka_rebalance.render.plan_reasons import PROOFS
from rebalance_advisor.page import charts
from rebalance_advisor.publish.cards import label_cells
from rebalance_advisor.publish.charts import AXES, chart_rules, page_colours
from rebalance_advisor.publish.escape import html_value
from rebalance_advisor.publish.report import VERDICT_TEXTS, describe_evidence, describe_owner, describe_symptoms
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


def describe_stored_evidence(stored: Mapping[str, Any]) -> str:
    """Evidence of a finding, and the findings that it explains. ``stored``: column ``evidence``."""
    evidence = describe_evidence(numbers(stored))
    symptoms = describe_symptoms(stored)
    return "; ".join(part for part in (evidence, f"explains {symptoms}" if symptoms else "") if part)


def describe_recommendation(stored: Mapping[str, Any]) -> str:
    """``stored``: a row of the view. Empty from earlier releases."""
    code, args = stored["recommendation_code"], stored["recommendation_args"]
    return "" if code is None else render_document({"code": code, "args": args})


def begin_sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def describe_verdict(verdict: str) -> str:
    """An unknown verdict of a newer advisor stays as it is."""
    return VERDICT_TEXTS.get(verdict, verdict)


def describe_fact(fact: Mapping[str, Any]) -> str:
    """An unknown fact of a newer advisor gives its code."""
    try:
        return render_document(fact)
    except ValueError:
        return plain_name(fact["code"])


def moment(value: datetime | None) -> str:
    """The connection's time zone is UTC."""
    return UNKNOWN if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


def describe_expiry(expires_at: datetime) -> str:
    if expires_at <= datetime.now(UTC):
        return f"It expired {moment(expires_at)}: a new advisory comes before its moves."
    return f"Not to be executed after {moment(expires_at)}."


def count(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f}"


def counted_or_unknown(value: int | None, noun: str) -> str:
    return f"{UNKNOWN} {noun}s" if value is None else counted(value, noun)


def rate(value: float | None) -> str:
    return UNKNOWN if value is None else f"{format_bytes(value)}/s"


def broker_list(replicas: list[int] | None) -> str:
    return ", ".join(str(broker) for broker in replicas or ()) or "none"


def plain_name(code: str) -> str:
    """``leaders_piled_up`` → ``leaders piled up``."""
    return code.replace("_", " ")


def describe_busiest(skew_rate: float | None) -> str:
    """``1.31 × the mean rate``."""
    if skew_rate is None:
        return "how much each member reads is unknown"
    return (
        f"the busiest member reads {format_ratio(_number(skew_rate))} the mean rate" if skew_rate else "nothing is read"
    )


def describe_lag_end(drain_seconds: float | None, members_falling_behind: int | None) -> str:
    if members_falling_behind:
        return f"its lag never ends: {counted(members_falling_behind, 'member')} cannot keep up"
    if drain_seconds is None:
        return "when its lag is gone is unknown"
    return f"its lag is gone in {format_seconds(_number(drain_seconds))}" if drain_seconds else "it keeps up"


def describe_outlook(group: Mapping[str, Any]) -> str:
    """``in 25 h 11 min``, ``never: members fall behind``."""
    if group["outlook"] == "drains":
        return f"in {format_seconds(_number(group['drain_seconds']))}"
    return _OUTLOOKS[group["outlook"]]


def describe_rack(rack: str) -> str:
    return rack or "no rack"


def describe_level(broker: int, resource: str, level: Mapping[str, Any] | None) -> str:
    """``1.68 × its share, 3.4 TiB; after the plan 1.10 ×, 2.2 TiB``. ``level``: ``ask.heat``."""
    if level is None or level["times_share"] is None:
        return f"broker {broker}, {resource}: not known"
    today = f"broker {broker}, {resource}: {format_ratio(level['times_share'])} its share, {describe_load(level)}"
    if level["load_after"] is None:
        return f"{today}; what it is after the plan is not known"
    after = dict(level, load=level["load_after"])
    times = level["times_share_after"]
    return f"{today}; after the plan {'' if times is None else format_ratio(times) + ', '}{describe_load(after)}"


def describe_load(level: Mapping[str, Any]) -> str:
    load = format_amount(level["load"], level["unit"])
    return load if level["capacity"] is None else f"{load} of {format_amount(level['capacity'], level['unit'])}"


def describe_capacity(capacity: float, unit: str) -> str:
    return f"capacity {format_amount(capacity, unit)}"


def describe_change_of(row: Mapping[str, Any], unit: str) -> str:
    """``row``: ``plan_broker``."""
    before, after = (format_amount(row[name], unit) for name in ("load_before", "load_after"))
    capacity = "" if row["capacity"] is None else f", {describe_capacity(row['capacity'], unit)}"
    return f"broker {row['broker']}: {before} today, {after} after the plan{capacity}"


def describe_what_stays(amount: float, unit: str, *, is_planned: bool) -> str:
    return f"{format_amount(amount, unit)} {'stay' if is_planned else 'today'}"


def describe_change(change: float, unit: str) -> str:
    return f"{format_amount(abs(change), unit)} {'arrive' if change > 0 else 'leave'}"


def describe_cost(cost: float, axis: str) -> str:
    return f"{format_bytes(cost)} {AXES[axis]}" if axis == "bytes" else f"{AXES[axis]}: {cost:,.0f}"


def frontier_label(plans: int, resources: Sequence[str]) -> str:
    return f"{counted(plans, 'plan')} by cost and highest skew of {', '.join(resources)}; the table has their figures"


def describe_point(point: Mapping[str, Any], skew: float) -> str:
    return (
        f"{format_bytes(point['bytes'])} copied, {counted(point['replica_moves'], 'replica move')}, "
        f"{counted(point['leader_changes'], 'leader change')}, {format_seconds(point['seconds'])}: "
        f"highest skew {format_ratio(skew)}"
    )


def ask_for(point: Mapping[str, Any]) -> str:
    """Option for this point's plan; empty without one, or for the shown plan."""
    if point["is_recommended"]:
        return ""
    if point["name"]:
        return f"--at {point['name']}"
    return "" if point["tolerance"] is None else f"--balance-within {100 * point['tolerance']:.4g}%"


def describe_share(share: float, unit: str) -> str:
    return f"its share {format_amount(share, unit)}"


def describe_listed_load(load: float, unit: str, capacity: float | None) -> str:
    return f"{100 * load / capacity:.0f} %" if capacity else format_amount(load, unit)


def describe_listed_share(load: float, capacity: float | None, to_mean: float | None) -> str:
    """``41 %`` of the capacity, else ``1.23 ×`` the mean."""
    if capacity:
        return f"{100 * load / capacity:.0f} %"
    return "" if to_mean is None else format_ratio(to_mean)


def describe_held_topic(name: str, size: float) -> str:
    return f"{name}: {format_bytes(size)}"


def describe_filling(topics: Sequence[tuple[str, float, object]], rest: float) -> str:
    parts = [describe_held_topic(name, size) for name, size, _ in topics]
    return ", ".join([*parts, describe_held_topic("all other topics", rest)] if rest else parts)


def day(moment: float) -> str:
    """``moment``: seconds since 1970."""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"


def describe_size(size: float) -> str:
    return format_bytes(size)


def describe_limit(size: float) -> str:
    return f"85 %: {format_bytes(size)}"


def describe_used_disk(moment: float, used: float) -> str:
    return f"{day(moment)}: {format_bytes(used)}"


def describe_full_disk(moment: datetime, *, is_planned: bool) -> str:
    return f"85 % is used on {moment:%Y-%m-%d}{' after the plan' if is_planned else ''}"


def describe_disk(disk: Mapping[str, Any]) -> str:
    used, total = format_bytes(disk["used_bytes"]), format_bytes(disk["total_bytes"])
    return f"{used} of {total} used; {describe_growth(disk['growth_bytes_per_day'])}"


def describe_growth(growth: float | None) -> str:
    if growth is None:
        return "how fast it grows is not known"
    return f"it {'grows' if growth >= 0 else 'shrinks'} by {format_bytes(abs(growth))} a day"


def describe_reads(member: Mapping[str, Any] | None, unit: str) -> str:
    """``member``: ``member_score_latest``."""
    if member is None:
        return "not known"
    text = counted(member["partitions"], "partition")
    if unit != "count":
        text += f", {format_amount(_number(member['in_bytes_per_s']), unit)}"
    return f"{text}; falling behind" if member["is_falling_behind"] else text


def describe_lag(day_of: Mapping[str, Any]) -> str:
    """``day_of``: ``group_lag_by_day``."""
    mean, most = day_of["lag_messages"], day_of["highest_lag_messages"]
    return f"{day_of['period_start']:%Y-%m-%d}: {counted(round(mean), 'message')} behind, at most {most:,.0f}"


def lag_label(days: Sequence[Mapping[str, Any]]) -> str:
    return f"Lag by the day. {describe_lag(days[0])}; {describe_lag(days[-1])}"


def describe_skew(day_of: Mapping[str, Any]) -> str:
    """``day_of``: ``skew_by_day``."""
    text = f"{day_of['period_start']:%Y-%m-%d}: {format_ratio(day_of['skew'])}"
    return text if day_of["worst_broker"] is None else f"{text}, broker {day_of['worst_broker']} the highest"


def skew_label(resource: str, days: Sequence[Mapping[str, Any]]) -> str:
    return f"Skew of {resource} by the day. {describe_skew(days[0])}; {describe_skew(days[-1])}"


def describe_applied(application: Mapping[str, Any]) -> str:
    """``application``: ``plan_application``."""
    how = "partly applied" if application["state"] == "partly_applied" else "applied"
    return f"plan {how}, seen on {application['verified_at']:%Y-%m-%d}"


def describe_lane(finding: Mapping[str, Any], *, is_open: bool) -> str:
    """``seen 12 times``. ``finding``: ``ask.finding_lanes``."""
    first, last = finding["first_seen"], finding["last_seen"]
    until = "today" if is_open else f"{last:%Y-%m-%d}"
    times = f"seen {finding['times_seen']:,} times" if finding["times_seen"] > 1 else "seen once"
    return f"{first:%Y-%m-%d} to {until}, {times}"


def describe_promise(outcome: Mapping[str, Any]) -> str:
    """``outcome``: ``plan_outcome``."""
    names = ("skew_before", "skew_predicted")
    before, promised = (format_ratio(_number(outcome[name])) for name in names)
    measured = outcome["skew_measured"]
    after = "not measured yet" if measured is None else describe_measured(measured)
    return f"{outcome['resource']}: {before} then, {promised} promised, {after}"


def describe_measured(skew: float) -> str:
    return f"{format_ratio(_number(skew))} measured"


def age_badges(findings: Sequence[Mapping[str, Any]], newest: datetime) -> dict[str, str]:
    """Finding key → ``new`` or ``day 4``; empty for a cluster's first advisory.

    ``findings``: ``ask.first_seen``; ``newest``: start of the newest advisory.
    """
    return {
        row["finding_key"]: "new" if row["first_seen"] >= newest else f"day {(newest - row['first_seen']).days + 1:,}"
        for row in findings
        if row["first_run"] < newest
    }


def describe_partition(partition: int, value: float | None, unit: str, leader: int | None, rack: str) -> str:
    verb = "written" if unit == "bytes/s" else "held by its leader"
    rate = "not known" if value is None else f"{format_amount(value, unit)} {verb}"
    led = "without leader" if leader is None else f"led by broker {leader}{f' in {rack}' if rack else ''}"
    return f"partition {partition}: {rate}, {led}"


def describe_replica(partition: int, broker: int, role: str, change: str) -> str:
    roles = {"●": "leads it", "○": "has a replica", "✕": "has a replica that is not in sync"}
    changes = {
        "": "", "+": "the plan puts it there", "−": "the plan moves it away", "↑": "the plan makes it the leader",
        "↓": "the plan takes the lead from it",
    }  # fmt: skip
    text = f"partition {partition}: broker {broker} {'will have it' if change == '+' else roles[role]}"
    return f"{text}; {changes[change]}" if change else text


def describe_copies(broker: int, sent: float, received: float) -> str:
    return f"broker {broker} sends {format_bytes(sent)} and receives {format_bytes(received)}"


def describe_copy(amount: float, first: int, last: int, *, is_sent: bool) -> str:
    waves = f"wave {first}" if first == last else f"waves {first} to {last}"
    return f"{'sends' if is_sent else 'receives'} {format_bytes(amount)} in {waves}"


_OUTLOOKS = {
    "never": "never: members fall behind", "no_lag": "keeps up", "no_members": "nobody reads", "unknown": UNKNOWN,
    None: "not judged",
}  # fmt: skip


def _number(value: Any) -> float | None:
    """SQL averages are Decimal."""
    return None if value is None else float(value)


def describe_proof(code: str) -> str:
    return PROOFS[BoundProof(code)]


def describe_overlap(overlap: Mapping[str, Any]) -> str:
    """Return what changed from the plan before to this one. ``overlap``: ``ask.overlap``."""
    same, now, earlier = overlap["same_move_count"], overlap["move_count"], overlap["previous_move_count"]
    if same == now == earlier:
        return "nothing"
    return f"new {now - same:,} of {counted(now, 'move')}, gone {earlier - same:,} of {counted(earlier, 'move')}"


_FILTERS: Mapping[str, Any] = {
    "amount": lambda value, unit: format_amount(_number(value), unit),
    "size": lambda value: format_bytes(_number(value)),
    "rate": lambda value: rate(_number(value)),
    "duration": lambda value: format_seconds(_number(value)),
    "times": lambda value: format_ratio(_number(value)),
    "percent": lambda value: format_percent(_number(value)),
    "count": count,
    "counted": counted_or_unknown,
    "noun": noun_of,
    "changing": lambda value: changing(value or 0),
    "moment": moment,
    "expiry": describe_expiry,
    "verdict": describe_verdict,
    "brokers": broker_list,
    "plain": plain_name,
    "evidence": describe_stored_evidence,
    "recommendation": describe_recommendation,
    "busiest": describe_busiest,
    "lag_end": describe_lag_end,
    "outlook": describe_outlook,
    "actor": lambda value: ACTOR_OF_ONE.get(value, ""),
    "owner": describe_owner,
    "overlap": describe_overlap,
    "fact": describe_fact,
    "begin": begin_sentence,
    "proof": describe_proof,
    "grid": charts.grid,
    "strip": charts.strip,
    "growth": describe_growth,
    "line_chart": charts.line_chart,
}
