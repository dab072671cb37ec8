"""One small cluster, as the document of a snapshot, with one name in every place where Kafka takes free text."""

from typing import Any

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.codec import gap_document
from kafka_rebalance.snapshot.coverage import CoverageGap

ROWS = 8


def cluster_document(name: str) -> dict[str, Any]:
    """Uneven, with a broker without replicas, gaps, idle members, a dead static member and shared offsets."""
    return {
        "format": "kafka-rebalance-snapshot",
        "format_version": 1,
        "cluster": name,
        "cluster_id": f"{name}-id",
        "captured_at": "2026-11-20T08:00:00Z",
        "source": "live",
        "brokers": [_broker(broker, name) for broker in (1, 2, 3, 4)],
        "topics": [_topic("-1", name, 1), _topic("orders", name, ROWS)],
        "loads": {},
        "groups": _groups(name),
        "coverage": [
            gap_document(CoverageGap(subject_type, subject, what, fact(FactCode.AS_REPORTED, text=f"{name} denied")))
            for subject_type, subject, what in (
                ("group", f"{name}-gap", fact(FactCode.LACKS_LOG_DIR, path=name)),
                ("broker", "1", fact(FactCode.LACKS_CONFIGS, kind=name)),
            )
        ],
    }


def _broker(broker: int, name: str) -> dict[str, Any]:
    broken = [{"path": f"/{name}/broken", "error": name}] if broker == 4 else []
    return {
        "id": broker,
        "rack": f"{name}-{broker}",
        "host": f"{name}{broker}.example.org",
        "port": 9092,
        "log_dirs": [{"path": f"/{name}", "total_bytes": 10**12, "usable_bytes": 5 * 10**11}, *broken],
        "configs": {name: name},
    }


def _topic(topic: str, name: str, count: int) -> dict[str, Any]:
    rows = [
        {
            "partition": number,
            "replicas": [1 + number % 2, 3],
            "leader": 1 + number % 2,
            "isr": [1 + number % 2, 3],
            "log_bytes": [10**9, 10**9],
            "start_offset": 0,
            "end_offset": 100,
        }
        for number in range(count)
    ]
    return {"name": topic, "configs": {name: name}, "partitions": rows}


def _groups(name: str) -> list[dict[str, Any]]:
    """``{name}-idle`` has more members than partitions; ``{name}-shared`` has readers of one partition."""
    idle = [_member(name, number, ["-1"], [["-1", [0]]] if not number else []) for number in range(2)]
    shared = [_member(name, number, ["orders", name], [[name, [0, 1]]]) for number in range(2)]
    dead = [
        _member(name, 0, ["orders"], [["orders", list(range(4))]]),
        _member(name, 1, ["orders"], [["orders", list(range(4, ROWS))]]),
    ]
    behind = [["orders", number, 0 if number < 4 else 99] for number in range(ROWS)]
    return [
        _group(f"{name}-idle", "range", idle, [["-1", 0, 100]]),
        _group(f"{name}-shared", name, shared, []),
        _group(f"{name}-dead", "range", dead, behind),
    ]


def _group(group: str, protocol: str, members: list[dict[str, Any]], committed: list[list[Any]]) -> dict[str, Any]:
    return {
        "id": group,
        "type": "classic",
        "protocol_type": "consumer",
        "protocol": protocol,
        "state": "Stable",
        "coordinator": 1,
        "members": members,
        "committed": committed,
    }


def _member(name: str, number: int, topics: list[str], assigned: list[list[Any]]) -> dict[str, Any]:
    return {
        "id": f"{name}-{number}",
        "instance_id": f"{name}-static-{number}",
        "client_id": name,
        "host": f"/{name}",
        "rack": f"{name}-{number}",
        "subscribed_regex": name,
        "decode_error": name,
        "subscription": topics,
        "assigned": assigned,
    }
