import pytest

from rebalance_advisor.spark.mapper import progress_line


@pytest.mark.parametrize(("done", "total", "line"), [
    (1200, 2000, "groups: 1,200 of 2,000 (60 %) after 40 s; 4 tasks under way"),
    (2001, 2000, "groups: 2,000 of 2,000 (100 %) after 40 s; 4 tasks under way"),
    (0, 0, "groups: 0 of 0 after 40 s; 4 tasks under way"),
])  # fmt: skip
def test_a_line_says_how_many_of_how_many(done, total, line):
    assert progress_line("groups", done, total, 40.4, "4 tasks under way") == line
