"""PEM text as Kafka's Java clients read it: also folded into one line, as a value of a properties file often is."""

from __future__ import annotations

import base64
import binascii
import re
import textwrap

# DefaultSslEngineFactory.PemParser: a head, "name: value" lines, base64 with any white space, a foot.
_BLOCK = re.compile(
    r"-+BEGIN\s+(?P<kind>[A-Z0-9 ]+?)\s*-+\s+"
    r"(?:\s*[A-Za-z][A-Za-z-]*:[^\r\n]*[\r\n]+)*"
    r"(?P<body>[A-Za-z0-9/+=\s]*)-+END\s+(?P=kind)\s*-+"
)
_ENCRYPTED_BY_OPENSSL = "Proc-Type"


def unfolded(text: str) -> str:
    """The blocks of ``text``, each in lines of 64 characters; nothing else. Text without a whole block stays as it is.

    A key that openssl encrypted the old way (``Proc-Type`` lines) has lines that belong to it: it stays as it is, too.
    """
    if _ENCRYPTED_BY_OPENSSL in text:
        return text
    blocks = [block(found["kind"], "".join(found["body"].split())) for found in _BLOCK.finditer(text)]
    return "".join(blocks) if all(blocks) and blocks else text


def block(kind: str, body: str) -> str:
    """One block; empty where ``body`` is no base64."""
    try:
        base64.b64decode(body, validate=True)
    except binascii.Error:
        return ""
    lines = "\n".join(textwrap.wrap(body, 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


def encoded(kind: str, der: bytes) -> str:
    """One block of DER bytes."""
    return block(kind, base64.b64encode(der).decode())
