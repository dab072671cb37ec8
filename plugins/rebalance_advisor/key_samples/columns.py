"""Which column of a sample is what, and how its keys are written."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError, UsageError
from kafka_rebalance.partitioners.tally.decoded_keys import KeyEncoding
from kafka_rebalance.partitioners.tally.plan import TallyPlan
from kafka_rebalance.visible_text import excerpt

_SHOWN_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class SampleColumns:
    """Names of columns. One of ``key`` and ``key_hash`` is there: keys, or one int32 hash each in their place.

    ``partition``: where the record lies; ``value_bytes``: how many bytes its value has.
    """

    key: str | None = "key"
    key_hash: str | None = None
    partition: str | None = None
    value_bytes: str | None = None
    encoding: KeyEncoding = KeyEncoding.PLAIN

    def __post_init__(self) -> None:
        if (self.key is None) == (self.key_hash is None):
            raise UsageError.at("sample", "needs either keys or their hashes", "give --key-column or --hash-column")

    @property
    def names(self) -> tuple[str, ...]:
        """Those to read, each once."""
        wanted = (self.key, self.key_hash, self.partition, self.value_bytes)
        return tuple(dict.fromkeys(name for name in wanted if name is not None))

    def require_in(self, found: Collection[str], place: str) -> None:
        """Raise InvalidInputError that lists what the file has, where a column is missing."""
        for name in self.names:
            if name not in found:
                have = ", ".join(excerpt(column) for column in list(found)[:_SHOWN_COLUMNS]) or "no column"
                raise InvalidInputError.at(place, f"has no column {excerpt(name)}, but {have}", "name it by --…-column")

    def require_fit(self, plan: TallyPlan) -> None:
        """Hashes tell only partitioners that go by this one hash. Raises UsageError where the plan needs others."""
        if self.key_hash is not None and len(plan.hashes) > 1:
            needed = ", ".join(key_hash.value for key_hash in plan.hashes)
            raise UsageError.at("--hash-column", f"one hash a key, but the partitioners need {needed}", "give keys")
