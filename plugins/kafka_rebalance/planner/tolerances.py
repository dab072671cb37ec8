"""Rounding, and numbers that stand for something else: what is compiled into the kernels as literals.

None of these is a choice of the search: rounding is what float64 arithmetic leaves over when loads of about 1 (the
mean) are added and taken off some millions of times, and nearly every comparison of every kernel reads it. All other
numbers of the planner are parameters (``params.py``).
"""

from __future__ import annotations

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
