"""Write to a terminal: the one place where our text, with foreign names in it, meets a screen."""

from __future__ import annotations

import json
from typing import Any, TextIO

from kafka_assignors.visible_text import visible, visible_json


def write_lines(stream: TextIO, *lines: str) -> None:
    """One line each, whatever stands in it. A character that the stream cannot encode is written out."""
    encoding = stream.encoding or "utf-8"
    text = "".join(f"{visible(line)}\n" for line in lines)
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def write_json(stream: TextIO, document: Any) -> None:
    """One document in one line: exact data, in characters that no terminal obeys."""
    write_json_text(stream, json.dumps(document, ensure_ascii=False))


def write_json_text(stream: TextIO, text: str) -> None:
    """As ``write_json``, for a document that is JSON already."""
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
