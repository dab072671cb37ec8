"""How far a job is: counted on executors, said by the driver."""

import io
import re
import threading
import time

import pytest

from rebalance_advisor.spark.mapper import progress
from stack.waiting import wait_for

pytestmark = pytest.mark.stack


def test_units_are_counted_where_arrow_batches_are_mapped(spark):
    import pyarrow as pa

    said = io.StringIO()
    with progress(spark, "groups", 10, every_s=3600.0, stream=said) as counter:

        def step(batches):
            for batch in batches:
                counter.add(batch.num_rows)
                yield batch

        rows = spark.createDataFrame(pa.table({"n": list(range(10))})).mapInArrow(step, "n long").toArrow()
    assert sorted(rows.column("n").to_pylist()) == list(range(10))
    (line,) = said.getvalue().splitlines()
    assert line.startswith("groups: 10 of 10 (100 %) after ")
    assert line.endswith(" s; done")


def test_what_is_under_way_is_said_while_the_driver_waits(spark, tmp_path):
    """Two tasks wait until the driver has said that both are under way."""
    said = io.StringIO()
    go = tmp_path / "go"

    def step(rows):
        while not go.exists():
            time.sleep(0.02)
        return rows

    def let_go():
        try:
            wait_for("two tasks under way", said.getvalue, until=lambda text: "; 2 tasks under way" in text)
        finally:
            go.touch()  # so that the tasks end, too

    watcher = threading.Thread(target=let_go, daemon=True)
    watcher.start()
    with progress(spark, "topics", 2, every_s=0.05, stream=said):
        assert spark.sparkContext.parallelize([1, 2], 2).mapPartitions(step).collect() == [1, 2]
    watcher.join()
    assert re.search(r"^topics: 0 of 2 \(0 %\) after \d+ s; 2 tasks under way$", said.getvalue(), re.MULTILINE)
    assert re.search(r"^topics: 0 of 2 \(0 %\) after \d+ s; done$", said.getvalue().splitlines()[-1])


def test_a_job_that_fails_says_how_far_it_came(spark):
    said = io.StringIO()

    def fail():
        with progress(spark, "units", 2000, stream=said) as counter:
            counter.add(1200)
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        fail()
    assert re.search(r"^units: 1,200 of 2,000 \(60 %\) after \d+ s; given up$", said.getvalue(), re.MULTILINE)
