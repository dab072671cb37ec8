"""Put the list of packages with their licences and the JSON schemas beside the wheel: ``make release``."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from stack.wheel.licences import licences
from stack.wheel.sbom import ROOT, locked_document


def write_release(folder: Path) -> list[Path]:
    """Write ``sbom.cdx.json`` and schemas into ``folder``. Raises LicenceRefusedError before anything is written."""
    document = locked_document()
    of_package = licences(component["name"] for component in document["components"])
    for component in document["components"]:
        component["licenses"] = [{"license": {"name": of_package[component["name"]]}}]
    folder.mkdir(parents=True, exist_ok=True)
    sbom = folder / "sbom.cdx.json"
    sbom.write_text(json.dumps(document, indent=1) + "\n")
    schemas = sorted((ROOT / "docs" / "schemas").glob("*.json"))
    return [sbom, *(Path(shutil.copy(schema, folder)) for schema in schemas)]


if __name__ == "__main__":
    for path in write_release(Path(sys.argv[1])):
        print(path)
