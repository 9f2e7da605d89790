"""What is vendored is what was recorded, and no file of the project holds a key."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parent.parent.parent
RECORDED: list[dict[str, Any]] = json.loads((ROOT / "static/vendor/vendored.json").read_text())
# Shapes of keys that providers give out, and of private keys.
SECRETS = {
    "a private key": r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s+[A-Za-z0-9+/=]{32}",
    "a key of AWS": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60})",
    "a key of Google": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "a token of Slack": r"\bxox[abprs]-[0-9A-Za-z-]{20,}",
    "a key of Stripe": r"\b[rs]k_live_[0-9A-Za-z]{20,}",
    "a key of a model provider": r"\bsk-(?:proj-|ant-|or-v1-)?[A-Za-z0-9_-]{32,}",
    "a token of a package index": r"\bpypi-AgEI[A-Za-z0-9_-]{50,}",
    "a web token": r"\beyJ[A-Za-z0-9_-]{20,}\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}",
    "a password in an address": r"\b(?:postgres(?:ql)?|redis|amqps?)://[a-z]\w*:[^\s@:$%{}<>\"']{12,}@",
}


def folder_of(package: dict[str, Any]) -> Path:
    """Where the files of *package* are: in the project, or in an installed package."""
    folder = ROOT / package["folder"]
    if folder.is_dir():
        return folder
    spec = importlib.util.find_spec(package["folder"])
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@pytest.mark.parametrize("package", RECORDED, ids=lambda package: str(package["name"]))
def test_each_vendored_file_is_as_recorded(package: dict[str, Any]) -> None:
    assert package["version"]
    assert package["licence"]
    folder = folder_of(package)
    found = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in package["files"]
    }
    assert found == package["files"]


def test_nothing_is_vendored_that_is_not_recorded() -> None:
    recorded = {f"{one['folder']}/{name}" for one in RECORDED for name in one["files"]}
    places = (ROOT / "static/vendor", ROOT / "tests/browser/vendor")
    files = (file for place in places for file in place.rglob("*") if file.is_file())
    there = {file.relative_to(ROOT).as_posix() for file in files}
    assert there - recorded == {"static/vendor/README.md", "static/vendor/vendored.json"}


def test_pages_load_scripts_and_styles_of_this_site_alone() -> None:
    outside = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?(?:https?:)?//")
    for file in (ROOT / "templates").rglob("*.html"):
        assert not outside.search(file.read_text(encoding="utf-8")), file


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a checkout")
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def secrets_in(text: str) -> list[str]:
    return [what for what, shape in SECRETS.items() if re.search(shape, text)]


def test_no_tracked_file_holds_a_key() -> None:
    for file in tracked_files():
        if file.is_file() and file.suffix not in (".woff2", ".ico", ".png", ".mo"):
            text = file.read_text(encoding="utf-8", errors="replace")
            assert not secrets_in(text), f"{file.relative_to(ROOT)} holds {secrets_in(text)}"


def test_the_scan_finds_keys() -> None:
    made = ["AKIA" + "Q" * 16, "ghp_" + "a1" * 18, "sk-proj-" + "x9" * 20]
    made.append("-----BEGIN RSA " + "PRIVATE KEY-----\n" + "M" * 40)
    assert all(secrets_in(text) for text in made)


def test_the_bill_of_materials_names_each_pin_and_each_vendored_file() -> None:
    """It is the same from run to run; ``make sbom`` writes it."""
    run = [sys.executable, ".ci/sbom.py"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    bom = json.loads(done.stdout)
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")
    named = {one["purl"] for one in bom["components"]}
    pins = re.findall(
        r"(?m)^([\w.-]+)(?:\[\w+\])?==(\S+)$", (ROOT / "requirements.txt").read_text()
    )
    assert len(pins) > 50
    assert {
        f"pkg:pypi/{name.lower().replace('_', '-')}@{version}" for name, version in pins
    } <= named
    files = {part["name"] for one in bom["components"] for part in one.get("components", [])}
    assert "static/vendor/katex-0.19.1/katex.min.js" in files


@pytest.mark.parametrize("name", ["requirements", "requirements-dev", "requirements-localmodel"])
def test_each_pin_stands_in_the_lock_file_and_each_entry_has_hashes(name: str) -> None:
    """``make run`` and ``make test`` install from the lock files; ``make lock`` writes them."""
    lines = (ROOT / f"{name}.txt").read_text(encoding="utf-8")
    if "-r requirements.txt" in lines:
        lines += (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins = re.findall(r"(?m)^([\w.-]+)(?:\[[\w,]+\])?==(\S+)$", lines)
    entries = re.split(r"\n(?=\w)", (ROOT / f"{name}.lock").read_text(encoding="utf-8"))[1:]
    locked = set()
    for entry in entries:
        found = re.match(r"([\w.-]+)==(\S+)", entry)
        assert found, entry.splitlines()[0]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), found[1]
        locked.add((found[1], found[2]))  # a package may have one version for each Python
    assert len(pins) == sum(line[:1].isalnum() for line in lines.splitlines())
    for package, version in pins:
        assert (package.lower().replace("_", "-"), version) in locked, f"{package}: make lock"
    # No index and no file of one machine: everybody can install from it.
    assert not re.search(r"://|--index|--find-links| @ ", "".join(entries))
