"""The log of our tasks: each message is one line that shows what stands in it, whatever a cluster's names hold."""

from __future__ import annotations

import logging

from kafka_assignors.visible_text import visible


class VisibleLines(logging.Filter):
    """Writes out the hidden characters of a message before any handler sees it; lets every record pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        """The message with its arguments in it, as one line."""
        record.msg, record.args = visible(record.getMessage()), ()
        return True


_LINES = VisibleLines()


def task_log(name: str) -> logging.Logger:
    """The logger of a module of tasks."""
    log = logging.getLogger(name)
    log.addFilter(_LINES)  # a filter that is there already is not added twice
    return log
