from __future__ import annotations

import logging


def silence_client() -> None:
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
