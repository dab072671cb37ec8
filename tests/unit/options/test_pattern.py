"""One refusal for every pattern that options hold."""

from __future__ import annotations

import pytest

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.client_rule import ClientRule
from kafka_rebalance.options.ownership import OwnerRule
from kafka_rebalance.options.pattern import require_pattern
from kafka_rebalance.options.topic_brokers import TopicBrokers
from kafka_rebalance.options.topic_leaders import TopicLeaders
from tests.sample import for_each

HOLDERS = {
    "--topic-brokers": lambda pattern: TopicBrokers(pattern, frozenset({1})),
    "--min-topic-leaders": lambda pattern: TopicLeaders(pattern, 1),
    "client pattern": lambda pattern: ClientRule(pattern, "java"),
    "owner pattern": lambda pattern: OwnerRule(pattern, "team"),
}


@pytest.mark.parametrize("place", HOLDERS)
def test_a_regular_expression_is_kept_as_it_was_written(place: str) -> None:
    assert HOLDERS[place]("pay-(a|b)?.*").pattern == "pay-(a|b)?.*"


@for_each("place", HOLDERS)
@for_each("pattern", [None, 7, "", "  ", "(", "a{2,1}", "(?P<n>a)(?P<n>b)", "a{99999999999999}"])
def test_what_is_none_is_refused_with_its_place_wherever_it_stands(pattern: object, place: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^here: "):
        require_pattern(pattern, "here")
    with pytest.raises(InvalidInputError, match=rf"^{place}: "):
        HOLDERS[place](pattern)
