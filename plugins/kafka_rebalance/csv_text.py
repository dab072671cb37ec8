"""Text cells of CSV files that a spreadsheet may open: none of ours is taken for a formula, and all come back exactly.

A text that begins with ``=``, ``+``, ``-``, ``@``, TAB or CR gets a leading ``'``, and so does one that begins with
``'`` itself. Numbers are no text and stay as they are.
"""

from __future__ import annotations

_BEGINS = tuple("=+-@\t\r'")


def guarded(text: str) -> str:
    """The cell to write for ``text``."""
    return f"'{text}" if text.startswith(_BEGINS) else text


def unguarded(cell: str) -> str:
    """The text of a cell that was written by ``guarded``; other cells as they are."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(_BEGINS) else cell
