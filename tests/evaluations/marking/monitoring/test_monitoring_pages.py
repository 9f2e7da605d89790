"""The monitors of a round: figures that lead to their rows, warnings, pausing, returning."""

from __future__ import annotations

import csv
import io
import re
import uuid
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils.html import escape

from evaluations.marking.arbitration.services import arbitrate
from evaluations.marking.monitoring.selectors.monitoring import (
    WatchedTeacher,
    watched_round,
)
from evaluations.marking.monitoring.selectors.teacher_marks import MarkFilter, marks_shown
from evaluations.marking.rounds.selectors.exports import MARK_COLUMNS, marks_of_round
from evaluations.marking.services.finalizing import newest_marks
from evaluations.models import BlindAnswer, LanguageModel, Mark, MarkingRound, SeedAnswer, Slot
from evaluations.models.vocabulary import AnswerRole, ArbitrationReason, Flag, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.names import names_apart
from gradeapp.audit.models import AuditEntry
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    give,
    later,
    planned_pair,
    responses_to,
    round_over,
    slot_of,
    small_round,
    subjective_question,
)
from tests.factories import make_rubric

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    """Four responses of 12 points, tolerance 1: marks 6 and 6, 6 and 5, 12 and 6, one alone."""
    made = small_round([teacher, other_teacher], 4)
    given = [("6", "6"), ("6", "5"), ("12", "6"), ("6", "")]
    points = {"5": ("3", "2", "0"), "6": ("3", "3", "0"), "12": ("3", "3", "6")}
    for answer, (mine, theirs) in zip(answers_of(made), given, strict=True):
        give(answer, teacher, points[mine], seconds=40, flags=[Flag.REPEATS], comment="noted")
        if theirs:
            give(answer, other_teacher, points[theirs], seconds=10)
    return made


def seed_for(made: MarkingRound, teacher: User, reference: str, given: str) -> None:
    """A seed answer of the round, with its reference and the teacher's mark."""
    question = subjective_question(rubric=())
    other = round_over(responses_to(question, 1), [teacher], scheme=Scheme.SINGLE)
    answer = answers_of(other)[0]
    BlindAnswer.objects.filter(pk=answer.pk).update(
        round=made, role=AnswerRole.SEED, alias=f"S-{answer.pk}"
    )
    answer.slots.update(kind=SlotKind.SEED)
    answer.refresh_from_db()
    SeedAnswer.objects.create(answer=answer, total=Decimal(reference), author=teacher)
    give(answer, teacher, given)


def repeat_of(answer: BlindAnswer, teacher: User, points: tuple[str, ...]) -> None:
    """The response comes back to the same teacher under another alias."""
    again = BlindAnswer.objects.create(
        round=answer.round, response=answer.response, question=answer.question,
        revision=answer.revision, rubric=answer.rubric, role=AnswerRole.REPEAT, repeat_of=answer,
        alias="R-9000", full_marks=answer.full_marks, tolerance=answer.tolerance,
    )  # fmt: skip
    Slot.objects.create(answer=again, kind=SlotKind.REPEAT, planned=teacher)
    give(again, teacher, points)


def seen(made: MarkingRound, teacher: User) -> WatchedTeacher:
    return next(one for one in watched_round(made).teachers if one.key == teacher.pk)


def address(made: MarkingRound, name: str, *more: object) -> str:
    return reverse(f"monitoring:{name}", args=[made.public_id, *more])


def test_the_figures_come_from_the_rows(made: MarkingRound, teacher: User) -> None:
    seed_for(made, teacher, "7", "5")
    repeat_of(answers_of(made)[0], teacher, ("3", "2", "0"))
    figures = {
        name: (figure.value, figure.n) for name, figure in seen(made, teacher).figures.items()
    }
    assert figures["marks"] == (4, 4)
    # 0, +1 and +6 points to the partner; two of three within 1
    assert figures["partner_points"] == (pytest.approx(7 / 3), 3)
    assert figures["within_tolerance"] == (pytest.approx(2 / 3), 3)
    assert figures["third_rate"] == (pytest.approx(1 / 3), 3)
    # finals 6 and 5.5: 0 and +0.5 points, of 12
    assert figures["final_points"] == (0.25, 2)
    assert figures["severity"] == (pytest.approx(0.25 / 12), 2)
    assert figures["seed_hits"] == (0, 1)
    assert figures["self_consistency"] == (1, 1)
    # 6 of 12 three times, and 12
    assert figures["safe_share"] == (0.75, 4)
    assert figures["seconds_median"] == (40, 4)
    # six of the round's marks are 40 and 10 seconds: 4 and 3 of them, median 40
    assert figures["pace"] == (1, 4)


def test_the_shares_of_checks_are_recomputed_from_the_exported_marks(
    made: MarkingRound, teacher: User
) -> None:
    for reference, given in (("7", "5"), ("7", "7"), ("6", "5")):
        seed_for(made, teacher, reference, given)
    repeat_of(answers_of(made)[0], teacher, ("3", "2", "0"))
    rows = [dict(zip(MARK_COLUMNS, row, strict=True)) for row in marks_of_round(made)]
    mine = [row for row in rows if row["teacher"] == teacher.username and row["counts"] == "yes"]
    own = {row["response"]: row for row in mine if row["kind"] not in ("seed", "repeat")}
    seeds = [row for row in mine if row["kind"] == "seed"]
    hits = [abs(row["total"] - row["reference"]) <= row["tolerance"] for row in seeds]
    (again,) = [row for row in mine if row["kind"] == "repeat"]
    assert own[again["repeat_of"]]["total"] == 6
    figures = seen(made, teacher).figures
    assert figures["seed_hits"].value == sum(hits) / len(hits) == 2 / 3
    assert figures["self_consistency"].value == 1
    others = [row for row in rows if row["kind"] in ("first", "second")]
    assert {(row["reference"], row["repeat_of"]) for row in others} == {(None, None)}


def test_marks_returned_count_no_more(made: MarkingRound, teacher: User) -> None:
    Slot.objects.filter(holder=teacher).update(void_version=1, marked=False, holder=None)
    assert seen(made, teacher).figures["marks"].n == 0
    assert seen(made, teacher).figures["within_tolerance"].reason == "no_partner"


def test_a_round_is_read_in_as_many_queries_whatever_its_size(
    made: MarkingRound, teacher: User, other_teacher: User, django_assert_num_queries: object
) -> None:
    larger = small_round([teacher, other_teacher], 12)
    for answer in answers_of(larger):
        give(answer, teacher, ("3", "3", "0"))
    for one in (made, larger):
        with django_assert_num_queries(7):  # type: ignore[operator]
            watched_round(one)


def test_who_is_outside_a_limit_stands_first(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    for _number in range(5):
        seed_for(made, other_teacher, "10", "1")
    watched = watched_round(made)
    assert [one.name for one in watched.teachers] == ["wei", "tao"]
    assert [one.warnings for one in watched.teachers] == [("seed_hits",), ()]
    MarkingRound.objects.filter(pk=made.pk).update(limits={"seed_hits": None})
    made.refresh_from_db()
    assert [one.name for one in watched_round(made).teachers] == ["tao", "wei"]


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        (MarkFilter.ALL, 4),
        (MarkFilter.COUNTING, 4),
        (MarkFilter.PAIRS, 3),
        (MarkFilter.BEYOND, 1),
        (MarkFilter.FINAL, 2),
        (MarkFilter.SAFE, 3),
        (MarkFilter.TIMED, 4),
        (MarkFilter.SEEDS, 0),
        (MarkFilter.REPEATS, 0),
        (MarkFilter.COMMENTS, 4),
        (MarkFilter.FLAGS, 4),
    ],
)
def test_every_figure_leads_to_its_marks(
    wanted: MarkFilter, number: int, made: MarkingRound, teacher: User, lead: User
) -> None:
    one = seen(made, teacher)
    assert len(marks_shown(one, made, wanted)) == number
    page = logged_in(lead).get(address(made, "teacher", teacher.public_id), {"show": wanted.value})
    assert page.text.count('<a class="row-link"') == number


def test_the_page_of_the_round_is_recorded_and_shows_everybody(
    made: MarkingRound, lead: User
) -> None:
    page = logged_in(lead).get(address(made, "round"))
    assert page.status_code == 200
    assert all(words in page.text for words in ("tao", "wei", "66.7 %"))
    entry = AuditEntry.objects.filter(tag="round.looked_at").latest("pk")
    assert (entry.actor, entry.detail["page"]) == (lead, "monitoring")


def test_two_teachers_of_one_name_are_two(
    made: MarkingRound, teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Charts are keyed by names: one of them was drawn, with the figures of the other."""
    people = User.objects.filter(pk__in=[teacher.pk, other_teacher.pk])
    people.update(display_name="王伟")
    page = logged_in(lead).get(address(made, "round"))
    names = [f"王伟 ({one.username})" for one in people.order_by("username")]
    severity, agreement = page.context["severity"], page.context["agreement"]
    assert sorted([*severity.data["categories"], *severity.left_out]) == names
    assert sorted(agreement.left_out) == names, "too few marks for a line"
    for page_of in (reverse("rounds:round", args=[made.public_id]), reverse("rounds:new")):
        text = logged_in(lead).get(page_of).text
        assert [name for name in names if name in text] == names, page_of
    third_teacher.display_name = names[0]
    found = names_apart([*people, third_teacher])
    assert len(set(found.values())) == 3


def test_a_round_without_marks_says_why_there_are_no_figures(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher])
    page = logged_in(lead).get(address(made, "round"))
    assert escape("no response with another mark yet") in page.text
    one = logged_in(lead).get(address(made, "teacher", teacher.public_id))
    assert "Not enough data for a line" in one.text


def test_who_is_not_in_the_round_has_no_page(
    made: MarkingRound, third_teacher: User, lead: User
) -> None:
    where = address(made, "teacher", third_teacher.public_id)
    assert logged_in(lead).get(where).status_code == 404


def test_a_lead_who_marks_sees_no_monitor(
    lead: User, teacher: User, other_teacher: User, made: MarkingRound
) -> None:
    made.pool.create(teacher=lead)
    for name in ("round", "export", "tolerance", "rubrics"):
        assert logged_in(lead).get(address(made, name)).status_code == 403


def test_the_file_holds_the_figures_of_the_page(made: MarkingRound, lead: User) -> None:
    response = logged_in(lead).get(address(made, "export"))
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert [row["teacher"] for row in rows] == ["tao", "wei"]
    assert float(rows[0]["within_tolerance"]) == pytest.approx(2 / 3)
    assert (rows[0]["within_tolerance_n"], rows[0]["seed_hits"]) == ("3", "")
    assert rows[0]["seed_hits_reason"] == "no_seeds"
    entry = AuditEntry.objects.get(tag="report.exported")
    assert (entry.detail["report"], entry.detail["rows"]) == ("monitoring", 2)


def test_no_end_is_expected_once_every_mark_is_given(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """The present minute stood there, in red after the deadline."""
    made, client = small_round([teacher, other_teacher], 1), logged_in(lead)
    MarkingRound.objects.filter(pk=made.pk).update(deadline=later(-60))
    assert "expected end; deadline" in client.get(address(made, "round")).text
    for person in (teacher, other_teacher):
        give(answers_of(made)[0], person, ("3", "3", "0"))
    page = client.get(address(made, "round")).text
    assert ("expected end" in page, "tile-red" in page) == (False, False)
    for text in (page, client.get(reverse("rounds:round", args=[made.public_id])).text):
        assert "finalized of 1 response<" in text


# ---- what the lead does ----


def test_a_paused_teacher_reads_why_and_goes_on_later(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    client, who = logged_in(lead), teacher.public_id
    assert client.post(address(made, "pause", who), {"reason": " "}).status_code == 400
    client.post(address(made, "pause", who), {"reason": "Please call me first."})
    desk = logged_in(teacher).post(reverse("marking:next", args=[made.public_id]), follow=True)
    assert "Please call me first." in desk.text
    home = logged_in(teacher).get(reverse("marking:home")).text
    assert reverse("marking:next", args=[made.public_id]) not in home
    again = client.post(address(made, "pause", who), {"reason": "once more"})
    assert again.status_code == 409
    assert all(text in again.text for text in ("tao is already paused.", 'value="once more"'))
    assert "Please call me first." in client.get(address(made, "teacher", who)).text
    client.post(address(made, "resume", who))
    row = made.pool.get(teacher=teacher)
    assert (row.paused, row.paused_reason) == (False, "")
    tags = AuditEntry.objects.filter(tag__startswith="round.teacher").values_list("tag", flat=True)
    assert sorted(tags) == ["round.teacher_paused", "round.teacher_resumed"]


def test_limits_are_set_in_per_cent_and_can_be_empty(made: MarkingRound, lead: User) -> None:
    given = {"severity": "7.5", "within_tolerance": "70", "seed_hits": "", "pace": "0.25"}
    given |= {"self_consistency": "90", "safe_excess": "10", "partner_share": ""}
    assert logged_in(lead).post(address(made, "limits"), given).status_code == 302
    made.refresh_from_db()
    expected = {"severity": "0.075", "within_tolerance": "0.7", "seed_hits": None}
    expected |= {"pace": "0.25", "self_consistency": "0.9", "safe_excess": "0.1"}
    expected |= {"partner_share": None}
    assert made.limits == expected
    bad = given | {"severity": "101", "pace": "0.3", "seen": "of-the-older-page"}
    refused = logged_in(lead).post(address(made, "limits"), bad)
    assert refused.status_code == 400
    assert all(f'value="{text}"' in refused.text for text in ("101", "0.3", "of-the-older-page"))
    assert "less than or equal to 100" in refused.text
    made.refresh_from_db()
    assert made.limits == expected


def test_limits_that_another_lead_has_changed_are_not_undone(
    made: MarkingRound, lead: User
) -> None:
    client = logged_in(lead)
    page = client.get(address(made, "round")).text
    (seen,) = re.findall(r'name="seen" value="([^"]+)"', page)
    assert client.post(address(made, "limits"), {"severity": "2", "seen": seen}).status_code == 302
    refused = client.post(address(made, "limits"), {"partner_share": "33", "seen": seen})
    assert refused.status_code == 409
    assert "The limits were changed since you opened this page" in refused.text
    made.refresh_from_db()
    assert (made.limits["severity"], made.limits["partner_share"]) == ("0.02", None)
    assert 'value="33"' in refused.text, "what was typed stays"
    assert refused.text.count("Set now: ") == 2
    assert all(f"Set now: {text}" in refused.text for text in ("2", "none"))
    (seen,) = re.findall(r'name="seen" value="([^"]+)"', refused.text)
    assert client.post(address(made, "limits"), {"severity": "4", "seen": seen}).status_code == 302


def test_the_reason_of_a_pause_is_not_lost_when_it_is_refused(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    client, where = logged_in(lead), address(made, "pause", teacher.public_id)
    model = LanguageModel.objects.get().name
    reason = f"Too generous to {model}."
    refused = client.post(where, {"reason": reason})
    assert refused.status_code == 400
    assert f'value="{reason}"' in refused.text
    assert re.search(r'class="field-error"[^>]*>[^<]*model', refused.text)
    assert '<details class="menu menu-end" open><summary class="button">Pause' in refused.text
    MarkingRound.objects.update(status="closed")
    closed = client.post(where, {"reason": ""})
    assert (closed.status_code, "This round is already closed." in closed.text) == (409, True)


def test_who_was_taken_out_is_not_called_paused(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    client = logged_in(lead)
    client.post(address(made, "remove", teacher.public_id))
    for page in (address(made, "round"), address(made, "teacher", teacher.public_id)):
        text = client.get(page).text
        assert ("left the round" in text, ">paused<" in text) == (True, False), page
    loads = client.get(f"/api/v1/rounds/{made.public_id}/").json()["teachers"]
    assert [one["left"] for one in loads if one["name"] == str(teacher)] == [True]


def test_what_falls_is_shown_before_it_falls(made: MarkingRound, teacher: User, lead: User) -> None:
    client, where = logged_in(lead), address(made, "send-back", teacher.public_id)
    choice = {"since": "2020-01-01T00:00", "to": "same"}
    page = client.get(where, choice)
    assert "Return 4 marks" in page.text
    falling = [slot.answer.alias for slot in page.context["page"]]
    assert len(falling) == 4
    assert all(f">{alias}</a>" in page.text for alias in falling)
    assert Mark.objects.counting().count() == 7
    assert client.post(where, choice).status_code == 302
    assert Mark.objects.counting().count() == 3
    assert client.post(where, choice).status_code == 409
    assert client.post(where, {"since": "soon", "to": "same"}).status_code == 400


def test_no_more_is_returned_than_was_shown(made: MarkingRound, teacher: User, lead: User) -> None:
    """A mark saved after the preview stays; one that was revised meanwhile too, which is said."""
    later_one = answers_of(made)[0]
    mine = later_one.slots.get(holder=teacher)
    Slot.objects.filter(pk=mine.pk).update(marked=False)
    client, where = logged_in(lead), address(made, "send-back", teacher.public_id)
    page = client.get(where, {"since": "2020-01-01T00:00", "to": "same"})
    assert "Return 3 marks" in page.text
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page.text)
    Slot.objects.filter(pk=mine.pk).update(marked=True)
    answers_of(made)[3].slots.filter(holder=teacher).update(revisable_until=later(10))
    give(answers_of(made)[3], teacher, ("3", "0", "0"), based_on_version=1, now=later(2))
    done = client.post(where, dict(fields), follow=True)
    assert "2 marks were returned for re-marking." in done.text
    assert "1 of the marks shown was not returned" in done.text
    marked = Slot.objects.filter(answer__round=made, holder=teacher, marked=True)
    assert {slot.answer for slot in marked} == {later_one, answers_of(made)[3]}
    for none in ("soon", "2026-01-01T00:00:00", "0001-01-01T00:00:00+23:59"):
        refused = client.post(where, dict(fields) | {"until": none})
        assert (refused.status_code, "Preview the marks again" in refused.text) == (400, True)


def test_decisions_and_earlier_versions_are_not_counted_as_returned(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    answer = answers_of(made)[2]  # 12 and 6, which a lead decides
    seen = [mark.pk for mark in newest_marks(answer).values()]
    arbitrate(
        answer, lead, key=uuid.uuid4(), seen=seen, points=[Decimal(3), Decimal(3), Decimal(0)],
        reason=ArbitrationReason.SLIP, now=later(3),
    )  # fmt: skip
    where = address(made, "send-back", teacher.public_id)
    choice = {"responses": answer.alias, "to": "same", "with_arbitrated": "on"}
    done = logged_in(lead).post(where, choice, follow=True).text
    assert "1 mark was returned for re-marking. 1 final mark was withdrawn." in done


def test_a_new_rubric_is_offered_and_moves_what_the_lead_chose(
    made: MarkingRound, lead: User
) -> None:
    client, where = logged_in(lead), address(made, "rubrics")
    assert "All rubrics are up to date" in client.get(where).text
    question = answers_of(made)[0].question
    of_round = reverse("rounds:round", args=[made.public_id])
    assert where not in client.get(of_round).text
    make_rubric(question, (("all of it", "12"),))
    assert where in client.get(of_round).text
    page = client.get(where)
    assert "version 1 → 2" in page.text
    (outdated,) = page.context["outdated"]
    listed = {one.alias: (len(one.teachers), one.scope) for one in outdated.first}
    assert len(listed) == outdated.responses == made.answers.count()
    assert sorted(number for number, _reach in listed.values()) == [1, 2, 2, 2]
    assert all(f">{alias}</a>" in page.text for alias in listed)
    form = {"question": question.public_id, "reach": "unsettled", "version": "2"}
    assert client.post(where, form).status_code == 400, "all responses move together"
    form["reach"] = page.context["form"].fields["reach"].choices[0][0]
    assert client.post(where, form).status_code == 302
    moved = made.answers.filter(rubric__version=2)
    assert moved.count() == made.answers.count()
    assert client.post(where, form | {"question": "x"}).status_code == 400
    assert client.post(where, form).status_code == 409


def test_a_rubric_that_the_lead_has_not_seen_is_not_used(made: MarkingRound, lead: User) -> None:
    client, where = logged_in(lead), address(made, "rubrics")
    question = answers_of(made)[0].question
    make_rubric(question, (("all of it", "12"),))
    page = client.get(where)
    assert 'name="version" value="2"' in page.text
    form = {"question": question.public_id, "version": "2"}
    form["reach"] = page.context["form"].fields["reach"].choices[0][0]
    make_rubric(question, (("another", "12"),))
    refused = client.post(where, form)
    assert refused.status_code == 409
    assert "A newer rubric has been accepted since you opened this page" in refused.text
    assert not made.answers.filter(rubric__version__gt=1).exists()
    assert Mark.objects.counting().count() == 7
    assert client.post(where, form | {"version": "3"}).status_code == 302


def test_a_mark_page_shows_the_version_since_it_was_returned(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    answer = answers_of(made)[3]
    kind = SlotKind.FIRST if planned_pair(answer)[0] == teacher else SlotKind.SECOND
    slot = slot_of(answer, kind)
    Slot.objects.filter(pk=slot.pk).update(revisable_until=later(10))
    give(answer, teacher, ("3", "0", "0"), based_on_version=1, now=later(2))
    page = logged_in(lead).get(address(made, "teacher", teacher.public_id)).text
    assert "version 2" in page
    assert slot.marks.count() == 2
