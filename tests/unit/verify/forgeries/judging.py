"""One forgery put to the verifier on one plan."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.verify import Verification, verify_folder, verify_plan
from tests.unit.verify.forgeries.forging import Forgery, InapplicableError
from tests.unit.verify.sample_plans import SamplePlan, sealed_anyhow


@dataclass(frozen=True)
class Outcome:
    """``verification`` is None where the plan has nothing of the kind to be spoiled."""

    verification: Verification | None
    names_the_rule: bool = False

    @property
    def word(self) -> str:
        """For the table: caught, by another rule, missed, or ``-`` where it does not apply."""
        if self.verification is None:
            return "-"
        if self.verification.is_right:
            return "missed"
        return "caught" if self.names_the_rule else "other"


def judged(forgery: Forgery, sample: SamplePlan) -> Outcome:
    """Spoil a copy and verify it: a document alone, files beside the plan that they belong to."""
    document, files = sample.document, dict(sample.files)
    try:
        forgery.spoil(files if forgery.of_files else document)
    except InapplicableError:
        return Outcome(None)
    if forgery.of_files:
        verification = verify_folder(files, sample.snapshot)
    else:
        verification = verify_plan(sealed_anyhow(document) if forgery.is_sealed else document, sample.snapshot)
    return Outcome(verification, bool(set(forgery.rules) & verification.counts.keys()))
