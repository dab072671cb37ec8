"""Programs of all moves on small clusters, in shares and in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number
from kafka_rebalance.planner.params.replica_params import AnnealParams


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
class LinearProgramParams(Parameters):
    """What is done on small and middling clusters beside the search.

    ``spread_given_up``: share of all replicas that may lie where their topic has its share already, beyond what lies so
    today or was found so: what fewer bytes are worth.
    """

    arcs: ArcParams = ArcParams()
    covers: CoverParams = CoverParams()
    starts: StartParams = StartParams()
    neighbourhoods: NeighbourhoodParams = NeighbourhoodParams()
    whole_plan: WholePlanParams = WholePlanParams()
    restricted: RestrictedParams = RestrictedParams()
    bold: BoldAnnealParams = BoldAnnealParams()
    spread_given_up: float = number(0.005, least=0.0, most=1.0)
