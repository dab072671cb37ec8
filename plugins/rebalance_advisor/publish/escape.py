"""Foreign names on their way into a page or a Markdown text: one function for each border (CSV's is ``csv_text``).

Both write hidden characters out first (``visible``), then protect what the format itself would obey.
"""

from __future__ import annotations

import re
from typing import Any

from kafka_assignors.visible_text import visible

# What CommonMark and the dialects of chats obey inside a line. An underscore between letters or digits is only itself.
# Addresses are no links: their colon or first dot is protected.
_INLINE = re.compile(
    r"[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=\bwww)\.|(?<=mailto):|(?<=xmpp):", re.IGNORECASE
)
_AMPERSAND = re.compile(r"&(?=#?\w+;)")
# What CommonMark obeys at the beginning of a line: a heading, a list, a rule, a table of definitions.
_BEGINNING = re.compile(r"(?:[#+=-]|\d{1,9}(?=[.)]))")


def html_value(value: Any) -> Any:
    """For Jinja's ``finalize``: every text that a template prints, before Jinja escapes it."""
    return type(value)(visible(value)) if isinstance(value, str) else value


def markdown_text(text: str) -> str:
    """``text`` as it reads, wherever it stands in a line of Markdown."""
    plain = _AMPERSAND.sub("&amp;", _INLINE.sub(r"\\\g<0>", visible(text)))
    return plain.replace("<", "&lt;").replace(">", "&gt;")


def markdown_line(text: str) -> str:
    """``text`` as it reads, as a line or list item of its own."""
    line = markdown_text(text.strip(" "))
    begins = _BEGINNING.match(line)
    if begins is None:
        return line
    if begins[0].isdigit():
        return f"{begins[0]}\\{line[begins.end() :]}"
    return f"\\{line}"
