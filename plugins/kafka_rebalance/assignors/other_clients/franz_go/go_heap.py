"""A binary heap step by step, as franz-go moves it: which of equal members is on top follows from the moves."""

from __future__ import annotations

from collections.abc import Sequence


class SmallestFirst:
    """Members in a heap by the length of their list; a list that grew on top sinks (``sink``)."""

    def __init__(self, members: Sequence[int], lists: Sequence[Sequence[int]]) -> None:
        self.members = list(members)
        self._lists = lists
        for node in range(len(self.members) // 2 - 1, -1, -1):
            self.sink(node)

    def sink(self, node: int = 0) -> None:
        """A child takes the place of a longer parent: the left one, unless the right one is shorter."""
        members, lists = self.members, self._lists
        while (child := 2 * node + 1) < len(members):
            right = child + 1
            if right < len(members) and len(lists[members[right]]) < len(lists[members[child]]):
                child = right
            if len(lists[members[node]]) <= len(lists[members[child]]):
                return
            members[node], members[child] = members[child], members[node]
            node = child
