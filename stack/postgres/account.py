"""Account of the embedded Postgres: it refuses to run as root, so root's server runs as a system user.

That user gets rights only on files of the launcher. If it cannot read the checkout (under /root, for example),
binaries and data are in a folder outside.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SETTING = "ADVISOR_POSTGRES_USER"
DEFAULT_NAME = "advisor-postgres"
_FALLBACK = "nobody"  # if no account can be made: no `useradd`, or a read-only /etc
OUTSIDE = Path("/var/lib/kafka-rebalance-advisor")


@dataclass(frozen=True, slots=True)
class Account:
    """System user; ``None`` in place of an account is the current user."""

    name: str
    uid: int
    gid: int


def account_for(data: Path) -> Account | None:
    """Account for the server of ``data``: None for an ordinary user. For root the owner of existing data, else the
    system user, created if missing.
    """
    if os.geteuid() != 0:
        return None
    if data.exists() and data.stat().st_uid != 0:
        return _account(pwd.getpwuid(data.stat().st_uid))
    name = os.environ.get(SETTING, DEFAULT_NAME)
    try:
        return _account(pwd.getpwnam(name))
    except KeyError:
        return _account(_create(name))


def _create(name: str) -> pwd.struct_passwd:
    useradd = shutil.which("useradd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if useradd:
        command = [useradd, "--system", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/false", name]
        subprocess.run(command, capture_output=True, check=False)
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return pwd.getpwnam(_FALLBACK)


def _account(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def run_as(
    account: Account | None, command: Sequence[str | Path], *, cwd: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    rights = {} if account is None else {"user": account.uid, "group": account.gid, "extra_groups": []}
    return subprocess.run(
        command, cwd=cwd, env=dict(environment), capture_output=True, text=True, errors="replace", check=False,
        stdin=subprocess.DEVNULL, **rights,
    )  # fmt: skip


def can_reach(account: Account | None, path: Path) -> bool:
    """True if the account can read ``path`` and enter all folders above it; the system decides."""
    test = ["/bin/sh", "-c", 'test -r "$1" && { test ! -d "$1" || test -x "$1"; }', "sh", str(path)]
    return run_as(account, test, cwd=Path("/"), environment={}).returncode == 0


def give(account: Account | None, path: Path, mode: int) -> None:
    path.chmod(mode)
    if account is not None:
        os.chown(path, account.uid, account.gid)
