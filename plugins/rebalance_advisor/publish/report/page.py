"""HTML of one advisory: the first screen decides, what follows says why.

Everything is rendered from the documents that are published (``plan.json``, ``findings.json``, ``groups.json``): the
page cannot say what they do not. It carries its charts as SVG, works in mail, in light and dark, and prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from rebalance_advisor.publish.charts.palette import chart_rules, page_colours
from rebalance_advisor.publish.escape import html_value
from rebalance_advisor.publish.report.failure_section import failure_section
from rebalance_advisor.publish.report.first_screen import first_screen
from rebalance_advisor.publish.report.group_section import group_section
from rebalance_advisor.publish.report.plan_section import plan_section
from rebalance_advisor.publish.report.provenance import provenance

if TYPE_CHECKING:
    from jinja2 import Template

Document = Mapping[str, Any]


def render_report(advisory: Document) -> str:
    """HTML of one advisory document (``advisory.json``'s object: plan, findings, groups, size, coverage)."""
    return _template().render(
        plan=advisory["plan"],
        cluster=advisory["cluster"],
        light=page_colours("light"),
        dark=page_colours("dark"),
        chart_rules=chart_rules(),
        first=first_screen(advisory),
        moving=plan_section(advisory),
        failures=failure_section(advisory),
        consumers=group_section(advisory),
        behind=provenance(advisory),
    )


@cache
def _template() -> Template:
    """The page; every text that it prints passes ``html_value``, then Jinja's own escapes."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rebalance_advisor.publish"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=html_value,
    )
    return environment.get_template("report.html")
