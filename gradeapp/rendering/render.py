"""Renders a text as HTML that is safe to show, and says what could not be shown as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import nh3
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from gradeapp.common.remembered import remembered
from gradeapp.rendering.grammar import Grammar, Kind, Names, Part
from gradeapp.rendering.source import Source
from gradeapp.rendering.writer import Span, Writer, shown

LONGEST = 200_000
TAGS = {
    *("p", "br", "strong", "code", "pre", "h3", "h4", "h5", "h6", "span", "div", "img", "mark"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
CLASSES = {
    "span": {"math", "inline", "block", "sub-number", "part-label", "gap", "apart", "code-point"},
    "div": {"math", "block", "table-wrap"},
}
ATTRIBUTES = {
    "img": {"src", "alt"},
    "span": {"role", "aria-label"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
}
# What no page can show: control characters but tab and line end, and halves of characters.
UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
REPLACEMENT = "\ufffd"


class Change(StrEnum):
    """In what the text that is shown differs from the one that was written."""

    CUT = "cut"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Rendering:
    """Safe HTML of a text, and in what it differs from the text by more than delimiters."""

    html: SafeString
    changes: tuple[Change, ...]


def own_address(tag: str, attribute: str, value: str) -> str | None:
    """Images come from our own site only."""
    if (tag, attribute) == ("img", "src"):
        return value if value.startswith("/questions/images/") else None
    return value


CLEANER = nh3.Cleaner(
    tags=TAGS,
    attributes=ATTRIBUTES,
    allowed_classes=CLASSES,
    attribute_filter=own_address,
    url_schemes={"http", "https"},
    link_rel=None,
    clean_content_tags={"script", "style"},
    strip_comments=True,
)


def unified(text: str) -> str:
    """*text* with one kind of line end, and a visible sign for what no page can show."""
    return UNSHOWN.sub(REPLACEMENT, text.replace("\r\n", "\n").replace("\r", "\n"))


def changes_of(text: str) -> tuple[Change, ...]:
    """In what *text*, when it is shown, differs by more than delimiters."""
    found = []
    if len(text) > LONGEST:
        found.append(Change.CUT)
    if UNSHOWN.search(text.replace("\r", "\n")):
        found.append(Change.REPLACED)
    return tuple(found)


@remembered(maxsize=4096)
def rendered(
    text: str,
    images: tuple[tuple[str, str], ...],
    kind: Kind,
    names: Names,
    marks: tuple[Span, ...] = (),
) -> SafeString:
    """Render *text*, with <mark> around the places of *marks*; past the longest length plain."""
    if len(text) > LONGEST:
        return mark_safe(f"<pre>{shown(text[:LONGEST])}…</pre>")
    writer = Writer(text, marks)
    Grammar(Source(text), kind, dict(images), names).render(0, Part(len(text), writer))
    return mark_safe(CLEANER.clean(writer.html()))


def _names() -> Names:
    return Names(gap=gettext("blank to fill in"), space=gettext("space"), image=gettext("Image"))


def render_text(
    text: str, images: Mapping[str, str] | None = None, *, kind: Kind | str = Kind.EXAM
) -> SafeString:
    """Safe HTML of *text*; ``images`` gives the address of each image by its name."""
    addresses = tuple(sorted((images or {}).items()))
    return rendered(unified(text), addresses, Kind(kind), _names())


def render_pieces(
    pieces: Iterable[tuple[str, bool]],
    images: Mapping[str, str] | None = None,
    *,
    kind: Kind | str = Kind.EXAM,
) -> SafeString:
    """Safe HTML of a text in pieces; those that come with True are marked."""
    texts: list[str] = []
    marks: list[Span] = []
    length = 0
    for piece, marked in pieces:
        texts.append(unified(piece))
        if marked and texts[-1]:
            marks.append((length, length + len(texts[-1])))
        length += len(texts[-1])
    addresses = tuple(sorted((images or {}).items()))
    return rendered("".join(texts), addresses, Kind(kind), _names(), tuple(marks))
