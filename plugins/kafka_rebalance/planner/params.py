"""The planner's parameters, one class for each step of the search. Kernels compile them as records.

    solve(problem, params=replace(params, effort=Effort(anneal_steps=0)))

Rounding constants are float64 errors for loads of about 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_assignors.kernels import ByReference
from kafka_rebalance.parameters import Parameters, number


class KernelParams(Parameters, ByReference):
    """Numbers and other such records only: compiled kernels read them."""

    def __post_init__(self) -> None:
        Parameters.__post_init__(self)
        ByReference.__post_init__(self)


@dataclass(frozen=True, kw_only=True)
class AscentParams(Parameters):
    """Ascent of dual prices (Adam).

    work         pairs of partition and broker in all steps
    least_steps  with fewer there is no ascent
    first_step   in mean bytes per broker for a mean load; shrinks geometrically
    few_pairs    with more, steps scale with each resource's usual costs
    """

    ascending = (("least_steps", "most_steps"), ("last_step", "first_step"))

    work: int = number(400_000_000, least=0)
    most_steps: int = number(400, least=0)
    least_steps: int = number(40, least=1)
    few_pairs: int = number(100_000, least=0)
    first_step: float = number(0.003, least=1e-9)
    last_step: float = number(0.00003, least=1e-12)
    memory: float = number(0.9, least=0.0, most=0.999)
    long_memory: float = number(0.99, least=0.0, most=0.9999)
    least_slope: float = number(1e-4, least=1e-12)


@dataclass(frozen=True, kw_only=True)
class BoundParams(Parameters):
    """``least_excess``: less, as a share of a load, is rounding. ``partitions_per_slice`` limits memory."""

    least_excess: float = number(1e-9, least=0.0)
    count_tolerance: float = number(1e-6, least=0.0, most=0.49)
    partitions_per_slice: int = number(20_000, least=1)
    covering_sweeps: int = number(12, least=1)
    ascent: AscentParams = AscentParams()


@dataclass(frozen=True, kw_only=True)
class BudgetSearchParams(KernelParams):
    """Search within a budget.

    smooth, smoother    weight of the smaller of load above and below the bands
    least_price         of a step, as a share of a limit
    ranked_exactly      pairs of replica and broker ranked before each step; beyond it only the top
    given_back_at_once  one change in so many is undone before a new ranking
    warm, cold          in mean weights of a replica; ``cooling``: share of the tries
    tries_when_warm     for each replica; with fewer it starts colder
    single_steps        cumulative percent with ``swaps``, rest exchanges
    """

    ascending = (("single_steps", "swaps"), ("cold", "warm"))

    smooth: float = number(1e-6, least=0.0)
    smoother: float = number(0.3, least=0.0)
    least_price: float = number(1e-9, least=1e-300)
    ranked_exactly: int = number(3_000_000, least=0)
    least_rankings: int = number(1, least=1)
    most_rankings: int = number(3, least=1)
    given_back_at_once: int = number(16, least=1)
    warm: float = number(1.0, least=1e-9)
    cold: float = number(0.01, least=1e-9)
    cooling: float = number(0.8, least=0.01, most=1.0)
    tries_when_warm: int = number(100, least=1)
    single_steps: int = number(35, least=0, most=100)
    swaps: int = number(55, least=0, most=100)
    leader_steps: int = number(35, least=0, most=100)


@dataclass(frozen=True, kw_only=True)
class LeaderParams(KernelParams):
    """Search for leaders.

    worth_of_free_change  factor for a hand-over without a further leader change
    load_discount         for the receiver's higher load, per mean
    least_of_rank         a hand-over applies while it is worth this share of its rank
    brokers_per_change    harder steps follow where fewer than one in so many improves
    """

    rounds: int = number(200, least=0)
    worth_of_free_change: float = number(20.0, least=1.0)
    load_discount: float = number(1e-3, least=0.0)
    least_of_rank: float = number(0.8, least=0.0, most=1.0)
    brokers_per_change: int = number(10, least=1)
    least_chains: int = number(5_000_000, least=0)
    chains_per_replica: int = number(10, least=0)


@dataclass(frozen=True, slots=True)
class LogDirParams:
    bound_units: int = 1_000  # rounding of a need, so that the bound holds
    over_weight: float = 1_000.0  # of a byte above a ceiling against one below a floor
    whole_cells: int = 240  # replicas × dirs of an integer program
    whole_nodes: int = 2_000
    most_used_ratio: float = 0.9  # moves fill no disk beyond this
    full_ratio: float = 0.85  # a fuller disk is relieved before disks are evened out
    least_gain_per_byte: float = 0.05  # within limits per byte moved, where nothing must move


LOG_DIRS = LogDirParams()


@dataclass(frozen=True, kw_only=True)
class ReceiverParams(KernelParams):
    """Receivers examined for one replica."""

    ascending = (("lacking_tried_by_many", "lacking_tried"),)

    lacking_tried: int = number(100, least=1)
    lacking_tried_by_many: int = number(24, least=1)
    many_replicas: int = number(300_000, least=1)
    others_tried: int = number(20, least=1)
    topic_weight: float = number(0.1, least=0.0)


@dataclass(frozen=True, kw_only=True)
class HandOverParams(KernelParams):
    """Brokers above their bands.

    misses_borne       replicas skipped before a visit ends
    least_of_rank      a replica moves while it is worth this share of its rank
    cost_of_moving_on  cost share of moving a displaced replica
    surely_leaves      a replica worth more than so many times its cost is released
    least_service      fit that a receiver below its bands needs, 1 = in proportion
    """

    misses_borne: int = number(20, least=0)
    least_of_rank: float = number(0.8, least=0.0, most=1.0)
    cost_of_moving_on: float = number(0.05, least=1e-6)
    surely_leaves: float = number(1.02, least=1.0)
    least_service: float = number(0.8, least=0.0, most=1.0)
    covering_sweeps: int = number(12, least=1)


@dataclass(frozen=True, kw_only=True)
class FetchParams(KernelParams):
    """Brokers below their bands, and exchanges.

    sampled     replicas examined for one broker
    away_bonus  preference for a displaced replica, 1 = one in proportion
    least_cost  of an exchange, as a share of its two replicas' cost
    """

    sampled: int = number(2000, least=1)
    away_bonus: float = number(0.5, least=0.0)
    least_cost: float = number(0.05, least=1e-6)


@dataclass(frozen=True, kw_only=True)
class PolishParams(KernelParams):
    mending_steps: int = number(6, least=0)
    least_saving: float = number(1e-3, least=0.0)


@dataclass(frozen=True, kw_only=True)
class AnnealParams(KernelParams):
    """Percentages of the steps; evictions have the rest.

    warm, cold     in mean costs of a replica; ``topic_price``: of an excess replica of a topic
    outside_price  at first, of a mean load outside the bands, in mean bytes per broker; ``outside_rise`` is added
    hopeless       changes worse by so many temperatures are rejected without a draw
    """

    ascending = (("cold", "warm"),)

    relocate_percent: int = number(25, least=0, most=100)
    swap_percent: int = number(20, least=0, most=100)
    return_percent: int = number(10, least=0, most=100)
    substitute_percent: int = number(35, least=0, most=100)
    warm: float = number(0.1, least=1e-9)
    cold: float = number(0.003, least=1e-9)
    topic_price: float = number(0.1, least=0.0)
    outside_price: float = number(3.0, least=0.0)
    outside_rise: float = number(17.0, least=0.0)
    hopeless: float = number(12.0, least=0.0)


@dataclass(frozen=True, kw_only=True)
class ReplicaKernelParams(KernelParams):
    receivers: ReceiverParams = ReceiverParams()
    hand_over: HandOverParams = HandOverParams()
    fetch: FetchParams = FetchParams()
    polish: PolishParams = PolishParams()
    anneal: AnnealParams = AnnealParams()


@dataclass(frozen=True, kw_only=True)
class ReplicaSearchParams(Parameters):
    """Search for replica sets.

    brokers_per_move   a harder step follows where fewer than one in so many brokers moves replicas
    least_fit          of a mixture to its receiver, 1 = in proportion
    least_pass_saving  polishing goes on while a pass saves this share of the best one
    many_replicas      above it there is one polishing pass
    least_polish_work  partners examined in a pass
    narrow_band        narrower bands (in means) get the full annealing time
    small_topic        larger topics have a row of counts by broker
    """

    brokers_per_move: int = number(20, least=1)
    least_fit: float = number(0.2, least=0.0, most=1.0)
    least_pass_saving: float = number(0.02, least=0.0, most=1.0)
    many_replicas: int = number(600_000, least=0)
    least_polish_work: int = number(3_000_000, least=0)
    most_polish_tries: int = number(1000, least=0)
    narrow_band: float = number(0.06, least=0.0)
    small_topic: int = number(32, least=0)
    kernels: ReplicaKernelParams = ReplicaKernelParams()


@dataclass(frozen=True, kw_only=True)
class ArcParams(Parameters):
    """Linear program of all moves, for small clusters.

    cost_per_move     share of a partition's mean bytes: breaks ties; the prices still prove the bytes
    cost_of_crowding  the same for a copy where the topic has its fair share
    unused_share      rounding of arc shares
    """

    most_arcs: int = number(100_000, least=0)
    cost_per_move: float = number(1e-5, least=0.0)
    cost_of_crowding: float = number(3e-4, least=0.0)
    unused_share: float = number(1e-7, least=0.0, most=0.1)


@dataclass(frozen=True, kw_only=True)
class StartParams(Parameters):
    """Starting points of a search outside its bands. ``shrinks``: shares of the mean by which bands are narrowed, in
    turn. ``dives``: rounds that fix the heavier half of the fractional partitions.
    """

    shrinks: tuple[float, ...] = number((0.0, 0.002, 0.005), least=0.0, most=1.0)
    dives: int = number(1, least=0)
    few_arcs: int = number(25_000, least=0)
    searches: int = number(4, least=1)
    searches_inside: int = number(8, least=0)


@dataclass(frozen=True, kw_only=True)
class NeighbourhoodParams(Parameters):
    """Large neighbourhood search on small clusters.

    brokers               of each kind of step, ``chosen_first`` of them drawn by their losses
    least_closed          share of the gap; after a step that closes less the next kind follows
    least_core_size       smaller partitions count as this share of the largest
    arcs_per_open         one in so many arcs is open in a step
    patience              weak steps before half as many more arcs open, unless ``few_arcs``
    near                  gaps that end the search, before and after that
    far                   gap beyond which no patience is lost
    undecided_partitions  about so many partitions with little effect are drawn
    least_gap             a step ends within this share of the plan's cost, or ``gap_share`` of its excess
    row_slack             HiGHS may miss a row by half of this (means)
    """

    ascending = (("least_open", "most_open"),)

    brokers: tuple[int, ...] = number((8, 4, 1_000), least=1)
    chosen_first: int = number(2, least=1)
    least_closed: float = number(0.1, least=0.0, most=1.0)
    core_partitions: int = number(400, least=1)
    core_arcs: int = number(2_000, least=1)
    core_tries: int = number(2, least=0)
    least_core_size: float = number(1e-9, least=0.0, most=1.0)
    arcs_per_open: int = number(40, least=1)
    least_open: int = number(250, least=1)
    most_open: int = number(2_000, least=1)
    patience: int = number(6, least=1)
    arcs_per_patience: int = number(15_000, least=1)
    few_arcs: int = number(20_000, least=0)
    near: tuple[float, ...] = number((0.003, 0.005), least=0.0)
    far: float = number(0.015, least=0.0)
    undecided_partitions: float = number(400.0, least=1.0)
    least_gap: float = number(1e-3, least=0.0)
    gap_share: float = number(0.2, least=0.0)
    nodes: int = number(5, least=1)
    least_saving: float = number(1e-5, least=0.0)
    row_slack: float = number(2e-6, least=0.0)


@dataclass(frozen=True, kw_only=True)
class WholePlanParams(Parameters):
    """Tiny clusters as one integer program. Costs, as shares of the largest partition's bytes, break ties.

    ``most_decided_pairs``: where nothing else found a plan; proves that there is none, or finds one within
    ``decided_gap``.
    """

    most_pairs: int = number(150, least=0)
    nodes: int = number(2000, least=1)
    most_decided_pairs: int = number(600, least=0)
    decided_nodes: int = number(2000, least=1)
    decided_gap: float = number(0.5, least=0.0)
    cost_per_copy: float = number(1e-4, least=0.0)
    cost_per_leader_change: float = number(1e-5, least=0.0)


@dataclass(frozen=True, kw_only=True)
class CoverParams(Parameters):
    """Cover inequalities, for few and large replicas.

    least_shares   replicas with a larger share enter the set, each threshold tried
    most_named     replicas beside those there today
    least_broken   violation, as a share of the surplus
    least_promise  worth of the covers, as a share of the optimum
    least_rise     of the optimum, for another round; with less in total than ``least_worth`` covers are dropped
    """

    rounds: int = number(2, least=0)
    least_shares: tuple[float, ...] = number((1e-6, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999999), least=0.0, most=1.0)
    most_named: int = number(200, least=0)
    least_broken: float = number(1e-3, least=0.0, most=1.0)
    least_promise: float = number(0.01, least=0.0)
    least_rise: float = number(1e-3, least=0.0)
    least_worth: float = number(5e-3, least=0.0)
    most_arcs: int = number(50_000, least=0)


@dataclass(frozen=True, kw_only=True)
class BoldAnnealParams(Parameters):
    """Through placements outside the bands. ``tries``: seeds; ``patience`` of them without a gain end it."""

    anneal: AnnealParams = AnnealParams(warm=0.02, cold=3e-4, topic_price=0.01, outside_price=0.5, outside_rise=1.0)
    narrow_band: float = number(1.0, least=0.0)
    tries: int = number(12, least=0)
    patience: int = number(6, least=1)


@dataclass(frozen=True, kw_only=True)
class LargeAnnealParams(Parameters):
    """Bold annealing of clusters too large for the restricted program, once, with ``times`` the steps.

    Mostly substitutes: another replica of the same broker moves instead. Chosen on 300 brokers × 90,000 replicas that
    differ by 3 %, where as many steps of ``BoldAnnealParams`` leave a half more above the bound.
    """

    anneal: AnnealParams = AnnealParams(
        relocate_percent=4, swap_percent=4, return_percent=2, substitute_percent=80,
        warm=0.02, cold=3e-4, topic_price=0.005, outside_price=0.35, outside_rise=0.8,
    )  # fmt: skip
    times: int = number(8, least=0)


@dataclass(frozen=True, kw_only=True)
class RestrictedParams(Parameters):
    """Restricted program of large clusters; ``anneal_again``: further runs while far from the bound."""

    most_pairs: int = number(2_000_000, least=0)
    open_arcs: int = number(6_000, least=0)
    most_partitions: int = number(2_500, least=1)
    searches: int = number(1, least=0)
    anneal_times: int = number(6, least=0)
    anneal_again: int = number(4, least=0)


@dataclass(frozen=True, kw_only=True)
class ProofParams(Parameters):
    """Proofs of evenness, moves and time; above ``most_arcs`` by dual ascent."""

    most_arcs: int = number(4_000, least=0)
    evenness: AscentParams = AscentParams(
        work=10_000_000, least_steps=300, first_step=0.3, last_step=0.0003, least_slope=1e-9
    )
    moves: AscentParams = AscentParams(work=10_000_000, least_steps=200, first_step=0.3, last_step=0.0003)
    busy: AscentParams = AscentParams(work=10_000_000, least_steps=200, first_step=1.0, last_step=0.01)


@dataclass(frozen=True, kw_only=True)
class LinearProgramParams(Parameters):
    """``spread_given_up``: further share of replicas above their topic's fair share."""

    arcs: ArcParams = ArcParams()
    covers: CoverParams = CoverParams()
    starts: StartParams = StartParams()
    neighbourhoods: NeighbourhoodParams = NeighbourhoodParams()
    whole_plan: WholePlanParams = WholePlanParams()
    restricted: RestrictedParams = RestrictedParams()
    bold: BoldAnnealParams = BoldAnnealParams()
    large: LargeAnnealParams = LargeAnnealParams()
    proofs: ProofParams = ProofParams()
    spread_given_up: float = number(0.005, least=0.0, most=1.0)


@dataclass(frozen=True, kw_only=True)
class SteeringParams(Parameters):
    """Integer programs that improve parts of a plan by its first cost, on small clusters.

    led           partitions of a part with only the leader open
    others        weight of the other costs, each over its bound
    least_saving  share of a cost for which the plan changes
    """

    steps: int = number(2, least=0)
    patience: int = number(1, least=1)
    partitions: int = number(110, least=1)
    led: int = number(30, least=0)
    most_brokers: int = number(12, least=2)
    gap: float = number(0.1, least=0.0, most=1.0)
    nodes: int = number(2, least=1)
    row_slack: float = number(2e-6, least=0.0)
    others: float = number(0.05, least=0.0)
    least_saving: float = number(1e-4, least=0.0)
    undecided_partitions: float = number(300.0, least=1.0)


@dataclass(frozen=True, kw_only=True)
class SurviveParams(Parameters):
    """Every broker within its capacity after a loss.

    brokers        each change relieves one of so many worst
    program_cells  sums of loads in one program
    all_changes    up to so many, one program proves what cannot survive
    above_worth    price of a capacity exceeded by its whole, then of each copy, leader change and order
    parts          programs over changes of the ``part_brokers`` worst
    """

    brokers: int = number(8, least=1)
    partitions: int = number(64, least=1)
    moved_partitions: int = number(16, least=1)
    receivers: int = number(4, least=1)
    program_cells: int = number(400_000, least=0)
    program_nodes: int = number(1_000, least=1)
    program_gap: float = number(0.5, least=0.0)
    all_changes: int = number(4_000, least=0)
    above_worth: float = number(1e4, least=0.0)
    copy_worth: float = number(1e-1, least=0.0)
    leader_worth: float = number(1e-2, least=0.0)
    order_worth: float = number(1e-3, least=0.0)
    parts: int = number(12, least=0)
    part_brokers: int = number(3, least=1)
    most_cells: int = number(4_000_000, least=1)
    touched_brokers: int = number(6, least=1)

    def changes_at_once(self, cells: int) -> int:
        return max(1, self.most_cells // max(self.touched_brokers * cells, 1))


@dataclass(frozen=True, kw_only=True)
class TopicLeaderParams(Parameters):
    """Minimum leaders of a topic on each broker.

    few_choices    placements up to which one program chooses all from the start
    all_choices    the same where steps left a deficit: proves what is impossible
    topic_choices  of one topic, where no single step is left
    mend_nodes     of programs that repair bands by leader changes
    band_worth     price of a mean load outside bands, in mean bytes of a broker
    may_not        price of an impossible leader; ``copy_worth``: of a copy, above all harm
    most_harm      to bands by one change, in means
    move_worth     price of a copy beside its bytes, as a share of a replica's mean bytes
    """

    few_choices: int = number(300, least=0)
    all_choices: int = number(4_000, least=0)
    assignments: int = number(3, least=1)
    topic_choices: int = number(6_000, least=0)
    program_nodes: int = number(2_000, least=1)
    program_gap: float = number(1e-3, least=0.0)
    mend_nodes: int = number(100, least=1)
    mend_gap: float = number(0.02, least=0.0)
    band_worth: float = number(1e3, least=0.0)
    leader_worth: float = number(1e-3, least=0.0)
    change_worth: float = number(1e-5, least=0.0)
    may_not: float = number(1e6, least=0.0)
    copy_worth: float = number(1e2, least=0.0)
    most_harm: float = number(10.0, least=0.0)
    mend_rounds: int = number(60, least=0)
    move_worth: float = number(1e-2, least=0.0)


@dataclass(frozen=True, kw_only=True)
class WideningParams(Parameters):
    """Bands that no plan can meet, widened to the least level reached.

    least_step     distance of two levels, as a share of the mean
    most_pairs     of partition and broker, for integer programs; with more, fewer steps of neighbourhoods
    few_variables  of programs solved at once; ``open_variables`` of a step of larger ones
    cost_steps     factor on the steps for bytes
    """

    least_step: float = number(0.004, least=1e-6, most=0.1)
    most_pairs: int = number(2000, least=0)
    few_variables: int = number(180, least=0)
    nodes: int = number(1000, least=1)
    open_variables: int = number(140, least=2)
    steps: int = number(16, least=0)
    step_nodes: int = number(60, least=1)
    patience: int = number(4, least=1)
    cost_steps: int = number(1, least=1)
    tries: int = number(40, least=0)
    tries_of_side: int = number(6, least=0)
    searches: int = number(3, least=1)
    large_steps_divisor: int = number(4, least=1)


@dataclass(frozen=True, kw_only=True)
class Effort(Parameters):
    """Length of the search, in steps, never in seconds.

    rounds          while a step helps many brokers; ``last_rounds``: while it helps a few
    part            share of a broker's excess removed in one visit
    anneal_steps    where a plan is far from its bound
    exchange_steps  within a budget
    program_steps   neighbourhoods on small clusters; 0: no linear programs at all
    """

    rounds: int = number(40, least=0)
    last_rounds: int = number(120, least=0)
    part: float = number(0.4, least=0.0, most=1.0)
    swap_tries: int = number(2000, least=0)
    polish_rounds: int = number(4, least=0)
    polish_tries: int = number(40, least=0)
    anneal_steps: int = number(1_000_000, least=0)
    exchange_steps: int = number(300_000, least=0)
    program_steps: int = number(8, least=0)


@dataclass(frozen=True, kw_only=True)
class CostParams(Parameters):
    """Charges of a move, as shares of a partition's mean bytes: in the search, so that tiny replicas are not free, and
    between two plans (``worth_per_move``).
    """

    per_move: float = number(0.005, least=0.0)
    worth_per_move: float = number(0.0, least=0.0)


@dataclass(frozen=True, kw_only=True)
class BandParams(Parameters):
    """Margins inside the bands against rounding: a share of the mean, and of one for whole numbers."""

    margin: float = number(1e-7, least=0.0, most=0.1)
    count_margin: float = number(0.25, least=0.0, most=0.49)


@dataclass(frozen=True, kw_only=True)
class GapParams(Parameters):
    """Shares of the lower bound. ``far`` ones are annealed, as is a plan outside its bands."""

    ascending = (("near", "far"),)

    near: float = number(0.002, least=0.0)
    far: float = number(0.01, least=0.0)


@dataclass(frozen=True, kw_only=True)
class SolveParams(Parameters):
    effort: Effort = Effort()
    costs: CostParams = CostParams()
    bands: BandParams = BandParams()
    gaps: GapParams = GapParams()
    replicas: ReplicaSearchParams = ReplicaSearchParams()
    leaders: LeaderParams = LeaderParams()
    linear_program: LinearProgramParams = LinearProgramParams()
    bounds: BoundParams = BoundParams()
    within_budget: BudgetSearchParams = BudgetSearchParams()
    widening: WideningParams = WideningParams()
    steering: SteeringParams = SteeringParams()
    survive: SurviveParams = SurviveParams()
    topic_leaders: TopicLeaderParams = TopicLeaderParams()


DEFAULTS = SolveParams()


# Tolerances of loads, in means.
BAND_TOLERANCE = 1e-9
GAIN_TOLERANCE = 1e-12
# For sums in another order.
SUM_TOLERANCE = 1e-10
# Discount on a cover's surplus, for loads within rounding of a band.
COVER_ROUNDING = 1e-8
# Subtracted from a bound, as a share of its summed amounts, if above the second share of the bound, so that another
# order proves as much.
BOUND_ROUNDING, BOUND_SLACK = 1e-12, 1e-8
FORBIDDEN, HOWEVER_FAR = -1e300, 1e300
NOT_COVERABLE = 1e300
# ``HUB_ARC`` is of no partition.
UNREACHED, HUB_ARC = 1 << 60, -1
# Bands that cannot be met come before topic spread.
ANY_SPREAD = 1 << 60
FRACTIONS = 1 << 30
# OpenBLAS multiplies no more in one thread.
ONE_THREAD_PRODUCTS = 1 << 18
# Below it: insertion sort.
SHORT_SPAN = 15
# A share of the capacity.
LOSS_MARGIN = 5e-10
# HiGHS accepts a row off by 1e-6 and nearly whole numbers.
PROGRAM_MARGIN, PROGRAM_WHOLE = 2e-6, 0.5
# Less may be rounding of a program.
PROVED_ABOVE = 1e-4
