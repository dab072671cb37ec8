"""Published files that have had their time, in folders of this machine and in the object store."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from rebalance_advisor.airflow.publishing.places import publish_root

if TYPE_CHECKING:
    from rebalance_advisor.store import Connection


def prune_published(connection: Connection, before: datetime) -> list[str]:
    """Remove what was written before a time and is nobody's latest; returns where it was.

    While a cluster's objects are removed, nobody publishes it: what ``latest.json`` comes to name cannot go meanwhile.
    Raises InvalidInputError where the object store's address cannot be, ObjectStoreError where the store refuses.
    """
    from rebalance_advisor import store
    from rebalance_advisor.airflow.publishing.object_storage import object_store
    from rebalance_advisor.publish.folders.old_folders import remove_older
    from rebalance_advisor.publish.object_store.old_objects import clusters_in, remove_older_objects

    gone = [str(folder) for folder in remove_older(publish_root(), before)]
    objects = object_store()
    if objects is None:
        return gone
    for cluster in clusters_in(objects):
        with store.publishing(connection, cluster):
            gone += [objects.address(key) for key in remove_older_objects(objects, cluster, before)]
    return gone
