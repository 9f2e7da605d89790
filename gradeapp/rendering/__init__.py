"""The one renderer for texts of examinations, models and people: text in, safe HTML out.

Exam texts are not Markdown. The grammar (``grammar.py``) names every delimiter there
is; all other characters are shown as they are written. Nothing here trusts its input:
every character is escaped, nh3 keeps an allow-list of tags and attributes as a last
fence, mathematics stays source in ``.math`` elements that static/js/math.js hands to
KaTeX, and images load only from our own bank.
"""

from gradeapp.rendering.grammar import Kind
from gradeapp.rendering.render import (
    LONGEST,
    Change,
    Rendering,
    changes_of,
    render_pieces,
    render_text,
)

__all__ = [
    "LONGEST",
    "Change",
    "Kind",
    "Rendering",
    "changes_of",
    "render_pieces",
    "render_text",
]
