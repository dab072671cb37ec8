from tests.stack.kills.kill_rows import KeptRows, table
from tests.stack.kills.random_kill import Outcome

HELD = Outcome(1, "task", "publish, 1.2 s", "2 in the store, 2 on disk", "publish 2", "by itself", 60.4, ())
BROKEN = Outcome(2, "scheduler", "between tasks", "1 in the store, 1 on disk", "", "cleared once", 90.0, ("half",))


def test_a_second_start_goes_on_with_what_is_missing_or_did_not_hold(tmp_path):
    kept = KeptRows(tmp_path / "below" / "rows.jsonl", seed=1)
    assert kept.done() == set()
    kept.add(HELD)
    kept.add(BROKEN)
    KeptRows(kept.file, seed=2).add(BROKEN)
    assert kept.done() == {1}
    kept.add(Outcome(2, "scheduler", "publish, 0.1 s", "2 in the store, 2 on disk", "", "by itself", 50.0, ()))
    assert kept.done() == {1, 2}
    assert len(kept.newest()) == 2


def test_the_table_tells_what_did_not_hold(tmp_path):
    kept = KeptRows(tmp_path / "rows.jsonl", seed=1)
    kept.add(HELD)
    kept.add(BROKEN)
    lines = table(kept.newest().values()).splitlines()
    assert lines[1].split() == [
        *("1", "task", "publish,", "1.2", "s", "2", "in", "the", "store,", "2", "on", "disk"),
        *("publish", "2", "by", "itself", "60", "s"),
    ]
    assert lines[-1] == "     NOT AS PROMISED: half"
