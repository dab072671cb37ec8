"""What a worker of Kafka Connect runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class ConnectTask(NamedTuple):
    connector: str
    number: int


@dataclass(frozen=True, slots=True)
class Work:
    """In the order in which a worker lists them."""

    connectors: tuple[str, ...] = ()
    tasks: tuple[ConnectTask, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.connectors or self.tasks)

    def __len__(self) -> int:
        return len(self.connectors) + len(self.tasks)


NO_WORK = Work()
