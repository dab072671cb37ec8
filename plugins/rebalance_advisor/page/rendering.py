"""Templates to HTML, and the headers that every answer carries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse

from kafka_rebalance.amounts import (
    amount_in_words,
    bytes_in_words,
    counted,
    percent_in_words,
    ratio_in_words,
    seconds_in_words,
)
from kafka_rebalance.facts import BoundProof
from kafka_rebalance.render import render_document
from kafka_rebalance.render.plan_reasons import PROOFS
from rebalance_advisor.page import charts
from rebalance_advisor.publish.charts import chart_rules, page_colours
from rebalance_advisor.publish.escape import html_value
from rebalance_advisor.publish.report import VERDICT_WORDS, evidence_in_words, owner_words, symptom_words
from rebalance_advisor.store.rows.finding_evidence import numbers

if TYPE_CHECKING:
    from jinja2 import Environment

UNKNOWN = "unknown"
# No script at all; drawn charts carry style attributes, and what holds for a script does not hold for those.
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
    """A link inside the page: path parts and query values are quoted; ``None``, "" and ``False`` are left out."""
    root = str(request.scope.get("root_path", "")).rstrip("/")
    path = "/".join(quote(part, safe="") for part in parts)
    given = {name: value for name, value in query.items() if value is not None and value is not False and value != ""}
    asked = urlencode(given)
    return f"{root}/{path}" + (f"?{asked}" if asked else "")


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """An answer of ``template``; in it ``at(…)`` is ``address`` of this request."""

    def at(*parts: object, **query: object) -> str:
        return address(request, *(str(part) for part in parts), **query)

    text = _environment().get_template(template).render(at=at, **values)
    return HTMLResponse(text, status_code=status)


@cache
def style() -> str:
    """The report's style sheet, and what the page has more."""
    environment = _environment()
    colours = {"light": page_colours("light"), "dark": page_colours("dark"), "chart_rules": chart_rules()}
    return (
        environment.get_template("report/style.css").render(**colours) + environment.get_template("page.css").render()
    )


@cache
def _environment() -> Environment:
    """Every text that a template prints passes ``html_value``, then Jinja's own escapes."""
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
    """Hidden characters of names made visible; what a macro or a chart made is markup, its texts have been here."""
    from markupsafe import Markup

    return value if isinstance(value, Markup) else html_value(value)


def evidence_words(stored: Mapping[str, Any]) -> str:
    """A finding's numbers in words, and what else would be gone with it; ``stored``: the view's column ``evidence``."""
    told = evidence_in_words(numbers(stored))
    symptoms = symptom_words(stored)
    return "; ".join(words for words in (told, f"explains {symptoms}" if symptoms else "") if words)


def recommendation_words(stored: Mapping[str, Any]) -> str:
    """Return what to do about a finding; ``stored``: a row of the view. Empty where an earlier release wrote it."""
    code, args = stored["recommendation_code"], stored["recommendation_args"]
    return "" if code is None else render_document({"code": code, "args": args})


def begin_sentence(words: str) -> str:
    """Return the words with a capital at the beginning."""
    return words[:1].upper() + words[1:]


def verdict_words(verdict: str) -> str:
    """The verdict as a sentence; one that a newer advisor wrote stands as it is."""
    return VERDICT_WORDS.get(verdict, verdict)


def fact_words(fact: Mapping[str, Any]) -> str:
    """Return the words of a stored fact; of a code that a newer advisor wrote, the code."""
    try:
        return render_document(fact)
    except ValueError:
        return plain_words(fact["code"])


def moment(value: datetime | None) -> str:
    """``2026-11-20 12:00 UTC``; the connection's time zone is UTC."""
    return UNKNOWN if value is None else f"{value:%Y-%m-%d %H:%M} UTC"


def count(value: float | None) -> str:
    """``50,000``."""
    return UNKNOWN if value is None else f"{value:,.0f}"


def rate(value: float | None) -> str:
    """``1.5 KiB/s``."""
    return UNKNOWN if value is None else f"{bytes_in_words(value)}/s"


def broker_list(replicas: list[int] | None) -> str:
    """``1, 4, 7``."""
    return ", ".join(str(broker) for broker in replicas or ()) or "none"


def plain_words(code: str) -> str:
    """``leaders_piled_up`` → ``leaders piled up``."""
    return code.replace("_", " ")


def busiest_words(skew_rate: float | None) -> str:
    """What a group's busiest member reads: ``the busiest member reads 1.31 × the mean rate``."""
    if skew_rate is None:
        return "how much each member reads is unknown"
    return (
        f"the busiest member reads {ratio_in_words(_number(skew_rate))} the mean rate"
        if skew_rate
        else "nothing is read"
    )


def lag_end_words(drain_seconds: float | None, members_falling_behind: int | None) -> str:
    """When a group's lag is gone, as a part of a sentence: ``its lag is gone in 15 min``."""
    if members_falling_behind:
        return f"its lag never ends: {counted(members_falling_behind, 'member')} cannot keep up"
    if drain_seconds is None:
        return "when its lag is gone is unknown"
    return f"its lag is gone in {seconds_in_words(_number(drain_seconds))}" if drain_seconds else "it has no lag"


def outlook_words(group: Mapping[str, Any]) -> str:
    """When a group's lag is gone: ``in 25 h 11 min``, ``never: members fall behind``. ``group``: a row of the view."""
    if group["outlook"] == "drains":
        return f"in {seconds_in_words(_number(group['drain_seconds']))}"
    return _OUTLOOKS[group["outlook"]]


def rack_words(rack: str) -> str:
    """``rack-a``, or that a broker has none."""
    return rack or "no rack"


def level_words(broker: int, resource: str, level: Mapping[str, Any] | None) -> str:
    """``broker 9, disk: 1.68 × its share, 3.4 TiB; after the plan 1.10 ×, 2.2 TiB``, of a row of ``ask.heat``."""
    if level is None or level["times_share"] is None:
        return f"broker {broker}, {resource}: not known"
    said = f"broker {broker}, {resource}: {ratio_in_words(level['times_share'])} its share, {load_words(level)}"
    if level["load_after"] is None:
        return f"{said}; what it is after the plan is not known"
    after = dict(level, load=level["load_after"])
    times = level["times_share_after"]
    return f"{said}; after the plan {'' if times is None else ratio_in_words(times) + ', '}{load_words(after)}"


def load_words(level: Mapping[str, Any]) -> str:
    """``3.4 TiB of 3.6 TiB``, or the load alone where the capacity is unknown."""
    load = amount_in_words(level["load"], level["unit"])
    return load if level["capacity"] is None else f"{load} of {amount_in_words(level['capacity'], level['unit'])}"


_OUTLOOKS = {
    "never": "never: members fall behind", "no_lag": "there is none", "no_members": "nobody reads", "unknown": UNKNOWN,
    None: "not judged",
}  # fmt: skip


def _number(value: Any) -> float | None:
    """What averages come as (Decimal) is a float to whoever formats it."""
    return None if value is None else float(value)


def proof_words(code: str) -> str:
    """How a bound is proved."""
    return PROOFS[BoundProof(code)]


_FILTERS: Mapping[str, Any] = {
    "amount": lambda value, unit: amount_in_words(_number(value), unit),
    "size": lambda value: bytes_in_words(_number(value)),
    "rate": lambda value: rate(_number(value)),
    "duration": lambda value: seconds_in_words(_number(value)),
    "times": lambda value: ratio_in_words(_number(value)),
    "percent": lambda value: percent_in_words(_number(value)),
    "count": count,
    "moment": moment,
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
    "line_chart": charts.line_chart,
}
