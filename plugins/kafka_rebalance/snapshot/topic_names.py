"""Which names a Kafka topic can have: Kafka's own rule (``org.apache.kafka.common.internals.Topic``)."""

from __future__ import annotations

import re

LONGEST_NAME = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")


def topic_name_fault(name: str) -> str:
    """Why no topic can be called so, or an empty text."""
    if _LEGAL.fullmatch(name) is None:
        return "a topic's name is letters, digits, '.', '_' and '-' of ASCII" if name else "a topic has a name"
    if len(name) > LONGEST_NAME:
        return f"a topic's name has at most {LONGEST_NAME} characters, this one {len(name)}"
    return "no topic can be called '.' or '..'" if name in (".", "..") else ""
