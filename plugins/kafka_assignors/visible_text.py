"""Escape every character of foreign text that does not show as itself; idempotent. For every value or line for people.

Names in Kafka are free text: a raw control character moves a terminal's cursor, a line break forges a log line, a
bidirectional mark reverses text, a zero-width one makes two names look alike.
"""

from __future__ import annotations

import re
import reprlib
import unicodedata
from functools import lru_cache
from typing import Any

EXCERPT_CHARS = 60
_MARKS_IN_A_ROW = 3  # most on a letter of living scripts

# Printable by category, but drawn as nothing (Default_Ignorable_Code_Point, and the blank Braille cell).
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def visible(text: str) -> str:
    """Escape all but graphic characters and plain space (controls, format and bidi characters, other blanks, lone
    surrogates, unassigned ones), characters drawn as nothing, and combining marks without a letter or in heaps.
    """
    if text.isprintable() and (text.isascii() or all(map(_shows_anywhere, set(text)))):
        return text
    characters: list[str] = []
    marks, is_on_letter = 0, False
    for character in text:
        kind = unicodedata.category(character)
        if kind[0] == "M" and not is_hidden(character):
            marks += 1
            characters.append(character if is_on_letter and marks <= _MARKS_IN_A_ROW else _written_out(character))
            continue
        is_shown = not is_hidden(character)
        marks, is_on_letter = 0, is_shown and kind[0] in "LN"
        characters.append(character if is_shown else _written_out(character))
    return "".join(characters)


@lru_cache(maxsize=4096)
def _shows_anywhere(character: str) -> bool:
    return not is_hidden(character) and unicodedata.category(character)[0] != "M"


def is_hidden(character: str) -> bool:
    return not character.isprintable() or _INVISIBLE.match(character) is not None


def visible_json(text: str) -> str:
    """Hidden characters in strings as JSON escapes; line breaks between tokens stay."""
    if text.isascii() and "\x7f" not in text:
        return text  # JSON escapes other ASCII controls
    hidden = {
        ord(character): _json_escape(character) for character in set(text) if character != "\n" and is_hidden(character)
    }
    return text.translate(hidden) if hidden else text


def excerpt(value: Any, most: int = EXCERPT_CHARS) -> str:
    """The Python repr, at most ``most`` characters."""
    if isinstance(value, str):
        return repr(value) if len(value) <= most else f"{value[:most]!r}…"
    try:
        written = reprlib.repr(value)  # reads only the first items
    except ValueError:
        return "a number of thousands of digits"
    return written if len(written) <= most else f"{written[:most]}…"


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _json_escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
