"""Spark on this machine: settings as files under ``.run/spark``, found by the variables of ``environment``.

Loopback alone, no web page, the JVM's C1 compiler and serial collector: Python does the work, so a small job costs 16
CPU seconds instead of 27 (measured). Jobs and DAGs hold none of these settings: elsewhere the connection
``spark_default`` and that machine's spark-defaults.conf decide.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stack.jvm.java import QUICK_JVM, java_home

_QUICK_JVM = " ".join(QUICK_JVM)
_DEFAULTS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": _QUICK_JVM,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": str(os.cpu_count() or 2),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "64",
}
_LOGGING = """rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
"""


def environment(run: Path) -> dict[str, str]:
    folder = run / "spark"
    (folder / "local").mkdir(parents=True, exist_ok=True)
    lines = (f"{name} {value}" for name, value in _DEFAULTS.items())
    (folder / "spark-defaults.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "log4j2.properties").write_text(_LOGGING, encoding="utf-8")
    return {
        "JAVA_HOME": str(java_home(run)),
        "SPARK_CONF_DIR": str(folder),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LAUNCHER_OPTS": _QUICK_JVM,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
