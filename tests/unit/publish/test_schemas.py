import copy
import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kafka_rebalance.advisory.advisory import finding_document, with_changes
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Finding, Severity, SubjectType
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.render import with_texts
from kafka_rebalance.verify.document import check_shape, read_parameters
from kafka_rebalance.verify.faults import FaultList
from rebalance_advisor.cli.main import main
from rebalance_advisor.cli.schemas import SCHEMAS, findings_schema, plan_schema
from tests.unit.plans.hand_plans import SNAPSHOT

DOCS = Path(__file__).parents[3] / "docs" / "schemas"
PLAN: dict[str, Any] = json.loads(json.dumps(to_document(make_plan(SNAPSHOT, PlanOptions(within=0.2)))))
READER = jsonschema.Draft202012Validator(plan_schema())


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_page_is_what_the_command_prints(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", name]) == 0
    printed = capsys.readouterr().out
    jsonschema.Draft202012Validator.check_schema(json.loads(printed))
    assert json.loads((DOCS / name.replace(".json", ".schema.json")).read_text()) == json.loads(printed)


def test_a_plan_fits_its_schema() -> None:
    READER.validate(PLAN)


def _places(value: Any, keys: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [keys, *(inner_keys for key, part in inner for inner_keys in _places(part, (*keys, key)))]


def test_whatever_is_damaged_schema_and_verify_say_the_same() -> None:
    """Places of a plan, at random, get a value of each other kind."""
    places, seen = _places(PLAN)[1:], set()
    for keys in random.Random(1).sample(places, 60):
        for value in (None, True, -1.5, "x", [], {}, ["x"], {"x": 1}):
            damaged = copy.deepcopy(PLAN)
            holder = damaged
            for key in keys[:-1]:
                holder = holder[key]
            holder[keys[-1]] = value
            fits = check_shape(damaged, FaultList())
            if keys[0] == "parameters" and fits:  # a schema knows of no two that contradict each other
                fits = read_parameters(damaged["parameters"], FaultList()) is not None
                assert READER.is_valid(damaged) or not fits, (keys, value)
            else:
                assert READER.is_valid(damaged) == fits, (keys, value)
            seen.add(fits)
    assert len(places) > 150
    assert seen == {True, False}


def test_a_whole_number_that_nothing_can_count_to_is_refused() -> None:
    """Except in fields for fractions: a schema cannot distinguish 2e70 from its digits."""
    damaged = copy.deepcopy(PLAN)
    damaged["moves"][0]["partition"] = 2**70
    assert not READER.is_valid(damaged)
    assert not check_shape(damaged, FaultList())


def test_a_missing_and_an_unknown_field_are_refused() -> None:
    for damaged in ({k: v for k, v in PLAN.items() if k != "seed"}, PLAN | {"more": 1}):
        assert not READER.is_valid(damaged)


def test_findings_fit_theirs_with_what_they_explain_and_what_changed() -> None:
    do, cost = fact(FactCode.MEMBERS_TOO_SLOW), fact(FactCode.CHANGES_LEADERS, leaders=3)
    inner = Finding("idle_members", Severity.LOW, SubjectType.GROUP, "g", {"idle": 3}, do, cost=cost, tier=1)
    outer = Finding("broker_disk_full", Severity.HIGH, SubjectType.BROKER, "3", {"x": None}, do, symptoms=(inner,))
    documents = with_texts([finding_document(finding) for finding in (outer, inner)])
    reader = jsonschema.Draft202012Validator(findings_schema())
    reader.validate(documents)
    reader.validate(with_changes({"findings": documents}, documents)["findings"])
    assert not reader.is_valid([documents[0] | {"severity": "awful"}])
    assert not reader.is_valid([documents[0] | {"symptoms": [{}]}])
