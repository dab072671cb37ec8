"""Board of all clusters: priorities, and the advisor's own health."""

from __future__ import annotations

from stack.grafana.panel import DISK, Board, BoardPanel, Kind

FLEET = Board(
    uid="advisor-fleet",
    title="Kafka advisor: fleet",
    description="Every cluster in one line, disks that fill up, what advice rests on, and the advisor's own health.",
    of_one_cluster=False,
    panels=(
        BoardPanel(
            title="Clusters",
            description="Verdict, age, coverage, worst broker and open findings of each cluster's newest advisory.",
            question=1,
            units={"age_seconds": "s", "bytes": "bytes"},
            limits={
                "critical_count": (1, 1),
                "high_count": (1, 10),
                "age_seconds": (93_600, 172_800),
                "worst_skew": (1.2, 2),
            },
            pages={"cluster": "", "verdict": "/plan"},
            sql="""
                SELECT cluster, verdict, age_seconds, gap_count, excluded_resource_count, worst_broker, worst_resource,
                    worst_skew, critical_count, high_count, replica_moves, bytes
                FROM advisor.cluster_latest
                ORDER BY critical_count DESC, worst_skew DESC NULLS LAST
            """,
        ),
        BoardPanel(
            title="Disks that fill up first",
            description="When brokers reach 85 % of their disk, as things are and after the newest plan; "
            "outlook says why a "
            "time is missing.",
            question=2,
            width=14,
            units={"used_ratio": "percentunit", "growth_bytes_per_day": "bytes"},
            limits={"used_ratio": DISK},
            gauges=("used_ratio",),
            pages={"cluster": "", "broker": "/broker?id=VALUE"},
            sql="""
                SELECT cluster, broker, rack, used_ratio, outlook, growth_bytes_per_day, reaches_85_percent_at,
                    reaches_85_percent_at_with_plan, basis
                FROM advisor.broker_disk_forecast
                ORDER BY reaches_85_percent_at NULLS LAST, used_ratio DESC
                LIMIT 50
            """,
        ),
        BoardPanel(
            title="What advice rests on",
            description="Findings on estimates, unknown metrics, blind spots of snapshots, quarantined subjects.",
            question=10,
            width=10,
            sql="""
                SELECT cluster, kind, subject, reason
                FROM advisor.advice_basis_latest
                ORDER BY cluster, kind, subject
            """,
        ),
        BoardPanel(
            title="Worst skew by day",
            description="The most uneven resource of each cluster, a point a day; 1 is even. Kept when "
            "snapshots are pruned.",
            kind=Kind.TIME_SERIES,
            width=12,
            sql="""
                SELECT period_start AS time, cluster AS metric, max(skew) AS value
                FROM advisor.skew_by_day
                WHERE $__timeFilter(period_start)
                GROUP BY period_start, cluster
                ORDER BY time, cluster
            """,
        ),
        BoardPanel(
            title="Advisories by day and state",
            description="How many were published, refused, failed or never ended.",
            kind=Kind.TIME_SERIES,
            width=12,
            sql="""
                SELECT $__timeGroup(started_at, '1d') AS time, state AS metric, count(*) AS value
                FROM advisor.run_attempt
                WHERE $__timeFilter(started_at)
                GROUP BY 1, state
                ORDER BY 1, state
            """,
        ),
        BoardPanel(
            title="The advisor's own health",
            description="Age of the newest snapshot and advisory, how long it took, what failed in the "
            "last seven days.",
            units={"snapshot_age_seconds": "s", "published_age_seconds": "s", "published_duration_seconds": "s"},
            limits={
                "snapshot_age_seconds": (7_200, 93_600),
                "published_age_seconds": (93_600, 172_800),
                "failures_7d": (1, 5),
            },
            pages={"cluster": "/history"},
            sql="""
                SELECT cluster, snapshot_age_seconds, last_run_state, published_age_seconds, published_duration_seconds,
                    published_7d, unpublished_7d, refused_snapshots_7d, failures_7d, last_failure
                FROM advisor.advisor_health
                ORDER BY published_age_seconds DESC NULLS FIRST
            """,
        ),
        BoardPanel(
            title="Tasks that were given up",
            description="The last words of each task that failed after its retries.",
            sql="""
                SELECT failed_at, cluster, dag, task, message
                FROM advisor.task_failure
                WHERE $__timeFilter(failed_at)
                ORDER BY failed_at DESC
                LIMIT 100
            """,
        ),
    ),
)
