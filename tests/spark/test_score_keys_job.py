"""The job on Spark counts what the shell command counts in one process, from each format; what it refuses it names."""

import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.key_tally.plan import TopicLayout, plan_for
from kafka_rebalance.key_tally.tally import KeyEncoding, scores_of
from rebalance_advisor.input_bytes import ByteBudget
from rebalance_advisor.key_samples.files import tally_file
from rebalance_advisor.key_samples.request import SampleColumns

pytestmark = pytest.mark.stack
PLAN = plan_for(TopicLayout(12), clients=("librdkafka-consistent-random",), grown_to=(18,), shown_bytes=16)
COLUMNS = SampleColumns(partition="p", value_bytes="size")


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """20,000 records in seven row groups of two files of a folder, as JSON lines and as CSV."""
    draw = random.Random(3)
    keys = [
        draw.choice((None, "", *(f"key,{int(3000 * draw.random() ** 3)}" for _ in range(30)))) for _ in range(20_000)
    ]
    rows = [{"key": key, "p": i % 12, "size": i % 700} for i, key in enumerate(keys)]
    folder = tmp_path_factory.mktemp("samples")
    (folder / "parquet").mkdir()
    for name, part in (("a", rows[:13_000]), ("b", rows[13_000:])):
        pq.write_table(pa.Table.from_pylist(part), folder / "parquet" / f"{name}.parquet", row_group_size=3_000)
    (folder / "s.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    lines = ["key,p,size", *(f"{'' if r['key'] is None else json.dumps(r['key'])},{r['p']},{r['size']}" for r in rows)]
    (folder / "s.csv").write_text("\n".join(lines))
    return folder


def test_every_format_is_counted_as_in_one_process(spark, samples):
    from spark_jobs.score_keys import tally_sample

    whole = tally_file(samples / "s.jsonl", COLUMNS, PLAN, ByteBudget())
    expected = scores_of(whole)
    assert expected.null_keys > 100 < expected.empty_keys
    batch = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(batch)
    places = {"parquet": [str(samples / "parquet"), f"file://{samples}/parquet"], "json": [f"{samples}/s.jsonl"]}
    for kind, names in {**places, "csv": [f"{samples}/s.csv"]}.items():
        for name in names:
            scores = scores_of(tally_sample(spark, name, kind, COLUMNS, PLAN))
            assert (scores.records, scores.null_keys, scores.empty_keys, scores.bytes) == (
                expected.records, expected.null_keys, expected.empty_keys, expected.bytes
            ), kind  # fmt: skip
            assert (scores.heavy, scores.pairs, scores.observed) == (expected.heavy, expected.pairs, expected.observed)
            for placement, other in zip(scores.placements, expected.placements, strict=True):
                assert placement.load.records.tolist() == other.load.records.tolist()
                assert placement.load.bytes.tolist() == other.load.bytes.tolist()
    assert spark.conf.get(batch) == before


def test_parquet_that_only_spark_reads_is_counted_too(spark, samples):
    from spark_jobs.score_keys import local_path, read_frame, tally_frame

    assert local_path("s3a://bucket/keys") is None
    folder = str(samples / "parquet")
    result = tally_frame(read_frame(spark, folder, "parquet", COLUMNS), folder, COLUMNS, PLAN)
    expected = tally_file(samples / "parquet", COLUMNS, PLAN, ByteBudget(), "parquet")
    assert result.counts.records.tolist() == expected.counts.records.tolist()


@pytest.mark.parametrize("kind", ["parquet", "json", "csv"])
def test_what_a_task_cannot_read_is_told_in_a_line(spark, samples, kind):
    from spark_jobs.score_keys import tally_sample

    name = str(samples / {"parquet": "parquet", "json": "s.jsonl", "csv": "s.csv"}[kind])
    with pytest.raises(InvalidInputError, match="has no column 'k', but 'key', 'p', 'size'"):
        tally_sample(spark, name, kind, SampleColumns(key="k"), PLAN)
    with pytest.raises(InvalidInputError, match=r"row \d+: its key is not hex; --key-encoding"):
        tally_sample(spark, name, kind, SampleColumns(encoding=KeyEncoding.HEX), PLAN)


def test_a_broken_line_is_no_record_without_key(spark, tmp_path):
    from spark_jobs.score_keys import tally_sample

    broken = {"json": '{"key": "a"}\n{"key": \n{"key": "b"}\n', "csv": 'o,key\n1,a\n2\n3,"b"\n'}
    for kind, text in broken.items():
        (tmp_path / kind).write_text(text)
        with pytest.raises(InvalidInputError, match=f"{kind}: cannot be read"):
            tally_sample(spark, str(tmp_path / kind), kind, SampleColumns(), PLAN)
