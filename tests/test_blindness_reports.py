"""Every report, however it is asked for: whoever reads a hidden mark in it has looked at it.

In worlds of few marks, and in those where few of many stand beside other marks, all reports are
asked for in all ways. What changes with a mark at which no look was kept tells it to a teacher who
may mark that response later.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.db.models import F, Q
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluations.facts.answer_facts import record_finals, record_judgements
from evaluations.models import (
    Attempt,
    FinalMark,
    Job,
    Judgement,
    Look,
    Mark,
    MarkingRound,
    Response,
    Run,
)
from evaluations.models.vocabulary import AttemptStatus, JobStatus
from evaluations.reports.forms import BY, FILE, PAPER, PARAMETERS, keys_of
from evaluations.reports.rules.published_tables import Paper
from evaluations.reports.selectors.export_tables import SUMMARIES
from evaluations.reports.selectors.reports import EVERY_REPORT, OF_A_PAPER, OF_SETTINGS
from evaluations.reports.urls import urlpatterns
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import Question, Task
from questions.rules.vocabulary import QuestionType, Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import chosen, judged, mark, run_of
from tests.factories import make_dataset, make_question, make_response, make_task
from tests.test_blindness import masked
from tests.test_blindness_roles import also

pytestmark = pytest.mark.django_db
GPT, QWEN = "gpt-canary", "qwen-canary"
JUDGE = "gpt-judge"
STEP = Decimal("0.25")


@dataclass(frozen=True)
class Hidden:
    """A mark of response ``of``, and what changes it."""

    of: Response
    change: Callable[[], object]


def hidden(of: Response) -> Hidden:
    """Every mark and every total of a response."""

    def change() -> None:
        Mark.objects.filter(slot__answer__response=of).update(total=F("total") + STEP)
        FinalMark.objects.filter(answer__response=of).update(value=F("value") + STEP)
        Judgement.objects.filter(response=of).update(total=F("total") - STEP)
        recorded(of)

    return Hidden(of, change)


def recorded(*responses: Response) -> None:
    """Bring what reports read up to the marks of *responses*."""
    record_finals([one.pk for one in responses])
    record_judgements([one.pk for one in responses])


def swapped(first: Response, second: Response) -> Hidden:
    """The marks of the first response, which a report may tell apart from those of the second."""

    def change() -> None:
        for table, response, value in (
            (FinalMark, "answer__response", "value"),
            (Mark, "slot__answer__response", "total"),
            (Judgement, "response", "total"),
        ):
            one, other = (table.objects.filter(**{response: key}) for key in (first, second))
            if one.exists() and other.exists():
                values = [rows.values_list(value, flat=True)[0] for rows in (one, other)]
                one.update(**{value: values[1]})
                other.update(**{value: values[0]})
        recorded(first, second)

    return Hidden(first, change)


def task_of(dataset: str, subject: Subject = Subject.PHYSICS) -> Task:
    """A task of written answers; most are among those of the paper."""
    slug = f"2010-2022_{subject.value}_Open-ended_Questions"
    found = Task.objects.filter(slug=slug, dataset__slug=dataset).first()
    kind = QuestionType.OPEN_ENDED
    return found or make_task(make_dataset(dataset), subject=subject, slug=slug, question_type=kind)


def written(run: Run, *questions: Question) -> list[Response]:
    return [make_response(one, run, "因为 $v=gt$。") for one in questions]


def asked(dataset: str, number: int = 1, year: int = 2021) -> list[Question]:
    task = task_of(dataset)
    return [make_question(task, marks=("10",), year=year) for _n in range(number)]


def called_twice(response: Response) -> None:
    same = {"question": response.question, "revision": response.revision}
    job = Job.objects.create(run=response.run, status=JobStatus.DONE, **same)
    call = {"number": 2, "fence": 2, "status": AttemptStatus.ANSWERED, "body": "{}"}
    attempt = Attempt.objects.create(job=job, sent_at=timezone.now(), **call)
    Response.objects.filter(pk=response.pk).update(attempt=attempt)


def few_marks(dataset: str) -> list[Hidden]:
    """Five final marks: of two years, subjects and models, and of two repeats of one question.

    One response has the judge's total alone, one the teachers' mark alone.
    """
    first, second = run_of(GPT, dataset), run_of(QWEN, dataset)
    history = task_of(dataset, Subject.HISTORY)
    questions = [*asked(dataset), *asked(dataset, year=2022)]
    questions += [make_question(history, marks=("10",), year=year) for year in (2022, 2021)]
    answers = [*written(first, *questions), *written(second, questions[0])]
    answers.append(make_response(questions[0], second, "因为", repeat=2))
    given = (("4", "6"), ("3",), ("7", "8"), (), ("2",), ("8",))
    for response, totals in zip(answers, given, strict=True):
        if totals:
            mark(response, *totals)
        if response is not answers[2]:
            judged(response, "5", judge=JUDGE)
    judged(answers[0], "6", judge=JUDGE, sample=2)
    called_twice(answers[1])
    for run in (first, second):
        chosen(run, "A", "B")
    return [hidden(one) for one in answers]


def two_marks(dataset: str) -> Hidden:
    """Six final marks with the judge's, of which the first is the mean of two."""
    answers = written(run_of("m-two", dataset), *asked(dataset, 6))
    for n, one in enumerate(answers):
        mark(one, *(["4", "6"] if n == 0 else [str(n)]))
        judged(one, str(n + 1), judge=JUDGE)

    def change() -> None:
        for kind, step in (("first", STEP), ("second", -STEP)):
            own = Mark.objects.filter(slot__answer__response=answers[0], slot__kind=kind)
            own.update(total=F("total") + step)

    return Hidden(answers[0], change)


def judged_again(dataset: str) -> Hidden:
    """Six final marks with the judge's, of which the first was judged another time."""
    answers = written(run_of("m-again", dataset), *asked(dataset, 6))
    for n, one in enumerate(answers):
        mark(one, str(n))
        judged(one, str(n + 1), judge=JUDGE)
    other = judged(answers[0], "1", judge=JUDGE, sample=2)
    return Hidden(answers[0], lambda: Judgement.objects.filter(pk=other.pk).update(total=4))


def few_of_both(dataset: str) -> Hidden:
    """Six final marks and six of the judge, four of them of the same responses."""
    answers = written(run_of("m-both", dataset), *asked(dataset, 8))
    for n, one in enumerate(answers):
        if n < 6:
            mark(one, str(n))
        if n >= 2:
            judged(one, str(n * n % 7), judge=JUDGE)
    return swapped(answers[3], answers[0])


def few_of_both_families(dataset: str) -> Hidden:
    """Six final marks with the judge's of each of two models, one question in common."""
    questions = asked(dataset, 11)
    own = written(run_of("gpt-own", dataset), *questions[:6])
    other = written(run_of("qwen-other", dataset), *questions[5:])
    for n, one in enumerate([*own, *other]):
        mark(one, str(n % 7))
        judged(one, "5", judge=JUDGE)
    return swapped(own[-1], own[0])


def few_in_a_year(dataset: str) -> Hidden:
    """A whole examination of 2022 with one mark in each subject, and marks of the year before.

    Two subjects change places between the years, so that sums of a year or a subject stay.
    """
    run, swaps = run_of("m-years", dataset), []
    given = {Subject.PHYSICS: "041235", Subject.CHEMISTRY: "401235"}
    for subject in set(Subject):
        chosen(run, "A", subject=subject, year=2022)
        task, totals = task_of(dataset, subject), given.get(subject, "6")
        years = [2022, *[2021] * (len(totals) - 1)]
        questions = [make_question(task, marks=("10",), year=year) for year in years]
        answers = written(run, *questions)
        for one, total in zip(answers, totals, strict=True):
            mark(one, total)
        if subject in given:
            swaps.append(swapped(*answers[:2]))
    return Hidden(swaps[0].of, lambda: [one.change() for one in swaps])


WORLDS = (two_marks, judged_again, few_of_both, few_of_both_families, few_in_a_year)


def many_marks(dataset: str) -> list[Hidden]:
    """Marks among five or more of a model, subject and task that few figures are about."""
    return [world(dataset) for world in WORLDS]


# By what reports with keys are grouped here; one key of a label is as another.
BY_KEYS = {
    **dict.fromkeys(OF_SETTINGS, ("task",)),
    "cuts": ("task", "year", "question", "subject,year"),
    "calibration": ("subject", "band", "version"),
}


def queries(report: str, values: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Year and marker alone, a round with the marker, all but a round at once; other keys."""
    first, *others = [{"by": key} for key in BY_KEYS.get(report, ())] or [{}]
    for names in ((), ("marker",), ("year",), ("round", "marker")):
        if values.keys() >= {*names}:
            yield first | {name: values[name] for name in names}
    if len(values) > 1:
        yield first | {name: values[name] for name in values.keys() - {"round"}}
        yield from others


def addresses(dataset: str, values: Mapping[str, str]) -> Iterator[str]:
    """Every report in the API, in all ways."""
    for report in EVERY_REPORT:
        of = {"paper" if report in OF_A_PAPER else "dataset": dataset}
        for query in queries(report, values):
            yield f"/api/v1/reports/{report}/?{urlencode(of | query)}"


def told_by(client: Client, address: str) -> object:
    """What *address* tells, without bounds: draws of questions differ where two swap marks."""
    answer = client.get(address)
    assert answer.status_code == 200, address
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if "json" not in answer["Content-Type"]:
        return re.sub(rb"Data as of [^<]+", b"", masked(body))  # the minute
    made = json.loads(body)
    for figure in (one for row in made.get("rows", ()) for one in row["figures"].values()):
        figure["value"] = figure["value"] and round(figure["value"], 9)
        del figure["low"], figure["high"]
    return made


def seen_by(person: User) -> set[int]:
    """The responses that *person* has looked at, alone or as one of a run."""
    looks = Look.objects.filter(person=person)
    responses = Q(looks__in=looks) | Q(run__looks__in=looks)
    return set(Response.objects.filter(responses).values_list("pk", flat=True))


def leaks(person: User, asked_for: Sequence[str], marks: Sequence[Hidden]) -> list[str]:
    """Return the addresses that tell one of *marks* without a look at its response."""
    client, told = logged_in(person), {}
    unseen: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for address in asked_for:
        before = transaction.savepoint()
        told[address] = told_by(client, address)
        seen = seen_by(person)
        unseen[tuple(n for n, one in enumerate(marks) if one.of.pk not in seen)].append(address)
        transaction.savepoint_rollback(before)
    found = []
    for left, own in unseen.items():
        before = transaction.savepoint()
        for n in left:
            marks[n].change()
        found += [one for one in own if left and told_by(client, one) != told[one]]
        transaction.savepoint_rollback(before)
    return found


@pytest.fixture
def reader(teacher: User) -> User:
    """Who marks, and may read and export all reports."""
    return also(teacher, [Role.LEAD, Role.CURATOR])


def test_all_ways_of_asking_are_tried() -> None:
    """A new parameter, and a new page of reports, are to be added here."""
    assert {"dataset", "by", "paper", "bom", *VALUES} == PARAMETERS | BY | PAPER | FILE
    assert {name for name in EVERY_REPORT if keys_of(name) & BY} == BY_KEYS.keys()
    assert {one.name for one in urlpatterns if "export-" not in one.name} == {*PAGES, *NO_REPORTS}


VALUES = ("model", "condition", "run", "marker", "policy", "year", "round", "without_blind")
MARKER = f"judge:{JUDGE}"
# Pages of marks, each as it is linked; of the others none has any.
PAGES = {
    "overview": ["", "marker=judge:gpt-judge&year=2022"],
    "cuts": ["by=question", "by=year&marker=judge:gpt-judge"],
    "years": ["", "marker=judge:gpt-judge"],
    "settings": [""],
    "rows": ["subject=Physics&part=subjective", "part=objective&complete=yes", "part=objective"],
    "pairs": ["", "pair=teachers-judge:gpt-judge"],
    "papers": ["paper=gaokao-bench", "paper=gaokao-bench&marker=judge:gpt-judge"],
    "paper-cell": ["paper=gaokao-bench&table=table-4&row=gpt&column=sciences:human&MODEL"],
}
FILES = ("calibration", "leakage", "paper-tables", "scores", "gaokao-subjective")
NO_REPORTS = {"rescore", "export", "exports"}


def pages(dataset: str, of_model: str) -> Iterator[str]:
    """Each page of reports, and some files; *of_model* is the query of one model and condition."""
    for name, asked_for in PAGES.items():
        for query in asked_for:
            yield f"{reverse(f'reports:{name}')}?dataset={dataset}&{query}".replace(
                "MODEL", of_model
            )
    for name in FILES:
        query = f"dataset={dataset}&{of_model}&marker={MARKER}"
        query += "&paper=gaokao-bench" if name in OF_A_PAPER else ""
        suffix = "json" if name in SUMMARIES else "csv"
        yield f"/reports/export/{name}.{suffix}?{query}"


def test_no_report_tells_one_of_few_marks_without_a_look(reader: User) -> None:
    """All reports in the API, in all ways, and each page and file of them."""
    paper = Paper.GAOKAO_BENCH.value
    marks = few_marks(paper)
    run = marks[0].of.run
    values = {
        "model": GPT,
        "condition": run.condition.name,
        "run": str(run.pk),
        "marker": MARKER,
        "policy": "published",
        "year": "2022",
        "round": str(MarkingRound.objects.earliest("pk").public_id),
        "without_blind": "yes",
    }
    assert values.keys() == {*VALUES}
    of_model = urlencode({"model": GPT, "condition": run.condition.name})
    assert leaks(reader, list(addresses(paper, values)), marks) == []
    assert leaks(reader, list(pages(paper, of_model)), marks) == []


def test_no_report_tells_a_mark_that_few_of_its_figures_are_about(reader: User) -> None:
    paper = Paper.GAOKAO_BENCH.value
    marks = many_marks(paper)
    tried = list(addresses(paper, {"marker": MARKER}))
    assert leaks(reader, tried, marks) == []
