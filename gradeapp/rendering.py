"""The one renderer for text of benchmarks, models and people: Markdown in, safe HTML out.

Nothing here trusts its input. markdown-it never lets HTML through, nh3 keeps an
allow-list of tags and attributes, mathematics stays source in ``.math`` elements
that static/js/math.js hands to KaTeX, and images load only from our own bank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.dollarmath import dollarmath_plugin

LONGEST = 200_000
TAGS = {
    *("p", "br", "em", "strong", "del", "code", "pre", "blockquote", "hr", "sup", "sub"),
    *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "span", "div", "a", "img", "mark"),
}
CLASSES = {
    "span": {"math", "inline", "block", "sub-number", "part-label"},
    "div": {"math", "block"},
}
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, "img": {"src", "alt"}}

# Private characters that stand for <mark> and </mark> until the HTML is made.
MARK_BEGIN, MARK_END = "\ue010", "\ue011"
# The tagged format of GAOKAO-Bench, and the TeX brackets that many models write.
END_TAGS = re.compile(r"<\s{0,2}eo[ea]\s{0,2}>", re.IGNORECASE)
PART_TAG = re.compile(r"【(解析|答案|分析|解答|点评|Analysis|Answer)】\s{0,4}[:：]?")
INLINE_TEX = re.compile(r"\\\((.{1,5000}?)\\\)", re.DOTALL)
BLOCK_TEX = re.compile(r"\\\[(.{1,5000}?)\\\]", re.DOTALL)
SUB_NUMBER = re.compile(r"^\s{0,3}([（(]\s{0,2}(?:\d{1,2}|[IVXⅠ-Ⅻⅰ-ⅻ]{1,4})\s{0,2}[）)])")


def image_or_words(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """An image of the bank by its name; any other address stays words and loads nothing."""
    token = tokens[index]
    source = str(token.attrs.get("src", ""))
    url = env.get("images", {}).get(source.removeprefix("image:"))
    alt = escape(token.content)
    return f'<img src="{escape(url)}" alt="{alt}">' if url else f"[{alt or escape(source)}]"


def display_in_line(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    """$$...$$ within a paragraph, as models write it: a span, since a div would end the <p>."""
    return f'<span class="math block">{escape(tokens[index].content)}</span>'


def emphasise_sub_numbers(state: StateCore) -> None:
    """Make the （1） at the start of a line stand out, so that the eye finds its place."""
    for token in state.tokens:
        children: list[Token] = []
        for child in token.children or []:
            line_starts = not children or children[-1].type in ("softbreak", "hardbreak")
            match = SUB_NUMBER.match(child.content) if line_starts else None
            if match and child.type == "text":
                mark = Token("html_inline", "", 0)
                mark.content = f'<span class="sub-number">{escape(match.group(1))}</span>'
                child.content = child.content[match.end() :]
                children.append(mark)
            children.append(child)
        if token.type == "inline":
            token.children = children


def label_part(match: re.Match[str]) -> str:
    """【解析】 becomes a small label; a person's text cannot name a class of its own."""
    return f"\n\n\ue000{match.group(1)}\ue001\n\n"


def make_parser() -> MarkdownIt:
    """CommonMark with tables and dollar mathematics; no HTML, no links by themselves."""
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 30})
    parser.enable("table").disable(["code", "lheading", "html_block", "html_inline", "reference"])
    parser.use(dollarmath_plugin, allow_labels=False, allow_space=True, double_inline=True)
    parser.core.ruler.push("sub_numbers", emphasise_sub_numbers)
    parser.add_render_rule("image", image_or_words)
    parser.add_render_rule("math_inline_double", display_in_line)
    return parser


PARSER = make_parser()


def own_address(tag: str, attribute: str, value: str) -> str | None:
    """Links lead outside by http(s); images come from our own site only."""
    if (tag, attribute) == ("a", "href"):
        return value if value.startswith(("https://", "http://", "mailto:")) else None
    if (tag, attribute) == ("img", "src"):
        return value if value.startswith("/questions/images/") else None
    return value


CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    allowed_classes=CLASSES,
    attribute_filter=own_address,
    url_schemes={"http", "https", "mailto"},
    link_rel="noopener noreferrer nofollow",
    clean_content_tags={"script", "style"},
    strip_comments=True,
)


def prepare(text: str) -> str:
    """The tagged format and TeX brackets in terms of Markdown."""
    text = text.replace("\ue000", "").replace("\ue001", "")
    text = END_TAGS.sub("\n", text)
    text = PART_TAG.sub(label_part, text)
    text = BLOCK_TEX.sub(lambda match: f"$${match.group(1)}$$", text)
    return INLINE_TEX.sub(lambda match: f"${match.group(1)}$", text)


@lru_cache(maxsize=2048)
def rendered(text: str, images: tuple[tuple[str, str], ...]) -> SafeString:
    """Render *text*; past the longest length it stays plain."""
    if len(text) > LONGEST:
        return mark_safe(f"<pre>{escape(text[:LONGEST])}…</pre>")
    html = PARSER.render(prepare(text), {"images": dict(images)})
    html = html.replace("\ue000", '<span class="part-label">').replace("\ue001", "</span>")
    html = html.replace(MARK_BEGIN, "<mark>").replace(MARK_END, "</mark>")
    return mark_safe(CLEANER.clean(html))


def render_pieces(
    pieces: Iterable[tuple[str, bool]], images: Mapping[str, str] | None = None
) -> SafeString:
    """Safe HTML of a text in pieces; those that come with True are marked."""
    text = "".join(
        f"{MARK_BEGIN}{unmarked(piece)}{MARK_END}" if marked else unmarked(piece)
        for piece, marked in pieces
    )
    return rendered(text, tuple(sorted((images or {}).items())))


def unmarked(text: str) -> str:
    """*text* without the private characters that begin and end a mark."""
    return text.replace(MARK_BEGIN, "").replace(MARK_END, "")


def render_text(text: str, images: Mapping[str, str] | None = None) -> SafeString:
    """Safe HTML of *text*; ``images`` gives the address of each image by its name."""
    return rendered(unmarked(text), tuple(sorted((images or {}).items())))
