"""The planner's parameters: one class for each step, named by what its numbers bound, composed in ``SolveParams``.

The defaults were found on generated clusters and on the models of other planners; the same parameters and seed give the
same plan. Those that compiled kernels read are records (``KernelParams``), handed to them with the state of the search.

    params = SolveParams(effort=Effort(anneal_steps=0))
    solution = solve(problem, params=replace(params, gaps=GapParams(near=0.001)))
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.kernels.by_reference import ByReference
from kafka_rebalance.parameters import Parameters, number


class KernelParams(Parameters, ByReference):
    """Parameters that compiled kernels read: numbers and other such records only."""

    def __post_init__(self) -> None:
        """Check the numbers, then lay them out in memory."""
        Parameters.__post_init__(self)
        ByReference.__post_init__(self)


@dataclass(frozen=True, kw_only=True)
class Effort(Parameters):
    """How long to search, in steps; never in seconds.

    rounds, last_rounds  rounds of each step while it helps many brokers, and of the last ones that help a few
    part                 share of a broker's excess that one visit takes off
    swap_tries           exchanges sampled for one broker
    polish_rounds        passes over what has moved; polish_tries: partners looked at for each replica in a pass
    anneal_steps         changes tried where a plan is far from its bound
    exchange_steps       tries to improve by exchange what a budget allows
    program_steps        neighbourhoods that a small cluster's plan is improved in; 0: no linear programs at all
    """

    rounds: int = number(40, least=0)
    last_rounds: int = number(120, least=0)
    part: float = number(0.4, least=0.0, most=1.0)
    swap_tries: int = number(2000, least=0)
    polish_rounds: int = number(4, least=0)
    polish_tries: int = number(40, least=0)
    anneal_steps: int = number(1_000_000, least=0)
    exchange_steps: int = number(300_000, least=0)
    program_steps: int = number(24, least=0)


@dataclass(frozen=True, kw_only=True)
class CostParams(Parameters):
    """What a plan is charged beside its bytes.

    ``per_move``: of a move, as a share of the mean bytes of a partition, so that tiny replicas are not free.
    """

    per_move: float = number(0.005, least=0.0)


@dataclass(frozen=True, kw_only=True)
class BandParams(Parameters):
    """How far inside a band the search aims, so that rounding never leaves a load outside.

    ``margin``: a share of the mean; ``count_margin``: for whole numbers, a share of one.
    """

    margin: float = number(1e-7, least=0.0, most=0.1)
    count_margin: float = number(0.25, least=0.0, most=0.49)


@dataclass(frozen=True, kw_only=True)
class GapParams(Parameters):
    """Which plans are looked at again: shares of the bound that a plan's bytes are above it.

    ``near``: not worth another look. ``far``: annealed, as is a plan outside its bands.
    """

    near: float = number(0.002, least=0.0)
    far: float = number(0.01, least=0.0)


@dataclass(frozen=True, kw_only=True)
class ReceiverParams(KernelParams):
    """Receivers looked at for one replica: of those that lack load, fewer where there are many replicas, and of all.

    ``topic_weight``: how much a receiver is preferred that spreads the topic better.
    """

    lacking_tried: int = number(100, least=1)
    lacking_tried_by_many: int = number(24, least=1)
    many_replicas: int = number(300_000, least=1)
    others_tried: int = number(20, least=1)
    topic_weight: float = number(0.1, least=0.0)


@dataclass(frozen=True, kw_only=True)
class HandOverParams(KernelParams):
    """Brokers above their bands (release, evacuate, push, finish).

    misses_borne       replicas passed over before a visit ends; ten times as many find the same bytes more slowly
    least_of_rank      a ranked replica is applied while it is still worth this share of its rank
    cost_of_moving_on  share of its cost for which a replica that is away from home already moves on
    surely_leaves      what covers its broker's excess for so many times its cost leaves in any cheap plan
    least_service      how well a receiver below its bands must be served, 1 = in proportion and by no more than it
                       lacks, before any other one is asked
    covering_sweeps    sweeps of the prices that say which replicas leave
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

    sampled        replicas looked at for one broker below its bands
    away_bonus     by what a replica that is away from home already is preferred, 1 = one that serves in proportion
    least_cost     an exchange costs at least this share of what its two replicas would
    """

    sampled: int = number(2000, least=1)
    away_bonus: float = number(0.5, least=0.0)
    least_cost: float = number(0.05, least=1e-6)


@dataclass(frozen=True, kw_only=True)
class PolishParams(KernelParams):
    """``mending_steps`` for one broker; ``least_saving``: of its cost, where a cheaper replica goes instead."""

    mending_steps: int = number(6, least=0)
    least_saving: float = number(1e-3, least=0.0)


@dataclass(frozen=True, kw_only=True)
class AnnealParams(KernelParams):
    """Of a hundred steps: ``elsewhere``, up to ``change_places``, ``go_home``, ``substitute``; the rest leave home.

    warm, cold                   temperatures at first and at last, in mean costs of a replica
    topic_price                  of a topic's replica too many on one broker, in mean costs of a replica
    outside_price, outside_rise  of a mean load outside the bands, in mean bytes per broker: at first, and its rise
    hopeless                     changes so many temperatures worse are not worth drawing for
    """

    elsewhere: int = number(25, least=0, most=100)
    change_places: int = number(45, least=0, most=100)
    go_home: int = number(55, least=0, most=100)
    substitute: int = number(90, least=0, most=100)
    warm: float = number(0.1, least=1e-9)
    cold: float = number(0.003, least=1e-9)
    topic_price: float = number(0.1, least=0.0)
    outside_price: float = number(3.0, least=0.0)
    outside_rise: float = number(17.0, least=0.0)
    hopeless: float = number(12.0, least=0.0)


@dataclass(frozen=True, kw_only=True)
class ReplicaKernelParams(KernelParams):
    """What the kernels that move replicas read."""

    receivers: ReceiverParams = ReceiverParams()
    hand_over: HandOverParams = HandOverParams()
    fetch: FetchParams = FetchParams()
    polish: PolishParams = PolishParams()
    anneal: AnnealParams = AnnealParams()


@dataclass(frozen=True, kw_only=True)
class ReplicaSearchParams(Parameters):
    """How the steps of the search for replica sets follow each other.

    brokers_per_move    a step that moves fewer than one in so many brokers' replicas leaves it to the next harder one
    least_fit           how well a mixture must fit what its receiver lacks, 1 = in proportion
    least_pass_saving   polishing goes on while a pass saves this share of the best one
    many_replicas       above this number one pass takes a second, and saves all but a ten-thousandth of its bytes
    least_polish_work   partners looked at in a pass, shared by all replicas; ``most_polish_tries`` for each
    narrow_band         bands as wide as this (in means) or narrower are annealed for as long as may be
    small_topic         topics with more replicas than this have a row of counts by broker
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
class LeaderParams(KernelParams):
    """The search for leaders.

    rounds                of giving, fetching and chains, at most
    worth_of_free_change  a hand-over that costs no further leader change is worth so many times one that does
    load_discount         what a receiver's higher load takes off a hand-over's worth, per mean
    least_of_rank         a ranked hand-over is applied while it is still worth this share of its rank
    brokers_per_change    once gentle steps help fewer than one in so many of the brokers outside, others are tried, too
    least_chains, chains_per_replica  chains of two hand-overs that are looked at before the search rests
    """

    rounds: int = number(200, least=0)
    worth_of_free_change: float = number(20.0, least=1.0)
    load_discount: float = number(1e-3, least=0.0)
    least_of_rank: float = number(0.8, least=0.0, most=1.0)
    brokers_per_change: int = number(10, least=1)
    least_chains: int = number(5_000_000, least=0)
    chains_per_replica: int = number(10, least=0)


@dataclass(frozen=True, kw_only=True)
class ArcParams(Parameters):
    """The linear program of all moves, for small clusters.

    most_arcs         with more pairs of partition and broker the program takes too long
    cost_per_move     beyond a move's bytes, as a share of the mean bytes of a partition: it breaks ties, and the prices
                      of the program still prove its bytes
    cost_of_crowding  the same for a copy where its topic has its share already
    unused_share      shares of an arc below this are none, and above 1 less this whole
    """

    most_arcs: int = number(100_000, least=0)
    cost_per_move: float = number(1e-5, least=0.0)
    cost_of_crowding: float = number(3e-4, least=0.0)
    unused_share: float = number(1e-7, least=0.0, most=0.1)


@dataclass(frozen=True, kw_only=True)
class StartParams(Parameters):
    """Where a search may start that found no way into its bands.

    shrinks     shares of the mean by which bands are narrowed, one after the other
    dives       times that the heavier half of what is split is decided and the rest solved anew
    few_arcs    with more arcs than this one program is all that is solved
    searches    from each start, with different seeds
    """

    shrinks: tuple[float, ...] = number((0.0, 0.002, 0.005), least=0.0, most=1.0)
    dives: int = number(1, least=0)
    few_arcs: int = number(25_000, least=0)
    searches: int = number(4, least=1)


@dataclass(frozen=True, kw_only=True)
class NeighbourhoodParams(Parameters):
    """Large neighbourhood search on small clusters.

    brokers, chosen_first  brokers of the kinds of steps (at most all), and how many of them are drawn by their losses
    least_closed           a step that closes less of the gap than this share is followed by one of the next kind
    arcs_per_open, least_open, most_open  one in so many arcs is left open by a step, within limits
    patience, arcs_per_patience  steps in a row, and one more for so many arcs, that may close less than
                           ``least_closed`` together before half as many more arcs are open
    few_arcs               with fewer arcs it ends there
    near                   of the program's optimum: near enough, and near enough with more arcs open
    undecided_partitions   partitions that hardly care are taken among so many, more or less
    least_gap, gap_share   a step ends within this share of the plan's cost, or of what that is too much ...
    nodes                  ... or when it has seen so many nodes
    least_saving           of what is open
    row_slack              of the mean: HiGHS may miss a row by half of this, bands are kept to 1e-9
    steps_outside_divisor  where no band is met, so many times fewer steps are made
    """

    brokers: tuple[int, ...] = number((8, 4, 1_000), least=1)
    chosen_first: int = number(2, least=1)
    least_closed: float = number(0.1, least=0.0, most=1.0)
    arcs_per_open: int = number(40, least=1)
    least_open: int = number(500, least=1)
    most_open: int = number(2_000, least=1)
    patience: int = number(6, least=1)
    arcs_per_patience: int = number(15_000, least=1)
    few_arcs: int = number(20_000, least=0)
    near: tuple[float, ...] = number((0.003, 0.005), least=0.0)
    undecided_partitions: float = number(400.0, least=1.0)
    least_gap: float = number(1e-3, least=0.0)
    gap_share: float = number(0.1, least=0.0)
    nodes: int = number(5, least=1)
    least_saving: float = number(1e-5, least=0.0)
    row_slack: float = number(2e-6, least=0.0)
    steps_outside_divisor: int = number(4, least=1)


@dataclass(frozen=True, kw_only=True)
class WholePlanParams(Parameters):
    """Tiny clusters as one program in whole numbers: pairs of partition and broker, and nodes, at most.

    ``cost_per_copy`` and ``cost_per_leader_change`` stand beside the bytes of the largest partition: they break ties.
    """

    most_pairs: int = number(150, least=0)
    nodes: int = number(2000, least=1)
    cost_per_copy: float = number(1e-4, least=0.0)
    cost_per_leader_change: float = number(1e-5, least=0.0)


@dataclass(frozen=True, kw_only=True)
class LinearProgramParams(Parameters):
    """What is done on small clusters beside the search."""

    arcs: ArcParams = ArcParams()
    starts: StartParams = StartParams()
    neighbourhoods: NeighbourhoodParams = NeighbourhoodParams()
    whole_plan: WholePlanParams = WholePlanParams()


@dataclass(frozen=True, kw_only=True)
class BoundParams(Parameters):
    """Lower bounds.

    least_excess         excess below this share of a load (or of a mean load) is rounding
    count_tolerance      a count is whole within this
    partitions_per_slice partitions that are looked at together, for the sake of memory
    covering_sweeps      of coordinate ascent at most, for each broker above its bands
    """

    least_excess: float = number(1e-9, least=0.0)
    count_tolerance: float = number(1e-6, least=0.0, most=0.49)
    partitions_per_slice: int = number(20_000, least=1)
    covering_sweeps: int = number(12, least=1)


@dataclass(frozen=True, kw_only=True)
class BudgetSearchParams(KernelParams):
    """The search within a budget.

    smooth, smoother     what the lesser of load above and below the bands counts beside the greater one: hardly
                         anything, so that ties are broken, and more
    least_price          a step takes at least this share of a limit
    ranked_exactly       pairs of replica and broker that are ranked anew before each step, in one run; beyond that only
                         the top is
    least_rankings, most_rankings  of everything, in one run, beside those
    given_back_at_once   one in so many changes is taken back before the others are judged anew
    warm, cold           temperatures at first and at last, in mean weights of a replica
    cooling              share of the tries that are made while it cools
    tries_when_warm      of each replica; where there are fewer, it starts colder
    single_steps, swaps  of a hundred tries, up to ``swaps``; the others are exchanges; ``leader_steps`` of single ones
    """

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
class SolveParams(Parameters):
    """All of the planner's parameters."""

    effort: Effort = Effort()
    costs: CostParams = CostParams()
    bands: BandParams = BandParams()
    gaps: GapParams = GapParams()
    replicas: ReplicaSearchParams = ReplicaSearchParams()
    leaders: LeaderParams = LeaderParams()
    linear_program: LinearProgramParams = LinearProgramParams()
    bounds: BoundParams = BoundParams()
    within_budget: BudgetSearchParams = BudgetSearchParams()


DEFAULTS = SolveParams()
