"""The last step: a run's advisory, verified, as files and then as the one that readers see."""

from __future__ import annotations

import os
import re
from pathlib import Path

from rebalance_advisor.airflow.task_log import task_log

SETTING = "ADVISOR_PUBLISH_DIR"

_log = task_log(__name__)


def publish_run(dsn: str, *, run_id: str, cluster: str, folder: Path) -> tuple[list[str], Path]:
    """Replace the folder whole, then publish the run: where readers see a run, its files are whole.

    Returns what a terminal shows last, the verdict, then the worst findings; and where the files are to be read.

    Raises InvalidPlanError when the plan does not pass its verification against the stored snapshot.
    """
    from rebalance_advisor import store
    from rebalance_advisor.publish.advisory_files import write_advisory
    from rebalance_advisor.publish.digest import closing_words
    from rebalance_advisor.publish.folders.folder_marker import read_marker
    from rebalance_advisor.publish.folders.version_folders import advisory_folder
    from rebalance_advisor.store.stored_advice import advice_of_run

    with store.connect(dsn) as connection:
        advice = advice_of_run(connection, run_id)
        document = advice.document()
        place = advisory_folder(folder)
        marker = read_marker(place)
        is_written = marker is not None and marker.plan_id == advice.plan.plan_id
        if store.load_run(connection, run_id).status == "published" and is_written:
            return closing_words(document), place  # a try before did it, and was cut off afterwards
        place = write_advisory(folder, document, advice.plan)
        store.publish_run(connection, run_id)
    words = closing_words(document)
    for line in (*words, str(place)):
        _log.info("%s: %s", cluster, line)
    return words, place


def publish_folder(cluster: str, run_id: str) -> Path:
    """Where the files of a run go."""
    return Path(os.environ.get(SETTING) or Path.cwd() / "published") / _plain(cluster) / _plain(run_id)


def _plain(name: str) -> str:
    """A name without what file systems and shells stumble over; no dot leads, to no parent and no hidden place."""
    return re.sub(r"[^\w.+-]|^\.", "_", name)
