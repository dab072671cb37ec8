"""Rounding: differences of loads that are none. Compiled into the kernels as literals.

These are no choices of the search but what float64 arithmetic leaves over when loads of about 1 (the mean) are added
and taken off some millions of times; nearly every comparison of every kernel reads one of them. All other numbers of
the planner are parameters (``params.py``).
"""

from __future__ import annotations

# A broker whose loads are outside its bands by less than this is inside; in means.
BAND_TOLERANCE = 1e-9
# A step that brings brokers nearer to their bands by less than this brings nothing; in means.
GAIN_TOLERANCE = 1e-12
# A score that no receiver has, and a distance from the bands that no broker reaches: "may not" and "however far".
FORBIDDEN, HOWEVER_FAR = -1e300, 1e300
