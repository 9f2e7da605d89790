"""The architecture holds: who imports whom, and that pure packages load no Django."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]
PURE = next(contract["source_modules"] for contract in CONTRACTS if contract["id"] == "pure")
SOURCES = [
    file
    for package in ("gradeapp", "questions", "evaluations", "bench")
    for file in sorted((ROOT / package).rglob("*.py"))
    if "migrations" not in file.parts
]


def modules(package: str) -> list[str]:
    """The dotted names of every module of a package."""
    place = ROOT.joinpath(*package.split("."))
    files = sorted(place.rglob("*.py")) or [place.with_suffix(".py")]
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


LOADED = """
import importlib, json, sys
loaded = {}
for package, names in json.loads(sys.argv[1]).items():
    for name in names:
        importlib.import_module(name)
    found = [one for one in sys.modules if one.split(".")[0] in ("django", "celery")]
    if found:
        loaded[package] = found
        break
print(json.dumps(loaded))
"""


def test_pure_packages_load_no_django() -> None:
    """All in one process: the first that loads it is named."""
    names = json.dumps({package: modules(package) for package in PURE})
    command = [sys.executable, "-c", LOADED, names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {}


def test_the_contracts_hold() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_files_and_functions_keep_their_size() -> None:
    """Past 400 lines a file usually holds two features."""
    long: list[str] = []
    for file in SOURCES:
        text = file.read_text(encoding="utf-8")
        if text.count("\n") > 400:
            long.append(f"{file}: {text.count(chr(10))} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or 0) - node.lineno + 1
                if length > 60:
                    long.append(f"{file}: {node.name} has {length} lines")
    assert not long


def test_services_and_selectors_know_no_http() -> None:
    for file in SOURCES:
        parts = {*file.parts, file.stem}
        if parts & {"services", "selectors"}:
            assert "django.http" not in file.read_text(encoding="utf-8"), file


def test_untrusted_text_has_one_renderer() -> None:
    for file in SOURCES:
        if file != ROOT / "gradeapp" / "rendering" / "render.py":
            assert "mark_safe(" not in file.read_text(encoding="utf-8"), file
    for template in (ROOT / "templates").rglob("*.html"):
        text = template.read_text(encoding="utf-8")
        assert "|safe" not in text, template
        assert "autoescape off" not in text, template


def test_templates_need_no_inline_script_or_style() -> None:
    for template in (ROOT / "templates").rglob("*.html"):
        text = template.read_text(encoding="utf-8")
        for forbidden in (" style=", "<style", " onclick=", " onsubmit=", "hx-on", "javascript:"):
            assert forbidden not in text, f"{template}: {forbidden}"
        assert "csrf_exempt" not in text
