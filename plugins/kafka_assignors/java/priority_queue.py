"""Poll order of ``java.util.PriorityQueue``, equal keys included (OpenJDK 8 to 25). O(log n) for ``add`` and ``poll``.

A binary heap: ``add`` appends the item and lifts it while its parent's key is larger; ``poll`` moves the last item to
the head and lowers it, to the left child if both are equal. Python's ``heapq`` lowers to a leaf first, so equal keys
come in another order. Example: keys 0, 0, 0 of items 0, 1, 2: the queue polls 0, 2, 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class PriorityQueue:
    """A key may change outside the queue."""

    __slots__ = ("_heap", "_keys")

    def __init__(self, keys: Sequence[float], items: Iterable[int]) -> None:
        self._keys = keys
        self._heap: list[int] = []
        for item in items:
            self.add(item)

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, item: int) -> None:
        heap, keys = self._heap, self._keys
        key = keys[item]
        heap.append(item)
        at = len(heap) - 1
        while at > 0:
            parent = (at - 1) >> 1
            if key >= keys[heap[parent]]:
                break
            heap[at] = heap[parent]
            at = parent
        heap[at] = item

    def poll(self) -> int:
        heap, keys = self._heap, self._keys
        moved = heap.pop()
        if not heap:
            return moved
        head, size, at = heap[0], len(heap), 0
        key = keys[moved]
        while (child := 2 * at + 1) < size:
            if child + 1 < size and keys[heap[child]] > keys[heap[child + 1]]:
                child += 1
            if key <= keys[heap[child]]:
                break
            heap[at] = heap[child]
            at = child
        heap[at] = moved
        return head
