"""Least leaders of a topic on each broker."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number


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
    most_harm       to bands by one change, in means, that is told from more
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
