"""Lower bounds: prices found step by step."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.parameters import Parameters, number


@dataclass(frozen=True, kw_only=True)
class AscentParams(Parameters):
    """Better prices, step by step (Adam).

    work                     pairs of partition and broker looked at in all steps together
    most_steps, least_steps  as many as the work allows, at most; fewer than the least come to nothing
    first_step, last_step    of a price at most, in mean bytes per broker for a mean load; they shrink in equal ratios
    memory, long_memory      what a step keeps of the slopes before it, and of their squares
    least_slope              slopes smaller than this, in mean loads, make smaller steps
    """

    ascending = (("least_steps", "most_steps"), ("last_step", "first_step"))

    work: int = number(400_000_000, least=0)
    most_steps: int = number(400, least=0)
    least_steps: int = number(40, least=1)
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
