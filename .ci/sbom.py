"""Print what gradeapp is made of as CycloneDX 1.6 JSON: pinned packages and vendored files.

    python .ci/sbom.py > sbom.json

The packages of requirements.txt with their licences, where they are installed, and the scripts,
styles and fonts of static/vendor/vendored.json with their SHA-256.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)")


def packages() -> list[dict[str, Any]]:
    """A component for each pin of requirements.txt."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [found.groups() for found in map(PIN.match, lines) if found]
    return [
        package(name, version) for name, version in sorted(pins, key=lambda pin: pin[0].lower())
    ]


def package(name: str, version: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
    component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return component
    if expression := about.get("License-Expression"):
        return {**component, "licenses": [{"expression": expression}]}
    licence = about.get("License") or ""
    if licence and "\n" not in licence and len(licence) < 80:
        return {**component, "licenses": [{"license": {"name": licence}}]}
    return component


def vendored() -> list[dict[str, Any]]:
    """A component for each vendored package, with its files."""
    recorded = json.loads((ROOT / "static/vendor/vendored.json").read_text(encoding="utf-8"))
    return [
        {
            "type": "library",
            "bom-ref": one["purl"],
            "name": one["name"],
            "version": one["version"],
            "purl": one["purl"],
            "licenses": [{"license": {"id": one["licence"]}}],
            "components": [
                {
                    "type": "file",
                    "name": f"{one['folder']}/{name}",
                    "hashes": [{"alg": "SHA-256", "content": digest}],
                }
                for name, digest in one["files"].items()
            ],
        }
        for one in recorded
        if not one["folder"].startswith("tests/")
    ]


def bom() -> dict[str, Any]:
    """The whole document, without a time: the same sources give the same file."""
    project = {"type": "application", "bom-ref": "gradeapp", "name": "gradeapp"}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": project},
        "components": [*packages(), *vendored()],
    }


if __name__ == "__main__":
    json.dump(bom(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
