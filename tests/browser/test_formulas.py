"""math.js under the real CSP: formulas by strangers draw well and can do nothing else.

The pages are served from memory with the site's static files, so that only the
browser, KaTeX and math.js are under test.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import urlparse

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from PIL import Image, ImageChops
from playwright.sync_api import Page, Route, expect

STATIC = Path(settings.BASE_DIR) / "static"
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
}
CSP = "; ".join(
    f"{name} {' '.join(values)}"
    for name, values in settings.CONTENT_SECURITY_POLICY["DIRECTIVES"].items()
)
HOST = "http://gradeapp.test"
CAP = 300  # formulas of one response
FORMULAS = [
    r"\vec{a} \cdot \overrightarrow{AB} = \overline{z} + \widehat{ABC}",
    r"\oiint_S \vec{F} \oiiint_V \rho",
    r"\left\{\begin{matrix}1\\2\\3\\4\\5\\6\\7\\8\\9\\10\\11\\12\end{matrix}\right.",
    r"\sqrt{\frac{1}{1+\sqrt{\dfrac{x}{y}}}} \cancel{x} \boxed{2}",
    r"\fcolorbox{red}{yellow}{x} \pmb{y} \underbrace{a+b}_{n} \xrightarrow{f}",
    r"\begin{cases} x^2 & x \ge 0 \\ -x & x < 0 \end{cases}",
    r"\sum_{i=1}^{n} \int_0^1 \lim_{x \to 0} \binom{n}{k} \text{当 } n \geqslant 1",
]


def math(source: str, name: str = "", kind: str = "inline") -> str:
    return f'<p><span class="math {kind}" id="{name}">{escape(source)}</span></p>'


@pytest.fixture
def show(page: Page) -> Callable[..., list[str]]:
    """Show formulas on a page and return the list that violations and requests land in."""

    def serve(route: Route, body: str, csp: bool) -> None:
        path = urlparse(route.request.url).path
        if path == "/":
            headers = {"content-security-policy": CSP} if csp else {}
            return route.fulfill(
                body=body, content_type="text/html; charset=utf-8", headers=headers
            )
        file = STATIC / path.removeprefix("/static/")
        return route.fulfill(body=file.read_bytes(), content_type=TYPES[file.suffix])

    def show_formulas(*formulas: str, csp: bool = True) -> list[str]:
        trouble: list[str] = []
        head = render_to_string("components/_math_assets.html")
        body = (
            f"<!doctype html><html><head>{head}</head><body><div class='rich'>{''.join(formulas)}"
        )
        page.on("console", lambda said: trouble.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.route("**/*", lambda route: serve(route, body, csp))
        page.goto(HOST + "/")
        wanted = min(CAP, len(formulas))
        # Not wait_for_function: what it polls is a text, which the policy of the page forbids.
        expect(page.locator("[data-rendered]")).to_have_count(wanted, timeout=30_000)
        page.evaluate("document.fonts.ready")
        return trouble

    return show_formulas


def picture(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("L")


def test_formulas_look_the_same_with_and_without_the_csp(
    page: Page, show: Callable[..., list[str]]
) -> None:
    formulas = [math(source, kind=kind) for source in FORMULAS for kind in ("inline", "block")]
    show(*formulas, csp=False)
    free = picture(page)
    page.unroute_all()
    assert show(*formulas, csp=True) == []
    held = picture(page)
    assert held.size == free.size
    changed = ImageChops.difference(held, free).point(lambda value: 255 if value > 16 else 0)
    assert changed.histogram()[255] < 0.001 * held.width * held.height


def test_a_macro_of_one_response_does_not_reach_the_next(
    page: Page, show: Callable[..., list[str]]
) -> None:
    assert show(math(r"\gdef\frac#1#2{15}\frac{1}{2}"), math(r"\frac{1}{2}", "half")) == []
    assert page.locator("#half .mfrac").count() == 1


@pytest.mark.parametrize(
    "source",
    [
        r"\href{javascript:alert(1)}{x}",
        r"\url{javascript:alert(1)}",
        r"\includegraphics{https://example.org/p.png}",
        r"\htmlData{a=b}{y}",
        r"\htmlStyle{position:fixed}{y}",
        r"\foo<img src=x onerror=alert(1)>",
        r"\frac{<img src=x onerror=alert(1)>",
    ],
)
def test_commands_that_reach_out_draw_no_element(
    page: Page, show: Callable[..., list[str]], source: str
) -> None:
    assert show(math(source, "it"), math("x^2", "after")) == []
    assert page.locator("#it a, #it img, #it [data-a], #it [style*=fixed]").count() == 0
    assert page.locator("#after .katex").count() == 1


@pytest.mark.parametrize(
    "source",
    [
        r"\def\a{xx}" + r"\edef\a{\a\a}" * 30 + r"\a",
        r"\def\a{xx}"
        + "".join(rf"\def\{c}{{\{p}\{p}}}" for p, c in zip("abcdefgh", "bcdefghi", strict=True))
        + r"\i",
        "{" * 2400 + "x" + "}" * 2400,
        "x" * 5001,
    ],
    ids=["edef", "def", "nested", "long"],
)
def test_a_formula_that_grows_stays_source(
    page: Page, show: Callable[..., list[str]], source: str
) -> None:
    assert show(math(source, "it"), math("x^2", "after")) == []
    assert page.locator("#it .katex-html").count() == 0
    assert page.locator("#after .katex").count() == 1


@pytest.mark.parametrize(
    ("begin", "end", "levels"),
    [
        ("x^{", "}", 150),
        ("x^{", "}", 600),
        (r"\frac{1}{1+", "}", 150),
        (r"\sqrt{", "}", 300),
        (r"\begin{array}{c}", r"\end{array}", 150),
        (r"\overline{", "}", 200),
        (r"\xrightarrow{", "}", 150),
    ],
)
def test_a_formula_that_nests_without_end_stays_source(
    page: Page, show: Callable[..., list[str]], begin: str, end: str, levels: int
) -> None:
    """The layout of such a formula ended the tab, and with it the teacher's queue."""
    deep = begin * levels + "x" + end * levels
    show(math(deep, "deep"), math(begin * 20 + "x" + end * 20, "drawn"))
    assert page.locator("#deep").text_content() == deep
    expect(page.locator("#deep")).to_have_class("math inline math-source")
    expect(page.locator("#drawn .katex-html")).to_have_count(1)


def test_a_huge_box_is_cut_to_a_bearable_size(page: Page, show: Callable[..., list[str]]) -> None:
    assert show(math(r"\rule{9999em}{9999em}", "it")) == []
    box = page.locator("#it .katex-rule").bounding_box()
    assert box is not None
    assert box["width"] < 600
    assert box["height"] < 600


def test_past_the_cap_formulas_stay_source(page: Page, show: Callable[..., list[str]]) -> None:
    assert show(*[math("x")] * (CAP + 10)) == []
    assert page.locator(".katex-html").count() == CAP
    assert page.locator(".math:not([data-rendered])").all_inner_texts() == ["x"] * 10


def test_two_events_at_once_draw_each_formula_once(
    page: Page, show: Callable[..., list[str]]
) -> None:
    show(math("y"))
    sources = [rf"\frac{{{number}}}{{\sqrt{{x_{{{number}}}}}}}" for number in range(250)]
    spans = "".join(math(source) for source in sources)
    # A swap of htmx says so twice in a row, long before the first has drawn all.
    page.evaluate(
        """(html) => {
            const root = document.querySelector(".rich");
            root.innerHTML = html;
            for (let i = 0; i < 3; i++)
                root.dispatchEvent(new Event("math:render", { bubbles: true }));
        }""",
        spans,
    )
    expect(page.locator("[data-rendered]")).to_have_count(250)
    page.wait_for_timeout(300)
    drawn = page.locator("annotation").all_text_contents()
    assert drawn == sources
