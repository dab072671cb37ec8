"""Score a topic's keys from a large sample of records: partitions exactly, heavy and distinct keys by samples.

    spark-submit score_keys.py SAMPLE --topic T --partitions N --out keys.json     (options as `rebalance-advisor keys`)

Tasks read Parquet that every executor sees as a file, row group by row group, into Arrow buffers: passing Spark's rows
to Python costs several times the counting. Spark reads other places (s3a:, hdfs:), JSON lines and CSV, and passes Arrow
batches. A task returns one row, its tally; the driver merges them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from kafka_rebalance.key_tally.plan import TallyPlan
    from kafka_rebalance.key_tally.tally import KeyTally
    from rebalance_advisor.key_samples.request import SampleColumns

TALLY = "tally binary, refused string"
_BATCH_ROWS = "262144"
_PARTS_A_CORE = 2
# An empty field is null, "" is empty: Spark makes null what equals its null value, so no text may equal it. Every
# field is parsed, also of unwanted columns, or a row that is too short would pass.
_CSV = {
    "header": "true", "escape": '"', "nullValue": "\0null\0", "emptyValue": "", "multiLine": "true",
    "columnPruning": "false",
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    import orjson
    from pyspark.sql import SparkSession

    from rebalance_advisor.key_samples.report import document_of, lines_of, report_of
    from rebalance_advisor.key_samples.request import add_key_arguments, format_of, key_request
    from rebalance_advisor.publish.folders import check_file, replace_file
    from rebalance_advisor.terminal import write_lines

    parser = argparse.ArgumentParser(prog="score_keys.py", description="Score the keys of one topic.")
    parser.add_argument("sample", metavar="SAMPLE", help="a file, a folder or an address that Spark reads")
    add_key_arguments(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="where the scores are written, as JSON")
    arguments = parser.parse_args(argv)
    request = key_request(arguments, arguments.sample)
    check_file(arguments.out)  # before anything is read
    samples = [arguments.sample, *([] if request.other is None else [request.other.sample])]
    formats = [format_of(sample, request.format) for sample in samples]
    spark = SparkSession.builder.appName(f"advisor score_keys {request.topic}").getOrCreate()
    try:
        tallies = [
            tally_sample(spark, sample, kind, request.columns, request.plan)
            for sample, kind in zip(samples, formats, strict=True)
        ]
    finally:
        spark.stop()
    report = report_of(request, tallies[0], tallies[1] if request.other else None)
    replace_file(arguments.out, orjson.dumps(document_of(report), option=orjson.OPT_INDENT_2) + b"\n")
    write_lines(sys.stdout, *lines_of(report))
    return 0


def tally_sample(spark: SparkSession, sample: str, kind: str, columns: SampleColumns, plan: TallyPlan) -> KeyTally:
    """Tally of one sample. Raises InvalidInputError for an unreadable file, column or row."""
    path = local_path(sample)
    if kind == "parquet" and path is not None:
        return tally_parquet(spark, path, columns, plan)
    return tally_frame(read_frame(spark, sample, kind, columns), sample, columns, plan)


def local_path(sample: str) -> Path | None:
    """Path of a plain name or a ``file:`` address; None where only Spark has access."""
    parts = urlsplit(sample)
    if parts.scheme == "file":
        return Path(unquote(parts.path))
    return None if parts.scheme else Path(sample)


def tally_parquet(spark: SparkSession, path: Path, columns: SampleColumns, plan: TallyPlan) -> KeyTally:
    """Row groups, shared out evenly by rows, are read where they are counted: executors see the files, too."""
    from rebalance_advisor.key_samples.files import parquet_files, row_groups, shared_out
    from rebalance_advisor.spark.on_executors import on_executors

    files = parquet_files(path.absolute())
    shares = shared_out(row_groups(files, columns), _PARTS_A_CORE * spark.sparkContext.defaultParallelism)

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from rebalance_advisor.key_samples.files import tally_of

        for batch in batches:
            for number in batch.column("id").to_pylist():
                yield answer_of(partial(tally_of, shares[number], columns, plan))

    if not shares:
        return _merged([], str(path), plan)
    numbers = spark.range(0, len(shares), 1, numPartitions=len(shares))
    return _merged(numbers.mapInArrow(on_executors(spark, count), TALLY).toArrow().to_pylist(), "", plan)


def read_frame(spark: SparkSession, sample: str, kind: str, columns: SampleColumns) -> DataFrame:
    """The sample's columns as Spark reads them; an invalid line is an error."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    reader = spark.read.option("mode", "FAILFAST")
    try:
        match kind:
            case "json":
                frame = reader.json(sample)
            case "csv":
                frame = reader.options(**_CSV).csv(sample)
            case _:
                frame = spark.read.parquet(sample)
    except (PySparkException, Py4JJavaError) as error:
        raise _refused(sample, error) from error
    columns.require_in(frame.columns, sample)
    return frame.select(*(frame[f"`{name}`"] for name in columns.names))


def tally_frame(frame: DataFrame, sample: str, columns: SampleColumns, plan: TallyPlan) -> KeyTally:
    """Tally of Spark's rows, in Arrow batches large enough that each is worth a call."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    from rebalance_advisor.spark.on_executors import on_executors

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        part = f"part {TaskContext.get().partitionId()}, "
        yield answer_of(partial(_tally_of_batches, batches, columns, plan), part)

    settings = frame.sparkSession.conf
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = settings.get(name)
    settings.set(name, _BATCH_ROWS)
    try:
        answers = frame.mapInArrow(on_executors(frame.sparkSession, count), TALLY).toArrow().to_pylist()
    except (PySparkException, Py4JJavaError) as error:
        raise _refused(sample, error) from error
    finally:
        settings.set(name, before)
    return _merged(answers, sample, plan)


def answer_of(count: Callable[[], KeyTally], location: str = "") -> pa.RecordBatch:
    """One row: the tally, or why and where the sample is refused. An exception would reach users as a Java stack
    trace.
    """
    import pyarrow as pa

    from kafka_assignors.errors import InvalidInputError

    tally, refused = None, None
    try:
        tally = count().to_bytes()
    except InvalidInputError as error:
        refused = f"{location}{error}"
    columns = {"tally": pa.array([tally], pa.binary()), "refused": pa.array([refused], pa.string())}
    return pa.RecordBatch.from_pydict(columns)


def _tally_of_batches(batches: Iterator[pa.RecordBatch], columns: SampleColumns, plan: TallyPlan) -> KeyTally:
    from kafka_rebalance.key_tally.tally import KeyTally
    from rebalance_advisor.key_samples.files import key_batch

    tally = KeyTally.none(plan)
    for batch in batches:
        tally = tally.added(key_batch(batch, columns, plan, int(tally.counts.total[0])))
    return tally


def _merged(answers: Sequence[dict[str, Any]], sample: str, plan: TallyPlan) -> KeyTally:
    from kafka_assignors.errors import InvalidInputError
    from kafka_rebalance.key_tally.tally import KeyTally

    for answer in answers:
        if answer["refused"] is not None:
            raise InvalidInputError(f"{sample}: {answer['refused']}" if sample else answer["refused"])
    tallies = [KeyTally.from_bytes(answer["tally"], plan) for answer in answers]
    return reduce(KeyTally.merged, tallies, KeyTally.none(plan))


def _refused(sample: str, error: Exception) -> Exception:
    from kafka_assignors.errors import InvalidInputError

    java = getattr(error, "java_exception", None)
    text = str(error) if java is None else str(java.getMessage())
    reason = (text.strip().splitlines() or [type(error).__name__])[0]
    return InvalidInputError.at(sample, f"cannot be read ({reason})")


if __name__ == "__main__":
    from rebalance_advisor.spark.run_job import run_job

    sys.exit(run_job(main))
