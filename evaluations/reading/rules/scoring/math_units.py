"""Units after a value: their dimension, and their factor to the first unit of it.

An unknown unit keeps its name and is equal only to itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

_DIMENSIONS = {
    "length": {
        "mm 毫米 millimeter millimetre": "1/1000",
        "cm 厘米 公分 centimeter centimetre": "1/100",
        "dm 分米 decimeter decimetre": "1/10",
        "m 米 meter metre": "1",
        "km 千米 公里 kilometer kilometre": "1000",
        "in inch inche": "0.0254",
        "ft foot feet": "0.3048",
        "yd yard": "0.9144",
        "mi mile": "1609.344",
    },
    "mass": {
        "mg 毫克 milligram": "1/1000000",
        "g 克 gram": "1/1000",
        "kg 千克 公斤 kilogram": "1",
        "t 吨 ton tonne": "1000",
        "lb lbs pound": "0.45359237",
        "oz ounce": "0.028349523125",
    },
    "time": {
        "s sec 秒 second": "1",
        "min 分钟 minute": "60",
        "h hr 小时 时 hour": "3600",
        "天 日 day": "86400",
        "周 星期 week": "604800",
        "年 year": "31557600",
        "月 个月 month": "2629800",
    },
    "money": {"dollar 美元 元 yuan": "1", "cent 美分 分": "1/100", "万元": "10000"},
    "litre": {"L l 升 liter litre": "1", "mL ml 毫升 milliliter millilitre": "1/1000"},
    "temperature": {"℃ °C 摄氏度": "1"},
    "current": {"A 安 安培 ampere": "1"},
    "volt": {"V 伏 伏特 volt": "1"},
    "force": {"N 牛 牛顿 newton": "1"},
    "energy": {"J 焦 焦耳 joule": "1", "kJ 千焦 kilojoule": "1000"},
    "power": {"W 瓦 瓦特 watt": "1", "kW 千瓦 kilowatt": "1000"},
    "amount": {"mol 摩尔 摩 mole": "1"},
    "unit": {"unit 单位 单位长度 个单位 个单位长度": "1"},
}
_POWERS = {"square": 2, "sq": 2, "平方": 2, "cubic": 3, "cu": 3, "立方": 3}
_POWER = re.compile(r"\s*\^\s*\{?\s*(-?\d)\s*\}?\Z")
_FIRST = re.compile(r"(square|sq\.?|cubic|cu\.?)\s+|(平方|立方)(?=.)")


_UNITS = {
    name: (dimension, Fraction(factor))
    for dimension, rows in _DIMENSIONS.items()
    for names, factor in rows.items()
    for name in names.split()
}


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as (dimension, power) pairs, and its factor to the first units of them.

    For an unknown word the dimension is the word, and ``known`` is False.
    """

    dimensions: tuple[tuple[str, int], ...]
    factor: Fraction
    known: bool = True


def unit_of(text: str) -> Unit:
    """Read the unit *text*: "cm^2", "square feet", "m/s", "平方米", or an unknown word."""
    over, *under = re.split(r"\s*/\s*|\s+per\s+|每", text.strip())
    dimensions: dict[str, int] = {}
    factor, known = Fraction(1), True
    for sign, words in [(1, over), *((-1, words) for words in under)]:
        for word in re.split(r"\s*\\cdot\s*|\s*\*\s*", words):
            name, size, power = _one(word)
            known &= bool(size)
            dimensions[name] = dimensions.get(name, 0) + sign * power
            factor *= (size or Fraction(1)) ** (sign * power)
    if dimensions.get("litre") and known:
        litres = dimensions.pop("litre")
        dimensions["length"] = dimensions.get("length", 0) + 3 * litres
        factor *= Fraction(1, 1000) ** litres
    return Unit(tuple(sorted(item for item in dimensions.items() if item[1])), factor, known)


def _one(word: str) -> tuple[str, Fraction | None, int]:
    """Return dimension, size (None for an unknown word) and power of one unit."""
    power = 1
    raised = _POWER.search(word)
    if raised:
        power, word = int(raised[1]), word[: raised.start()]
    first = _FIRST.match(word.strip().lower())
    word = word.strip()
    if first:
        power *= _POWERS[(first[1] or first[2]).rstrip(".")]
        word = word[first.end() :].strip()
    stem = re.sub(r"(?<=[a-z]{3})s\Z", "", word.lower())
    spellings = (word, word.lower(), stem) if len(word) > 2 else (word,)
    found = next((_UNITS[one] for one in spellings if one in _UNITS), None)
    return (*found, power) if found else (stem, None, power)


def is_known(word: str) -> bool:
    """Return whether *word* is a unit of the table, or a quotient or power of such units."""
    return unit_of(word).known
