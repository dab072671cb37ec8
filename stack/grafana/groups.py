"""Board of one cluster's consumer groups."""

from __future__ import annotations

from stack.grafana.panel import Board, BoardPanel, Kind

GROUPS = Board(
    uid="advisor-groups",
    title="Kafka advisor: groups",
    description="Lag, drain times, strategies, rebalances and traffic across racks of a cluster's consumer groups.",
    panels=(
        BoardPanel(
            title="Lag by hour",
            description="Messages that each of the twenty furthest groups is behind, from every "
            "snapshot. Kept for 400 days.",
            kind=Kind.TIME_SERIES,
            units={"": "short"},
            sql="""
                SELECT period_start AS time, group_id AS metric, lag_messages AS value
                FROM advisor.group_lag_by_hour
                WHERE cluster = ${cluster:sqlstring} AND $__timeFilter(period_start)
                    AND group_id IN (
                        SELECT group_id FROM advisor.group_lag_by_day
                        WHERE cluster = ${cluster:sqlstring} AND $__timeFilter(period_start)
                        GROUP BY group_id
                        ORDER BY max(highest_lag_messages) DESC, group_id
                        LIMIT 20
                    )
                ORDER BY time, group_id
            """,
        ),
        BoardPanel(
            title="Drain times, today's strategy against the advised one",
            description="Groups that never catch up first, then by what the advised strategy gains; outlook says why a "
            "time is missing.",
            question=7,
            width=14,
            units={"drain_seconds": "s", "recommended_drain_seconds": "s", "gain_seconds": "s"},
            limits={"drain_seconds": (3_600, 86_400), "members_falling_behind": (1, 1)},
            pages={"group_id": "/group?name=VALUE"},
            sql="""
                SELECT group_id, outlook, current_assignor, recommended_assignor, drain_seconds,
                    recommended_drain_seconds, gain_seconds, members_falling_behind, partitions_moved
                FROM advisor.group_drain_latest
                WHERE cluster = ${cluster:sqlstring}
                ORDER BY outlook = 'never' DESC, gain_seconds DESC NULLS LAST, group_id
            """,
        ),
        BoardPanel(
            title="Rebalances and idle members",
            description="Rebalances of the last seven days, and members that read nothing.",
            question=8,
            width=10,
            limits={"idle_members": (1, 10), "rebalances_7d": (10, 100)},
            pages={"group_id": "/group?name=VALUE"},
            sql="""
                SELECT group_id, state, members, idle_members, rebalances_7d
                FROM advisor.group_rebalance_latest
                WHERE cluster = ${cluster:sqlstring}
                ORDER BY rebalances_7d DESC NULLS LAST, idle_members DESC, group_id
            """,
        ),
        BoardPanel(
            title="Lag by topic now",
            description="How far each group is behind in each topic, and how fast it reads.",
            width=14,
            sql="""
                SELECT group_id, topic, partitions, lag_messages, max_lag_messages, read_messages_per_s
                FROM advisor.group_lag_latest
                WHERE cluster = ${cluster:sqlstring}
                ORDER BY lag_messages DESC NULLS LAST, group_id, topic
                LIMIT 200
            """,
        ),
        BoardPanel(
            title="Bytes across racks by group",
            description="What members read from leaders in other racks, in the newest snapshot.",
            question=9,
            width=10,
            units={"read_bytes_per_s": "Bps", "cross_rack_bytes_per_s": "Bps", "rack_unknown_bytes_per_s": "Bps"},
            sql="""
                SELECT group_id, read_bytes_per_s, cross_rack_bytes_per_s, rack_unknown_bytes_per_s
                FROM advisor.rack_traffic_group_latest
                WHERE cluster = ${cluster:sqlstring}
                ORDER BY cross_rack_bytes_per_s DESC NULLS LAST, group_id
            """,
        ),
    ),
)
