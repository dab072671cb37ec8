"""What is asked of an object store: four calls and an address. Airflow's paths answer it (``airflow/publishing``)."""

from __future__ import annotations

from typing import Protocol

from kafka_rebalance.errors import AdvisorError


class ObjectStoreError(AdvisorError):
    """The store did not answer, or refused: tried again, it may."""


class ObjectStore(Protocol):
    """Objects by key; keys are relative to the store's own place, their parts parted by ``/``.

    What each call has done is seen by every call after it, as S3 promises. Each raises ObjectStoreError, with the
    address, where the store does not answer or refuses.
    """

    def put(self, key: str, content: bytes) -> None:
        """Make the object, or replace it: whole, or not at all."""

    def read(self, key: str) -> bytes | None:
        """The object's content; ``None`` where there is none."""

    def list(self, prefix: str) -> list[str]:
        """Keys under ``prefix``, a key's first parts, sorted; of everything for the empty one."""

    def delete(self, key: str) -> None:
        """Remove the object; one that is not there is removed already."""

    def address(self, key: str) -> str:
        """Where people find the object, or what lies under these first parts of keys."""
