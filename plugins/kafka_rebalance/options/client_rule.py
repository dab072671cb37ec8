"""Whose consumers a group's members are, where people say so: what members show of themselves may be configured away.

Example: ``ClientRule("pay-.*", "java", "2.8.1")`` says it of every group with such a name, and of every group whose
members all have such a client id.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator
from pydantic.dataclasses import dataclass

from kafka_rebalance.options.option import Checked
from kafka_rebalance.options.values import CHECKED, OneOf, Pattern, Text
from kafka_rebalance.releases import release_of


def _release(version: str) -> str:
    release_of(version, "client version")
    return version


class Client(StrEnum):
    """Whose consumer runs a client's strategy; the names that rules and ``replay`` take."""

    JAVA = "java"
    LIBRDKAFKA = "librdkafka"
    SARAMA = "sarama"
    FRANZ_GO = "franz-go"
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"
    KAFKAJS = "kafkajs"


@dataclass(frozen=True, config=CHECKED)
class ClientRule(Checked):
    """``pattern`` matches the whole name; ``version``: the leader's release, None where only the client is known."""

    pattern: Pattern
    client: Annotated[str, OneOf((client.value for client in Client), "is unknown")]
    version: Annotated[Text, AfterValidator(_release)] | None = None

    def covers(self, group_id: str, client_ids: Collection[str | None]) -> bool:
        """Whether it is said of that group, whose members have these ids."""
        has_ids = bool(client_ids) and all(name is not None and re.fullmatch(self.pattern, name) for name in client_ids)
        return has_ids or re.fullmatch(self.pattern, group_id) is not None
