"""Escapes of foreign names for HTML and Markdown, after hidden characters are made visible."""

from __future__ import annotations

import re
from typing import Any

from kafka_assignors.visible_text import visible

# CommonMark and chat dialects. An underscore inside a word is plain. Escaping the colon or first dot disables links.
_INLINE = re.compile(
    r"[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=\bwww)\.|(?<=mailto):|(?<=xmpp):", re.IGNORECASE
)
_AMPERSAND = re.compile(r"&(?=#?\w+;)")
# Heading, list, rule, definition table.
_BEGINNING = re.compile(r"(?:[#+=-]|\d{1,9}(?=[.)]))")


def html_value(value: Any) -> Any:
    """Make hidden characters visible before Jinja escapes (``finalize``)."""
    return type(value)(visible(value)) if isinstance(value, str) else value


def markdown_text(text: str) -> str:
    plain = _AMPERSAND.sub("&amp;", _INLINE.sub(r"\\\g<0>", visible(text)))
    return plain.replace("<", "&lt;").replace(">", "&gt;")


def markdown_line(text: str) -> str:
    """Escape also the beginning of a heading, list or rule."""
    line = markdown_text(text.strip(" "))
    begins = _BEGINNING.match(line)
    if begins is None:
        return line
    if begins[0].isdigit():
        return f"{begins[0]}\\{line[begins.end() :]}"
    return f"\\{line}"
