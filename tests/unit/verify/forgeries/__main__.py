"""Print the verifier's result for every kind of forgery on every kind of plan, or on the named ones."""

from __future__ import annotations

import sys
from collections import Counter

from tests.unit.verify.forgeries import CATALOGUE, judged
from tests.unit.verify.plan_kinds import KINDS


def main() -> int:
    """The table, the counts, and exit code 1 where something is missed that should be caught."""
    chosen = sys.argv[1:] or list(KINDS)
    samples = {name: KINDS[name]() for name in chosen}
    marks = {"caught": "x", "other": "o", "missed": "MISSED", "-": "."}
    counts: Counter[str] = Counter()
    missed = []
    print("x caught by a rule that the catalogue names, o by another, . does not apply")
    print("kinds of plan: " + ", ".join(f"{number} {name}" for number, name in enumerate(samples, start=1)))
    print(f"{'subject':<11}{'forgery':<58}" + "".join(f"{number:>3}" for number in range(1, len(samples) + 1)))
    for forgery in sorted(CATALOGUE.values(), key=lambda catalogued: (catalogued.subject, catalogued.name)):
        text = {name: judged(forgery, sample).word for name, sample in samples.items()}
        counts.update(text.values())
        missed += [(forgery, name) for name, word in text.items() if word == "missed" and not forgery.harmless]
        row = "".join(f"{'h' if word == 'missed' and forgery.harmless else marks[word]:>3}" for word in text.values())
        print(f"{forgery.subject:<11}{forgery.name:<58}{row}", flush=True)
        if all(word == "-" for word in text.values()):
            print("   applies to no plan")
        if "other" in text.values():
            name = next(name for name, word in text.items() if word == "other")
            verification = judged(forgery, samples[name]).verification
            print(f"   {name}: {sorted(verification.counts) if verification else ''} {forgery.rules}")
    harmless = [forgery for forgery in CATALOGUE.values() if forgery.harmless]
    print(f"{len(CATALOGUE)} kinds of forgery, {len(samples)} kinds of plan: {dict(counts)}")
    print(f"harmless by a written reason: {len(harmless)}")
    for forgery in harmless:
        print(f"  {forgery.name}: {forgery.harmless}")
    for forgery, name in missed:
        print(f"missed: {forgery.name} on {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
