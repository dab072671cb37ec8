"""Two moments of the table that ``make test-kill`` prints (``random_kills.py``), each of another kind.

A failed task is cleared at once: the wait before a second try, which the whole table has, would be half of the time.
"""

import pytest

from tests.stack.kills.drawn_moments import DrawnMoment
from tests.stack.kills.normal_run import NormalRun
from tests.stack.kills.random_kill import live_through
from tests.stack.kills.supervision import supervised

pytestmark = [pytest.mark.stack, pytest.mark.slow]

# Where a run takes longer the kill comes earlier in it, which is as good a moment.
NORMAL = NormalRun(run_s=32, life_s={})
MOMENTS = (
    DrawnMoment(1, "api-server", 0.9, 0.5),
    DrawnMoment(2, "task", 0.5, 0.5),
)


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.kind)
def test_whatever_is_killed_readers_see_a_whole_advisory_and_the_run_ends(machine, moment, capsys):
    with supervised(machine):
        outcome = live_through(machine, moment, NORMAL, retries=0)
    with capsys.disabled():
        print(f"\n{outcome}")
    assert outcome.faults == ()
