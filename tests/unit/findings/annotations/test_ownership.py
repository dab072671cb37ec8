from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.advisory.advise import with_owners
from kafka_rebalance.findings.finding import CODES, Finding, Severity, rank
from kafka_rebalance.options.values import MuteRule, OwnerRule

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=1)


def _finding(code: str, subject: str, severity: Severity = Severity.HIGH) -> Finding:
    return Finding(code, severity, CODES[code].subject_type, subject, {}, f"look at {subject}")


RACK = _finding("rack_violated", "payments-eu")
HOT = _finding("hot_partition", "payments-eu-7")
GROUP = _finding("idle_members", "payments-reader", Severity.LOW)
BROKER = _finding("dead_broker", "3", Severity.CRITICAL)
ALL = (RACK, HOT, GROUP, BROKER)


def _teams(*owners: OwnerRule) -> dict[str, str | None]:
    return {finding.subject: finding.team for finding in with_owners(ALL, owners, (), NOW)}


def test_a_pattern_matches_the_whole_name_and_a_partition_goes_with_its_topic() -> None:
    assert _teams(OwnerRule("payments-eu", "pay")) == {
        "payments-eu": "pay", "payments-eu-7": "pay", "payments-reader": None, "3": None,
    }  # fmt: skip


def test_the_first_owner_that_matches_counts_and_a_kind_of_subject_can_be_asked_for() -> None:
    first = OwnerRule("payments-.*", "readers", "#readers", 2, subject_type="group")
    result = with_owners(ALL, (first, OwnerRule(".*", "platform")), (), NOW)
    reported = {finding.subject: (finding.team, finding.channel, finding.tier) for finding in result}
    assert reported["payments-reader"] == ("readers", "#readers", 2)
    assert reported["payments-eu-7"] == reported["payments-eu"] == reported["3"] == ("platform", None, None)
    by_topic = _teams(OwnerRule("payments-.*", "topics", subject_type="topic"))
    assert by_topic == {"payments-eu": "topics", "payments-eu-7": "topics", "payments-reader": None, "3": None}


def test_what_is_muted_stands_behind_all_others_as_it_was() -> None:
    mute = MuteRule("3", LATER, "it is being replaced", code="dead_broker")
    result = with_owners(ALL, (), (mute,), NOW)
    assert [finding.subject for finding in result] == ["payments-eu", "payments-eu-7", "payments-reader", "3"]
    assert (result[-1].muted_until, result[-1].mute_reason) == (LATER, "it is being replaced")
    assert replace(result[-1], muted_until=None, mute_reason=None) == BROKER


@pytest.mark.parametrize(
    ("at", "is_muted"), [(LATER - timedelta(seconds=1), True), (LATER, False), (None, False)], ids=str
)
def test_a_mute_ends_and_never_holds_for_a_reading_without_a_time(at: datetime | None, is_muted: bool) -> None:
    (with_owner,) = with_owners((GROUP,), (), (MuteRule(".*", LATER, "known", code="idle_members"),), at)
    assert (with_owner.muted_until is not None) is is_muted


def test_of_several_mutes_the_longest_is_told() -> None:
    mutes = (
        MuteRule("3", LATER, "short"),
        MuteRule("3", LATER + timedelta(days=9), "long"),
        MuteRule("4", LATER, "no"),
    )
    (with_owner,) = with_owners((BROKER,), (), mutes, NOW)
    assert with_owner.mute_reason == "long"


def test_no_finding_is_ever_lost_or_changed_in_what_it_says() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        codes = chance.sample(sorted(CODES), 8)
        findings = rank([_finding(code, chance.choice("abc"), chance.choice(list(Severity))) for code in codes])
        owners = [OwnerRule(chance.choice(["a", "[ab]", ".*"]), "team") for _ in range(chance.randrange(3))]
        mutes = [
            MuteRule(chance.choice(["a", "b|c"]), NOW + timedelta(days=chance.randint(-2, 2)), "why")
            for _ in range(chance.randrange(3))
        ]
        result = with_owners(findings, owners, mutes, NOW)
        bare = [
            replace(finding, team=None, channel=None, tier=None, muted_until=None, mute_reason=None)
            for finding in result
        ]
        assert rank(bare) == findings
        quiet = [finding.muted_until is not None for finding in result]
        assert quiet == sorted(quiet)
        assert all(finding.muted_until > NOW for finding in result if finding.muted_until is not None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OwnerRule("(", "t"), "pattern: '\\('"),
        (lambda: OwnerRule("a", " "), "team"),
        (lambda: OwnerRule("a", "t", channel=""), "channel"),
        (lambda: OwnerRule("a", "t", tier=10), "tier: 10"),
        (lambda: OwnerRule("a", "t", tier=True), "tier: True"),
        (lambda: MuteRule("a", NOW, ""), "reason"),
        (lambda: MuteRule("", NOW, "why"), "pattern"),
        (lambda: MuteRule("a", NOW.replace(tzinfo=None), "why"), "until.*time zone"),
    ],
)
def test_rules_that_cannot_be_are_refused_with_the_field(make: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make()  # type: ignore[operator]


def test_what_a_finding_explains_has_an_owner_of_its_own_and_is_quiet_with_it() -> None:
    cause = replace(HOT, symptoms=(GROUP, BROKER))
    owners = (OwnerRule("payments-eu", "pay"), OwnerRule("payments-reader", "read"))
    (with_owner,) = with_owners([cause], owners, (MuteRule("payments-eu", LATER, "known", code="hot_partition"),), NOW)
    assert (with_owner.team, [symptom.team for symptom in with_owner.symptoms]) == ("pay", ["read", None])
    assert with_owner.muted_until == LATER
    (loud,) = with_owners([cause], (), (MuteRule(".*", LATER, "known", code="idle_members"),), NOW)
    assert loud == cause  # a mute of what it explains is none of its own
