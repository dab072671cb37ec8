"""Small CSV files with a header, row by row, each with its place."""

from __future__ import annotations

import csv

from kafka_rebalance.csv_text import unguarded
from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.dumps.files.dump_lines import Line

Row = tuple[Line, dict[str, str]]


def csv_rows(text: str, place: str, required: tuple[str, ...], optional: tuple[str, ...]) -> list[Row]:
    """(line, column → cell without blanks around) of each row; an absent optional column is an empty cell.

    Raises InvalidInputError for an unknown, repeated or missing column and for a row of another length.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    reader = csv.reader(lines)
    header: list[str] | None = None
    rows: list[Row] = []
    try:
        for raw in reader:
            line = Line(f"{place}:{reader.line_num}", lines[reader.line_num - 1])
            cells = [unguarded(cell.strip(" ")).strip() for cell in raw]
            if not any(cells):
                continue
            if header is None:
                header = _header(cells, line, required, optional)
                continue
            if len(cells) != len(header):
                raise line.refuse(f"has {len(cells)} cells, the header {len(header)}")
            rows.append((line, dict.fromkeys(optional, "") | dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise InvalidInputError.at(f"{place}:{reader.line_num}", f"is no CSV ({error})") from error
    return rows


def _header(cells: list[str], line: Line, required: tuple[str, ...], optional: tuple[str, ...]) -> list[str]:
    names = [cell.lower() for cell in cells]
    known = (*required, *optional)
    for name in required:  # first: what lacks them is no file of this kind, and nothing of it is quoted
        if name not in names:
            raise line.refuse(f"column {name!r} is missing", f"known: {', '.join(known)}")
    for name in names:
        if name not in known:
            raise line.refuse(f"unknown column {excerpt(name)}", f"known: {', '.join(known)}")
        if names.count(name) > 1:
            raise line.refuse(f"column {name!r} stands twice")
    return names
