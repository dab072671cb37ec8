import json
import tomllib
from pathlib import Path

import pytest

from stack.wheel.licences import LicenceRefusedError, is_allowed, licences, page
from stack.wheel.release import write_release
from stack.wheel.sbom import ROOT, locked_components


def test_page_is_what_the_lock_and_the_packages_say() -> None:
    assert (ROOT / "docs" / "licences.md").read_text() == page()


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("Mozilla Public License 2.0 (MPL 2.0)", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("Artistic-1.0-Perl OR GPL-2.0-or-later", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT AND (GPL-3.0-only OR MIT)", False),
        ("GPL-3.0-only", False),
        ("", False),
    ],
)
def test_one_of_or_and_all_of_and_must_be_allowed(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) is allowed


def test_package_without_a_known_licence_is_refused_by_name() -> None:
    with pytest.raises(LicenceRefusedError, match=r"no-such-package \(none is said\)"):
        licences(["numpy", "no-such-package"])


def test_every_direct_dependency_is_listed_and_nothing_of_development() -> None:
    names = {component["name"] for component in locked_components()}
    direct = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {text.split(">")[0].split("=")[0] for text in direct} <= names
    assert {"apache-airflow", "pyspark", "gssapi"} <= names
    assert not {"pytest", "mypy", "playwright", "hypothesis"} & names


def test_release_has_licences_and_schemas_and_is_the_same_twice(tmp_path: Path) -> None:
    first, second = write_release(tmp_path / "first"), write_release(tmp_path / "second")
    names = ["sbom.cdx.json", "findings.schema.json", "plan.schema.json", "scenario.schema.json"]
    assert [path.name for path in first] == names
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    document = json.loads(first[0].read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    assert all(
        component["purl"] and component["licenses"][0]["license"]["name"] for component in document["components"]
    )
