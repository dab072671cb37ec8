"""The last step: a run's advisory, verified, as files and then as the one that readers see."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from rebalance_advisor.airflow.task_log import task_log

SETTING = "ADVISOR_PUBLISH_DIR"

_log = task_log(__name__)


def publish_run(dsn: str, *, run_id: str, cluster: str, folder: Path) -> list[str]:
    """Write the files beside and rename them, then publish the run: where readers see a run, its files are whole.

    Returns what a terminal shows last: the verdict, then the worst findings.

    Raises InvalidPlanError when the plan does not pass its verification against the stored snapshot.
    """
    from rebalance_advisor import store
    from rebalance_advisor.publish.advisory_files import write_advisory
    from rebalance_advisor.publish.digest import closing_words
    from rebalance_advisor.stored_advice import advice_of_run

    with store.connect(dsn) as connection:
        advice = advice_of_run(connection, run_id)
        document = advice.document()
        if store.load_run(connection, run_id).status == "published" and folder.exists():
            return closing_words(document)  # a try before did it, and was cut off afterwards
        fresh = folder.with_name(f".{folder.name}.new")
        shutil.rmtree(fresh, ignore_errors=True)
        write_advisory(fresh, document, advice.plan)
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
        store.publish_run(connection, run_id)
    words = closing_words(document)
    for line in (*words, str(folder)):
        _log.info("%s: %s", cluster, line)
    return words


def publish_folder(cluster: str, run_id: str) -> Path:
    """Where the files of a run go."""
    return Path(os.environ.get(SETTING) or Path.cwd() / "published") / _plain(cluster) / _plain(run_id)


def _plain(name: str) -> str:
    """A name without what file systems and shells stumble over."""
    return re.sub(r"[^\w.+-]", "_", name)
