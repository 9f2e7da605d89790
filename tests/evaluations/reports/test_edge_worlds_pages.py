"""Small and uniform worlds: every report says in words what it cannot compute, everywhere alike.

Page, command, API and file, in both languages: no NaN, no code in place of words, no value
without a reason, and no total that lacks a part.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.utils import translation

from evaluations.facts.words import reason_words
from evaluations.models import Response
from evaluations.reports.selectors.reports import EVERY_REPORT
from gradeapp.accounts.models import User
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, chosen, judged, mark, run_of, written
from tests.factories import make_dataset

pytestmark = pytest.mark.django_db
PAPER = "gaokao-bench"
PAGES = ("", "cuts/", "years/", "settings/", "papers/", "rows/", "pairs/")
BROKEN = re.compile(r"\bNaN\b|\bnan\b|\bInfinity\b|-0\.0\b|>None<|>[a-z]+_[a-z_]+<")


def nothing() -> None:
    make_dataset(PAPER)


def all_right() -> None:
    """One model, one repeat: every answer right, and full marks from both teachers."""
    run = run_of(ALPHA, PAPER)
    chosen(run, "A", "A")
    mark(written(run), "10", "10")


def none_right() -> None:
    run = run_of(ALPHA, PAPER)
    chosen(run, "B", "B")
    mark(written(run), "0", "0")


def one_pair() -> None:
    """One pair of teachers and one of teachers and a judge, which differ."""
    response = written(run_of(ALPHA, PAPER))
    mark(response, "4", "6")
    judged(response, "7")


def all_equal() -> None:
    """Four responses with the same marks from everybody."""
    run = run_of(ALPHA, PAPER)
    for _ in range(4):
        response = written(run)
        mark(response, "5", "5")
        judged(response, "5")


def a_subject_without_marks() -> None:
    """All ten subjects, but nobody marked the written answers of physics."""
    run = run_of(ALPHA, PAPER)
    for subject in Subject:
        chosen(run, "A", "B", subject=subject)
        for _ in range(2):
            response = written(run, subject)
            if subject is not Subject.PHYSICS:
                mark(response, "4", "6")


WORLDS = [nothing, all_right, none_right, one_pair, all_equal, a_subject_without_marks]


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} in JSON")


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
def test_small_worlds_have_words_everywhere(world: Callable[[], None], admin: User) -> None:
    world()
    client = logged_in(admin)
    reasons: set[str] = set()
    for name in EVERY_REPORT:
        query = {"paper": PAPER} if name == "paper-tables" else {"dataset": PAPER}
        if name == "cuts":
            query["by"] = "task"
        body = client.get(f"/api/v1/reports/{name}/", query)
        assert body.status_code == 200, (name, body.content)
        made = json.loads(body.content, parse_constant=refuse)
        if world is a_subject_without_marks:
            out = io.StringIO()
            call_command("report", name, format="json", stdout=out, **query)
            assert json.loads(out.getvalue(), parse_constant=refuse) == made, name
        file = client.get(f"/reports/export/{name}.csv", query)
        assert file.status_code == 200, (name, file.content)
        text = file.content.decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text)))
        if not made["rows"]:
            (line,) = rows
            assert line["reason"] == made["params"]["reason"], name
            reasons |= {line["reason"]}
            continue
        assert len(rows) == len(made["rows"]), name
        assert not BROKEN.search(text), name
        for row, line in zip(made["rows"], rows, strict=True):
            for figure, one in row["figures"].items():
                where = (name, row["key"], figure)
                assert one["value"] is not None or one["reason"], where
                assert line[figure] == "" if one["value"] is None else line[figure], where
                reasons |= {one["reason"] or ""}
        if name in ("converted", "trend"):
            missing = {
                r["key"]["stream"]: r["figures"]["total"]
                for r in made["rows"]
                if r["key"].get("subject", "ALL") == "ALL"
            }
            for stream, total in missing.items():
                if world is not a_subject_without_marks or stream == "sciences":
                    assert total["value"] is None, "a part is missing"
                    assert total["reason"].startswith("missing:"), total
                elif name == "converted":
                    assert total["value"] == pytest.approx(375)
    for language in ("en", "zh-hans"):
        # English is the language of the sources: two worlds have every page.
        for place in PAGES if language != "en" or world in (nothing, all_equal) else ():
            query = {"dataset": PAPER}
            if place in ("rows/", "pairs/"):
                if not Response.objects.exists():
                    continue
                query |= {"model": ALPHA}
            if place == "pairs/":
                query |= {"pair": "teacher-teacher", "subject": "ALL"}
            page = client.get(f"/reports/{place}", query, headers={"Accept-Language": language})
            assert page.status_code == 200, (language, place)
            found = BROKEN.search(
                re.sub(r"(?s)<(script|style|template|svg).*?</\1>", "", page.text)
            )
            assert not found, (language, place, found)
        with translation.override(language):
            for reason in reasons - {""}:
                words = reason_words(reason)
                assert "_" not in words, reason
                assert bool(re.search("[一-龥]", words)) is (language == "zh-hans"), (reason, words)
