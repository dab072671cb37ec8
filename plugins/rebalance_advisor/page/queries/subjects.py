"""One broker, one topic, one group; and the lists in which they are found."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Select, TableClause, and_, any_, func, literal, select, type_coerce
from sqlalchemy.dialects.postgresql import ARRAY

from rebalance_advisor.page.queries.views import (
    BROKER,
    BROKER_SCORE,
    DISK,
    GROUP,
    GROUP_DRAIN,
    GROUP_LAG,
    GROUP_SCORE,
    LOAD,
    MEMBER_SCORE,
    PARTITION,
    TOPIC,
    TOPIC_CHANGE,
    TOPIC_SCORE,
)

LIST_ROWS = 50
TODAY = "today"


def named(read: TableClause, name: str, cluster: str, search: str, page: int) -> Select[Any]:
    """A page of a list, ordered by its column ``name``, whose values contain ``search`` in any case."""
    listed = select(*read.c).where(read.c.cluster == cluster).order_by(read.c[name])
    if search:
        listed = listed.where(read.c[name].icontains(search, autoescape=True))
    return listed.limit(LIST_ROWS + 1).offset((page - 1) * LIST_ROWS)


def topics(cluster: str, search: str, page: int) -> Select[Any]:
    """Topics by name; one row more than a page shows that there is another."""
    return named(TOPIC, "topic", cluster, search, page)


def groups(cluster: str, search: str, page: int) -> Select[Any]:
    """Groups by name; as ``topics``."""
    return named(GROUP, "group_id", cluster, search, page)


def brokers(cluster: str, page: int) -> Select[Any]:
    """Brokers by id; as ``topics``."""
    listed = select(*BROKER.c).where(BROKER.c.cluster == cluster).order_by(BROKER.c.broker)
    return listed.limit(LIST_ROWS + 1).offset((page - 1) * LIST_ROWS)


def broker_parts(cluster: str, broker: int) -> dict[str, Select[Any]]:
    """What there is about one broker: itself, its levels, its disks, what grew on it."""
    of_broker = {
        name: select(*read.c).where(read.c.cluster == cluster, read.c.broker == broker)
        for name, read in {"broker": BROKER, "levels": BROKER_SCORE, "disks": DISK, "grown": TOPIC_CHANGE}.items()
    }
    return {
        "broker": of_broker["broker"],
        "levels": of_broker["levels"].order_by(BROKER_SCORE.c.level_to_mean_ratio.desc().nulls_last()),
        "disks": of_broker["disks"],
        "grown": of_broker["grown"]
        .where(TOPIC_CHANGE.c.earlier_captured_at.is_not(None))
        .order_by(func.abs(TOPIC_CHANGE.c.bytes_change).desc().nulls_last())
        .limit(10),
    }


def carried_by(cluster: str, broker: int, limit: int, *, by_size: bool) -> Select[Any]:
    """Topics on a broker by what their partitions there hold, or by what is written to them; the most first."""
    same = and_(
        LOAD.c.cluster == PARTITION.c.cluster,
        LOAD.c.topic == PARTITION.c.topic,
        LOAD.c.partition == PARTITION.c.partition,
    )
    # A broker tells the size of its own replica; where none does, the partition's size stands for it.
    of_replica = type_coerce(PARTITION.c.log_bytes, ARRAY(BigInteger))[
        func.array_position(PARTITION.c.replicas, broker)
    ]
    written, held = func.sum(LOAD.c.in_bytes_per_s), func.sum(func.coalesce(of_replica, LOAD.c.log_bytes))
    order = (held, written) if by_size else (written, held)
    return (
        select(
            PARTITION.c.topic,
            func.count().label("replicas"),
            func.count().filter(PARTITION.c.leader == broker).label("leaders"),
            held.label("log_bytes"),
            written.label("in_bytes_per_s"),
        )
        .select_from(PARTITION.outerjoin(LOAD, same))
        .where(PARTITION.c.cluster == cluster, literal(broker) == any_(PARTITION.c.replicas))
        .group_by(PARTITION.c.topic)
        .order_by(*(most.desc().nulls_last() for most in order), PARTITION.c.topic)
        .limit(limit)
    )


def topic_parts(cluster: str, topic: str, page: int) -> dict[str, Select[Any]]:
    """What there is about one topic: itself, the placers, a page of partitions, the groups that read it."""
    score = TOPIC_SCORE.c
    placers = (
        select(
            score.placer,
            func.count().label("seeds"),
            func.avg(score.replica_skew).label("replica_skew"),
            func.avg(score.leader_skew).label("leader_skew"),
            func.avg(score.replica_moves).label("replica_moves"),
            func.max(score.rack_violations).label("rack_violations"),
        )
        .where(score.cluster == cluster, score.topic == topic)
        .group_by(score.placer)
        .order_by(score.placer != "current", score.placer)
    )
    partitions = select(*PARTITION.c).where(PARTITION.c.cluster == cluster, PARTITION.c.topic == topic)
    readers = select(*GROUP_LAG.c).where(GROUP_LAG.c.cluster == cluster, GROUP_LAG.c.topic == topic)
    return {
        "topic": select(*TOPIC.c).where(TOPIC.c.cluster == cluster, TOPIC.c.topic == topic),
        "placers": placers,
        "partitions": partitions.order_by(PARTITION.c.partition).limit(LIST_ROWS + 1).offset((page - 1) * LIST_ROWS),
        "readers": readers.order_by(GROUP_LAG.c.lag_messages.desc().nulls_last(), GROUP_LAG.c.group_id).limit(
            LIST_ROWS
        ),
    }


def group_parts(cluster: str, group_id: str) -> dict[str, Select[Any]]:
    """What there is about one group: itself, strategies as things are, scenarios, drain, lag, members."""
    of_group = {
        name: select(*read.c).where(read.c.cluster == cluster, read.c.group_id == group_id)
        for name, read in {
            "group": GROUP, "scores": GROUP_SCORE, "drain": GROUP_DRAIN, "lag": GROUP_LAG, "members": MEMBER_SCORE
        }.items()
    }  # fmt: skip
    score, member = GROUP_SCORE.c, MEMBER_SCORE.c
    best_first = (
        score.is_current.desc(),
        score.is_recommended.desc(),
        score.skew_rate.asc().nulls_last(),
        score.assignor,
    )
    return {
        "group": of_group["group"],
        "drain": of_group["drain"],
        "strategies": of_group["scores"].where(score.scenario == TODAY).order_by(*best_first),
        "scenarios": of_group["scores"]
        .where(score.scenario != TODAY, score.is_current | score.is_recommended)
        .order_by(score.scenario, *best_first)
        .limit(LIST_ROWS),
        "lag": of_group["lag"].order_by(GROUP_LAG.c.lag_messages.desc().nulls_last()).limit(LIST_ROWS),
        "members": of_group["members"]
        .where(member.is_current)
        .order_by(member.lag_messages.desc().nulls_last(), member.member_id)
        .limit(LIST_ROWS),
    }
