import re
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from rebalance_advisor.page.rendering import (
    address,
    age_badges,
    broker_list,
    count,
    describe_busiest,
    describe_lag_end,
    describe_outlook,
    describe_verdict,
    moment,
    rate,
    style,
)
from rebalance_advisor.store.schema.migrate import read_views

HERE = SimpleNamespace(scope={"root_path": "/air/advisor"})


def test_a_link_quotes_names_and_leaves_out_what_is_not_asked():
    assert address(HERE, "clusters", "a/b?c", name='x&y"', page=None, down=False) == (
        "/air/advisor/clusters/a%2Fb%3Fc?name=x%26y%22"
    )
    assert address(HERE, "") == "/air/advisor/"
    assert address(HERE, "broker", id=0) == "/air/advisor/broker?id=0"


def test_unknown_is_not_zero():
    assert {render(None) for render in (count, moment, rate)} == {"unknown"}
    assert count(50_000) == "50,000"
    assert broker_list([]) == "none"
    assert describe_verdict("what a newer advisor says") == "what a newer advisor says"


def test_the_style_sheet_has_light_and_dark_and_fetches_nothing():
    assert "prefers-color-scheme: dark" in style()
    assert "url(" not in style()
    assert "@import" not in style()


def test_every_outlook_of_a_group_has_words():
    """All of the view's, and no others."""
    outlooks = set(re.findall(r"(?:THEN|ELSE) '(\w+)'", read_views()["store.current_group_score"]))
    assert len(outlooks) == 5
    texts = {outlook: describe_outlook({"outlook": outlook, "drain_seconds": 5400.0}) for outlook in outlooks | {None}}
    assert texts["drains"] == "in 1 h 30 min"
    assert len(set(texts.values())) == 6
    assert "None" not in "".join(texts.values())


def test_what_a_group_reads_and_when_its_lag_ends_is_a_sentence_in_every_state():
    """Never "in never" or "unknown the mean rate"; what differs has other words."""
    lag = {
        (seconds, behind): describe_lag_end(seconds, behind)
        for seconds in (None, 0.0, 900.0)
        for behind in (None, 0, 1, 2)
    }
    assert lag[None, 1] == lag[900.0, 1] == "its lag never ends: 1 member cannot keep up"
    assert lag[None, 0] == lag[None, None] == "when its lag is gone is unknown"
    assert (lag[0.0, 0], lag[900.0, None]) == ("it keeps up", "its lag is gone in 15 min")
    busy = [describe_busiest(skew) for skew in (None, 0.0, 1.3149)]
    assert busy == [
        "how much each member reads is unknown", "nothing is read", "the busiest member reads 1.31 × the mean rate",
    ]  # fmt: skip


def test_a_finding_is_new_or_has_its_day_and_nothing_is_new_in_a_first_advisory():
    newest = datetime(2026, 11, 20, 12, tzinfo=UTC)
    first = newest - timedelta(days=9)
    seen = [
        {"finding_key": key, "first_seen": at, "first_run": first}
        for key, at in (("a", newest), ("b", newest - timedelta(hours=2)), ("c", newest - timedelta(days=3)))
    ]
    assert age_badges(seen, newest) == {"a": "new", "b": "day 1", "c": "day 4"}
    assert age_badges([row | {"first_run": newest} for row in seen], newest) == {}
