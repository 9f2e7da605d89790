"""Pinyin initials of Chinese words, so that a name can be found by typing ``lx`` for 力学.

The first level of GB 2312 (3,755 common characters) stands in the order of
pinyin, so the place of a character tells its first letter. Where a character
has several readings, the standard's place decides. Rarer characters have none.
"""

from __future__ import annotations

from bisect import bisect_right

# The first character of each letter in GB 2312; i, u and v begin no syllable.
_FIRST = "啊芭擦搭蛾发噶哈击喀垃妈拿哦啪期然撒塌挖昔压匝"
_LETTERS = "abcdefghjklmnopqrstwxyz"
_BOUNDS = [int.from_bytes(character.encode("gb2312")) for character in _FIRST]
_END = 0xD7F9  # the last character of the first level


def pinyin_initials(text: str) -> str:
    """The initials of *text* in lower case; Latin letters and digits stay, the rest is left out."""
    return "".join(map(_initial, text))


def _initial(character: str) -> str:
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    try:
        code = int.from_bytes(character.encode("gb2312"))
    except UnicodeEncodeError:
        return ""
    if not _BOUNDS[0] <= code <= _END:
        return ""
    return _LETTERS[bisect_right(_BOUNDS, code) - 1]
