"""Ship our code to executors as one reproducible archive, and check what they lack."""

from __future__ import annotations

import hashlib
import importlib
import io
import os
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_rebalance.errors import UsageError
from rebalance_advisor.spark import worker_start
from rebalance_advisor.spark.executor_error import ExecutorError, executor_error, spark_message
from rebalance_advisor.spark.worker_start import OUR_CODE, Needs, code_digest, package_folders, report, running
from rebalance_advisor.version import advisor_version

# Required in the driver's minor version, so that results do not depend on the machine.
PARTS = ("numpy", "scipy", "numba", "pydantic", "pyarrow")
SETTING = "ADVISOR_SPARK_CODE"
SHIPPED, INSTALLED = "shipped", "installed"
_LEFT_OUT = ("__pycache__", "sql", "airflow")
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Archive:
    name: str
    content: bytes


def is_shipped() -> bool:
    """Code travels with each job (default), or is installed on workers. Raises UsageError."""
    mode = os.environ.get(SETTING) or SHIPPED
    if mode not in (SHIPPED, INSTALLED):
        raise UsageError.at(SETTING, f"{mode!r}", f"it is {SHIPPED!r} or {INSTALLED!r}")
    return mode == SHIPPED


def needs(archive: Archive | None) -> Needs:
    versions = {name: str(importlib.import_module(name).__version__) for name in PARTS}
    code = {
        "archive": "" if archive is None else archive.name,
        "version": advisor_version(),
        "digest": code_digest(package_folders()),
    }
    return {"parts": versions, "code": code}


def make_archive() -> Archive:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (*_package_files(), *_metadata()):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    content = packed.getvalue()
    return Archive(f"advisor-{hashlib.sha256(content).hexdigest()[:16]}.zip", content)


def _package_files() -> Iterator[tuple[str, bytes]]:
    for package, folder in sorted(package_folders().items()):
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            if path.is_file() and not set(inside.parts).intersection(_LEFT_OUT):
                yield f"{package}/{inside.as_posix()}", path.read_bytes()


def _metadata() -> Iterator[tuple[str, bytes]]:
    """Executors need version and entry points."""
    try:
        ours = distribution(OUR_CODE)
    except PackageNotFoundError:
        return
    for name in ("METADATA", "entry_points.txt"):
        text = ours.read_text(name)
        if text is not None:
            yield f"{OUR_CODE.replace('-', '_')}-{ours.version}.dist-info/{name}", text.encode()


def write_archive(archive: Archive, folder: Path) -> Path:
    """Atomic: Spark's file server may be sending a file of that name."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / archive.name
    with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{archive.name}-", delete=False) as part:
        part.write(archive.content)
    Path(part.name).replace(path)
    return path


if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Step = Callable[[Iterator[Any]], Iterator[Any]]

# Applications with checked executors. The lock serialises threads of a driver.
_prepared: dict[str, Needs] = {}
_preparing = threading.Lock()


def on_executors(spark: SparkSession, step: Step) -> Step:
    """Wrap ``step`` for ``mapInArrow`` or ``mapPartitions``; unchanged in local mode.

    Executors are prepared once an application. Raises ExecutorError before any work; executors that join later raise in
    their task.
    """
    from pyspark import cloudpickle

    if is_local(spark.sparkContext.master):
        return step
    application = spark.sparkContext.applicationId
    with _preparing:
        if application not in _prepared:
            _prepared[application] = _prepare(spark)
        needed = _prepared[application]
    return running(needed, cloudpickle.dumps(step))


def is_local(master: str) -> bool:
    return master.partition("[")[0] == "local"


def _prepare(spark: SparkSession) -> Needs:
    from pyspark import SparkFiles, cloudpickle

    cloudpickle.register_pickle_by_value(worker_start)
    context = spark.sparkContext
    archive = make_archive() if is_shipped() else None
    if archive is not None:
        context.addFile(str(write_archive(archive, Path(SparkFiles.getRootDirectory()) / "advisor")))
    needed = needs(archive)
    count = max(context.defaultParallelism, 2)
    try:
        findings = context.parallelize(range(count), count).mapPartitions(partial(report, needed)).collect()
    except Exception as error:
        named = executor_error(spark_message(error), _hosts(context))
        if named is None:
            raise
        raise named from error
    if findings:
        raise ExecutorError.of(findings)
    return needed


def _hosts(context: Any) -> list[str]:
    hosts = [executor.host for executor in context.statusTracker().getExecutorInfos()]
    driver = context.getConf().get("spark.driver.host")
    if driver in hosts:
        hosts.remove(driver)
    return hosts
