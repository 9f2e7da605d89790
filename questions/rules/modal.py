"""What an item's content is made of, found in the content: text, tables and images.

Fourth place of AGIBench's four-tuple. What counts is what is asked (passage,
stem, options), not the analysis. "Image only" is an item whose passage and stem
hold nothing but images; its options may still be words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from questions.rules.vocabulary import Modal

# AGIBench, section 3.2, of 927 items; which item is which is not published.
PAPER_COUNTS = {
    Modal.TEXT: 863,
    Modal.TEXT_TABLE: 10,
    Modal.TEXT_IMAGE: 38,
    Modal.IMAGE: 5,
    Modal.TEXT_IMAGE_TABLE: 11,
}

_IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\s]*\)|<img\b[^>]*>", re.IGNORECASE)
_TABLE = re.compile(
    r"\\begin\s*\{(?:tabular|tabularx|longtable)\*?\}"
    r"|\\begin\s*\{array\}\s*\{[^}|]*\|[^}|]*\|"  # one bar is a matrix's, two are a table's
    r"|<table\b"
    r"|^[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t]*(?::?-{2,}:?)?[ \t]*$",  # the rule under a head
    re.IGNORECASE | re.MULTILINE,
)
_WORD = re.compile(r"\w")


def modal_of(
    stem: str, options: Iterable[str] = (), passage: str = "", images: Iterable[str] = ()
) -> Modal:
    """The modal of one item; *images* are the names of its pictures, also those not in the text."""
    question = f"{passage}\n{stem}"
    asked = "\n".join((question, *options))
    has_image = any(True for _ in images) or _IMAGE.search(asked) is not None
    if _TABLE.search(asked) is not None:
        return Modal.TEXT_IMAGE_TABLE if has_image else Modal.TEXT_TABLE
    if not has_image:
        return Modal.TEXT
    has_words = _WORD.search(_IMAGE.sub("", question)) is not None
    return Modal.TEXT_IMAGE if has_words else Modal.IMAGE
