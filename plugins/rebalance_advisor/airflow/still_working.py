"""A silent task looks like one that hangs: every so often it says what it is at, at its end how long it took."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

EVERY_SECONDS = 20.0


@contextmanager
def still_working(log: logging.Logger, what: str, every_seconds: float = EVERY_SECONDS) -> Iterator[None]:
    """Says ``what`` when the block begins, again every ``every_seconds``, and how long it took where it has ended well.

    >>> with still_working(log, "reading cluster orders"):
    ...     read()
    """
    began, has_ended = time.monotonic(), threading.Event()

    def tell() -> None:
        while not has_ended.wait(every_seconds):
            log.info("%s: still at it after %.0f s", what, time.monotonic() - began)

    log.info("%s", what)
    teller = threading.Thread(target=tell, name="still-working", daemon=True)
    teller.start()
    try:
        yield
        log.info("%s: %.1f s", what, time.monotonic() - began)
    finally:
        has_ended.set()
        teller.join()
