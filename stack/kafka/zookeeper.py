"""Replacement of a KRaft controller before 4.0: one ZooKeeper server from the same jars."""

from __future__ import annotations

from pathlib import Path

SERVER = "org.apache.zookeeper.server.ZooKeeperServerMain"
SHELL = "org.apache.zookeeper.ZooKeeperMain"


def server_properties(port: int, data: Path) -> dict[str, str]:
    return {
        "dataDir": str(data),
        "clientPort": str(port),
        "clientPortAddress": "127.0.0.1",
        "maxClientCnxns": "0",
        "admin.enableServer": "false",
        "tickTime": "2000",
    }


def broker_properties(port: int, broker: int) -> dict[str, str]:
    return {
        "broker.id": str(broker),
        "zookeeper.connect": f"127.0.0.1:{port}",
        "zookeeper.connection.timeout.ms": "60000",
    }
