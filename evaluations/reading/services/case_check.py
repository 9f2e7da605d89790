"""Check of a file of cases by the readers of answers and the comparison of mathematics."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from evaluations.reading.rules.extraction.blanks import read_exact_answer
from evaluations.reading.rules.extraction.cascade import read_answer
from evaluations.reading.rules.scoring.math_equivalence import equivalent
from evaluations.reading.rules.scoring.math_text import normal_text
from gradeapp.common.refusals import BadInput

MAX_FILE_BYTES = 32 * 1024 * 1024

Case = Mapping[str, Any]
# What a case expects, and what was read, by the same keys.
CaseReader = Callable[[Case], tuple[Case, Case]]


@dataclass(frozen=True, slots=True)
class FailedCase:
    """A case with another result than expected; *index* counts from 0."""

    index: int
    expected: object
    got: object


@dataclass(frozen=True, slots=True)
class CaseReport:
    """The number of cases of a file, and the failed ones."""

    total: int
    failed: tuple[FailedCase, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the JSON of the command."""
        failed = [
            {"index": case.index, "expected": case.expected, "got": case.got}
            for case in self.failed
        ]
        return {"total": self.total, "passed": self.total - len(failed), "failed": failed}


def check_cases(path: Path, *, readers: Mapping[str, CaseReader]) -> CaseReport:
    """Check each case of *path*: a JSON list of cases, or lists of mathematics cases by name.

    A case is a choice extraction, a comparison of two answers in mathematics, the
    extraction of one, or what *readers* read, by the key that such a case has. Raises
    BadInput if the file is not such a list; a case that is read in another way is
    listed in the report.
    """
    cases = _cases(path)
    return CaseReport(len(cases), tuple(failures(cases, readers)))


def failures(
    cases: Iterable[Any], readers: Mapping[str, CaseReader] | None = None
) -> Iterator[FailedCase]:
    """Return those of *cases* that are read in another way; raises BadInput for what is no case."""
    for index, case in enumerate(cases):
        try:
            expected, got = _check(case, readers or {})
        except (KeyError, TypeError, ValueError, ArithmeticError) as error:
            raise BadInput(
                _("Case %(index)d is not in the required format.") % {"index": index}
            ) from error
        if expected != got:
            yield FailedCase(index, expected, got)


def _cases(path: Path) -> list[Any]:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise BadInput(_("“%(path)s” is larger than 32 MB.") % {"path": path})
        cases = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except OSError as error:
        raise BadInput(_("There is no file “%(path)s”.") % {"path": path}) from error
    except UnicodeDecodeError as error:
        raise BadInput(_("“%(path)s” is not UTF-8 text.") % {"path": path}) from error
    except (json.JSONDecodeError, RecursionError) as error:
        reason = str(error).split(":")[0]
        raise BadInput(
            _("“%(path)s” is not JSON: %(reason)s.") % {"path": path, "reason": reason}
        ) from error
    if isinstance(cases, dict) and cases and cases.keys() <= _MATHEMATICS:
        lists = list(cases.values())
        whole = all(isinstance(one, list) for one in lists)
        cases = [case for one in lists for case in one] if whole else None
    if not isinstance(cases, list) or not cases:
        raise BadInput(_("“%(path)s” is not a list of cases.") % {"path": path})
    return cases


_MATHEMATICS = frozenset(("equivalence", "extraction"))


def _check(case: Case, readers: Mapping[str, CaseReader]) -> tuple[object, object]:
    """Return what *case* expects and what was read; raise KeyError if it is no case."""
    if "gold" in case:  # a comparison that was given up is neither equal nor not
        compared = equivalent(case["gold"], case["answer"])
        expected = {key: case[key] for key in ("equal", "reason") if key in case}
        return _compared(expected, {"equal": compared.equal, "reason": compared.reason})
    if "output" in case and "kind" not in case:
        return _check_exact(case)
    if "output" in case:
        truncated = case.get("truncated", False)
        asked = (case["kind"], case["letters"], case["parts"])
        reading = read_answer(case["output"], *asked, truncated=truncated)
        got = {"answer": list(reading.answers), "outcome": str(reading.outcome)}
        return _compared(case["expect"], got)
    for key, read in readers.items():
        if key in case:
            return _compared(*read(case))
    raise KeyError("output")


def _check_exact(case: Case) -> tuple[object, object]:
    """Check one answer as text or null, or a list of them for several blanks."""
    several = "answers" in case
    expected = case["answers"] if several else [case["answer"]]
    truncated = case.get("truncated", False)
    reading = read_exact_answer(case["output"], len(expected), truncated=truncated)
    same = len(reading.answers) == len(expected) and all(
        _same_text(want, got) for want, got in zip(expected, reading.answers, strict=True)
    )
    shown = list(reading.answers) if several else reading.answers[0]
    wanted = {"answers" if several else "answer": expected if several else expected[0]}
    got = {**wanted} if same else {"answers" if several else "answer": shown}
    if "outcome" in case:
        wanted["outcome"], got["outcome"] = case["outcome"], str(reading.outcome)
    return wanted, got


def _same_text(expected: str | None, got: str | None) -> bool:
    """Return whether the texts are equal except for layout, such as spaces and dollars."""
    if expected is None or got is None:
        return expected is got
    return normal_text(expected).replace(" ", "") == normal_text(got).replace(" ", "")


def _compared(expected: Case, got: Case) -> tuple[object, object]:
    """Return both with the keys of the case; the whole reading if they differ."""
    if not expected or not expected.keys() <= got.keys():
        raise KeyError("expect")
    same = all(got[key] == value for key, value in expected.items())
    return dict(expected), dict(expected) if same else dict(got)
