"""HTML of one advisory: first the decision, then its reasons.

Rendered only from published documents, so it cannot contradict them. Charts are inline SVG; it works in mail and print.
Digest and terminal share its sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from kafka_rebalance.amounts import (
    changing,
    counted,
    format_amount,
    format_bytes,
    format_ratio,
    format_seconds,
    listed,
    noun_of,
)
from kafka_rebalance.facts import BoundProof, Fact, FactCode
from kafka_rebalance.findings.finding import NEW, PERSISTING, REOPENED, START_BLOCKERS, Actor, Severity
from kafka_rebalance.render import render, render_document
from kafka_rebalance.render.coverage import describe_load
from kafka_rebalance.render.findings import ACTOR_OF_ONE
from kafka_rebalance.render.needed import amount_of, describe_needed, needed
from kafka_rebalance.render.plan_reasons import PROOFS
from kafka_rebalance.render.steps import StepFigures, step_bound, step_effect, step_figures, step_title
from kafka_rebalance.render.uncovered import describe_uncovered
from kafka_rebalance.snapshot.codec import read_gap
from rebalance_advisor.publish.cards import label_cells
from rebalance_advisor.publish.charts import (
    Specification,
    band_of,
    broker_levels_chart,
    broker_rows,
    chart_rules,
    frontier_chart,
    frontier_label,
    page_colours,
    svg_of,
    wave_times_chart,
)
from rebalance_advisor.publish.escape import html_value
from rebalance_advisor.publish.plan_text import compared_resources, frontier_rows

Document = Mapping[str, Any]
VERDICT_TEXTS = {
    "rebalance": "Rebalance: a plan is ready",
    "nothing_to_do": "Nothing has to move",
    "cannot_tell": "Cannot tell whether anything has to move",
    "infeasible": "Infeasible: no placement satisfies the hard rules",
    "not_fixable_by_moving": "Moving cannot fix this",
}


def describe_size(size: Document) -> str:
    brokers = f"{counted(size['brokers'], 'broker')} in {counted(size['racks'], 'rack')}"
    return ", ".join(
        [brokers, *(counted(size[f"{noun}s"], noun) for noun in ("topic", "partition", "replica", "group"))]
    )


def key_figures(plan: Document) -> list[dict[str, str]]:
    cost = plan["cost"]
    figures = [
        (f"{noun_of(cost['replica_moves'], 'replica')} moved", f"{cost['replica_moves']:,}"),
        ("copied", format_bytes(cost["bytes"])),
        (noun_of(cost["leader_changes"], "leader change"), f"{cost['leader_changes']:,}"),
        ("at the throttle", format_seconds(cost["seconds"])),
    ]
    bound = next((proved for proved in plan["lower_bound"] if proved["cost"] == "bytes"), None)
    least = None if bound is None else needed("bytes", cost["bytes"], bound["value"])
    if least is not None:
        figures.append((least.of_what or "needed", least.value))
    return [{"name": name, "value": value} for name, value in figures]


def uncovered_by(advisory: Document) -> str:
    return describe_uncovered(read_gap(gap, "coverage") for gap in advisory["coverage"])


_GAPS = "gaps_of_"


def describe_evidence(evidence: Document) -> str:
    return ", ".join(_evidence(name, value) for name, value in evidence.items())


def _evidence(name: str, value: Any) -> str:
    # A gap may have a log dir's name: keep its underscores.
    label = f"gaps of {name[len(_GAPS) :]}" if name.startswith(_GAPS) else name.replace("_", " ")
    if isinstance(value, list | tuple):
        return f"{label}: {listed(value)}"
    if value is None or isinstance(value, str | bool):
        text = "unknown" if value is None else str(value)
        return f"{label}: {text.replace('_', ' ') if name.endswith('_left_out') else text}"
    if name.endswith("bytes_per_s"):
        return f"{label.removesuffix(' bytes per s')}: {format_bytes(value)}/s"
    if "bytes" in name.split("_"):
        return f"{label.removesuffix(' bytes')}: {format_bytes(value)}"
    if "seconds" in name.split("_"):
        return f"{label.replace(' seconds', '')}: {format_seconds(value)}"
    if name.endswith("ratio"):
        return f"{label.removesuffix(' ratio')}: {value:.2f}"
    return f"{label}: {value:,.2f}" if isinstance(value, float) and value % 1 else f"{label}: {value:,.0f}"


def top_lines(findings: Sequence[Document], count: int) -> list[str]:
    """Worst first, and a count of muted ones; at most ``count`` lines."""
    muted = describe_muted(findings)
    lines = []
    for finding in unmuted_findings(findings)[: count - bool(muted)]:
        owner, symptoms = describe_owner(finding), describe_symptoms(finding)
        more = f" It explains {symptoms}." if symptoms else ""
        change = noteworthy_change(finding)
        severity = f"{finding['severity']}, {change}" if change else finding["severity"]
        lines.append(f"{severity}: {named(finding)}{more}" + (f" ({owner})" if owner else ""))
    return [*lines, muted] if muted else lines


def unmuted_findings(findings: Sequence[Document]) -> list[Document]:
    return [finding for finding in findings if finding["muted_until"] is None]


def describe_owner(finding: Document) -> str:
    tier = None if finding["tier"] is None else f"tier {finding['tier']}"
    return ", ".join(part for part in (finding["team"], finding["channel"], tier) if part is not None)


def noteworthy_change(finding: Document) -> str:
    """``new``, ``reopened`` or ''."""
    change = str(finding.get("change") or "")
    return "" if change == PERSISTING else change


def describe_change(advisory: Document) -> str:
    """``2 new, 11 persisting, 1 resolved``; '' without an earlier advisory."""
    if "resolved" not in advisory:
        return ""
    changes = [finding["change"] for finding in advisory["findings"]]
    counts = {change: changes.count(change) for change in (NEW, REOPENED, PERSISTING)}
    counts["resolved"] = len(advisory["resolved"])
    return ", ".join(f"{count} {change}" for change, count in counts.items() if count) or "no findings, then and now"


def describe_symptoms(finding: Document) -> str:
    """``leaders piled up (broker 3, 6), …``: symptoms, worst first."""
    by_code: dict[tuple[str, str], list[str]] = {}
    for symptom in finding.get("symptoms", ()):
        by_code.setdefault((symptom["code"], symptom["subject_type"]), []).append(symptom["subject"])
    return ", ".join(f"{code.replace('_', ' ')} ({kind} {listed(names)})" for (code, kind), names in by_code.items())


OF_CLUSTER = ("cluster", "right")  # subjects of gaps
_START_UNSEEN = {FactCode.LACKS_REASSIGNMENTS, FactCode.LACKS_CONFIGS, FactCode.LACKS_LEADERS, FactCode.LACKS_RIGHT}


def describe_start(findings: Sequence[Document], missing: Iterable[Document]) -> str:
    """Return whether a plan may begin, by what was found. ``missing``: facts of what was not read of the cluster."""
    blockers = [finding for finding in findings if finding["code"] in START_BLOCKERS and finding["actor"] != Actor.PLAN]
    if blockers:
        return f"Not safe to start before this is settled: {describe_symptoms({'symptoms': blockers})}."
    parts = [part for fact in missing for part in (fact["args"] or {}).get("parts", [fact])]
    unseen = "; ".join(sorted({render_document(part) for part in parts if part["code"] in _START_UNSEEN}))
    line = (
        "Safe to start: no running reassignment, left-over throttle or other balancer was found, and no replica out of "
        "sync but of dead brokers and what the plan mends"
    )
    return f"{line}. Not seen: {unseen}." if unseen else f"{line}."


def start_of(advisory: Document) -> str:
    unread = [gap["what"] for gap in advisory["coverage"] if gap["subject_type"] in OF_CLUSTER]
    return describe_start(advisory["findings"], unread)


def describe_muted(findings: Sequence[Document]) -> str:
    ends = sorted(finding["muted_until"] for finding in findings if finding["muted_until"] is not None)
    return f"{len(ends)} muted, the first until {ends[0][:10]} (findings.json)" if ends else ""


def named(finding: Document) -> str:
    """The recommendation, with its subject if the sentence does not name it."""
    recommendation, kind = finding["recommendation"], finding["subject_type"]
    sentence = render_document(recommendation)
    is_named = str(recommendation["args"].get(kind)) == finding["subject"]
    return sentence if is_named else f"{kind} {finding['subject']}: {sentence}"


TOP_FINDINGS = 5
_PILED_UP = 1.5  # × even, of a lost broker's load
_WORTH_SAYING = 1.10  # × the mean


def first_screen(advisory: Document) -> dict[str, Any]:
    plan = advisory["plan"]
    findings = [_finding(finding) for finding in unmuted_findings(advisory["findings"])]
    return {
        "verdict": VERDICT_TEXTS[plan["verdict"]],
        "uncovered": uncovered_by(advisory),
        "captured_at": format_time(advisory["captured_at"]),
        "expires_at": format_time(plan["expires_at"]),
        "size": describe_size(advisory["size"]),
        "figures": key_figures(plan) if plan["moves"] else [],
        "steps": [step_row(step) for step in step_figures(plan)],
        "start": start_of(advisory),
        "if_nothing": if_nothing_is_done(advisory),
        "hours_outside": render_document(advisory["hours_outside"]["fact"]) if "hours_outside" in advisory else "",
        "findings": findings[:TOP_FINDINGS],
        "others": findings[TOP_FINDINGS:],
        "muted": describe_muted(advisory["findings"]),
        "since": describe_change(advisory),
        "resolved": [named(finding) for finding in advisory.get("resolved", ())],
    }


def step_row(step: StepFigures) -> dict[str, Any]:
    waves = f"{step.first_wave:02d}"
    return {
        "title": f"{step.step}. {step_title(step)}",
        "first_wave": step.first_wave,
        "effect": step_effect(step),
        "bound": step_bound(step),
        "bytes": format_bytes(step.bytes) if step.replica_moves else "nothing",
        "replica_moves": f"{step.replica_moves:,}",
        "leader_changes": f"{step.leader_changes:,}",
        "seconds": format_seconds(step.seconds) if step.replica_moves else "-",
        "waves": waves if step.first_wave == step.last_wave else f"{waves} to {step.last_wave:02d}",
    }


def if_nothing_is_done(advisory: Document) -> list[str]:
    plan = advisory["plan"]
    lines = [render_document(line) for line in advisory.get("outlook", ())] + loss_lines(plan)
    if not plan["moves"]:
        return lines
    uneven = sorted(
        (outcome for outcome in plan["resources"] if outcome["skew_before"] >= _WORTH_SAYING),
        key=lambda outcome: -outcome["skew_before"],
    )
    if uneven:
        worst = ", ".join(f"{outcome['resource']} {format_ratio(outcome['skew_before'])}" for outcome in uneven[:3])
        lines.append(f"the most loaded brokers stay at {worst} the mean")
    if "outlook" not in advisory and any(outcome["resource"] == "disk" for outcome in plan["resources"]):
        lines.append("the growth of disks is not known yet: that takes snapshots of several days")
    return lines


def loss_lines(plan: Document) -> list[str]:
    """For brokers and for racks: the loss that overloads another most, else the one with the most uneven leaders.

    Empty if each loss is spread evenly.
    """
    losses = (plan.get("after_failure") or {}).get("before", {})
    lines = []
    for kind in ("broker", "rack"):
        worst = losses.get(kind) or {"load": None, "takeover": None}
        load, takeover = worst["load"], worst["takeover"]
        if load is not None and load["load"] > load["capacity"]:
            over = format_ratio(load["load"] / load["capacity"])
            carried = f"broker {load['broker']} carries {over} its capacity ({load['resource']})"
            lines.append(f"if {kind} {load['lost']} fails, {carried}")
        elif takeover is not None and takeover["leaders"] > _PILED_UP * takeover["even_leaders"]:
            leaders, even = takeover["leaders"], takeover["even_leaders"]
            lines.append(
                f"if {kind} {takeover['lost']} fails, broker {takeover['broker']} takes over "
                f"{counted(leaders, 'leader')}; even would be {even:,}"
            )
    return lines


def format_time(text: str | None) -> str:
    return "" if text is None else f"{text[:10]} {text[11:16]} UTC"


def _finding(finding: Document) -> dict[str, Any]:
    return dict(
        finding,
        recommendation_text=render_document(finding["recommendation"]),
        cost_text="" if finding["cost"] is None else render_document(finding["cost"]),
        evidence_text=describe_evidence(finding["evidence"]),
        actor_text=ACTOR_OF_ONE.get(finding["actor"], ""),
        owner_text=describe_owner(finding),
        symptom_text=describe_symptoms(finding),
        change=noteworthy_change(finding),
    )


MOST_MOVES = 1000
COST_NAMES = {
    "bytes": "bytes copied",
    "replica_moves": "replicas moved",
    "leader_changes": "leader changes",
    "seconds": "time",
}


def plan_section(advisory: Document) -> dict[str, Any]:
    plan = advisory["plan"]
    balanced = [outcome["resource"] for outcome in plan["resources"] if outcome["watched"] is None]
    compared, not_balanced = compared_resources(plan["frontier"], balanced)
    return {
        "reasons": [render_document(reason) for reason in plan["reasons"]],
        "explanations": [render_document(fact) for fact in plan["explanations"]],
        "preconditions": [render_document(fact) for fact in plan["preconditions"]],
        "bounds": bound_rows(plan),
        "frontier": frontier_rows(plan["frontier"], balanced),
        "frontier_svg": _drawn(frontier_chart(plan["frontier"], compared), frontier_label(plan["frontier"], compared)),
        "compared": compared,
        "not_balanced": not_balanced,
        "resources": [_resource(plan, outcome) for outcome in plan["resources"]] if plan["moves"] else [],
        "waves": _waves(plan),
        "waves_svg": _drawn(
            wave_times_chart(plan["waves"]),
            f"{counted(len(plan['waves']), 'wave')}, {format_seconds(plan['cost']['seconds'])} in all",
        ),
        "moves": largest_moves(plan),
        "more_moves": max(0, len(plan["moves"]) - MOST_MOVES),
    }


def _drawn(specification: Specification | None, label: str) -> str:
    return "" if specification is None else svg_of(specification, label)


def bound_rows(plan: Document) -> list[dict[str, str]]:
    rows = []
    for bound in plan["lower_bound"]:
        name = bound["cost"]
        amount = plan["cost"].get(name)
        rows.append(
            {
                "name": COST_NAMES.get(name, name),
                "cost": amount_of(name, amount),
                "bound": amount_of(name, bound["value"]),
                "gap": describe_needed(name, amount, bound["value"]) or "none is proved",
                "proof": PROOFS[BoundProof(bound["proof"])],
            }
        )
    return rows


def _resource(plan: Document, outcome: Document) -> dict[str, Any]:
    rows = broker_rows(plan, outcome)
    unit, many = outcome["unit"], len(plan["before"][outcome["resource"]])
    low, high = band_of(outcome)
    skews = f"{format_ratio(outcome['skew_before'])} → {format_ratio(outcome['skew_after'])}"
    return {
        "name": outcome["resource"],
        "skews": skews,
        "band": _describe_band(low, high, is_widened=any(edge is not None for edge in outcome["widened_to"])),
        "note": f"{len(rows)} of {many} brokers, furthest from the mean" if many > len(rows) else "",
        "svg": svg_of(broker_levels_chart(rows, (low, high)), f"{outcome['resource']}: highest over mean {skews}"),
        "rows": [
            {
                "broker": row["broker"],
                "before": f"{format_amount(row['load_before'], unit)} ({format_ratio(row['before'])})",
                "after": f"{format_amount(row['load_after'], unit)} ({format_ratio(row['after'])})",
            }
            for row in rows
        ],
    }


def _describe_band(low: float | None, high: float | None, *, is_widened: bool) -> str:
    if low is None and high is None:
        return ""
    edges = f"{0 if low is None else low:.2f} to {'any' if high is None else f'{high:.2f}'}"
    return f"allowed range {edges}{', widened to what can be met' if is_widened else ''}"


def _waves(plan: Document) -> list[dict[str, str]]:
    step_of = {step.first_wave: f"{step.step}. {step_title(step)}" for step in step_figures(plan)}
    return [
        {
            "name": f"{number:02d}",
            "moves": f"{len(wave['moves']):,}",
            "bytes": format_bytes(wave["bytes"]),
            "seconds": format_seconds(wave["seconds"]),
            "throttle": f"{format_bytes(wave['throttle_bytes_per_s'])}/s",
            "begins_step": step_of.get(number, ""),
        }
        for number, wave in enumerate(plan["waves"], start=1)
    ]


def largest_moves(plan: Document) -> list[dict[str, Any]]:
    """Unknown sizes first, because they may be the largest."""
    by_size = sorted(
        plan["moves"],
        key=lambda move: (move["bytes"] is not None, -(move["bytes"] or 0), move["wave"], move["topic"]),
    )
    return [
        {
            "partition": f"{move['topic']}-{move['partition']}",
            "from": ", ".join(map(str, move["from"])),
            "to": ", ".join(map(str, move["to"])),
            "leader": str(move["leader_to"])
            if move["leader_from"] == move["leader_to"]
            else f"{'none' if move['leader_from'] is None else move['leader_from']} → {move['leader_to']}",
            "bytes": format_bytes(move["bytes"]),
            "wave": f"{move['wave']:02d}",
            "reason": render(Fact.from_document(move["reason"])),
        }
        for move in by_size[:MOST_MOVES]
    ]


TOP_GROUPS = 15
_CRASH = "member_crashes"
_UNTROUBLED = len(Severity)


def group_section(advisory: Document) -> dict[str, Any]:
    groups = by_trouble(advisory["groups"], advisory["findings"])
    return {"rows": [group_row(group) for group in groups[:TOP_GROUPS]], "more": max(0, len(groups) - TOP_GROUPS)}


def reader_rows(advisory: Document) -> list[dict[str, Any]]:
    """Flink jobs and MirrorMaker connectors, the most uneven first."""
    rows = sorted(advisory.get("readers", ()), key=lambda row: -(row["skew_rate"] or row["skew_count"] or 0.0))
    return [
        {
            "name": row["name"],
            "framework": "Flink" if row["kind"] == "flink" else "MirrorMaker 2",
            "readers": f"{row['readers']:,}",
            "idle": f"{row['idle_readers']:,}",
            "by_count": format_ratio(row["skew_count"]),
            "by_rate": format_ratio(row["skew_rate"]),
        }
        for row in rows
    ]


def by_trouble(groups: Sequence[Document], findings: Sequence[Document]) -> list[Document]:
    """By worst finding (symptoms count), then by skew: rate before count."""
    worst: dict[str, int] = {}
    for finding in unmuted_findings(findings):
        for entry in (finding, *finding.get("symptoms", ())):
            if entry["subject_type"] == "group":
                rank = Severity(entry["severity"]).rank
                worst[entry["subject"]] = min(rank, worst.get(entry["subject"], rank))
    return sorted(
        groups,
        key=lambda group: (
            worst.get(group["group"], _UNTROUBLED),
            -(group.get("skew_rate") or 0.0),
            -(group.get("skew_count") or 0.0),
            group["group"],
        ),
    )


def group_row(group: Document) -> dict[str, Any]:
    return {
        "group": group["group"],
        "type": group.get("type") or "unknown",
        "members": f"{group['members']:,}",
        "idle": "unknown" if group["idle_members"] is None else f"{group['idle_members']:,}",
        "assignor": group["assignor"] or "unknown",
        "by_count": format_ratio(group.get("skew_count")),
        "by_rate": format_ratio(group.get("skew_rate")),
        "drain": _describe_drain(group),
        "advice": "" if group.get("advice") is None else render_document(group["advice"]),
        "strategies": [_strategy(strategy) for strategy in group.get("strategies", ())],
        "death": describe_death(group),
        "tasks": [render_document(line) for line in group.get("streams", {}).get("summary", ())],
    }


def _describe_drain(group: Document) -> str:
    if group.get("members_falling_behind"):
        return "never"
    seconds = group.get("drain_seconds")
    return "unknown" if seconds is None else format_seconds(seconds)


def _strategy(strategy: Document) -> dict[str, str]:
    if strategy.get("error"):
        return {"name": strategy["assignor"], "words": render_document(strategy["error"])}
    text = (
        f"{format_ratio(strategy['skew_count'])} by count, {format_ratio(strategy['skew_rate'])} by rate, "
        f"{changing(strategy['partitions_moved'] or 0)} reader"
    )
    return {"name": strategy["assignor"], "words": text}


def describe_death(group: Document) -> str:
    """``if one dies: 3 partitions unread for up to 50 s, 3 partitions change reader``, for the worst sampled member."""
    deaths = [
        scenario
        for scenario in group.get("scenarios", ())
        if scenario["scenario"] == _CRASH and not scenario["error"] and scenario["assignor"] == group["assignor"]
    ]
    if not deaths or deaths[0]["longest_pause_ms"] is None:
        return ""
    death = deaths[0]
    return (
        f"if one dies: {counted(death['partitions_unread'] or 0, 'partition')} unread for up to "
        f"{format_seconds(death['longest_pause_ms'] / 1000)}, {changing(death['partitions_moved'] or 0)} reader"
    )


SHOWN_OF_EACH = 8


def failure_section(advisory: Document) -> list[dict[str, str]]:
    """Worst brokers, then racks; empty without ISR data."""
    scores: Sequence[Document] = advisory.get("after_failure", ())
    rows = []
    for lost_type in ("broker", "rack"):
        worst = [score for score in scores if score["lost_type"] == lost_type and score["leaders"]]
        rows += [_row(score) for score in worst[:SHOWN_OF_EACH]]
    return rows


def _row(score: Document) -> dict[str, str]:
    taken = "nobody" if score["taken_by"] is None else f"broker {score['taken_by']}: {score['most_taken']:,}"
    return {
        "lost": f"{score['lost_type']} {score['lost']}",
        "leaders": f"{score['leaders']:,}",
        "leaderless": f"{score['leaderless']:,}",
        "taken": taken,
        "even": f"{score['even_taken']:,}",
    }


def provenance(advisory: Document) -> dict[str, Any]:
    plan = advisory["plan"]
    robustness = plan["robustness"]
    return {
        "rests_on": rests_on(advisory),
        "also_measured": [describe_also_measured(score) for score in advisory.get("also_measured", ())],
        "robustness": ""
        if robustness is None
        else render(Fact(FactCode.VERDICT_HOLDS, {"verdict": plan["verdict"]} | robustness)),
    }


def rests_on(advisory: Document) -> list[str]:
    plan = advisory["plan"]
    lines = [f"{describe_load(kind)}: {render_document(source)}" for kind, source in advisory["loads"].items()]
    lines += [f"{resource} is left out: {render_document(why)}" for resource, why in plan["left_out"].items()]
    lines += [
        f"not read: {render_document(gap['what'])} of {gap['subject_type']} {gap['subject']} "
        f"({render_document(gap['reason'])})"
        for gap in advisory["coverage"]
    ]
    return lines


def describe_also_measured(score: Document) -> str:
    mean = format_amount(score["plain_mean"], score["unit"])
    highest = "" if score["worst_broker"] is None else f", highest on broker {score['worst_broker']}"
    return f"{score['resource']}: {mean} a broker{highest}: {format_ratio(score['skew'])} the mean"


if TYPE_CHECKING:
    from jinja2 import Template


def render_report(advisory: Document, gates: Sequence[object] = ()) -> str:
    """``gates``: rules with results (``gates.RuleResult``); empty without a store."""
    page = _template().render(
        plan=advisory["plan"],
        cluster=advisory["cluster"],
        light=page_colours("light"),
        dark=page_colours("dark"),
        chart_rules=chart_rules(),
        first=first_screen(advisory),
        moving=plan_section(advisory),
        failures=failure_section(advisory),
        consumers=group_section(advisory),
        readers=reader_rows(advisory),
        behind=provenance(advisory),
        gates=gates,
    )
    return label_cells(page)


@cache
def _template() -> Template:
    """Texts pass ``html_value``, then Jinja's escapes."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rebalance_advisor.publish"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=html_value,
    )
    environment.filters["counted"] = counted
    return environment.get_template("report.html")
