"""Two weeks of hours after a plan: how many stand outside the band, by the load that the plan was made on.

    python -m tests.properties.hours_outside_the_band            20 seeds, the table of docs/internals/loads.md

A cluster of 9 brokers on 3 racks and 60 topics of 8 to 36 partitions (some 1,300, of 3 replicas), placed unevenly. The
week before the plan is its window; the 336 hours after it are judged, hour by hour, with the plan applied. What a
partition carries in an hour is its base rate × each of

- a daily rhythm of its topic, ± 20 to 70 %; most topics have their height in the early afternoon, a fifth at any hour;
- weekends at 60 % for seven topics of ten;
- bursts of its topic: about one in four days, 1 to 4 hours, 2 to 5 times the rate;
- batch topics, one of seven: a tenth of their base, but 8 to 20 times the base for 1 to 4 hours every night, or (a
  third of them) once a week;
- noise of the topic and of the partition, lognormal, 10 % each.

The rhythms were fixed before the first run, and so was the first measure: an hour is outside where any broker is
outside its band in ``in`` or ``out``, at the level of that hour: the band that was asked for (10 %), and twice that,
where the product begins to speak without being asked (its dead band). Two things changed after it: topics of one
partition, which in a burst outgrew any broker, so that nothing could be planned, gave way to topics of 8 and more; and
overload is counted as well: hours in which a broker carries more than the fair share of the window's busiest hour and
10 % on top.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import median

import numpy as np
import numpy.typing as npt

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.hours_outside import HoursOutside, hours_outside
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource, LoadStatistic
from kafka_rebalance.snapshot.history import HourlyLoads, with_window_loads
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from tests.properties.test_plan_stays_put import after_plan
from tests.unit.planner.sample_clusters import brokers, cluster, row

WINDOW, JUDGED = 168, 336
RACKS = 3
SEEDS = range(20)
BAND, WIDE_BAND = 0.10, 0.20
KINDS = (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S)
Hours = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Weeks:
    """A cluster as read at the end of the window, and its hours: [H, P] of each kind, oldest first."""

    snapshot: ClusterSnapshot
    before: Mapping[LoadKind, Hours]
    after: Mapping[LoadKind, Hours]


def weeks(seed: int, *, broker_count: int = 9, topics: int = 60) -> Weeks:
    """Three simulated weeks."""
    draw = np.random.default_rng([seed, 14])
    snapshot = uneven_cluster(draw, broker_count, topics)
    shape = topic_rhythms(draw, topics, WINDOW + JUDGED)[:, snapshot.partitions.topic]
    hours = {kind: snapshot.load(kind) * shape * draw.lognormal(0, 0.1, shape.shape) for kind in KINDS}
    last = {kind: LoadColumn(values[WINDOW - 1], LoadSource.LOG_DIR_GROWTH, 3600.0) for kind, values in hours.items()}
    return Weeks(
        replace(snapshot, loads=PartitionLoads(last)),
        {kind: values[:WINDOW] for kind, values in hours.items()},
        {kind: values[WINDOW:] for kind, values in hours.items()},
    )


def uneven_cluster(draw: np.random.Generator, broker_count: int, topics: int) -> ClusterSnapshot:
    """Some topics carry much, most little; some brokers hold more than others. No partition is too large to place."""
    popularity = draw.lognormal(0, 0.3, broker_count)
    racks = [np.arange(rack, broker_count, RACKS) for rack in range(RACKS)]
    rows, written = [], []
    for topic in range(topics):
        scale = draw.lognormal(0, 1)
        for partition in range(int(draw.integers(8, 37))):
            chosen = [int(draw.choice(of, p=popularity[of] / popularity[of].sum())) for of in draw.permutation(racks)]
            rate = 1e6 * scale * draw.lognormal(0, 0.3)
            rows.append(row(f"topic-{topic:02d}", partition, chosen, int(rate * 86_400)))
            written.append(rate)
    fan_out = draw.uniform(0.5, 3, topics)
    topic_of = np.array([int(item.topic[-2:]) for item in rows])
    rates = {KINDS[0]: written, KINDS[1]: (np.array(written) * fan_out[topic_of]).tolist()}
    return cluster(rows, brokers(broker_count, racks=RACKS), rates=rates)


def topic_rhythms(draw: np.random.Generator, topics: int, count: int) -> Hours:
    """[H, T]: what each topic's rate is multiplied with in each hour."""
    hour = np.arange(count)[:, None] + int(draw.integers(168))  # the window begins at any hour of a week
    height = np.where(draw.random(topics) < 0.8, draw.normal(14, 3, topics), draw.uniform(0, 24, topics))
    swing = draw.uniform(0.2, 0.7, topics)
    shape = 1 + swing * np.cos(2 * np.pi * (hour - height) / 24)
    rests = draw.random(topics) < 0.7
    shape = np.where(rests & (hour // 24 % 7 >= 5), 0.6 * shape, shape)
    for topic in range(topics):
        for start in np.flatnonzero(draw.random(count) < 1 / 96):
            shape[start : start + draw.integers(1, 5), topic] *= draw.uniform(2, 5)
    for topic in np.flatnonzero(draw.random(topics) < 1 / 7):
        times, length, at = draw.uniform(8, 20), int(draw.integers(1, 5)), int(draw.integers(168))
        period = 168 if draw.random() < 1 / 3 else 24
        runs = (hour[:, 0] - at) % period < length
        shape[:, topic] = np.where(runs, times, 0.1)
    return shape * draw.lognormal(0, 0.1, shape.shape)


def as_hourly(snapshot: ClusterSnapshot, hours: Mapping[LoadKind, Hours], moved_h: int = 0) -> HourlyLoads:
    """As the library holds them: hour 0 is the newest."""
    assert snapshot.captured_at is not None
    count = len(hours[KINDS[0]])
    values = {kind: rates[::-1].astype(np.float32) for kind, rates in hours.items()}
    return HourlyLoads(snapshot.captured_at + timedelta(hours=moved_h), count, values, np.zeros(count, dtype=np.bool_))


def snapshots_to_plan_on(of: Weeks) -> Iterator[tuple[str, ClusterSnapshot]]:
    """The same cluster with each load: of the last hour, of the window, and, beside what the product offers, of each
    partition's own busiest hour.
    """
    hourly = as_hourly(of.snapshot, of.before)
    yield "last hour", of.snapshot
    for statistic in LoadStatistic:
        yield statistic.value, with_window_loads(of.snapshot, hourly, statistic)
    own = {kind: LoadColumn(rates.max(axis=0), LoadSource.BUSIEST_HOURS, 3600.0) for kind, rates in of.before.items()}
    yield "each partition's own busiest hour", replace(of.snapshot, loads=PartitionLoads(own))


@dataclass(frozen=True)
class Outcome:
    """One plan in the two weeks after it. ``outside``: hours by band; ``brokers``: outside ``BAND`` in a mean hour.

    ``overloaded``: hours in which a broker carries more than the limit, the fair share of the window's busiest hour and
    ``BAND`` more; ``highest``: the highest hour of any broker, as a multiple of that fair share.
    """

    outside: Mapping[float, int]
    brokers: float
    overloaded: int
    highest: float


def outcomes_of(seed: int, **size: int) -> dict[str, Outcome]:
    """Load that was planned on → what came of it; ``no plan`` among them."""
    of = weeks(seed, **size)
    results: dict[str, Outcome] = {}
    for name, snapshot in snapshots_to_plan_on(of):
        plan = make_plan(snapshot, PlanOptions(within=BAND, with_frontier=False), seed=seed)
        judged = {within: _judged(of, snapshot, plan, within) for within in (BAND, WIDE_BAND)}
        if not results:
            before = {within: hours.before for within, hours in judged.items()}
            results["no plan"] = Outcome(before, judged[BAND].mean_brokers[0], *overload(of, of.snapshot))
        after = {within: hours.after for within, hours in judged.items()}
        results[name] = Outcome(after, judged[BAND].mean_brokers[1], *overload(of, after_plan(of.snapshot, plan)))
    return results


def _judged(of: Weeks, snapshot: ClusterSnapshot, plan: Plan, within: float) -> HoursOutside:
    """By the product's own count, which scales the band to the level of each hour."""
    wide = replace(plan, parameters=dict(plan.parameters) | {"balance_within": within})
    result = hours_outside(snapshot, wide, as_hourly(of.snapshot, of.after, JUDGED))
    assert result is not None
    assert len(result.judged) == JUDGED
    return result


def overload(of: Weeks, placed: ClusterSnapshot) -> tuple[int, float]:
    """Hours above the limit, and the highest one: summed up here, by nothing of the product's."""
    over, highest = np.zeros(JUDGED, dtype=np.bool_), 0.0
    for written_once in (True, False):
        before, after = (broker_hours(placed, hours, written_once=written_once) for hours in (of.before, of.after))
        share = float(before.sum(axis=1).max()) / before.shape[1]
        over |= (after > share * (1 + BAND)).any(axis=1)
        highest = max(highest, float(after.max()) / share)
    return int(over.sum()), highest


def broker_hours(placed: ClusterSnapshot, hours: Mapping[LoadKind, Hours], *, written_once: bool) -> Hours:
    """[H, B]: what brokers receive, or (not ``written_once``) what they send to consumers and followers."""
    table = placed.partitions
    count = len(placed.brokers)
    if written_once:
        holds = np.zeros((len(table), count))
        holds[table.row_of_replica, table.replicas] = 1
        return np.asarray(hours[KINDS[0]] @ holds)
    leads = np.zeros((len(table), count))
    leads[np.arange(len(table)), table.leader] = 1
    return np.asarray((hours[KINDS[1]] + hours[KINDS[0]] * (table.replica_counts - 1)) @ leads)


def table(result: Sequence[Mapping[str, Outcome]]) -> list[str]:
    """Markdown: median and worst seed by load."""
    head = ["planned on"]
    for what in (f"outside {BAND:.0%}", f"outside {WIDE_BAND:.0%}", "overloaded"):
        head += [f"hours {what}: median", "worst"]
    head += [f"brokers outside {BAND:.0%} in a mean hour", "highest hour of a broker: median", "worst"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name in result[0]:
        outcomes = [of_seed[name] for of_seed in result]
        cells: list[str] = []
        for hours in (
            [outcome.outside[BAND] for outcome in outcomes],
            [outcome.outside[WIDE_BAND] for outcome in outcomes],
            [outcome.overloaded for outcome in outcomes],
        ):
            cells += [f"{median(hours):g}", str(max(hours))]
        highest = [outcome.highest for outcome in outcomes]
        cells += [
            f"{median(outcome.brokers for outcome in outcomes):.2f}",
            f"{median(highest):.2f}",
            f"{max(highest):.2f}",
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def main() -> int:
    """Print the table, and what it is worth, seed by seed as it goes."""
    results = []
    for seed in SEEDS:
        results.append(outcomes_of(seed))
        text = {name: (*item.outside.values(), item.overloaded) for name, item in results[-1].items()}
        sys.stderr.write(f"seed {seed}: {text}\n")
        sys.stderr.flush()
    sys.stdout.write("\n".join(table(results)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
