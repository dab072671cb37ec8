"""The inputs that surfaces are compared with hold each verdict, each kind of step and group, and most findings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from kafka_rebalance.advisory.advise import advise
from kafka_rebalance.errors import UsageError
from kafka_rebalance.findings.finding import CODES
from kafka_rebalance.groups.kinds import GroupKind
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import require_options_fit
from kafka_rebalance.plans.plan import StepKind, Verdict
from tests.properties.any_advisory import any_advisory

SEEDS = range(300)
# They need the hours of a stored history, large state without standbys, sessions of minutes, rack-aware readers, or
# what members held long ago.
NEVER = {
    "hours_outside_band",
    "streams_no_standby",
    "static_membership",
    "cross_rack_reads",
    "sticky_endless",
    "server_uniform_may_throw",
}


@pytest.mark.matrix
@pytest.mark.slow
def test_three_hundred_advisories_hold_everything() -> None:
    met: Counter[str] = Counter()
    for seed in SEEDS:
        snapshot, request = any_advisory(seed)
        try:
            require_options_fit(snapshot, request.options)
        except UsageError:  # the cluster contradicts the options
            request = replace(request, options=PlanOptions(with_frontier=False))
        advice = advise(snapshot, request.advice)
        told = {one.code for finding in advice.findings for one in (finding, *finding.symptoms)}
        kinds = {step.kind.value for step in advice.plan.steps} | {
            group["kind"] for group in advice.document()["groups"]
        }
        met.update({*told, *kinds, advice.plan.verdict.value})
    print("\n".join(f"{met[name]:4} {name}" for name in sorted(met)))
    expected = {*CODES, *Verdict, *StepKind, *GroupKind} - NEVER
    assert {name: met[name] for name in sorted(expected) if not met[name]} == {}
