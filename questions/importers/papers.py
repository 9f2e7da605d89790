"""Which paper an item is from, out of the free text in which a source names it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gradeapp.common.normal_form import normal_form

_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_ROMAN = {"1": "Ⅰ", "2": "Ⅱ", "3": "Ⅲ", "I": "Ⅰ", "II": "Ⅱ", "III": "Ⅲ"}
_NUMBER = r"(?P<number>I{1,3}|[123])"
# The first that fits names the paper; national papers go before the provinces that sat them.
_NATIONAL: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), name)
    for pattern, name in (
        (r"全国(?:高考)?甲卷", "全国甲卷"),
        (r"全国(?:高考)?乙卷", "全国乙卷"),
        (rf"新高考(?:全国)?{_NUMBER}卷", "新高考"),
        (rf"新课标(?:全国)?{_NUMBER}?", "新课标"),
        (rf"大纲[版卷]{_NUMBER}?", "大纲版"),
        (rf"全国(?:高考)?卷?{_NUMBER}", "全国卷"),
    )
)
_PROVINCE = re.compile(
    "北京|天津|上海|重庆|江苏|浙江|山东|广东|海南|福建|四川|安徽|湖北|湖南|河北|辽宁|贵州"
)
_MONTH = re.compile(r"(?<!\d)(1[0-2]|[1-9])月")
_CIVIL = re.compile(r"(?:\d{4}年?)?(?P<name>.*?)[\d~,、-]*")


@dataclass(frozen=True, slots=True)
class PaperSource:
    """The year and the canonical name of a paper; None and "" where the text names none."""

    year: int | None
    paper: str


def examination_paper(source: str) -> PaperSource:
    """Year and paper of a university entrance examination (AGIEval's ``other.source``).

    ``2021年生物试卷（新课标ⅲ）`` is 新课标Ⅲ of 2021, ``2020年浙江省高考地理【1月】`` 浙江卷1月:
    where a province examined twice in a year, the month tells the papers apart.
    """
    plain = _plain(source)
    year = _YEAR.search(plain)
    return PaperSource(int(year[1]) if year else None, _examination(plain))


def civil_service_paper(source: str) -> str:
    """The paper of a civil service examination: ``2022江苏A116～120`` is 江苏A."""
    match = _CIVIL.fullmatch(_plain(source))
    return match["name"] if match else ""


def _plain(text: str) -> str:
    """One spelling for wide signs and Roman numbers, without blanks."""
    return "".join(normal_form("NFKC", text).split())


def _examination(plain: str) -> str:
    for pattern, name in _NATIONAL:
        if match := pattern.search(plain):
            number = match.groupdict().get("number")
            return name + _ROMAN[number.upper()] if number else name
    province = _PROVINCE.search(plain)
    if province is None:
        return ""
    month = _MONTH.search(plain)
    return f"{province[0]}卷{month[0]}" if month else f"{province[0]}卷"
