"""``make env``: a ``.env`` for docker compose with generated secrets, made once.

Runs with a bare Python: users of containers have no environment of ours.
"""

from __future__ import annotations

import base64
import os
import re
import secrets
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_LINE = re.compile(r"(?P<name>[A-Z_]+)=(?P<value>.*)")


def _password() -> str:
    return secrets.token_urlsafe(24)


def _fernet_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def _kafka_cluster_id() -> str:
    """16 bytes in Kafka's form; Kafka rejects an id that begins with a dash."""
    while (name := base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")).startswith("-"):
        pass
    return name


# Generators of empty values in .env.example, by the end of the name.
_MAKERS: dict[str, Callable[[], str]] = {
    "_PASSWORD": _password,
    "_SECRET": _password,
    "_FERNET_KEY": _fernet_key,
    "_CLUSTER_ID": _kafka_cluster_id,
    "_UID": lambda: "50000" if os.getuid() == 0 else str(os.getuid()),
}


def env_text(example: str) -> str:
    """``.env.example`` with every empty value filled. Raises ValueError for one without a generator."""
    lines = []
    for line in example.splitlines():
        match = _LINE.fullmatch(line)
        if match is None or match["value"]:
            lines.append(line)
            continue
        maker = next((make for ending, make in _MAKERS.items() if match["name"].endswith(ending)), None)
        if maker is None:
            raise ValueError(f".env.example: {match['name']} has no value, and nothing here makes one")
        lines.append(f"{match['name']}={maker()}")
    return "\n".join(lines) + "\n"


def write_env(folder: Path) -> Path:
    """``folder/.env``, readable by its owner alone. Raises FileExistsError if it exists: its passwords are in use."""
    target = folder / ".env"
    text = env_text((folder / ".env.example").read_text(encoding="utf-8"))
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return target


def _next_steps(target: Path) -> str:
    port = next(line for line in target.read_text(encoding="utf-8").splitlines() if line.startswith("AIRFLOW_PORT="))
    return (
        "next: docker compose --profile kafka up --build     (with a Kafka cluster to advise)\n"
        "  or: docker compose up --build     (name your clusters in docker/airflow/clusters.toml first)\n"
        f"then: http://127.0.0.1:{port.partition('=')[2]}, user admin, its password is AIRFLOW_ADMIN_PASSWORD in "
        f"{target.name}; more in docs/install.md\n"
    )


def main() -> int:
    try:
        target = write_env(ROOT)
    except FileExistsError:
        sys.stderr.write(
            ".env is there already and stays: its passwords are those of the volumes. Remove both to begin anew.\n"
        )
        return 1
    sys.stdout.write(f"{target.name}: passwords and keys are written\n{_next_steps(target)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
