"""Unicode normalization of text that anybody wrote: in linear time.

Python orders the combining marks of a run by insertion, so a run of 20,000 marks takes seconds,
and no other thread of the process goes on meanwhile.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

# The longest run of marks in Stream-Safe Text (UAX 15, section 13), and what ends a longer one.
MOST_MARKS = 30
JOINER = "\u034f"
# These have no combining class, but are normalized to marks that have one.
_MADE_OF_MARKS = "\u0f73\u0f75\u0f81"


def normal_form(form: Literal["NFC", "NFKC"], text: str) -> str:
    """Return *text* normalized; a longer run has a joiner after each ``MOST_MARKS`` marks."""
    if text.isascii():
        return text
    return unicodedata.normalize(form, _long_run().sub(rf"\g<0>{JOINER}", text))


@cache
def _long_run() -> re.Pattern[str]:
    marks = "".join(chr(code) for code in range(0x300, 0x1F000) if unicodedata.combining(chr(code)))
    marks = f"[{marks}{_MADE_OF_MARKS}]"
    return re.compile(f"{marks}{{{MOST_MARKS}}}(?={marks})")
