"""All environment variables that the advisor reads; source of docs/settings.md. A test compares it with the code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    name: str
    read_by: str
    default: str
    words: str


_EVERY = "shell, Airflow, Spark jobs"
_AIRFLOW = "Airflow's scheduler, dag-processor and tasks"
SETTINGS = (
    Setting("ADVISOR_POSTGRES_DSN", _EVERY, "",
        "address of the advisor's database, as `postgresql://…` or libpq's `host=… dbname=…`; Airflow's tasks take the "
        "connection `advisor_postgres`"),
    Setting("AIRFLOW_CONN_ADVISOR_POSTGRES", _EVERY, "",
        "the same as Airflow's connection in the environment (URL or JSON); read where `ADVISOR_POSTGRES_DSN` is "
        "not set"),
    Setting("ADVISOR_CLUSTERS_FILE", _AIRFLOW, "must be set",
        "path of clusters.toml, which says what clusters there are: [clusters.md](clusters.md)"),
    Setting("ADVISOR_PUBLISH_DIR", _AIRFLOW, "`published` in the working folder",
        "where the files of each advisory go, a folder a cluster; small files of this machine in any case"),
    Setting("ADVISOR_PUBLISH_URL", "Airflow's tasks", "",
        "an object store for the files of advisories, instead of folders: `s3://CONNECTION@BUCKET/PATH` with one of "
        "Airflow's connections; needs the provider of the scheme: [operating.md](operating.md#an-object-store)"),
    Setting("ADVISOR_PUBLISH_SECONDS", "Airflow's tasks", "300",
        "longest time in seconds for one file to or from the object store, or for a list of them; then the task fails "
        "and is tried again"),
    Setting("ADVISOR_SCHEDULES", _AIRFLOW, "", "`off`: no DAG has a schedule, everything is started by hand"),
    Setting("ADVISOR_HEAVY_SLOTS", "Airflow's scheduler", "1",
        "slots of the pool `advisor_heavy` where it has to be made: how many Spark jobs run at once"),
    Setting("ADVISOR_SPARK_JOBS", "Airflow's tasks", "`spark_jobs` beside the folder of the plugins",
        "folder of the job files that spark-submit gets: [spark.md](spark.md)"),
    Setting("ADVISOR_SPARK_CODE", "Spark jobs", "shipped",
        "`installed`: executors have the driver's wheel; otherwise our code travels with the job"),
    Setting("ADVISOR_SPARK_CODE_DIR", "Spark executors", "a folder of the user in the temporary folder",
        "where an executor unpacks our code and keeps compiled kernels"),
)  # fmt: skip

_HEAD = """# Settings

Made from `rebalance_advisor/settings.py` by `python -m rebalance_advisor.settings`. These are variables of the
environment, of the component that the second column names. What a run is asked stands in [options.md](options.md), what
belongs to one cluster in [clusters.md](clusters.md).

| variable | read by | default | what it says |
|---|---|---|---|
"""


def settings_page() -> str:
    rows = [
        f"| `{setting.name}` | {setting.read_by} | {setting.default or 'none'} | {setting.words} |"
        for setting in SETTINGS
    ]
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    import sys

    from rebalance_advisor.terminal import write_lines

    write_lines(sys.stdout, *settings_page().splitlines())
