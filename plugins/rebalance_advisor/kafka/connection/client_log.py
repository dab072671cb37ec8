"""Silence kafka-python's own log: lines of sockets, and warnings of its event loop, on which no user can act."""

from __future__ import annotations

import logging


def silence_client() -> None:
    """kafka-python says nothing from now on: what it complains of is told by us, as coverage or as an error."""
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
