"""Which releases a strategy's answer stands for, and how sure that is, in the words of a group's rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from kafka_rebalance.assignors.built_in import Registration
from kafka_rebalance.assignors.registry import by_name, registrations
from kafka_rebalance.groups.strategies import Candidate


def spans_of(names: Sequence[str]) -> str:
    """``Kafka 0.9 – 2.3, Kafka 3.0 – 3.4.0``: neighbours in the registry as one span."""
    known = list(registrations())
    places = sorted(place for place, registration in enumerate(known) if registration.name in names)
    runs: list[list[Registration]] = []
    for _, run in groupby(enumerate(places), key=lambda numbered: numbered[1] - numbered[0]):
        runs.append([known[place] for _, place in run])
    words = []
    for found in runs:
        newest, oldest = found[0].releases, found[-1].releases
        words.append(str(newest) if newest == oldest else f"{newest.product} {oldest.first} – {newest.last}")
    return ", ".join(words)


def words_of_today(own: Candidate, fitting: Sequence[str], alike: Sequence[str]) -> str:
    """The group's own strategy gives today's assignment in the classes ``fitting``.

    That is only said to tell something where another strategy would not give it as well (``alike``), nor the own one
    because it is even. Releases that were asked and give something else are named; the rest agree.
    """
    if own.is_own:
        return f"{by_name(fitting[0]).versions} (gives today's assignment)"
    newest = own.releases[0]
    span = spans_of(fitting[:1] if fitting[0] == newest else fitting)
    failing = [name for name in own.releases if name not in fitting]
    words = "gives today's assignment"
    if own.confirms_anything_even or alike:
        words = "today's assignment fits" + (
            f", {' and '.join(alike)} would give it, too" if alike else ", as any even one"
        )
    words += f"; {spans_of(failing)} would not" if failing else ""
    known = "" if own.basis == "assumed" else f"; {own.basis}"
    return f"{span} ({words}{known})"
