"""JSON objects among the lines of a dump: one or several, with commands, noise and a tool's prose around them."""

from __future__ import annotations

import re
from collections.abc import Callable

from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.dumps.files.dump_lines import dump_lines

# A text in quotes, however long, counts as one token; of the rest only braces matter.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]')


def json_documents(text: str, place: str, is_prose: Callable[[str], bool]) -> list[tuple[int, str]]:
    """(number of its first line, text) of each object, in order.

    Lines before the first one are the tool's prose, and so are those between for which ``is_prose`` holds. An object
    begins at the first brace of a line and ends with its last brace: it may go over lines. Raises InvalidInputError for
    other text after an object. What is not balanced is left to the JSON parser, which names the place.
    """
    documents: list[tuple[int, list[str]]] = []
    depth = 0
    for line in dump_lines(text, place):
        stripped = line.text.strip()
        number = int(line.place.rpartition(":")[2])
        if depth > 0:
            lines = documents[-1][1]
            lines += [""] * (number - documents[-1][0] - len(lines))  # noise in between keeps its number
            lines.append(line.text)
            depth += brace_depth(line.text)
        elif stripped.startswith("{"):
            documents.append((number, [line.text]))
            depth = brace_depth(line.text)
        elif documents and stripped and not is_prose(stripped):
            raise line.refuse(f"follows a JSON object: {excerpt(stripped)}", "nothing but another one may stand there")
    return [(first, "\n".join(lines)) for first, lines in documents]


def brace_depth(text: str) -> int:
    """Opening less closing braces outside of texts.

    Equal counts need no closer look: the largest dumps are one line of a hundred million signs, and names with braces
    in them are rare.
    """
    opening, closing = text.count("{"), text.count("}")
    if opening == closing:
        return 0
    return sum({"{": 1, "}": -1}.get(token[0], 0) for token in _TOKEN.finditer(text))
