"""The planner's parameters: one class for each step, named by what its numbers bound, composed in ``SolveParams``.

The defaults were found on generated clusters and on the models of other planners; the same parameters and seed give the
same plan. Those that kernels read are records (``KernelParams``), passed to them with the state of the search.

    params = SolveParams(effort=Effort(anneal_steps=0))
    solution = solve(problem, params=replace(params, gaps=GapParams(near=0.001)))

Rounding constants are no choice of the search. They are the error of float64 after some millions of additions of loads
of about 1 (the mean), and kernels compile them as literals.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_assignors.kernels.by_reference import ByReference
from kafka_rebalance.parameters import Parameters, number

# What compiled kernels read: records of numbers.


class KernelParams(Parameters, ByReference):
    """Parameters that compiled kernels read: numbers and other such records only."""

    def __post_init__(self) -> None:
        """Check the numbers, then lay them out in memory."""
        Parameters.__post_init__(self)
        ByReference.__post_init__(self)


# Lower bounds: prices found step by step.


@dataclass(frozen=True, kw_only=True)
class AscentParams(Parameters):
    """Better prices, step by step (Adam).

    work                     pairs of partition and broker looked at in all steps together
    most_steps, least_steps  as many as the work allows, at most; fewer than the least come to nothing
    first_step, last_step    of a price at most, in mean bytes per broker for a mean load; they shrink in equal ratios
    few_pairs                of partition and broker: with more, steps of each resource are as small as its usual costs
    memory, long_memory      what a step keeps of the slopes before it, and of their squares
    least_slope              slopes smaller than this, in mean loads, make smaller steps
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
    ascent: AscentParams = AscentParams()


# The search within a budget.


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


# The search for leaders.


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


# Placing replicas in the dirs of one broker.


@dataclass(frozen=True, slots=True)
class LogDirParams:
    """Placing replicas in the dirs of one broker."""

    bound_units: int = 1_000  # a need is counted in so many units, rounded to the bound's disfavour
    over_weight: float = 1_000.0  # a byte above a ceiling against one below a floor, while moves are chosen
    whole_cells: int = 240  # replicas × dirs up to which a broker is decided in whole numbers: hundredths of a second
    whole_nodes: int = 2_000
    most_used_ratio: float = 0.9  # no disk is filled beyond by what moves to it; one that is fuller gets nothing
    least_gain_per_byte: float = 0.05  # bytes that each byte moved must bring within limits, where nothing must move


LOG_DIRS = LogDirParams()


# The search for replica sets: pushing, fetching, polishing, annealing.


@dataclass(frozen=True, kw_only=True)
class ReceiverParams(KernelParams):
    """Receivers looked at for one replica: of those that lack load, fewer where there are many replicas, and of all.

    ``topic_weight``: how much a receiver is preferred that spreads the topic better.
    """

    ascending = (("lacking_tried_by_many", "lacking_tried"),)

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
                       lacks, before any other one
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

    ascending = (("elsewhere", "change_places", "go_home", "substitute"), ("cold", "warm"))

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


# Programs of all moves on small clusters, in shares and in whole numbers.


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
    searches_inside  where a plan inside the bands is there already: from the program's own shares alone
    """

    shrinks: tuple[float, ...] = number((0.0, 0.002, 0.005), least=0.0, most=1.0)
    dives: int = number(1, least=0)
    few_arcs: int = number(25_000, least=0)
    searches: int = number(4, least=1)
    searches_inside: int = number(8, least=0)


@dataclass(frozen=True, kw_only=True)
class NeighbourhoodParams(Parameters):
    """Large neighbourhood search on small clusters.

    brokers, chosen_first  brokers of the kinds of steps (at most all), and how many of them are drawn by their losses
    least_closed           a step that closes less of the gap than this share is followed by one of the next kind
    core_partitions, core_arcs, core_tries  of the core, which is decided first, so many times at most
    least_core_size        smaller partitions than this share of the largest count as so large there
    arcs_per_open, least_open, most_open  one in so many arcs is left open by a step, within limits
    patience, arcs_per_patience  steps in a row, and one more for so many arcs, that may close less than
                           ``least_closed`` together before half as many more arcs are open
    few_arcs               with fewer arcs it ends there
    near                   of the program's optimum: near enough, and near enough with more arcs open
    far                    of the program's optimum: no patience is lost beyond it
    undecided_partitions   partitions that hardly care are taken among so many, more or less
    least_gap, gap_share   a step ends within this share of the plan's cost, or of what that is too much ...
    nodes                  ... or when it has seen so many nodes
    least_saving           of what is open
    row_slack              of the mean: HiGHS may miss a row by half of this, bands are kept to 1e-9
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
    """Tiny clusters as one program in whole numbers: pairs of partition and broker, and nodes, at most.

    ``cost_per_copy`` and ``cost_per_leader_change`` stand beside the bytes of the largest partition: they break ties.
    ``most_decided_pairs``, ``decided_nodes``: the same where nothing else found a plan: one is found then, to
    ``decided_gap`` of its cost, or it is proved that there is none.
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
    """Covers in the linear program, where replicas are few and large.

    rounds         of the program with covers more
    least_shares   a replica is part of a cover's set where more of it is there than this, each tried
    most_named     replicas that a set may name beside those that are there today
    least_broken   share of a cover's surplus that has to be lacking
    least_promise  share of the program's optimum that the covers have to be worth at its prices
    least_rise     share of the optimum that a round has to raise it by, for another one
    least_worth    share of the optimum that covers have to raise it by together; less is as if there were none
    most_arcs      with more arcs the program takes too long to be solved again
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
    """Annealing that leads through what is outside its bands.

    anneal       how: at first a load outside its band costs less than the copies that would mend it, at last a little
                 more, so that steps lead through what is outside
    narrow_band  bands as wide as this (in means) or narrower are annealed for as long as may be: all that there are
    tries        times that a small cluster's plan is annealed, each with another seed, until it is near its bound ...
    patience     ... or so many in a row found nothing
    """

    anneal: AnnealParams = AnnealParams(warm=0.02, cold=3e-4, topic_price=0.01, outside_price=0.5, outside_rise=1.0)
    narrow_band: float = number(1.0, least=0.0)
    tries: int = number(12, least=0)
    patience: int = number(6, least=1)


@dataclass(frozen=True, kw_only=True)
class RestrictedParams(Parameters):
    """The program of large clusters, restricted to what a plan and its prices leave open.

    most_pairs       of partition and broker: with more of them even looking at each takes too long
    open_arcs        moves that are open beside those of the plan
    most_partitions  that take part
    searches         from its shares, with different seeds
    anneal_times     as many steps as others are annealed for, so many times: from its shares; once from the plan
    anneal_again     times that a plan still far from its bound is annealed once more
    """

    most_pairs: int = number(2_000_000, least=0)
    open_arcs: int = number(6_000, least=0)
    most_partitions: int = number(2_500, least=1)
    searches: int = number(1, least=0)
    anneal_times: int = number(2, least=0)
    anneal_again: int = number(2, least=0)


@dataclass(frozen=True, kw_only=True)
class ProofParams(Parameters):
    """Proofs of evenness, moves and time.

    most_arcs  pairs of partition and broker up to which linear programs prove them; beyond that prices climb
    evenness, moves, busy  how far they climb for shares of all load outside bands, moves, the busiest broker's bytes
    """

    most_arcs: int = number(4_000, least=0)
    evenness: AscentParams = AscentParams(
        work=10_000_000, least_steps=300, first_step=0.3, last_step=0.0003, least_slope=1e-9
    )
    moves: AscentParams = AscentParams(work=10_000_000, least_steps=200, first_step=0.3, last_step=0.0003)
    busy: AscentParams = AscentParams(work=10_000_000, least_steps=200, first_step=1.0, last_step=0.01)


@dataclass(frozen=True, kw_only=True)
class LinearProgramParams(Parameters):
    """What is done on small and middling clusters beside the search.

    ``spread_given_up``: share of all replicas that may be where their topic has its share already, beyond what is so
    today or was found so: what fewer bytes are worth.
    """

    arcs: ArcParams = ArcParams()
    covers: CoverParams = CoverParams()
    starts: StartParams = StartParams()
    neighbourhoods: NeighbourhoodParams = NeighbourhoodParams()
    whole_plan: WholePlanParams = WholePlanParams()
    restricted: RestrictedParams = RestrictedParams()
    bold: BoldAnnealParams = BoldAnnealParams()
    proofs: ProofParams = ProofParams()
    spread_given_up: float = number(0.005, least=0.0, most=1.0)


# Parts of a plan decided anew for what costs most.


@dataclass(frozen=True, kw_only=True)
class SteeringParams(Parameters):
    """Plans made better by the cost that comes first, part by part in whole numbers, on small clusters.

    steps, patience      parts decided at most, and in a row that bring nothing
    partitions, led      that one part leaves open, and of which it leaves the leader open
    most_brokers         that new replicas of one part may come to
    gap, nodes           a part is decided to this share of its cost, or when so many nodes were seen
    row_slack            as of ``NeighbourhoodParams``
    others               what a cost that does not come first counts beside the first, both over their bounds
    least_saving         a share of a cost that is worth taking another plan for
    undecided_partitions partitions that hardly care are taken among so many, more or less
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


# No broker above its capacity after a loss.


@dataclass(frozen=True, kw_only=True)
class SurviveParams(Parameters):
    """No broker above its capacity after a loss.

    brokers           of the worst so many one is relieved with each change
    partitions        of which other orders and leaders are looked at, ``moved_partitions`` whose replicas may go
    receivers         brokers that a replica may go to, of the same rack and of all
    program_cells     sums of loads up to which several changes are decided at once, with so many ``program_nodes``
    all_changes       changes up to which all that there are are decided at once, which proves what cannot be survived
    above_worth       what a capacity exceeded by its whole counts in a program, then each copy, leader change and order
    program_gap       a program is decided to this share of what it leaves above capacities
    parts             times that changes of the ``part_brokers`` worst are decided at once
    touched_brokers   that one change comes to, more or less
    most_cells        loads after losses that are looked at together: bounds the memory
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
        """How many changes are looked at together where each broker has so many ``cells``."""
        return max(1, self.most_cells // max(self.touched_brokers * cells, 1))


# Least leaders of a topic on each broker.


@dataclass(frozen=True, kw_only=True)
class TopicLeaderParams(Parameters):
    """Least leaders of a topic on each broker.

    few_choices     ways to place partitions up to which all are decided at once from the first
    all_choices     the same where steps left something lacking: that proves what cannot be
    assignments     of one topic, one after the other where limits forbid some of it
    topic_choices   of one topic, where no single step is left
    program_nodes   of branch and bound; ``program_gap``: a program is decided to this share of its value
    mend_nodes, mend_gap  the same where other leaders mend bands, and of many ways at once
    band_worth      what a mean load outside bands counts in a program, in mean bytes of a broker
    leader_worth, change_worth  each leader change, and each list that changes at all
    may_not         cost of a leader that cannot be had, above all others; ``copy_worth``: of a copy, above all harm
    most_harm       to bands by one change, in means, that is distinct from more
    mend_rounds     of changes of leaders that bring brokers nearer to bands
    move_worth      each copy beside its bytes, as a share of a replica's mean bytes
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


# The least bands that can be met.


@dataclass(frozen=True, kw_only=True)
class WideningParams(Parameters):
    """Bands that no plan can meet, widened to the least that is reached.

    least_step            levels differ by at least so much of the mean
    most_pairs            pairs of partition and broker up to which programs in whole numbers say how near a side can
                          come and what that costs
    few_variables, nodes  programs of so many variables are solved at once, in so many nodes
    open_variables        that one step of larger ones decides; steps, step_nodes, patience: steps of one side, nodes of
                          one step, and steps in a row that may find nothing; ``cost_steps`` times as many for bytes
    tries, tries_of_side  levels that a search tries, at most; ``searches`` for each, with different seeds
    large_steps_divisor   with more pairs than ``most_pairs`` so many times fewer neighbourhoods of the plan within the
                          bands reached are decided anew
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


# What all steps of a search share, and all of the planner's parameters together.


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
    program_steps: int = number(8, least=0)


@dataclass(frozen=True, kw_only=True)
class CostParams(Parameters):
    """What a plan is charged beside its bytes.

    Both are of a move, as shares of the mean bytes of a partition. ``per_move``: in the search, so that tiny replicas
    are not free. ``worth_per_move``: where two plans are compared; 0: bytes decide, moves where these are the same.
    """

    per_move: float = number(0.005, least=0.0)
    worth_per_move: float = number(0.0, least=0.0)


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

    ascending = (("near", "far"),)

    near: float = number(0.002, least=0.0)
    far: float = number(0.01, least=0.0)


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
    widening: WideningParams = WideningParams()
    steering: SteeringParams = SteeringParams()
    survive: SurviveParams = SurviveParams()
    topic_leaders: TopicLeaderParams = TopicLeaderParams()


DEFAULTS = SolveParams()


# A broker whose loads are outside its bands by less than this is inside; in means.
BAND_TOLERANCE = 1e-9
# A step that brings brokers nearer to their bands by less than this brings nothing; in means.
GAIN_TOLERANCE = 1e-12
# The same sum in another order, or after a step and its undoing, differs by less than this; in means.
SUM_TOLERANCE = 1e-10
# Of what a set of replicas weighs: so much less of its surplus counts, for loads within rounding of a band are inside.
COVER_ROUNDING = 1e-8
# Of all that a bound adds up and takes off so much may be rounding; where that is more than this share of the bound, it
# is not claimed, for whoever adds it up otherwise must find as much.
BOUND_ROUNDING, BOUND_SLACK = 1e-12, 1e-8
# A score that no receiver has, and a distance from the bands that no broker reaches: "may not" and "however far".
FORBIDDEN, HOWEVER_FAR = -1e300, 1e300
# A price that no resource has: all replicas together do not cover the excess.
NOT_COVERABLE = 1e300
# A distance that no way has, and the arc between a broker and the hub, which is no partition's.
UNREACHED, HUB_ARC = 1 << 60, -1
# However a topic's replicas lie: bands that cannot be met come before its spread.
ANY_SPREAD = 1 << 60
# Chances are drawn as one of so many.
FRACTIONS = 1 << 30
# OpenBLAS multiplies two matrices in one thread up to so many products.
ONE_THREAD_PRODUCTS = 1 << 18
# Spans shorter than this are sorted by insertion.
SHORT_SPAN = 15
# What a broker carries after a loss, summed in another order, differs by less than this share of its capacity.
LOSS_MARGIN = 5e-10
# HiGHS calls a row kept that is off by 1e-6, a whole number one that is nearly: what it calls kept must be.
PROGRAM_MARGIN, PROGRAM_WHOLE = 2e-6, 0.5
# What a program proves to be above capacities, in shares of them, by less than this may be rounding.
PROVED_ABOVE = 1e-4
