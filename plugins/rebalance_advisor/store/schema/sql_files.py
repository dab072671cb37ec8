from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from kafka_assignors.errors import AdvisorError

_QUERY = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


class SqlFilesError(AdvisorError):
    """The SQL files are missing, or one has a wrong name."""


@cache
def folder() -> Path:
    here = Path(__file__).resolve()
    for candidate in (here.parents[1] / "sql", here.parents[4] / "sql"):
        if (candidate / "migrations").is_dir():
            return candidate
    raise SqlFilesError(f"no folder sql/ beside {here.parents[1]} nor at the top of the repository")


@cache
def _queries() -> dict[str, str]:
    queries: dict[str, str] = {}
    for file in sorted((folder() / "queries").glob("*.sql")):
        parts = _QUERY.split(file.read_text(encoding="utf-8"))[1:]
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            if name in queries:
                raise SqlFilesError(f"{file.name}: a query named {name} exists already")
            queries[name] = text.strip()
    return queries


def query(name: str) -> str:
    try:
        return _queries()[name]
    except KeyError:
        raise SqlFilesError(f"no query is named {name}; known: {', '.join(sorted(_queries()))}") from None


def query_names() -> tuple[str, ...]:
    return tuple(sorted(_queries()))
