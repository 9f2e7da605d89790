"""The design holds its promises: contrast, one dark theme, nothing that the CSP would block."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import render_to_string

ROOT = Path(settings.BASE_DIR)
STYLES = sorted((ROOT / "static" / "css").glob("*.css"))
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))
TOKENS = (ROOT / "static" / "css" / "tokens.css").read_text()


def tokens_of(selector: str) -> dict[str, str]:
    """The custom properties of the first block that *selector* opens."""
    block = TOKENS.split(selector + " {", 1)[1].split("}", 1)[0]
    return dict(re.findall(r"(--[\w-]+):\s*([^;]+);", block))


LIGHT = tokens_of("\n:root")
DARK = tokens_of(':root[data-theme="dark"]')


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb (WCAG 2.2, definition of relative luminance)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio (WCAG 2.2), 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_as_wcag_does() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)  # the known near miss


TEXT_ON = [
    ("--ink", "--ground"),
    ("--ink", "--accent-soft"),
    ("--ink", "--amber-row"),
    ("--ink-soft", "--neutral-soft"),
    ("--muted", "--ground"),
    ("--muted", "--sheet"),
    ("--muted", "--sunken"),
    ("--muted", "--accent-soft"),
    ("--muted", "--neutral-soft"),
    ("--muted", "--amber-row"),
    ("--accent", "--sheet"),
    ("--accent", "--accent-soft"),
    ("--on-accent", "--accent"),
    ("--on-accent", "--accent-strong"),
    ("--green", "--green-soft"),
    ("--amber", "--amber-soft"),
    ("--red", "--red-soft"),
    ("--red", "--sheet"),
]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT_ON)
def test_text_can_be_read(theme: dict[str, str], text: str, ground: str) -> None:
    assert contrast(theme[text], theme[ground]) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_edges_of_inputs_can_be_seen(theme: dict[str, str]) -> None:
    assert contrast(theme["--line-strong"], theme["--sheet"]) >= 3


def test_the_dark_theme_is_one_whether_chosen_or_the_systems() -> None:
    assert tokens_of(':root:not([data-theme="light"])') == DARK


def test_dark_names_every_colour_that_light_names() -> None:
    colours = {name for name, value in LIGHT.items() if "#" in value}
    assert colours <= set(DARK)


BLOCKED_BY_CSP = {
    "style attribute": re.compile(r"<[^>]*\sstyle\s*=", re.IGNORECASE),
    "style element": re.compile(r"<style\b", re.IGNORECASE),
    "inline script": re.compile(r"<script(?![^>]*\ssrc=)", re.IGNORECASE),
    "event handler": re.compile(r"<[^>]*\son[a-z]+\s*=", re.IGNORECASE),
    "htmx handler": re.compile(r"\shx-on[:\w-]*\s*="),
    "script address": re.compile(r"javascript:", re.IGNORECASE),
    "unescaped text": re.compile(r"\|\s*safe\b|autoescape\s+off"),
}


def test_templates_hold_nothing_that_the_csp_blocks() -> None:
    found = []
    for path in TEMPLATES:
        text = re.sub(r"{% comment %}.*?{% endcomment %}", "", path.read_text(), flags=re.DOTALL)
        found += [(path, name) for name, one in BLOCKED_BY_CSP.items() if one.search(text)]
    assert found == []


def test_styles_and_scripts_load_from_this_site_only() -> None:
    elsewhere = re.compile(r"https?://|url\(\s*[\"']?data:|@import|\beval\(|new Function")
    assert [path for path in (*STYLES, *SCRIPTS) if elsewhere.search(path.read_text())] == []


def test_files_that_styles_name_are_there() -> None:
    for path in STYLES:
        for address in re.findall(r"url\([\"']?([^\"')]+)", path.read_text()):
            assert (path.parent / address).is_file(), f"{path} names {address}"


def test_vendored_files_name_their_version_and_licence() -> None:
    folders = [path for path in (ROOT / "static" / "vendor").iterdir() if path.is_dir()]
    assert folders
    for folder in folders:
        assert re.search(r"-\d+\.\d+\.\d+$", folder.name), folder
        assert (folder / "LICENSE").is_file(), folder


@pytest.mark.parametrize(
    ("counts", "widths"),
    [
        ({"done": 1, "total": 2}, ["500"]),
        ({"done": 1, "failed": 1, "flying": 2, "total": 8}, ["125", "125", "250"]),
        ({"done": 0, "total": 0}, ["0"]),  # nothing planned yet: an empty bar, no division by zero
        ({"done": 7000, "total": 7000}, ["1000"]),  # 1,000 would not be a width
    ],
)
def test_progress_widths(counts: dict[str, int], widths: list[str]) -> None:
    html = render_to_string("components/_progress.html", {**counts, "label": "x"})
    assert re.findall(r'<rect[^>]* width="([^"]*)"', html) == widths


@pytest.mark.parametrize("code", ["400", "403", "403_csrf", "404", "500", "503"])
def test_error_pages_need_no_context(code: str) -> None:
    html = render_to_string(f"{code}.html")  # Django renders 500 without request and context
    assert "data-refusal" in html
    assert "<h1>" in html


def test_a_tile_without_a_value_says_why() -> None:
    html = render_to_string("components/_tile.html", {"note": "agreement", "reason": "one marker"})
    assert "one marker" in html
    assert "<dd>–</dd>" in html
