"""``java.util.PriorityQueue``: equal keys and changed keys included (OpenJDK 8 to 25)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any


class PriorityQueue:
    """Poll order of ``java.util.PriorityQueue``. O(log n) for ``add`` and ``poll``, O(n) for ``remove``.

    A binary heap: ``add`` appends the item and lifts it while its parent's key is larger; ``poll`` moves the last item
    to the head and lowers it, to the left child if both are equal. Python's ``heapq`` lowers to a leaf first, so equal
    keys come in another order. Example: keys 0, 0, 0 of items 0, 1, 2: the queue polls 0, 2, 1. A key may change
    outside the queue. Iteration follows the heap.
    """

    __slots__ = ("_heap", "_keys")

    def __init__(self, keys: Sequence[Any] | Mapping[int, Any], items: Iterable[int]) -> None:
        self._keys = keys
        self._heap: list[int] = []
        for item in items:
            self.add(item)

    @classmethod
    def of_collection(cls, keys: Sequence[Any] | Mapping[int, Any], items: Iterable[int]) -> PriorityQueue:
        """``new PriorityQueue(collection)`` of a collection without an order of its own."""
        queue = cls(keys, ())
        queue._heap = list(items)
        for at in reversed(range(len(queue._heap) // 2)):
            queue._lower(at, queue._heap[at])
        return queue

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[int]:
        return iter(self._heap)

    def __contains__(self, item: object) -> bool:
        return item in self._heap

    def add(self, item: int) -> None:
        self._heap.append(item)
        self._lift(len(self._heap) - 1, item)

    def poll(self) -> int:
        heap = self._heap
        moved = heap.pop()
        if not heap:
            return moved
        head = heap[0]
        self._lower(0, moved)
        return head

    def remove(self, item: int) -> None:
        heap = self._heap
        at = heap.index(item)
        moved = heap.pop()
        if at == len(heap):
            return
        self._lower(at, moved)
        if heap[at] == moved:
            self._lift(at, moved)

    def _lift(self, at: int, item: int) -> None:
        heap, keys = self._heap, self._keys
        key = keys[item]
        while at > 0:
            parent = (at - 1) >> 1
            if key >= keys[heap[parent]]:
                break
            heap[at] = heap[parent]
            at = parent
        heap[at] = item

    def _lower(self, at: int, item: int) -> None:
        heap, keys = self._heap, self._keys
        size, key = len(heap), keys[item]
        while (child := 2 * at + 1) < size:
            if child + 1 < size and keys[heap[child]] > keys[heap[child + 1]]:
                child += 1
            if key <= keys[heap[child]]:
                break
            heap[at] = heap[child]
            at = child
        heap[at] = item
