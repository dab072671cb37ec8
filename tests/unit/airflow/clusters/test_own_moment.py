from __future__ import annotations

from collections import Counter

import pytest

from rebalance_advisor.airflow.clusters import own_moment, read_clusters


def test_a_thousand_clusters_are_spread_over_the_hour() -> None:
    minutes = Counter(own_moment("H * * * *", f"collect cluster-{number}") for number in range(1_000))
    assert len(minutes) == 60
    assert max(minutes.values()) < 2.5 * 1_000 / 60
    assert {schedule.split(maxsplit=1)[1] for schedule in minutes} == {"* * * *"}


@pytest.mark.parametrize("schedule", ["0 5 * * *", "*/5 8-18 * * *", "@daily", "off", "0 9 * MAR,MARCH THU"])
def test_what_has_no_moment_of_its_own_stays(schedule: str) -> None:
    assert own_moment(schedule, "orders") == schedule


def test_ranges_and_steps() -> None:
    minute, hour, *rest = own_moment("H/15 H(0-3) * * THU", "orders").split()
    first = int(minute.split(",")[0])
    assert minute == ",".join(str(first + step) for step in (0, 15, 30, 45))
    assert (first < 15, int(hour) <= 3, rest) == (True, True, ["*", "*", "THU"])


def test_a_clusters_dags_have_moments_of_their_own_and_keep_them(tmp_path) -> None:
    file = tmp_path / "clusters.toml"
    file.write_text('[clusters.a]\nfile = "a.json"\n[clusters.b]\nfile = "b.json"\nschedule = "30 4 * * *"\n')
    entries, again = read_clusters(file).entries, read_clusters(file).entries
    assert {name: entry.settings for name, entry in entries.items()} == {
        name: entry.settings for name, entry in again.items()
    }
    advise, collect = entries["a"].settings.schedule.split(), entries["a"].settings.collect_schedule.split()
    assert (advise[1:], collect[1:]) == (["5", "*", "*", "*"], ["*"] * 4)
    assert 0 <= int(advise[0]) < 60
    assert advise[0] != collect[0], "of this name; in one of sixty they are the same"
    assert collect != entries["b"].settings.collect_schedule.split()
    assert entries["b"].settings.schedule == "30 4 * * *"


def test_what_is_no_schedule_is_refused_with_its_key(tmp_path) -> None:
    file = tmp_path / "clusters.toml"
    file.write_text('[clusters.a]\nfile = "a.json"\nschedule = "H(99-120) * * * *"\n')
    assert "schedule" in str(read_clusters(file).refused["a"])
