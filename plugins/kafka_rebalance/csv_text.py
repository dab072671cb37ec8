"""Text cells of CSV files, safe against spreadsheet formulas and reversible.

A text that begins with ``=``, ``+``, ``-``, ``@``, TAB, CR or ``'`` gets a leading ``'``. Numbers stay.
"""

from __future__ import annotations

_BEGINS = tuple("=+-@\t\r'")


def guarded(text: str) -> str:
    return f"'{text}" if text.startswith(_BEGINS) else text


def unguarded(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_BEGINS) else cell
