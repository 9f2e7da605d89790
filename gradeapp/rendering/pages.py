"""The characters of a whole page that a person would not see, shown by their numbers.

Texts are rendered so by ``render_text``. Names of papers, files, models and whatever else a page
names come from files and from servers too: what is shown of them is what is stored.
"""

from __future__ import annotations

import re

from gradeapp.common.hidden_text import ANY_INVISIBLE, INVISIBLE, code_point
from gradeapp.rendering.writer import with_signs

# What a form sends or a script reads stays; a title and an option have no elements inside.
_PARTS = re.compile(
    r"(?P<kept><(?P<name>textarea|script|style)\b.*?</(?P=name)\s*>)"
    r"|(?P<plain><(?P<element>title|option)\b.*?</(?P=element)\s*>)|<[^<>]*>",
    re.DOTALL | re.IGNORECASE,
)


def shown_page(html: str) -> str:
    """*html*, a page or a part of one, with each invisible character of its text by its number.

    Attributes stay: the value of a field is what is stored.
    """
    if ANY_INVISIBLE.search(html) is None:
        return html
    made, end = [], 0
    for part in _PARTS.finditer(html):
        made.append(with_signs(html[end : part.start()]))
        made.append(_in_brackets(part[0]) if part["plain"] else part[0])
        end = part.end()
    return "".join((*made, with_signs(html[end:])))


def _in_brackets(element: str) -> str:
    start, bracket, text = element.partition(">")
    return start + bracket + INVISIBLE.sub(lambda one: f"[{code_point(one[0])}]", text)
