"""Colours of page and charts, in light and in dark, by what they mean; contrasts are AA on their paper.

A chart is drawn once, in the colours of the light page; ``chart_rules`` turns each of them in the dark. So a reader
without styles (a mail, a converter) still sees the chart as it was drawn.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colour:
    """One colour on light and on dark paper, as #rrggbb."""

    light: str
    dark: str


PALETTE = {
    "paper": Colour("#ffffff", "#12171e"),
    "panel": Colour("#f3f6f9", "#1b222c"),
    "ink": Colour("#1b2430", "#e6ebf1"),
    "quiet": Colour("#566374", "#9fadbd"),
    "line": Colour("#d9e0e8", "#313c4a"),
    "before": Colour("#7d8a99", "#8694a5"),
    "after": Colour("#1f5fa8", "#6aaeff"),
    "band": Colour("#dcebdf", "#1f3a29"),
    "bound": Colour("#8a5a00", "#e0aa4a"),
    "bad": Colour("#a4291c", "#ff8f80"),
    "warning": Colour("#8a5a00", "#e0aa4a"),
    "good": Colour("#226b3d", "#6fd08c"),
}


def page_colours(theme: str) -> str:
    """CSS custom properties of one theme, ``light`` or ``dark``."""
    return " ".join(f"--{name}: {getattr(colour, theme)};" for name, colour in PALETTE.items())


def chart_rules() -> str:
    """CSS that turns the colours of drawn charts for dark paper."""
    turned = {colour.light: colour.dark for colour in PALETTE.values()}
    rules = [
        f'svg [{attribute}="{light}"] {{ {attribute}: {dark}; }}'
        for light, dark in turned.items()
        for attribute in ("fill", "stroke")
    ]
    return " ".join(rules)


def light(name: str) -> str:
    """The colour that a chart is drawn in."""
    return PALETTE[name].light
