"""Parameters of plans: one class for each part, named by what its numbers bound, composed in ``PlanParams``.

What a user asks for stands in ``PlanOptions``; these are how the answer is looked for. The planner's own parameters
(``SolveParams``) are among them: those of the plan, and shorter ones for searches that only find out what something
would cost.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number
from kafka_rebalance.planner.params import DEFAULTS as SOLVE_DEFAULTS
from kafka_rebalance.planner.params import AscentParams, BoundParams, Effort, SolveParams

# Prices climb for a point only where all of their steps are cheap: half of them prove hardly more than none, and of
# 100 brokers × 10,000 partitions they were nine tenths of the frontier's seconds, for bounds 0.0 to 0.7 % stronger.
_SHORT_ASCENT = AscentParams(work=100_000_000, least_steps=AscentParams().most_steps)
_SHORT = SolveParams(
    effort=Effort(polish_rounds=1, polish_tries=20, program_steps=0), bounds=BoundParams(ascent=_SHORT_ASCENT)
)
_WITHOUT_PROGRAMS = SolveParams(effort=Effort(program_steps=0))


@dataclass(frozen=True, kw_only=True)
class BudgetParams(Parameters):
    """The most even plan that a budget allows: ``solve`` finds what must move whatever the balance.

    searches, few_pairs  with so few pairs of partition and broker what must move, and what else, is looked for so many
                         times with different seeds: which of two equal ways is taken first decides much there
    hour_steps           times that the bytes of a plan are halved down to what fits into its hours
    large_hour_steps     the same beyond small clusters, where what takes too long is cut down to ``hour_aim`` of what
                         would fit
    """

    solve: SolveParams = _WITHOUT_PROGRAMS
    searches: int = number(4, least=1)
    few_pairs: int = number(300, least=0)
    hour_steps: int = number(8, least=1)
    large_hour_steps: int = number(5, least=1)
    hour_aim: float = number(0.98, least=0.5, most=0.99)


@dataclass(frozen=True, kw_only=True)
class StabilityParams(Parameters):
    """What holds from one plan to the next.

    least_gain         where a band cannot be met, moves that take less than this share off the imbalance are not made
    most_bytes_ratio   a continued plan may copy so many times the bytes of a new one
    dead_band_edge     the dead band is wider by this share of it after a plan that said that there is nothing to do
    """

    least_gain: float = number(0.05, least=0.0, most=1.0)
    most_bytes_ratio: float = number(1.25, least=1.0)
    dead_band_edge: float = number(0.1, least=0.0)


@dataclass(frozen=True, kw_only=True)
class WaveParams(Parameters):
    """Waves.

    least_slots, most_waves  moves at a time for each broker; where brokers move a lot, more, so that waves stay few
    driver_slots             transfers in each direction of a broker of a driver that keeps its slots full
    throttle_over_rate       a throttle that has to be raised is this many times what is written meanwhile
    fair_time_over_least     waves whose times sum up to this share above their busiest broker's are good enough
    most_exchange_tries      exchanges between waves that are tried to get there
    slow_time_over_least     waves that lose more than this share at their barriers are cut anew, with twice the moves
                             at a time, ``most_doublings`` times at most, unless it was said how many
    """

    least_slots: int = number(10, least=1)
    most_waves: int = number(20, least=1)
    driver_slots: int = number(2, least=1)
    throttle_over_rate: float = number(1.25, least=1.0)
    fair_time_over_least: float = number(0.005, least=0.0)
    most_exchange_tries: int = number(1_500_000, least=0)
    slow_time_over_least: float = number(0.05, least=0.0)
    most_doublings: int = number(2, least=0)


@dataclass(frozen=True, kw_only=True)
class FrontierParams(Parameters):
    """The frontier of balance against bytes.

    steps, narrowest        bands from today's worst deviation down to the narrowest one, in equal ratios
    same_band               bands closer than this ratio to the plan's own are not searched again
    least_points            fewer make no frontier
    same_skew_ratio         a point that costs more is left out unless a resource is more even by this share
    most_annealed_replicas  points of larger clusters are not annealed: ten times over it would take half a minute
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

    full_share                 of what a broker can carry; one that carries more is relieved before anything is evened
                               out
    most_pairs_searched_twice  of partition and broker: smaller clusters are searched with and without an election first
    least_saving               share of the bytes that a search without it has to save
    bound_rounding             share of a step's bound that is not claimed
    """

    full_share: float = number(0.85, least=0.0, most=1.0)
    most_pairs_searched_twice: int = number(5_000, least=0)
    least_saving: float = number(0.01, least=0.0, most=1.0)
    bound_rounding: float = number(1e-5, least=0.0, most=1.0)


@dataclass(frozen=True, kw_only=True)
class PreferenceParams(Parameters):
    """Prices of a move, in mean bytes of a replica, that plans are looked for with where another cost may come first.

    At the higher one few large replicas go instead of many small ones; at the lower one hardly a byte more is copied.
    ``program_steps``: as of ``Effort``. The need of moves is known less well than that of bytes, so a plan that is near
    enough to it is seldom seen to be.
    """

    prices_of_moves: tuple[float, ...] = number((3.0, 0.3), least=0.0)
    program_steps: int = number(8, least=0)


@dataclass(frozen=True, kw_only=True)
class RobustnessParams(Parameters):
    """``trials`` with every load off by up to ``noise`` at random."""

    trials: int = number(20, least=1)
    noise: float = number(0.30, least=0.0, most=1.0)


@dataclass(frozen=True, kw_only=True)
class UnseenParams(Parameters):
    """``times_mean``: what was not seen of a broker may be anything from nothing to so many times the mean."""

    times_mean: float = number(2.0, least=0.0)


@dataclass(frozen=True, kw_only=True)
class OptionParams(Parameters):
    """Options beside the cluster.

    most_replication_factor  one above this and above the number of brokers is not planned at all
    same_disk_ratio          disks whose sizes differ by less are alike
    busy_share               of what a broker can carry: rates are evened out by default from there on
    most_named               partitions that a note names
    """

    most_replication_factor: int = number(64, least=1)
    same_disk_ratio: float = number(1.01, least=1.0)
    busy_share: float = number(0.5, least=0.0, most=1.0)
    most_named: int = number(5, least=1)


@dataclass(frozen=True, kw_only=True)
class CheckParams(Parameters):
    """Plans that are read again.

    least_harm        of imbalance: a hundredth of the load more outside its bands is harm, less is noise
    reasons_per_code  shown at most, with how many more there are
    most_drift        sizes and capacities that are others by more than this share of what they were are warned of
    """

    least_harm: float = number(0.01, least=0.0)
    reasons_per_code: int = number(5, least=1)
    most_drift: float = number(0.1, least=0.0)


@dataclass(frozen=True, kw_only=True)
class PlanParams(Parameters):
    """All parameters of a plan; ``solve`` are those of its first search."""

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
