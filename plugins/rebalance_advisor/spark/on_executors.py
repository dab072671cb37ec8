"""Steps of ours on executors: the code goes there with the job, and each executor is asked first what it lacks.

Our code as one archive for the executors, the same bytes from the same files; what must be there besides.
"""

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
from rebalance_advisor.spark.executor_error import ExecutorError, executor_error, spark_words
from rebalance_advisor.spark.worker_start import OUR_CODE, Needs, code_digest, package_folders, report, running
from rebalance_advisor.version import advisor_version

# What the executors' Python has to have of others, in the driver's minor version: results then do not depend on where
# a piece was computed.
PARTS = ("numpy", "scipy", "numba", "pydantic", "pyarrow")
SETTING = "ADVISOR_SPARK_CODE"
SHIPPED, INSTALLED = "shipped", "installed"
# Caches belong to this machine; tests and Postgres' files are of no use there.
_LEFT_OUT = ("__pycache__", "sql", "airflow")
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip file: the name says which code it is."""

    name: str
    content: bytes


def is_shipped() -> bool:
    """Whether code travels with each job (the rule) or is installed on the workers. Raises UsageError."""
    told = os.environ.get(SETTING) or SHIPPED
    if told not in (SHIPPED, INSTALLED):
        raise UsageError.at(SETTING, f"{told!r}", f"it is {SHIPPED!r} or {INSTALLED!r}")
    return told == SHIPPED


def needs(archive: Archive | None) -> Needs:
    """What an executor is asked for: parts with the driver's versions, and our code."""
    versions = {name: str(importlib.import_module(name).__version__) for name in PARTS}
    code = {
        "archive": "" if archive is None else archive.name,
        "version": advisor_version(),
        "digest": code_digest(package_folders()),
    }
    return {"parts": versions, "code": code}


def make_archive() -> Archive:
    """Of the packages that this process imported, with compiled kernels that came with the wheel, if any did."""
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
    """With it the executors tell the same version as the driver, and know the same entry points."""
    try:
        ours = distribution(OUR_CODE)
    except PackageNotFoundError:
        return
    for name in ("METADATA", "entry_points.txt"):
        text = ours.read_text(name)
        if text is not None:
            yield f"{OUR_CODE.replace('-', '_')}-{ours.version}.dist-info/{name}", text.encode()


def write_archive(archive: Archive, folder: Path) -> Path:
    """Write it as a file of that name and return its path.

    Spark's file server may be sending a file of that name, so the file is replaced whole and never truncated.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / archive.name
    with tempfile.NamedTemporaryFile(dir=folder, prefix=f".{archive.name}-", delete=False) as part:
        part.write(archive.content)
    Path(part.name).replace(path)
    return path


if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Step = Callable[[Iterator[Any]], Iterator[Any]]

# Applications of Spark whose executors have been asked, by id. The lock lets one thread of a driver prepare them.
_prepared: dict[str, Needs] = {}
_preparing = threading.Lock()


def on_executors(spark: SparkSession, step: Step) -> Step:
    """``step`` for ``mapInArrow`` or ``mapPartitions``: as it is where Spark is this machine, else with what it needs.

    Threads of one driver prepare the executors of an application once. Raises ExecutorError, before any work, where
    executors lack something. One that joins later says so in its task.
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
    """Whether executors are this process's own: they then see what it sees."""
    return master.partition("[")[0] == "local"


def _prepare(spark: SparkSession) -> Needs:
    """Ship and probe: one task for each core that has come so far."""
    from pyspark import SparkFiles, cloudpickle

    cloudpickle.register_pickle_by_value(worker_start)
    context = spark.sparkContext
    archive = make_archive() if is_shipped() else None
    if archive is not None:
        # A folder of the application's own, gone with it.
        context.addFile(str(write_archive(archive, Path(SparkFiles.getRootDirectory()) / "advisor")))
    needed = needs(archive)
    count = max(context.defaultParallelism, 2)
    try:
        findings = context.parallelize(range(count), count).mapPartitions(partial(report, needed)).collect()
    except Exception as error:
        named = executor_error(spark_words(error), _hosts(context))
        if named is None:
            raise
        raise named from error
    if findings:
        raise ExecutorError.of(findings)
    return needed


def _hosts(context: Any) -> list[str]:
    """Host of each live executor. Spark lists the driver among them, by ``spark.driver.host``."""
    hosts = [executor.host for executor in context.statusTracker().getExecutorInfos()]
    driver = context.getConf().get("spark.driver.host")
    if driver in hosts:
        hosts.remove(driver)
    return hosts
