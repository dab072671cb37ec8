"""Licences of all packages of the wheel's extras: ``python -m stack.wheel.licences > docs/licences.md``.

The wheel holds our own files alone; pip fetches the rest. A licence is read from the metadata of the installed
package. One without a licence, or with one that is not in ``ALLOWED``, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib import metadata

from kafka_assignors.errors import AdvisorError
from stack.wheel.sbom import locked_components

# As packages write them: SPDX names, or the last part of a trove classifier.
ALLOWED = frozenset({
    "0BSD", "3-Clause BSD License", "Apache Software License", "Apache-2.0", "Apache-2.0 WITH LLVM-exception",
    "Artistic-1.0-Perl", "BSD License", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0",
    "GNU Library or Lesser General Public License (LGPL)", "ISC", "ISC License (ISCL)", "LGPL-3.0-only", "MIT", "MIT-0",
    "MIT License", "MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)", "PSF-2.0", "Python Software Foundation License",
    "The Unlicense (Unlicense)", "Zlib",
})  # fmt: skip
# Not installed on Linux without Kerberos, or with ambiguous classifiers (one of them, or all).
READ_BY_HAND = {
    "colorama": "BSD-3-Clause",
    "decorator": "BSD-2-Clause",
    "gssapi": "ISC",
    "importlib-metadata": "Apache-2.0",  # before Python 3.12 alone, as its zipp
    "zipp": "MIT",
    "pyyaml-ft": "MIT",
    "text-unidecode": "Artistic-1.0-Perl OR GPL-2.0-or-later",
}


class LicenceRefusedError(AdvisorError):
    """A package to ship has no known and allowed licence."""


def claimed_licence(package: str) -> str:
    """Licence in the package's metadata: an SPDX expression; several classifiers joined by AND; else ""."""
    if package in READ_BY_HAND:
        return READ_BY_HAND[package]
    try:
        claims = metadata.metadata(package)
    except metadata.PackageNotFoundError:
        return ""
    if claims.get("License-Expression"):
        return str(claims["License-Expression"])
    classifiers = [text for text in claims.get_all("Classifier") or [] if text.startswith("License :: ")]
    lines = (claims.get("License") or "").strip().splitlines()
    return " AND ".join(text.split(" :: ")[-1] for text in classifiers) or (lines[0] if lines else "")


def is_allowed(expression: str) -> bool:
    names = re.split(r" (?:AND|OR) ", expression)
    enough = any if " OR " in expression and " AND " not in expression else all
    return enough(name in ALLOWED or name.strip("()") in ALLOWED for name in names)


def licences(packages: Iterable[str]) -> dict[str, str]:
    of_package = {package: claimed_licence(package) for package in sorted(set(packages))}
    refused = {package: claim or "none is said" for package, claim in of_package.items() if not is_allowed(claim)}
    if refused:
        listed = ", ".join(f"{package} ({claim})" for package, claim in refused.items())
        raise LicenceRefusedError(
            f"licence unknown or not allowed: {listed}; read it, then name it in stack/wheel/licences.py"
        )
    return of_package


def page() -> str:
    rows = licences(component["name"] for component in locked_components())
    return "\n".join([
        "# Licences of what is installed",
        "",
        "The wheel holds our own files (Apache-2.0) and nothing of others; pip fetches these for its extras.",
        "What each package says of itself, made by `python -m stack.wheel.licences`; a test refuses one unknown or",
        "not allowed. What a package bundles inside (libraries of C or Rust, Vega in `vl-convert-python`, jars in",
        "`pyspark`) is in its own notices. Versions: `sbom.cdx.json` (CycloneDX 1.5), which `make release` writes",
        "beside the wheel.",
        "",
        "| package | licence |",
        "|---|---|",
        *(f"| `{package}` | {licence} |" for package, licence in rows.items()),
        "",
    ])  # fmt: skip


if __name__ == "__main__":
    print(page(), end="")
