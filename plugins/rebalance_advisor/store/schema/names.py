"""What schemas and roles are called. The SQL files use the default names; others are put in when a file is read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields

from kafka_assignors.errors import AdvisorError

# A string, a quoted identifier or a comment as a whole (nothing in it is a name), else a word.
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|[A-Za-z_][A-Za-z0-9_]*", re.DOTALL)
_PLAIN = re.compile(r"[a-z_][a-z0-9_]{0,62}")


class NamesError(AdvisorError):
    """A schema or role name that needs quotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Schemas ``store`` (private) and ``advisor`` (the contract), and the three roles.

    Each field's environment variable is ADVISOR_SQL_ and its name in capitals: ``ADVISOR_SQL_READER=dashboards``.
    """

    store: str = "store"
    contract: str = "advisor"
    owner: str = "advisor_owner"
    writer: str = "advisor_writer"
    reader: str = "advisor_reader"

    def __post_init__(self) -> None:
        for attribute in fields(self):
            value = getattr(self, attribute.name)
            if not _PLAIN.fullmatch(value):
                raise NamesError(f"{attribute.name} = {value!r}: use lower-case letters, digits and underscores only")

    @classmethod
    def from_environment(cls) -> Names:
        """The names of this process."""
        given = {attribute.name: os.environ.get(f"ADVISOR_SQL_{attribute.name.upper()}") for attribute in fields(cls)}
        return cls(**{name: value for name, value in given.items() if value})

    def put_into(self, text: str) -> str:
        """``text`` with these names in place of the default ones; strings and comments stay as they are."""
        default = Names()
        renamed = {getattr(default, attribute.name): getattr(self, attribute.name) for attribute in fields(self)}
        if self == default:
            return text
        return _TOKEN.sub(lambda token: renamed.get(token.group(), token.group()), text)
