"""Whoever clones this repo can install it: the lock names the two public PyPI hosts and nothing else."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PUBLIC = ("https://pypi.org/simple", "https://files.pythonhosted.org/")


def test_the_lock_names_public_addresses_only() -> None:
    addresses = re.findall(r'(?:registry|url|path) = "([^"]+)"', (ROOT / "uv.lock").read_text())
    assert len(addresses) > 500
    assert not [address for address in addresses if not address.startswith(PUBLIC)]
