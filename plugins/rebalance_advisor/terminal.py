"""The only place that prints foreign names."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TextIO

from kafka_assignors.visible_text import visible, visible_json


class Tone(StrEnum):
    GOOD = "32"
    CAUTION = "33"
    BAD = "31"


def write_lines(stream: TextIO, *lines: str, tones: Mapping[str, Tone] | None = None) -> None:
    """One line each; escapes what the stream cannot encode. ``tones`` colours line beginnings."""
    encoding = stream.encoding or "utf-8"
    printable = [visible(line) for line in lines]
    if tones and _shows_colour(stream):
        printable = [_coloured(line, tones) for line in printable]
    text = "".join(f"{line}\n" for line in printable)
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _shows_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _coloured(line: str, tones: Mapping[str, Tone]) -> str:
    text = line.lstrip(" ")
    for beginning, tone in tones.items():
        if text.startswith(beginning):
            indent = line[: len(line) - len(text)]
            return f"{indent}\x1b[1;{tone.value}m{beginning}\x1b[0m{text[len(beginning) :]}"
    return line


def write_json(stream: TextIO, document: Any) -> None:
    write_json_text(stream, json.dumps(document, ensure_ascii=False))


def write_json_text(stream: TextIO, text: str) -> None:
    text = visible_json(text)
    if not _can_encode(stream, text):
        text = json.dumps(json.loads(text))
    stream.write(f"{text}\n")


def _can_encode(stream: TextIO, text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
