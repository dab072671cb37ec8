"""Whose consumers a group's members are, where people say so: what members show of themselves may be configured away.

Example: ``ClientRule("pay-.*", "java", "2.8.1")`` says it of every group with such a name, and of every group whose
members all have such a client id.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.pattern import require_pattern
from kafka_rebalance.releases import release_of
from kafka_rebalance.visible_text import excerpt


class Client(StrEnum):
    """Whose consumer runs a client's strategy; the names that rules and ``replay`` take."""

    JAVA = "java"
    LIBRDKAFKA = "librdkafka"
    SARAMA = "sarama"
    FRANZ_GO = "franz-go"
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"
    KAFKAJS = "kafkajs"


@dataclass(frozen=True, slots=True)
class ClientRule:
    """``pattern`` matches the whole name; ``version``: the leader's release, None where only the client is known."""

    pattern: str
    client: str
    version: str | None = None

    def __post_init__(self) -> None:
        """Raises InvalidInputError for what cannot be."""
        require_pattern(self.pattern, "client pattern")
        if self.client not in set(Client):
            raise InvalidInputError.at("client", f"{excerpt(self.client)} is unknown", f"known: {', '.join(Client)}")
        if self.version is not None:
            release_of(self.version, "client version")

    def covers(self, group_id: str, client_ids: Collection[str | None]) -> bool:
        """Whether it is said of that group, whose members have these ids."""
        has_ids = bool(client_ids) and all(name is not None and re.fullmatch(self.pattern, name) for name in client_ids)
        return has_ids or re.fullmatch(self.pattern, group_id) is not None
