"""Tables whose rows become cards on a narrow screen: each cell carries the heading of its column."""

from __future__ import annotations

import re
from itertools import chain

_TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
_HEAD = re.compile(r"<thead\b.*?</thead>", re.DOTALL)
_HEADING = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_UNSEEN = 'class="unseen"'  # of a heading for those who hear the page
_CELL = re.compile(r"<(?:(?P<row>tr)|th|td)\b")


def label_cells(page: str) -> str:
    """Return a page of our templates with ``data-label`` in each cell of a table, which the style writes before it.

    ``<th>Size</th>`` in the head and ``<td>4 GiB</td>`` below it: ``<td data-label="Size">4 GiB</td>``. Templates
    escape every value, so none is taken for markup.
    """
    return _TABLE.sub(lambda table: _labelled(table[0]), page)


def _labelled(table: str) -> str:
    head = _HEAD.search(table)
    if head is None:
        return table
    headings = ["" if _UNSEEN in inner else _TAG.sub("", inner).strip() for inner in _HEADING.findall(head[0])]
    column = chain(headings)

    def labelled(cell: re.Match[str]) -> str:
        nonlocal column
        if cell["row"]:
            column = chain(headings)
            return cell[0]
        label = next(column, "")
        return f'{cell[0]} data-label="{label}"' if label else cell[0]

    return table[: head.end()] + _CELL.sub(labelled, table[head.end() :])
