"""Names of people, rounds and models: what is shown must be what is stored."""

from __future__ import annotations

import unicodedata

# Scripts whose letters look like each other's: "аdmin" with a Cyrillic first letter.
ALIKE = ("LATIN", "CYRILLIC", "GREEK")


def folded(name: str) -> str:
    """Return what names have in common that differ only by case, width or spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def name_problem(name: str) -> str:
    """Return ``invisible`` or ``mixed`` for a *name* that can pass for another; else "".

    Invisible are control and format characters (directions, zero width, tags) and characters
    without a meaning; mixed is a word with letters of two scripts that look alike.
    """
    if any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for one in name):
        return "invisible"
    for word in name.split():
        names = (unicodedata.name(one, "") for one in word if not one.isascii() and one.isalpha())
        scripts = {script for letter in names for script in ALIKE if letter.startswith(script)}
        if any(one.isascii() and one.isalpha() for one in word):
            scripts.add("LATIN")
        if len(scripts) > 1:
            return "mixed"
    return ""
