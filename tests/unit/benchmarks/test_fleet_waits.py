"""Where the tasks of many runs waited, told from the moments that Airflow keeps."""

from tests.benchmarks.fleet_waits import times_of, waits


def instance(run, task_id, *seconds):
    keys = ("scheduled_when", "queued_when", "start_date", "end_date")
    moments = [None if second is None else f"2026-11-20T12:00:{second:02}+00:00" for second in seconds]
    return times_of(
        {"dag_id": "advise_a", "dag_run_id": run, "task_id": task_id} | dict(zip(keys, moments, strict=True))
    )


def figures(line):
    task_id, *words = line.split()
    return task_id, [float(word) for word in words]


def test_each_wait_is_told_of_each_task_on_average_in_the_order_of_the_pipeline():
    tasks = [
        instance("1", "replay_and_plan", 7, 17, 18, 48),
        instance("1", "check_request", 0, 1, 2, 4),
        instance("2", "check_request", 0, 1, 4, 8),
        instance("2", "replay_and_plan", 9, 29, 32, 52),
    ]
    _, *lines = waits(tasks)
    assert [figures(line) for line in lines] == [
        ("check_request", [0, 1, 2, 3, 2]),
        ("replay_and_plan", [2, 15, 2, 25, 2]),  # scheduled 3 and 1 s after its own run's task before
    ]


def test_a_task_that_did_not_run_is_left_out():
    lines = waits([instance("1", "check_request", 0, 1, 2, 4), instance("1", "start_run", 5, None, None, None)])
    assert [figures(line)[0] for line in lines[1:]] == ["check_request"]
