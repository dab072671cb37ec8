"""Plans whose bands had to be widened are held to as strong a bound as those whose bands are met."""

from __future__ import annotations

import pytest

from kafka_rebalance.plans.builder import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.verify import verify_plan
from tests.properties.small_clusters import small_cluster

# Small clusters with a widened band, and the gap of their plans by the prices of single brokers alone.
GAPS_BY_SINGLE_BROKERS = {7: 0.205, 17: None, 55: 0.331, 109: 1.206}


@pytest.mark.usefixtures("whole_search")
@pytest.mark.parametrize("seed", GAPS_BY_SINGLE_BROKERS)
def test_the_linear_program_of_the_widened_bands_proves_more_than_broker_by_broker_and_verify_agrees(seed: int) -> None:
    snapshot, options = small_cluster(seed)
    document = to_document(make_plan(snapshot, options))
    (bound,) = [claim for claim in document["lower_bound"] if claim["cost"] == "bytes"]
    old = GAPS_BY_SINGLE_BROKERS[seed]

    assert any(side is not None for outcome in document["resources"] for side in outcome["widened_to"])
    assert "linear program" in bound["proof"]
    assert bound["gap"] is not None
    assert old is None or bound["gap"] < 0.8 * old
    assert not verify_plan(document, snapshot).wrong
