from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import excerpt
from rebalance_advisor.spark.worker_start import MARK, OUR_CODE, Finding

_TASK_HOST = re.compile(r"\(TID \d+\) \((\S+) executor")
_VERSIONS = re.compile(r"Python in worker has different version: (\S+) than that in driver: (\S+?),")
_NO_PROGRAM = re.compile(r'Cannot run program "([^"]*)"')
_NO_MODULE = re.compile(r"^(?:\w+\.)*ModuleNotFoundError: No module named '([\w.]+)'", re.MULTILINE)


class ExecutorError(AdvisorError):
    @classmethod
    def of(cls, findings: Iterable[Finding]) -> ExecutorError:
        hosts: dict[tuple[str, str, str, str], set[str]] = {}
        for host, *lack in findings:
            python, part, actual, needed = lack
            hosts.setdefault((part, actual, needed, python), set()).add(host)
        lacks = (
            f"Spark executor on {', '.join(sorted(names))}: {part} is {actual}, {needed} is needed: "
            + _advice(part, needed, python)
            for (part, actual, needed, python), names in sorted(hosts.items())
        )
        return cls("; ".join(lacks))


def executor_error(text: str, hosts: Sequence[str] = ()) -> ExecutorError | None:
    """``hosts``: all executors, since Spark does not name the faulty one."""
    _, mark, findings = text.partition(MARK)
    if mark:
        with suppress(ValueError):
            return ExecutorError.of(json.JSONDecoder().raw_decode(findings)[0])
    task_host = _TASK_HOST.search(text)
    host = task_host[1] if task_host else _one_of(hosts)
    if versions := _VERSIONS.search(text):
        return ExecutorError(
            f"Spark executor on {host}: Python is {versions[1]}, {versions[2]} is needed, as the driver has it: "
            "name such a Python of the workers as executor-python in the connection's extra"
        )
    if program := _NO_PROGRAM.search(text):
        return ExecutorError(
            f"Spark executor on {host}: no Python can be started as {excerpt(program[1])}: "
            "name the workers' Python as executor-python in the connection's extra"
        )
    if module := _NO_MODULE.search(text):
        return ExecutorError(
            f"Spark executor on {host}: {module[1]} is missing: install it in the Python of the Spark workers"
        )
    return None


def spark_message(error: Exception) -> str:
    """PySpark leaves out the host."""
    return f"{getattr(error, '_origin', None) or ''}\n{error}"


def _one_of(hosts: Sequence[str]) -> str:
    names = sorted(set(hosts))
    if not names:
        return "a host that Spark does not name"
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"


def _advice(part: str, needed: str, python: str) -> str:
    if part == OUR_CODE:
        return f"install the driver's wheel in {python}, or leave ADVISOR_SPARK_CODE=installed away: it travels then"
    return f"install {part}=={needed} in {python}"
