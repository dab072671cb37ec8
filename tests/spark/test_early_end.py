"""A search that fails ends the replay beside it at once, and its own error is the one that is raised."""

import threading
import time

import pytest

from kafka_rebalance.errors import InvalidInputError

pytestmark = pytest.mark.stack


@pytest.fixture(scope="module")
def job():
    from spark_jobs import replay_and_plan

    return replay_and_plan


def slowly(batches):
    for batch in batches:
        time.sleep(0.2)
        yield batch


def test_a_search_that_fails_at_once_ends_a_replay_of_minutes(spark, job):
    """2,000 tasks of 0.2 s on two cores take 200 s; the replay sees few of them."""
    context, begun, done = spark.sparkContext, threading.Event(), []
    tracker = context.statusTracker()

    def fail():
        assert begun.wait(120), "the replay never began"
        raise InvalidInputError("the search failed")

    def replay():
        frame = spark.range(0, 2_000, 1, numPartitions=2_000).mapInArrow(slowly, "id long")
        threading.Thread(target=until_active, args=(tracker, begun), daemon=True).start()
        done.append(len(frame.toArrow()))

    with pytest.raises(InvalidInputError, match="the search failed"), job.beside(fail, context.cancelAllJobs):
        replay()
    assert begun.is_set()
    assert done == []
    assert spark.range(3).count() == 3  # nothing is left of it


def until_active(tracker, begun):
    while not tracker.getActiveJobsIds():
        time.sleep(0.02)
    begun.set()


def test_what_the_search_found_is_there_and_what_the_replay_raises_first_is_raised(job):
    ends = []
    with job.beside(lambda: "plan", lambda: ends.append(1)) as searched:
        pass
    assert (searched, ends) == (["plan"], [])
    stays = threading.Event()
    with pytest.raises(KeyError, match="replay"), job.beside(stays.wait, lambda: ends.append(1)):
        raise KeyError("replay")
    stays.set()
    assert ends == []


def test_a_search_that_fails_after_the_replay_is_raised_too(job):
    with pytest.raises(InvalidInputError, match="late"), job.beside(fail_late, lambda: None):
        pass


def fail_late():
    raise InvalidInputError("late")
