import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.errors import UsageError
from kafka_rebalance.key_tally.plan import TopicLayout, plan_for
from kafka_rebalance.key_tally.tally import KeyEncoding, KeyTally, scores_of
from rebalance_advisor.input_bytes import ByteBudget
from rebalance_advisor.key_samples.files import (
    key_batch,
    parquet_files,
    read_csv,
    row_groups,
    shared_out,
    tally_file,
    tally_of,
)
from rebalance_advisor.key_samples.request import SampleColumns

PLAN = plan_for(TopicLayout(3), clients=("librdkafka-consistent-random",), grown_to=(5,), shown_bytes=8)
COLUMNS = SampleColumns(key="k", partition="p", value_bytes="size")
# Key, partition, bytes of the value: a null key and an empty one, a key with what CSV quotes, one in two lines.
RECORDS = [("a", 0, 10), (None, 1, 20), ("", 2, 0), ('x,"y"', 0, 3), ("two\nlines", 1, 4), ("a", 0, 6), ("é", None, 1)]


def read(path: Path, columns: SampleColumns = COLUMNS, named: str | None = None) -> KeyTally:
    return tally_file(path, columns, PLAN, ByteBudget(), named)


def csv_field(value: object) -> str:
    return "" if value is None else '"' + value.replace('"', '""') + '"' if isinstance(value, str) else str(value)


def written(folder: Path) -> dict[str, Path]:
    """RECORDS in all three formats; the columns in another order, and one more."""
    files = {name: folder / f"sample.{name}" for name in ("jsonl", "csv", "parquet")}
    rows = [{"size": size, "p": p, "k": key, "other": 1} for key, p, size in RECORDS]
    files["jsonl"].write_text("\n".join(json.dumps(row) for row in rows) + "\n\n")
    lines = ["size,p,k,other", *(",".join(csv_field(row[name]) for name in row) for row in rows)]
    files["csv"].write_bytes("\r\n".join(lines).encode() + b"\r\n")
    pq.write_table(pa.Table.from_pylist(rows), files["parquet"], row_group_size=3)
    return files


def test_all_formats_are_counted_alike(tmp_path: Path) -> None:
    files = written(tmp_path)
    tallies = {name: read(file) for name, file in files.items()}
    scores = scores_of(tallies["jsonl"])
    assert (scores.records, scores.null_keys, scores.empty_keys, scores.different_keys) == (7, 1, 1, 5)
    # Values: 10 + 20 + 0 + 3 + 4 + 6 + 1; keys: a twice, x,"y" of 5, two\nlines of 9, é of 2.
    assert scores.bytes == 44 + 1 + 1 + 5 + 9 + 2
    assert scores.observed == (3, 2, 1)
    assert scores.heavy[0].key == b"a"
    for name, tally in tallies.items():
        assert same_counts(tally, tallies["jsonl"]), name
        assert scores_of(tally).heavy == scores.heavy, name


def same_counts(first: KeyTally, other: KeyTally) -> bool:
    counts = (first.counts, other.counts)
    names = ("total", "records", "bytes", "by_lot", "agreeing", "with_observed", "paired", "apart", "observed")
    return all(np.array_equal(*(getattr(count, name) for count in counts)) for name in names)


def test_a_folder_of_parquet_is_shared_out_by_rows(tmp_path: Path) -> None:
    """Row groups of 4, 4 and 5 for two: the largest first, then both others to the smaller part."""
    rows = [{"k": f"k{i % 5}", "p": i % 3, "size": i} for i in range(13)]
    pq.write_table(pa.Table.from_pylist(rows[:5]), tmp_path / "b.parquet")
    pq.write_table(pa.Table.from_pylist(rows[5:]), tmp_path / "a.parquet", row_group_size=4)
    (tmp_path / "_SUCCESS").touch()
    groups = row_groups(parquet_files(tmp_path), COLUMNS)
    assert [(Path(group.file).name, group.rows, group.before) for group in groups] == [
        ("a.parquet", 4, 0), ("a.parquet", 4, 4), ("b.parquet", 5, 0)
    ]  # fmt: skip
    shares = shared_out(groups, 2)
    assert [[group.rows for group in share] for share in shares] == [[5], [4, 4]]
    first, other = (tally_of(share, COLUMNS, PLAN) for share in shares)
    whole = tmp_path / "whole.jsonl"
    whole.write_text("\n".join(json.dumps(row) for row in rows))
    assert same_counts(first.merged(other), read(whole))
    assert len(shared_out(groups, 9)) == 3


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.string())]
)
def test_arrow_columns_of_every_kind_of_text_are_read_also_as_slices(kind: pa.DataType) -> None:
    keys = ["a", None, "", "bb", "a"]
    batch = pa.RecordBatch.from_pydict({"key": pa.array(keys).cast(kind)})
    result = key_batch(batch.slice(1, 3), SampleColumns(), PLAN)
    assert [result.keys.key(i) for i in range(3)] == [None, b"", b"bb"]
    nothing = key_batch(pa.RecordBatch.from_pydict({"key": pa.nulls(2)}), SampleColumns(), PLAN)
    assert nothing.is_null.tolist() == [True, True]
    assert len(key_batch(batch.slice(0, 0), SampleColumns(), PLAN)) == 0


def test_hashes_and_written_keys_are_read_from_each_format(tmp_path: Path) -> None:
    """murmur2 of "21" is -973932308 (Kafka's own test value); its bytes are 32 31, in base64 MjE=."""
    murmur = plan_for(TopicLayout(1000))
    rows = [{"h": -973932308, "x": "3231", "b": "MjE="}, {"h": None, "x": None, "b": None}]
    (tmp_path / "s.json").write_text("\n".join(json.dumps(row) for row in rows))
    (tmp_path / "s.csv").write_text("h,x,b\n-973932308,3231,MjE=\n,,\n")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "s.parquet")
    kinds = (
        SampleColumns(key=None, key_hash="h"),
        SampleColumns(key="x", encoding=KeyEncoding.HEX),
        SampleColumns(key="b", encoding=KeyEncoding.BASE64),
    )
    for file in ("s.json", "s.csv", "s.parquet"):
        for columns in kinds:
            scores = scores_of(tally_file(tmp_path / file, columns, murmur, ByteBudget()))
            assert np.flatnonzero(scores.placements[0].load.records).tolist() == [340], (file, columns)
            assert (scores.records, scores.null_keys) == (2, 1)


HOSTILE = {
    "no json": ("s.jsonl", b'{"k": "a"}\n{"k": \n', "s.jsonl:2: is not JSON"),
    "no object": ("s.jsonl", b'{"k": "a"}\n\n[1]\n', "s.jsonl:3: is \\[1\\], not an object"),
    "number as key": ("s.jsonl", b'{"k": "a", "p": 0, "size": 1}\n{"k": 12}', "s.jsonl:2: its key is 12, not a string"),
    "no such column": ("s.jsonl", b'{"key": "a", "p": 0}', "has no column 'k', but 'key', 'p'; name it"),
    "half a partition": ("s.jsonl", b'{"k": "a", "p": 1.5, "size": 1}', "s.jsonl:1, p: is 1.5; a whole number"),
    "partition below 0": ("s.jsonl", b'{"k": "a", "p": -1, "size": 1}', "s.jsonl:1, p: is -1; a whole number from 0"),
    "size too large": ("s.jsonl", b'{"k": "a", "p": 1, "size": 2147483648}', "s.jsonl:1, size: is 2147483648; a whole"),
    "no text": ("s.jsonl", b'{"k": "\xff"}', "s.jsonl:1: is no utf-8 text"),
    "open quote": ("s.csv", b'k,p,size\na,0,1\n"b,0,1\n', "s.csv:3: a quote that is not closed"),
    "text beside quotes": ("s.csv", b'k,p,size\n"a"b,0,1\n', "s.csv:2: a quote"),
    "short row": ("s.csv", b"k,p,size\na,0,1\n\nb,0\n", "s.csv:4: 2 fields, the header has 3"),
    "two of a name": ("s.csv", b"k,p,size,k\n", "s.csv:1: names a column twice"),
    "empty": ("s.csv", b"", "has no column 'k', but no column"),
    "odd number": ("s.csv", b"k,p,size\na,0x1,1\n", "s.csv:2, p: is '0x1'; a whole number"),
    "no parquet": ("s.parquet", b"PAR1, not really", "s.parquet: is no whole Parquet file"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_wrong_with_a_file_is_told_with_its_place(kind: str, tmp_path: Path) -> None:
    name, content, message = HOSTILE[kind]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=message):
        read(tmp_path / name)


def test_parquet_that_is_cut_short_or_damaged_or_of_another_type_is_refused(tmp_path: Path) -> None:
    whole = written(tmp_path)["parquet"]
    content = whole.read_bytes()
    for end in (3, len(content) // 2, len(content) - 1):
        (tmp_path / "cut.parquet").write_bytes(content[:end])
        with pytest.raises(InvalidInputError, match=r"cut\.parquet: is no whole Parquet file"):
            read(tmp_path / "cut.parquet")
    (tmp_path / "hole.parquet").write_bytes(content[:4] + b"\xff" * 60 + content[64:])
    with pytest.raises(InvalidInputError, match=r"hole\.parquet: "):
        read(tmp_path / "hole.parquet")
    pq.write_table(pa.table({"k": [1, 2], "p": ["x", "1"], "size": [1, 2]}), tmp_path / "n.parquet")
    with pytest.raises(InvalidInputError, match="column p: cannot be read as int32"):
        read(tmp_path / "n.parquet")
    with pytest.raises(InvalidInputError, match=r"n\.parquet: column k: holds int64, keys are strings or bytes"):
        read(tmp_path / "n.parquet", SampleColumns(key="k"))
    (tmp_path / "none").mkdir()
    with pytest.raises(InvalidInputError, match=r"holds no file that ends with \.parquet"):
        read(tmp_path / "none", named="parquet")


def test_a_key_that_is_not_written_as_told_is_named_by_its_line(tmp_path: Path) -> None:
    """The record's line, though a quoted field before it goes over two lines; in Parquet the row."""
    columns = SampleColumns(key="k", encoding=KeyEncoding.HEX)
    (tmp_path / "s.csv").write_text('k,o\n61,"x\ny"\nzz,1\n')
    with pytest.raises(InvalidInputError, match=r"s\.csv:4: its key is not hex"):
        read_csv(tmp_path / "s.csv", columns, PLAN, ByteBudget())
    pq.write_table(pa.table({"k": ["61", "62", "63", "zz"]}), tmp_path / "s.parquet", row_group_size=2)
    with pytest.raises(InvalidInputError, match=r"s\.parquet: row 4: its key is not hex"):
        read(tmp_path / "s.parquet", columns)


def test_columns_that_contradict_each_other_are_wrong_usage() -> None:
    for key, key_hash in (("k", "h"), (None, None)):
        with pytest.raises(UsageError, match="needs either keys or their hashes"):
            SampleColumns(key=key, key_hash=key_hash)
    with pytest.raises(UsageError, match="one hash a key, but the partitioners need murmur2, crc32"):
        SampleColumns(key=None, key_hash="h").require_fit(PLAN)
