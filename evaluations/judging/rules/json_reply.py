"""Read the total in a judge's reply that is a JSON object.

The object is read strictly: duplicate keys, NaN, infinite and endless numbers are refused
(``gradeapp.common.strict_json``), numbers must be JSON numbers, and the points of the scoring
points must be those of the rubric and add up to the total. A total in a text with its unit ("5分")
is read as in the tagged form. Nothing is repaired.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from evaluations.judging.rules.written_marks import FULL_WIDTH, read_mark
from evaluations.statistics.outcomes import JudgeStatus
from gradeapp.common.strict_json import JsonRefusal, parse_value
from questions.rules.rubric import DEFAULT_STEP, RubricLines, given_total

QUOTE_NOT_FOUND = "quote_not_found"
TOTAL_KEYS = frozenset(
    [
        *("total", "total_score", "final_score", "total_points", "total_marks", "final_mark"),
        *("总分", "【总分】", "总得分", "最终得分", "最后得分"),
    ]
)
SCORE_KEYS = frozenset(["score", "mark", "marks", "grade", "得分", "分数", "评分", "给分"])
LIST_KEYS = frozenset(["points", "scoring_points", "得分点", "采分点"])
ID_KEYS = ("id", "point", "number", "编号", "序号")
AWARDED_KEYS = ("awarded", "points", "score", "得分", "给分")
QUOTE_KEYS = ("quote", "quoted", "evidence", "引用", "原文")
MOST_OBJECTS = 20
MOST_NAMED = 20
LONGEST_NAMED = 120
# Marks have four digits before the point; a longer number is refused before any arithmetic.
MOST_DIGITS = 6

_BEGIN = re.compile(r'\{\s{0,80}"')
_STRING_OR_BRACE = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}]', re.DOTALL)
_CODE_FENCE = re.compile(r"```[a-zA-Z]{0,10}")
_IN_ALL = re.compile(r"^(?:一共|总共|共计|合计|总计|共得|实得|共|计|得)")
_BLANKS = re.compile(r"[\s*_`$\\]+")


@dataclass(frozen=True, slots=True)
class JsonReading:
    """What a JSON reply says; ``rest`` is the text outside the objects."""

    status: JudgeStatus
    total: Decimal | None = None
    flags: tuple[str, ...] = ()
    totals: tuple[Decimal, ...] = ()
    rest: str = ""
    details: dict[str, Any] = field(default_factory=dict)


def read_json_reply(
    text: str, *, rubric: RubricLines | None = None, response: str | None = None
) -> JsonReading | None:
    """Return the total in the one JSON object in *text*; None if no object there has a total.

    With *rubric*, the object must give points to each of its scoring points, by number from 1.
    With *response*, each quoted text must stand in it, apart from blanks and signs of markup. The
    total is not compared with full marks here.
    """
    found, rest = _objects(text)
    said = [one for one in found if isinstance(one, Mapping) and _total_keys(one)]
    if not said:
        broken = next((one for one in found if isinstance(one, JsonRefusal)), None)
        if broken is None or not _CODE_FENCE.sub("", text).lstrip("\ufeff \n\t\r").startswith("{"):
            return None
        return JsonReading(JudgeStatus.UNCLEAR_TOTAL, rest=rest, details={"json": broken.text})
    if len(said) > 1:
        return JsonReading(JudgeStatus.SEVERAL_TOTALS, rest=rest)
    marks = [(said[0][key], _mark(said[0][key])) for key in _total_keys(said[0])]
    values = tuple(value for _given, value in marks if value is not None)
    if len(values) < len(marks):
        return JsonReading(JudgeStatus.UNCLEAR_TOTAL, totals=values, rest=rest)
    if len(set(values)) > 1:
        return JsonReading(JudgeStatus.SEVERAL_TOTALS, totals=values, rest=rest)
    fault, details = _point_fault(said[0], values[0], rubric)
    if fault is not None:
        return JsonReading(fault, totals=values, rest=rest, details=details)
    quotes = [] if response is None else _missing_quotes(said[0], response)
    details |= {"missing_quotes": quotes} if quotes else {}
    flags = (QUOTE_NOT_FOUND,) if quotes else ()
    return JsonReading(JudgeStatus.SCORED, values[0], flags, values, rest, details)


def _objects(text: str) -> tuple[list[Mapping[str, Any] | JsonRefusal], str]:
    """Return the JSON objects in *text*, or why one is refused, and the text outside them."""
    found: list[Mapping[str, Any] | JsonRefusal] = []
    rest, at = [], 0
    while len(found) < MOST_OBJECTS and (begin := _BEGIN.search(text, at)):
        end = _end(text, begin.start())
        rest.append(text[at : begin.start()])
        try:
            found.append(parse_value(text[begin.start() : end].encode("utf-8", "replace"), "reply"))
        except JsonRefusal as refusal:
            found.append(refusal)
        at = end
    return found, "".join([*rest, text[at:]])


def _end(text: str, begin: int) -> int:
    """Return where the object that begins at *begin* ends; the end of the text if it does not."""
    depth = 0
    for match in _STRING_OR_BRACE.finditer(text, begin):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth:
            return match.end()
    return len(text)


def _total_keys(said: Mapping[str, Any]) -> list[str]:
    """Return the keys of *said* that name its total; those of a score if there are none."""
    names = {key: key.strip().casefold().replace(" ", "_") for key in said}
    totals = [key for key, name in names.items() if name in TOTAL_KEYS]
    scores = [key for key, name in names.items() if name in SCORE_KEYS]
    return totals or [key for key in scores if not isinstance(said[key], list | dict)]


def _mark(value: Any) -> Decimal | None:
    """Return *value* if it is one clear mark, else None."""
    if isinstance(value, str):
        text = _IN_ALL.sub("", value.strip().translate(FULL_WIDTH))
        mark = read_mark(text, 0) if text.endswith("分") else None
        whole = mark is not None and text[mark.end :].strip() in ("", "分")
        return mark.value if mark is not None and whole else None
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    if not number.is_finite() or number.adjusted() > MOST_DIGITS or len(number.as_tuple()[1]) > 9:
        return None
    # A mark is a whole number of half points; -0 is 0.
    return None if number % DEFAULT_STEP else number + 0


def _point_fault(
    said: Mapping[str, Any], total: Decimal, rubric: RubricLines | None
) -> tuple[JudgeStatus | None, dict[str, Any]]:
    """Return what is wrong with the points of *said*, and the details that name it."""
    listed = _listed(said)
    given = [
        _mark(_first(one, AWARDED_KEYS) if isinstance(one, Mapping) else one) for one in listed
    ]
    values = [value for value in given if value is not None]
    if rubric is not None and rubric.points:
        details = _unlike_rubric(listed, given, rubric)
        if details:
            return JudgeStatus.POINTS_UNCLEAR, details
        order: list[int] = [_first(one, ID_KEYS) for one in listed]
        by_id = dict(zip(order, values, strict=True))
        ordered = [by_id[place] for place in sorted(by_id)]
        sum_of = given_total(ordered, rubric.points, rubric.groups)
    elif len(values) < len(listed):
        return JudgeStatus.POINTS_UNCLEAR, {"unread": len(listed) - len(values)}
    else:
        sum_of = sum(values, Decimal(0))
    if listed and sum_of != total:
        named = {"points": [f"{value:f}" for value in values], "sum": f"{sum_of:f}"}
        return JudgeStatus.POINTS_DIFFER, {**named, "total": f"{total:f}"}
    return None, {"points": [f"{value:f}" for value in values]} if listed else {}


def _unlike_rubric(
    listed: Sequence[Any], given: Sequence[Decimal | None], rubric: RubricLines
) -> dict[str, Any]:
    """Return which scoring points are missing, unknown, given twice or out of their range."""
    ids = [_first(one, ID_KEYS) if isinstance(one, Mapping) else None for one in listed]
    places: list[Any] = [place if _is_whole(place) else None for place in ids]
    known = range(1, len(rubric.points) + 1)
    counts = Counter(place for place in places if place in known)
    out_of_range = [
        place
        for place, value in zip(places, given, strict=True)
        if place in known and (value is None or not 0 <= value <= rubric.points[place - 1].points)
    ]
    faults: dict[str, list[Any]] = {
        "missing": [place for place in known if place not in counts],
        "unknown": [str(one)[:LONGEST_NAMED] for one in ids if one not in known],
        "twice": [place for place, n in counts.items() if n > 1],
        "out_of_range": out_of_range,
    }
    return {name: places[:MOST_NAMED] for name, places in faults.items() if places}


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _listed(said: Mapping[str, Any]) -> list[Any]:
    """Return the points that *said* gives one by one; [] if it lists none."""
    for key, value in said.items():
        if key.strip().casefold() in LIST_KEYS | SCORE_KEYS and isinstance(value, list):
            return value
    return []


def _first(said: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((said[key] for key in keys if key in said), None)


def _missing_quotes(said: Mapping[str, Any], response: str) -> list[str]:
    """Return the quoted texts that do not stand in *response*."""
    plain = _plain(response)
    quotes = [quote for quote in _quotes(_listed(said)) if _plain(quote) not in plain]
    return [quote[:LONGEST_NAMED] for quote in quotes[:MOST_NAMED]]


def _quotes(listed: Sequence[Any]) -> Iterator[str]:
    """Yield what is quoted for points above 0; without points nothing need be quoted."""
    for one in listed:
        if isinstance(one, Mapping) and _mark(_first(one, AWARDED_KEYS)):
            quote = _first(one, QUOTE_KEYS)
            if isinstance(quote, str):
                yield quote


def _plain(text: str) -> str:
    """Return *text* without blanks and signs of markup, which models write in other ways."""
    return _BLANKS.sub("", text.translate(FULL_WIDTH)).casefold()
