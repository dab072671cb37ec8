"""Reads the SQL files: beside this module in the wheel, at the top of the repository in a checkout."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kafka_assignors.errors import AdvisorError
from rebalance_advisor.store.schema.names import Names

_MIGRATION = re.compile(r"(\d{4})_(pre|post)_(\w+)\.sql")
_QUERY = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)


class SqlFilesError(AdvisorError):
    """The SQL files are not where they should be, or one of them has a wrong name."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step forward. A ``pre`` one is safe before the new code runs, a ``post`` one only after."""

    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """sha256 of the file: an applied migration never changes."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@cache
def folder() -> Path:
    """The folder that holds ``migrations``, ``views`` and ``queries``."""
    here = Path(__file__).resolve()
    for candidate in (here.parents[1] / "sql", here.parents[4] / "sql"):
        if (candidate / "migrations").is_dir():
            return candidate
    raise SqlFilesError(f"no folder sql/ beside {here.parents[1]} nor at the top of the repository")


def migrations() -> tuple[Migration, ...]:
    """All of them in order. Raises SqlFilesError for a gap or a name that does not say version, phase and verb."""
    found: list[Migration] = []
    for file in sorted((folder() / "migrations").glob("*.sql")):
        parts = _MIGRATION.fullmatch(file.name)
        if parts is None or int(parts[1]) != len(found) + 1:
            raise SqlFilesError(f"{file.name}: expected {len(found) + 1:04d}_pre_verb_noun.sql (or _post_)")
        found.append(Migration(int(parts[1]), file.stem, file.read_text(encoding="utf-8")))
    return tuple(found)


def view_texts() -> dict[str, str]:
    """The files of ``sql/views`` by name: what each view selects. Those with a leading underscore are internal."""
    return {file.stem: file.read_text(encoding="utf-8") for file in sorted((folder() / "views").glob("*.sql"))}


def roles() -> str:
    """Who may do what."""
    return (folder() / "roles.sql").read_text(encoding="utf-8")


def check(name: str) -> str:
    """The SQL of a gate rule. Raises SqlFilesError for an unknown one."""
    file = folder() / "checks" / f"{name}.sql"
    if not file.is_file():
        raise SqlFilesError(f"no gate rule has its SQL in {file}")
    return file.read_text(encoding="utf-8")


def check_names() -> tuple[str, ...]:
    """Every gate rule that has SQL."""
    return tuple(sorted(file.stem for file in (folder() / "checks").glob("*.sql")))


@cache
def _queries() -> dict[str, str]:
    found: dict[str, str] = {}
    for file in sorted((folder() / "queries").glob("*.sql")):
        parts = _QUERY.split(file.read_text(encoding="utf-8"))[1:]
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            if name in found:
                raise SqlFilesError(f"{file.name}: a query named {name} exists already")
            found[name] = text.strip()
    return found


def query(name: str) -> str:
    """The named query, with this process's schema names. Raises SqlFilesError for an unknown name."""
    try:
        return Names.from_environment().put_into(_queries()[name])
    except KeyError:
        raise SqlFilesError(f"no query is named {name}; known: {', '.join(sorted(_queries()))}") from None


def query_names() -> tuple[str, ...]:
    """Every named query."""
    return tuple(sorted(_queries()))
