"""What a search did, by phase: counts, never seconds, so that the same search always has the same statistics."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchStatistics:
    """Moves made, or given back, by each step of the search; of all that was tried, the plan answered or not.

    released             replicas sent away from brokers above their bands before anything else
    pushed               handed over by brokers above their bands, mixtures that fit
    finished             handed over by them, what is worth most per cost; ``finished_hard``: however ill it fits
    pulled               fetched by brokers below their bands; ``pulled_hard``: however ill it fits
    swapped              exchanges
    annealed             changes made while annealing
    leaders_changed      hand-overs of leaderships, and ``leaders_undone`` that proved needless
    neighbourhoods       programs that made a small cluster's plan cheaper
    """

    released: int = 0
    pushed: int = 0
    finished: int = 0
    finished_hard: int = 0
    pulled: int = 0
    pulled_hard: int = 0
    swapped: int = 0
    annealed: int = 0
    leaders_changed: int = 0
    leaders_undone: int = 0
    neighbourhoods: int = 0

    def __add__(self, other: SearchStatistics) -> SearchStatistics:
        """Of one search after the other."""
        return SearchStatistics(**{name: getattr(self, name) + getattr(other, name) for name in self.__slots__})

    @property
    def total(self) -> int:
        """All of them."""
        return sum(getattr(self, name) for name in self.__slots__)


NOTHING_DONE = SearchStatistics()
