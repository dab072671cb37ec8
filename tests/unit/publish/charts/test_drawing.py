from __future__ import annotations

import os
import re
from contextlib import suppress
from xml.etree import ElementTree as ET

from rebalance_advisor.publish.charts import PALETTE, _drawn, broker_levels_chart, chart_rules, page_colours, svg_of

ROWS = [{"broker": name, "before": 1.4, "after": 1.0} for name in ("1", "</text><script>alert(1)</script>", '"&<x>')]


def test_a_chart_is_well_formed_named_and_scales() -> None:
    drawn = svg_of(broker_levels_chart(ROWS, (0.9, 1.1)), 'disk: <b> & "quotes"')
    top = ET.fromstring(drawn)
    assert (top.tag, top.get("role"), top.get("aria-label")) == ("svg", "img", 'disk: <b> & "quotes"')
    assert "height: auto" in str(top.get("style"))
    assert not [element for element in top.iter() if element.tag == "script"]
    assert [element.get("aria-label") for element in top.iter()].count(None) == len(list(top.iter())) - 1


def test_foreign_names_are_drawn_as_text() -> None:
    drawn = ET.fromstring(svg_of(broker_levels_chart(ROWS, (None, None)), "x"))
    texts = [text.text for text in drawn.iter("text")]
    assert "</text><script>alert(1)</script>" in texts
    assert '"&<x>' in texts


def test_every_colour_that_is_drawn_turns_in_the_dark() -> None:
    drawn = svg_of(broker_levels_chart(ROWS, (0.9, 1.1)), "x")
    used = set(re.findall(r"""(?:fill|stroke)="(#[0-9a-fA-F]{3,6})\"""", drawn))
    assert used
    assert used <= {colour.light for colour in PALETTE.values()}
    assert all(f'[fill="{colour}"]' in chart_rules() for colour in used)


def _contrast(first: str, other: str) -> float:
    """WCAG 2: (lighter + 0.05) / (darker + 0.05) of relative luminances."""

    def luminance(colour: str) -> float:
        parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(first), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_words_are_readable_on_both_papers() -> None:
    """AA: 4.5 for text, 3 for what is drawn."""
    for theme in ("light", "dark"):
        colours = {name: getattr(colour, theme) for name, colour in PALETTE.items()}
        for paper in ("paper", "panel"):
            for name in ("ink", "quiet", "bad", "warning", "good", "after"):
                assert _contrast(colours[name], colours[paper]) >= 4.5, (theme, paper, name)
        for name in ("before", "bound", "after"):
            assert _contrast(colours[name], colours["paper"]) >= 3.0, (theme, name)
        assert all(f"--{name}: {value};" in page_colours(theme) for name, value in colours.items())


def test_a_forked_process_draws_too() -> None:
    """Vega's threads stay behind in the process that was forked; what is drawn is the same."""
    here = svg_of(broker_levels_chart(ROWS, (0.9, 1.1)), "x")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # nothing of the test runner may go on here
        with suppress(BaseException), os.fdopen(writer, "w") as answer:
            _drawn.cache_clear()
            answer.write(svg_of(broker_levels_chart(ROWS, (0.9, 1.1)), "x"))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        assert answer.read() == here
    os.waitpid(child, 0)
