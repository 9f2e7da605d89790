"""Lists and figures that tell about responses which they do not show.

A search without a hit, a list of an outcome without a row and a number of wrong answers tell about
each response that they were chosen from, if these are of one model or few.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from evaluations.facts.looks import SMALL_CELL
from evaluations.models import Judge, Look, Response, Run
from evaluations.models.vocabulary import RunStatus
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import Question, QuestionRevision
from questions.rules.vocabulary import Part, QuestionType
from tests.conftest import logged_in
from tests.evaluations.marking_world import responses_to, small_round, subjective_question
from tests.evaluations.report_world import JUDGE, judged, mark
from tests.evaluations.review_world import review_of
from tests.factories import make_dataset, make_endpoint, make_question, make_response, make_task
from tests.test_blindness_oracles import GPT, QWEN, refused
from tests.test_blindness_roles import also

pytestmark = pytest.mark.django_db
# Right, so that a list of wrong answers and a review are empty.
FULL = ("12", "12")
LISTS = ("rows", "pairs")


def several(question: Question, number: int) -> list[Response]:
    """*number* responses of one run, to *question* and others of its task."""
    responses = responses_to(question, 1)
    for ball in range(number - 1):
        own = make_question(question.task, marks=("12",), stem=f"How far does ball {ball} fall?")
        responses.append(make_response(own, responses[0].run, "$s = 1$"))
    return responses


def barred_by(
    pages: Sequence[str], chosen: Sequence[Response], people: Sequence[User], lead: User | None
) -> list[str]:
    """Those of *pages* after which the first of *people* may not mark *chosen*."""
    barred = []
    for page in pages:
        before = transaction.savepoint()
        seen = logged_in(people[0]).get(page)
        beyond = page.startswith("/api/") and "page=9" in page
        assert seen.status_code == (404 if beyond else 200), page
        b"".join(seen.streaming_content) if seen.streaming else seen.content
        why = refused(chosen, people, lead)
        assert why in ("", "looked"), page
        barred += [page] if why else []
        transaction.savepoint_rollback(before)
    return barred


def test_lists_and_searches_are_looks_at_all_runs_that_were_asked_for(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Found or not: that no text of a model has the words tells which texts are not of it."""
    question = subjective_question()
    chosen = several(question, 2)
    other = responses_to(subjective_question(), 1, QWEN)[0].run_id
    choice = make_question(make_task(question.task.dataset))
    make_response(choice, chosen[0].run, "A")
    run, people = chosen[0].run_id, [also(teacher, [Role.LEAD]), other_teacher]
    named = ["", f"run={run}&", f"model={GPT}&", f"condition={chosen[0].run.condition.name}&"]
    named += [f"question={question.public_id}&", f"dataset={question.task.dataset.slug}&"]
    searches = ("/runs/search/", "/runs/search/export/", "/api/v1/responses/")
    tells = [f"{page}?{one}q=zebra" for page in searches for one in named]
    lists = (*searches, f"/runs/{run}/responses/", f"/api/v1/runs/{run}/responses/")
    tells += [f"{page}?outcome=wrong&repeat=7" for page in lists]
    tells += [f"{page}?part=subjective" for page in lists]
    tells.append(f"/api/v1/runs/{run}/responses/?page=9")
    beside = f"/runs/compare/{question.public_id}/"
    # The last one shows none of the responses, and which runs answered the question.
    tells += [beside, f"{beside}?run={run}&repeat=7", f"{beside}?run={other}"]
    free = [f"{page}?part=objective" for page in lists]
    free += [f"{page}?task={choice.task.slug}" for page in lists]
    free += [f"{page}?q=zebra&run={other}" for page in searches]
    free += [f"/runs/compare/{choice.public_id}/"]
    assert barred_by([*tells, *free], chosen, people, lead) == tells


def test_filters_of_the_operators_site_are_looks_at_all_runs(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Found or not, and only those beside the list: no words of a text, no seed of a round."""
    chosen = responses_to(subjective_question(), 2)
    people, site = [also(teacher, [Role.ADMIN]), other_teacher], "/admin/evaluations"
    tells = [f"{site}/job/?status__exact=dead", f"{site}/judgement/?status__exact=failed"]
    free = [f"{site}/judgement/", f"{site}/judgement/?p=0"]
    assert barred_by([*tells, *free], chosen, people, lead) == tells
    client = logged_in(people[0])
    for page in ("response/?text__contains=t", "markinground/?hidden_seed__gt=9", "mark/?total=3"):
        assert client.get(f"{site}/{page}").status_code == 400, page


def test_a_question_is_one_wherever_it_stands_with_the_same_text(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """The answers to its copy in another dataset may be those that are marked."""
    question = subjective_question()
    copy = make_question(make_task(make_dataset("copy"), slug=question.task.slug), marks=("12",))
    QuestionRevision.objects.filter(question=copy).update(
        stem=question.current.stem, passage=question.current.passage
    )
    (seen,) = responses_to(copy, 1)
    people = [also(teacher, [Role.LEAD]), other_teacher]
    pages = [f"/runs/responses/{seen.public_id}/"]
    assert not barred_by(pages, responses_to(question, 2), people, lead), "an objective one"
    QuestionRevision.objects.filter(question=copy).update(
        question_type=question.current.question_type
    )
    assert barred_by(pages, responses_to(question, 2), people, lead) == pages


def test_figures_of_a_run_with_few_responses_are_looks_at_them(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Its costs and times tell how long each is; those of a run that goes on, what came last."""
    people, question = [also(teacher, [Role.LEAD]), other_teacher], subjective_question()
    chosen = several(question, SMALL_CELL - 1)
    run = chosen[0].run
    Run.objects.filter(pk=run.pk).update(status=RunStatus.FINISHED, endpoint=make_endpoint())
    tells = [f"/runs/{run.pk}/", f"/runs/{run.pk}/progress/", f"/api/v1/runs/{run.pk}/"]
    assert barred_by(tells, chosen, people, lead) == tells
    own = make_question(question.task, marks=("12",), stem="How far does it fall?")
    chosen.append(make_response(own, run, "$s = 1$"))
    assert barred_by(tells, chosen, people, lead) == []
    alone = make_response(
        make_question(
            make_task(
                question.task.dataset, slug="essays", question_type=question.task.question_type
            )
        ),
        run,
        "$s = 2$",
    )
    assert barred_by(tells, [alone], people, lead) == tells, "its task has its own median"


def test_each_look_at_a_run_that_goes_on_tells_what_came_last(
    teacher: User, other_teacher: User, lead: User
) -> None:
    people, question = [also(teacher, [Role.LEAD]), other_teacher], subjective_question()
    chosen = several(question, SMALL_CELL)
    run, endpoint = chosen[0].run, make_endpoint()
    tells = [f"/runs/{run.pk}/", f"/runs/{run.pk}/progress/", f"/api/v1/runs/{run.pk}/"]
    runs = Run.objects.filter(pk=run.pk)
    runs.update(status=RunStatus.FINISHED, endpoint=endpoint)
    assert barred_by(tells, chosen, people, lead) == []
    runs.update(status=RunStatus.RUNNING)
    assert barred_by(tells, chosen, people, lead) == tells


def test_a_second_look_at_a_list_writes_no_look(teacher: User) -> None:
    chosen = several(subjective_question(), 2)
    client, page = logged_in(also(teacher, [Role.LEAD])), f"/runs/{chosen[0].run_id}/responses/"
    written = []
    for _look in range(2):
        with CaptureQueriesContext(connection) as queries:
            assert client.get(page).status_code == 200
        written.append(sum('INTO "evaluations_look"' in one["sql"] for one in queries))
    assert written == [1, 0]
    assert Look.objects.get().run_id == chosen[0].run_id


def test_lists_behind_a_figure_are_looks_at_all_runs_that_were_asked_for(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """Whatever they show: sums are over all pages, and that none is wrong tells of each."""
    people, question = [also(teacher, [Role.LEAD]), other_teacher], subjective_question()
    chosen = several(question, SMALL_CELL)
    judge, other = f"judge:{JUDGE}", responses_to(subjective_question(), 1, QWEN)
    for one in (*chosen, *other):
        given = "6" if one == chosen[0] else "12"
        mark(one, given, given)
        judged(one, given)
    choice = make_question(make_task(question.task.dataset))
    make_response(choice, chosen[0].run, "A")
    rows, pairs = (f"/reports/{name}/?dataset={question.task.dataset.slug}" for name in LISTS)
    run, condition = chosen[0].run_id, chosen[0].run.condition.name
    asked = ["", f"&model={GPT}", f"&run={run}", f"&condition={condition}"]
    tells = [page + one for page in (rows, pairs) for one in asked]
    narrow = ["outcome=wrong", "unscored=yes", "page=9", "cut=year:1950", "year=2020"]
    tells += [f"{rows}&model={GPT}&marker={judge}&{one}" for one in narrow]
    tells += [f"{rows}&task={question.task.slug}", f"{pairs}&pair=teachers-{judge}&subject=Biology"]
    free = [f"{rows}&part=objective", f"{rows}&task={choice.task.slug}", f"{rows}&model={QWEN}"]
    free += [f"{pairs}&model={QWEN}", f"/reports/?dataset={question.task.dataset.slug}&model={GPT}"]
    assert barred_by([*tells, *free], chosen, people, lead) == tells


def test_the_report_of_retries_tells_about_each_of_few(
    teacher: User, other_teacher: User, lead: User
) -> None:
    people, question = [also(teacher, [Role.LEAD]), other_teacher], subjective_question()
    few, chosen = responses_to(subjective_question(), 1, QWEN), several(question, SMALL_CELL)
    for one in (*few, *chosen[1:]):
        mark(one, *FULL)
    mark(chosen[0], "6", "6")
    page = f"/api/v1/reports/retries/?dataset={question.task.dataset.slug}"
    assert barred_by([page], chosen, people, lead) == []
    assert barred_by([page], few, people, lead) == [page]


@pytest.mark.parametrize("extreme", ["0", "12"])
def test_a_figure_tells_about_each_of_many_if_all_got_nothing_or_full_marks(
    extreme: str, teacher: User, other_teacher: User, lead: User
) -> None:
    people, question = [also(teacher, [Role.LEAD]), other_teacher], subjective_question()
    chosen, dataset = several(question, SMALL_CELL), question.task.dataset.slug
    for one in chosen[1:]:
        mark(one, extreme, extreme)
    tells = [f"/api/v1/reports/cuts/?by=year&dataset={dataset}", f"/reports/?dataset={dataset}"]
    tells.append(f"/api/v1/reports/retries/?dataset={dataset}")
    before = transaction.savepoint()
    mark(chosen[0], "6", "6")
    assert barred_by(tells, chosen, people, lead) == []
    transaction.savepoint_rollback(before)
    mark(chosen[0], extreme, extreme)
    assert barred_by(tells, chosen, people, lead) == tells


def previewed(run: int, people: Sequence[User], **fields: Any) -> dict[str, Any]:
    """The form of a review of a run, as its page sends it."""
    form = {"name": "Errors", "runs": [run], "reviewers": [one.pk for one in people[1:]]}
    form |= {"policy": "strict", "per_task": 100, "reviewers_each": 1, "random_seed": 7}
    return form | fields


@pytest.mark.parametrize("number", [1, SMALL_CELL])
def test_the_number_of_wrong_answers_tells_about_each_of_few(
    number: int, teacher: User, other_teacher: User, lead: User
) -> None:
    """In the figures of a review; its preview and its answers are looks at the runs, of any number.

    No review can be opened of none, and the refusal tells it.
    """
    people, chosen = (
        [also(teacher, [Role.LEAD]), other_teacher],
        several(subjective_question(), number),
    )
    for one in chosen:
        mark(one, *FULL)
    run, client = chosen[0].run_id, logged_in(people[0])
    for fields in ({"preview": "yes"}, {}):
        before = transaction.savepoint()
        sent = client.post("/reviews/new/", previewed(run, people, **fields))
        assert sent.status_code == (200 if fields else 400)
        assert refused(chosen, people, lead) == "looked"
        transaction.savepoint_rollback(before)
    for one in chosen:
        mark(one, "3", "3")
    review = review_of(chosen[0].run, [also(lead, [Role.LEAD])])
    pages = [f"/reviews/{review.public_id}/?run={run}", f"/reviews/{review.public_id}/"]
    pages += [f"/api/v1/capability-reviews/{review.public_id}/"]
    answers = [f"/reviews/{review.public_id}/answers/?run={run}&value=1&dimension=reasoning"]
    barred = [*(pages if number == 1 else []), *answers]
    assert barred_by([*pages, *answers], chosen, people, None) == barred


def test_lists_of_judgements_are_looks_at_all_runs_that_were_asked_for(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """No status but one and no difference: that a response is not in the list tells its mark."""
    question, people = subjective_question(), [also(teacher, [Role.LEAD]), other_teacher]
    chosen, other = several(question, SMALL_CELL), responses_to(subjective_question(), 1, QWEN)
    for one in (*chosen, *other):
        mark(one, *FULL)
        judged(one, "12")
    judge, calibrated = Judge.objects.get(), make_dataset("judged")
    lists = (f"/judging/{judge.pk}/", "/api/v1/judgements/")
    tells = [f"{page}?{one}status=no_total" for page in lists for one in ("", f"model={GPT}&")]
    tells += [f"/judging/{judge.pk}/calibration/"]
    free = [f"{page}?{one}" for page in lists for one in (f"model={QWEN}", "subject=Biology")]
    free += [f"{page}?dataset={calibrated.slug}" for page in lists]
    free += ["/judging/"]
    few = responses_to(subjective_question(), 1, "canary-few")
    assert barred_by([*tells, *free], chosen, people, lead) == tells
    assert barred_by([*tells, *free], few, people, lead) == [], "which no judge has marked"


def test_who_steers_a_round_by_the_api_reads_its_counts_and_cannot_join_it(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """A deadline that is set again changes nothing, and could be sent after each mark."""
    made = small_round([teacher, other_teacher], 1)
    person = also(third_teacher, [Role.LEAD])
    client, api = logged_in(person), f"/api/v1/rounds/{made.public_id}/"
    for step in ("deadline", "pause", "resume", "close"):
        Look.objects.all().delete()
        body = {"deadline": None} if step == "deadline" else {}
        answer = client.post(f"{api}{step}/", body, content_type="application/json")
        assert "teachers" in answer.json(), step
        assert Look.objects.filter(person=person, round=made).exists(), step


def test_a_question_that_is_objective_for_a_while_keeps_looks_at_its_responses(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """A curator may import it as one, read its responses, and import it as it was."""
    question, people = subjective_question(), [also(teacher, [Role.LEAD]), other_teacher]
    (response,) = responses_to(question, 1)
    Question.objects.filter(pk=question.pk).update(part=Part.OBJECTIVE)
    assert logged_in(people[0]).get(f"/runs/responses/{response.public_id}/").status_code == 200
    Question.objects.filter(pk=question.pk).update(part=Part.SUBJECTIVE)
    assert refused([response], people, lead) == "looked"


def test_responses_from_when_a_question_was_objective_are_marked_by_nobody(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """No looks at them were kept, and they answer another question."""
    question, people = subjective_question(), [also(teacher, [Role.LEAD]), other_teacher]
    (old,) = responses_to(question, 1)
    QuestionRevision.objects.filter(pk=old.revision_id).update(
        question_type=QuestionType.SINGLE_CHOICE
    )
    Question.objects.filter(pk=question.pk).update(part=Part.OBJECTIVE)
    assert logged_in(people[0]).get(f"/runs/responses/{old.public_id}/").status_code == 200
    Question.objects.filter(pk=question.pk).update(part=Part.SUBJECTIVE)
    assert not Look.objects.filter(person=people[0]).exists()
    assert refused([old], people, lead) == "no_responses"
