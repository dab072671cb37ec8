"""Board of one cluster: imbalance over time, its causes, findings."""

from __future__ import annotations

from stack.grafana.panel import DISK, Board, BoardPanel, Kind

_UNEVEN = (1.2, 2.0)  # times the mean

CLUSTER = Board(
    uid="advisor-cluster",
    title="Kafka advisor: cluster",
    description="How uneven a cluster is and was, what its brokers carry, which topics grow, "
    "which findings come and go.",
    panels=(
        BoardPanel(
            title="Skew by hour",
            description="Highest level over the mean of each resource, from every snapshot; 1 is even. "
            "Kept for 400 days.",
            kind=Kind.TIME_SERIES,
            width=12,
            sql="""
                SELECT period_start AS time, resource AS metric, skew AS value
                FROM advisor.skew_by_hour
                WHERE cluster = ${cluster:sqlstring} AND $__timeFilter(period_start)
                ORDER BY time, resource
            """,
        ),
        BoardPanel(
            title="Disk of each broker by day",
            description="Bytes that each broker's replicas hold, mean of a day. Kept when snapshots are pruned.",
            kind=Kind.TIME_SERIES,
            width=12,
            units={"": "bytes"},
            sql="""
                SELECT period_start AS time, 'broker ' || broker AS metric, load AS value
                FROM advisor.broker_level_by_day
                WHERE cluster = ${cluster:sqlstring} AND resource = 'disk' AND $__timeFilter(period_start)
                ORDER BY time, broker
            """,
        ),
        BoardPanel(
            title="Findings by day",
            description="The thirty critical and high findings that lasted longest: when each was there, "
            "and how severe.",
            kind=Kind.STATES,
            sql="""
                WITH shown AS (
                    SELECT started_at, run_id, finding_key, subject_type, subject, code, severity
                    FROM advisor.finding
                    WHERE cluster = ${cluster:sqlstring} AND $__timeFilter(started_at)
                ), longest AS (
                    SELECT finding_key, min(subject_type || ' ' || subject || ': ' || replace(code, '_', ' ')) AS metric
                    FROM shown
                    WHERE severity IN ('critical', 'high')
                    GROUP BY finding_key
                    ORDER BY count(*) DESC, finding_key
                    LIMIT 30
                )
                SELECT run.started_at AS time, longest.metric,
                    CASE shown.severity
                        WHEN 'critical' THEN 4 WHEN 'high' THEN 3 WHEN 'medium' THEN 2 WHEN 'low' THEN 1 ELSE 0
                    END AS value
                FROM (SELECT DISTINCT started_at, run_id FROM shown) AS run
                CROSS JOIN longest
                LEFT JOIN shown ON shown.run_id = run.run_id AND shown.finding_key = longest.finding_key
                ORDER BY time, metric
            """,
        ),
        BoardPanel(
            title="Fullest disks now",
            description="Share of each broker's disk that is used, in the newest snapshot.",
            kind=Kind.BARS,
            width=8,
            units={"": "percentunit"},
            limits={"": DISK},
            sql="""
                SELECT 'broker ' || broker AS broker, used_ratio
                FROM advisor.broker_overview_latest
                WHERE cluster = ${cluster:sqlstring} AND used_ratio IS NOT NULL
                ORDER BY used_ratio DESC, 1
            """,
        ),
        BoardPanel(
            title="Brokers now",
            description="What each broker carries in the newest snapshot, and how many times the mean that is.",
            width=16,
            units={"used_ratio": "percentunit", "in_bytes_per_s": "Bps", "out_bytes_per_s": "Bps"},
            limits={
                "used_ratio": DISK,
                "disk_to_mean_ratio": _UNEVEN,
                "in_to_mean_ratio": _UNEVEN,
                "out_to_mean_ratio": _UNEVEN,
                "leaders_to_mean_ratio": _UNEVEN,
            },
            gauges=("used_ratio",),
            pages={"broker": "/broker?id=VALUE"},
            sql="""
                SELECT broker, rack, state, used_ratio, disk_to_mean_ratio, in_bytes_per_s, in_to_mean_ratio,
                    out_bytes_per_s, out_to_mean_ratio, replica_count, leader_count, leaders_to_mean_ratio,
                    finding_count, worst_severity
                FROM advisor.broker_overview_latest
                WHERE cluster = ${cluster:sqlstring}
                ORDER BY used_ratio DESC NULLS LAST, broker
            """,
        ),
        BoardPanel(
            title="Disks",
            description="When each broker reaches 85 % of its disk, as things are and after the newest plan.",
            question=2,
            width=12,
            units={"used_ratio": "percentunit", "growth_bytes_per_day": "bytes"},
            limits={"used_ratio": DISK},
            gauges=("used_ratio",),
            pages={"broker": "/broker?id=VALUE"},
            sql="""
                SELECT broker, rack, used_ratio, outlook, growth_bytes_per_day, reaches_85_percent_at,
                    reaches_85_percent_at_with_plan
                FROM advisor.broker_disk_forecast
                WHERE cluster = ${cluster:sqlstring}
                ORDER BY reaches_85_percent_at NULLS LAST, used_ratio DESC
            """,
        ),
        BoardPanel(
            title="Topics that drove brokers since last week",
            description="Bytes of each topic on each broker now and about a week ago.",
            question=3,
            width=12,
            units={"bytes_now": "bytes", "bytes_earlier": "bytes", "bytes_change": "bytes"},
            sql="""
                SELECT broker, topic, bytes_change, bytes_now, bytes_earlier, replicas_now, replicas_earlier, basis,
                    earlier_captured_at
                FROM advisor.broker_topic_change
                WHERE cluster = ${cluster:sqlstring}
                ORDER BY bytes_change DESC NULLS LAST, bytes_now DESC NULLS LAST
                LIMIT 200
            """,
        ),
        BoardPanel(
            title="Findings: new, persisting, resolved, reopened",
            description="The newest advisory against the one before.",
            question=4,
            width=12,
            sql="""
                SELECT change, severity, code, subject_type, subject, first_seen, times_seen
                FROM advisor.finding_change
                WHERE cluster = ${cluster:sqlstring}
                ORDER BY
                    CASE change WHEN 'new' THEN 1 WHEN 'reopened' THEN 2 WHEN 'persisting' THEN 3 ELSE 4 END,
                    first_seen, finding_key
            """,
        ),
        BoardPanel(
            title="Bytes across racks by topic",
            description="Replication from leaders to followers in other racks, in the newest snapshot.",
            question=9,
            width=12,
            units={"replication_bytes_per_s": "Bps", "cross_rack_bytes_per_s": "Bps"},
            sql="""
                SELECT topic, replication_bytes_per_s, cross_rack_bytes_per_s
                FROM advisor.rack_traffic_topic_latest
                WHERE cluster = ${cluster:sqlstring}
                ORDER BY cross_rack_bytes_per_s DESC NULLS LAST
                LIMIT 200
            """,
        ),
    ),
)
