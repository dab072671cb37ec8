"""Parameters that control the search (``PlanOptions`` are the user's request). They contain the planner's
``SolveParams``: those of the plan, and shorter ones for side searches.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number
from kafka_rebalance.planner.params import DEFAULTS as SOLVE_DEFAULTS
from kafka_rebalance.planner.params import AscentParams, BoundParams, Effort, SolveParams

# Elsewhere it took nine tenths of the frontier's time for bounds 0.0 to 0.7 % stronger.
_SHORT_ASCENT = AscentParams(work=100_000_000, least_steps=AscentParams().most_steps)
_SHORT = SolveParams(
    effort=Effort(polish_rounds=1, polish_tries=20, program_steps=0), bounds=BoundParams(ascent=_SHORT_ASCENT)
)
_WITHOUT_PROGRAMS = SolveParams(effort=Effort(program_steps=0))


@dataclass(frozen=True, kw_only=True)
class BudgetParams(Parameters):
    """The most even plan within a budget.

    searches          with different seeds up to ``few_pairs`` of partition and broker: ties decide much there
    hour_steps        halvings of a plan's bytes down to its hours
    large_hour_steps  beyond small clusters: cuts of too long plans down to ``hour_aim`` of what fits
    """

    solve: SolveParams = _WITHOUT_PROGRAMS
    searches: int = number(4, least=1)
    few_pairs: int = number(300, least=0)
    hour_steps: int = number(8, least=1)
    large_hour_steps: int = number(5, least=1)
    hour_aim: float = number(0.98, least=0.5, most=0.99)


@dataclass(frozen=True, kw_only=True)
class StabilityParams(Parameters):
    """Stability from one plan to the next.

    least_gain        share of the imbalance that moves must remove where a band cannot be met
    most_bytes_ratio  bytes of a continued plan over those of a new one
    dead_band_edge    the dead band is wider by this share after a plan without moves
    """

    least_gain: float = number(0.05, least=0.0, most=1.0)
    most_bytes_ratio: float = number(1.25, least=1.0)
    dead_band_edge: float = number(0.1, least=0.0)


@dataclass(frozen=True, kw_only=True)
class WaveParams(Parameters):
    """Waves.

    least_slots, most_waves  concurrent moves for each broker; more of them where waves would be too many
    driver_slots             transfers in each direction for a driver that keeps its slots full
    throttle_over_rate       a raised throttle is this many times the concurrent writes
    fair_time_over_least     waves are good enough at this share above their busiest broker's time
    slow_time_over_least     waves that lose more at their barriers are cut again with twice the concurrent moves
    most_parts               waves of at most 1/2, 1/3, … of a night are tried, too, where whole ones take more nights
    """

    least_slots: int = number(10, least=1)
    most_waves: int = number(20, least=1)
    driver_slots: int = number(2, least=1)
    throttle_over_rate: float = number(1.25, least=1.0)
    fair_time_over_least: float = number(0.005, least=0.0)
    most_exchange_tries: int = number(1_500_000, least=0)
    slow_time_over_least: float = number(0.05, least=0.0)
    most_doublings: int = number(2, least=0)
    most_parts: int = number(6, least=1)


@dataclass(frozen=True, kw_only=True)
class FrontierParams(Parameters):
    """The frontier of balance against bytes.

    steps, narrowest        bands from today's worst deviation down to the narrowest, in equal ratios
    same_band               bands closer than this ratio to the plan's own are skipped
    least_points            fewer make no frontier
    same_skew_ratio         a dearer point needs a resource that is more even by this share
    """

    steps: int = number(9, least=1)
    narrowest: float = number(0.01, least=1e-6, most=1.0)
    same_band: float = number(1.15, least=1.0)
    least_points: int = number(4, least=4)
    same_skew_ratio: float = number(0.001, least=1e-7, most=1.0)
    most_annealed_replicas: int = number(500_000, least=0)
    solve: SolveParams = _SHORT
    waves: WaveParams = WaveParams()


@dataclass(frozen=True, kw_only=True)
class StepParams(Parameters):
    """Steps.

    forecast_days              disks that are nearly full within these days by their known growth are relieved, too
    most_pairs_searched_twice  smaller clusters are searched with and without an election first
    least_saving               share of the bytes that a search without election must save
    bound_rounding             share of a step's bound that is not claimed
    """

    forecast_days: float = number(30.0, least=0.0)
    most_pairs_searched_twice: int = number(5_000, least=0)
    least_saving: float = number(0.01, least=0.0, most=1.0)
    bound_rounding: float = number(1e-5, least=0.0, most=1.0)


@dataclass(frozen=True, kw_only=True)
class PreferenceParams(Parameters):
    """Prices of a move, in mean bytes of a replica, for searches where another cost comes first: the higher one prefers
    few large replicas, the lower one copies hardly more bytes.
    """

    prices_of_moves: tuple[float, ...] = number((3.0, 0.3), least=0.0)
    program_steps: int = number(8, least=0)


@dataclass(frozen=True, kw_only=True)
class RobustnessParams(Parameters):
    """Every load off by up to ``noise``."""

    trials: int = number(20, least=1)
    noise: float = number(0.30, least=0.0, most=1.0)


@dataclass(frozen=True, kw_only=True)
class UnseenParams(Parameters):
    """An unseen load may be 0 to ``times_mean`` times the mean."""

    times_mean: float = number(2.0, least=0.0)


@dataclass(frozen=True, kw_only=True)
class OptionParams(Parameters):
    """Options against the cluster.

    most_replication_factor  a factor above this and above the brokers is refused
    same_disk_ratio          smaller differences of disks are ignored
    busy_share               of capacity: from here on rates are evened out by default
    full_share               of capacity: brokers above it are relieved, in a step before the others
    relieved_share           of capacity: by default they end below it, so that they are not full again tomorrow
    least_above_mean         they need not end below this multiple of the mean
    """

    most_replication_factor: int = number(64, least=1)
    same_disk_ratio: float = number(1.01, least=1.0)
    busy_share: float = number(0.5, least=0.0, most=1.0)
    full_share: float = number(0.85, least=0.0, most=1.0)
    relieved_share: float = number(0.80, least=0.0, most=1.0)
    least_above_mean: float = number(1.02, least=1.0)
    most_named: int = number(5, least=1)


@dataclass(frozen=True, kw_only=True)
class CheckParams(Parameters):
    """Checks of stored plans. ``least_harm``: an increase of imbalance by less is noise. ``most_drift``: larger changes
    of sizes and capacities give a warning.
    """

    least_harm: float = number(0.01, least=0.0)
    reasons_per_code: int = number(5, least=1)
    most_drift: float = number(0.1, least=0.0)


@dataclass(frozen=True, kw_only=True)
class PlanParams(Parameters):
    """``solve`` are the parameters of the plan's first search."""

    solve: SolveParams = SOLVE_DEFAULTS
    frontier: FrontierParams = FrontierParams()
    budget: BudgetParams = BudgetParams()
    stability: StabilityParams = StabilityParams()
    steps: StepParams = StepParams()
    waves: WaveParams = WaveParams()
    preference: PreferenceParams = PreferenceParams()
    robustness: RobustnessParams = RobustnessParams()
    unseen: UnseenParams = UnseenParams()
    options: OptionParams = OptionParams()
    check: CheckParams = CheckParams()


DEFAULTS = PlanParams()
