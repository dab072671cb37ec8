"""A Vega-Lite specification as SVG, drawn here by Vega itself: no browser, no network, nothing drawn by hand."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from rebalance_advisor.publish.charts.palette import light

Specification = Mapping[str, Any]
VEGA_LITE = "6.4"
FONT = "system-ui, sans-serif"
_VEGA_OF: dict[str, int] = {}  # the process in which Vega was started


def look() -> dict[str, Any]:
    """The ``config`` of every chart: our colours, no background, no frame."""
    words = {"labelColor": light("quiet"), "titleColor": light("quiet"), "titleFontWeight": "normal"}
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "axis": {**words, "gridColor": light("line"), "domainColor": light("line"), "tickColor": light("line")},
        "header": {**words, "labelFontWeight": "bold", "labelColor": light("ink")},
        "legend": words,
        "text": {"color": light("ink")},
    }


def data_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """The rows of a chart, inside its specification."""
    import altair as alt

    return alt.Data(values=list(rows))  # type: ignore[no-untyped-call]


def svg_of(specification: Specification, label: str) -> str:
    """The drawn chart with ``label`` as what a screen reader says; it scales to the width of its place."""
    drawn = _drawn(json.dumps(specification))
    size = re.match(r"<svg\b[^>]*>", drawn)
    if size is None:  # pragma: no cover - Vega writes one
        raise ValueError("Vega drew no <svg>")
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', size[0])
    width, height = (float(part) for part in box.groups()) if box else (640.0, 240.0)
    head = (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{_attribute(label)}" style="width: 100%; max-width: {width:g}px; height: auto">'
    )
    # Inner roles of Vega ("graphics-object") say each mark again; the label says the chart.
    inner = re.sub(r'\s(?:role|aria-[a-z]+)="[^"]*"', "", drawn[size.end() :])
    return head + inner


@lru_cache(maxsize=64)
def _drawn(specification: str) -> str:
    """Vega's own SVG. Vega runs in threads, which a forked process does not have: there another process draws."""
    if os.getpid() == _VEGA_OF.setdefault("process", os.getpid()):
        import vl_convert

        return vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE)
    program = (
        f"import sys, vl_convert as v; sys.stdout.write(v.vegalite_to_svg(sys.stdin.read(), vl_version={VEGA_LITE!r}))"
    )
    command = [sys.executable, "-c", program]
    return subprocess.run(command, input=specification, capture_output=True, text=True, check=True).stdout


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
