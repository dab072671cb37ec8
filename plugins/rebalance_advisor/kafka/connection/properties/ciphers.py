"""Names of cipher suites: Java writes IANA's, OpenSSL has its own."""

from __future__ import annotations

import re

_IANA = re.compile(r"TLS_(?:(?P<exchange>\w+?)_)?WITH_(?P<cipher>\w+)")


def openssl_ciphers(value: str) -> str:
    """OpenSSL's list for a list of either kind (separated by commas, colons or blanks); '' where only TLS 1.3 is named.

    Suites of TLS 1.3 (``TLS_AES_128_GCM_SHA256``) are left out: OpenSSL has them on, and Python cannot choose among
    them. ``TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256`` is ``ECDHE-RSA-AES128-SHA256``.
    """
    named = [_openssl(name) for name in re.split(r"[,:\s]+", value.strip()) if name]
    return ":".join(name for name in named if name)


def _openssl(name: str) -> str:
    if name.startswith("TLS_") and "_WITH_" not in name:
        return ""
    found = _IANA.fullmatch(name)
    if found is None:
        return name
    cipher = re.sub(r"(AES|ARIA|CAMELLIA)_(\d+)", r"\1\2", found["cipher"]).replace("_CBC", "")
    cipher = cipher.replace("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305")
    exchange = "" if found["exchange"] in (None, "RSA") else f"{found['exchange']}-"
    return f"{exchange}{cipher}".replace("_", "-")
