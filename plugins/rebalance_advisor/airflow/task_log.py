from __future__ import annotations

import logging

from kafka_assignors.visible_text import visible


class VisibleLines(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = visible(record.getMessage()), ()
        return True


_LINES = VisibleLines()


def task_log(name: str) -> logging.Logger:
    log = logging.getLogger(name)
    log.addFilter(_LINES)  # added only once
    return log
