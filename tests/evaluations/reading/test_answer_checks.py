"""People check readings: what waits for them, what they say, what counts then, what it spared."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from evaluations.models import AnswerCheck, CheckSample, Response
from evaluations.models.vocabulary import CheckSource
from evaluations.reading.selectors.answer_check_queue import (
    QueueChoice,
    begins_after,
    counts,
    differences,
    next_waiting,
    own_last,
    source_of,
    waiting,
)
from evaluations.reading.selectors.answer_checks import decided_readings
from evaluations.reading.selectors.reading_labour import labour, samples
from evaluations.reading.services.answer_cases import (
    check_corrections,
    corrections,
    write_corrections,
)
from evaluations.reading.services.answer_checks import draw_sample
from evaluations.reading.services.case_check import check_cases
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict
from questions.rules.vocabulary import QuestionType
from tests.conftest import logged_in
from tests.evaluations.check_world import (
    BRACKETED,
    MEANT,
    SEVERAL,
    TAGGED,
    WORDLESS,
    answers,
    check,
    read_by_model,
    saved,
)
from tests.factories import make_user

pytestmark = pytest.mark.django_db
S = CheckSource


def queue(user: User, source: CheckSource | None = None) -> list[Response]:
    return list(waiting(user, QueueChoice(source)))


# ---- the queue ----


def test_each_reading_waits_for_its_reason(curator: User, lead: User) -> None:
    plain, meant, several, bracketed, wordless = made = answers(
        TAGGED, MEANT, SEVERAL, BRACKETED, WORDLESS
    )
    read_by_model(meant)
    firsts = {S.MODEL: [meant], S.AMBIGUOUS: [several], S.LOW: [bracketed], S.UNREAD: [wordless]}
    assert {source: found for source in S if (found := queue(curator, source))} == firsts
    assert queue(curator) == [meant, several, bracketed, wordless], (
        "what a pattern is sure of rests"
    )
    assert counts(curator)[S.LOW] == 1
    assert [source_of(one, QueueChoice()) for one in made[1:]] == list(firsts)
    draw_sample(plain.run, 10, acting_user=lead)
    assert plain in queue(curator, S.SAMPLE)
    assert queue(curator, S.MODEL) == [meant]
    other = answers(SEVERAL)[0]
    assert list(waiting(curator, QueueChoice(S.AMBIGUOUS, other.run))) == [other]


def test_what_one_has_checked_waits_for_a_second_and_where_they_differ_for_a_third(
    curator: User, lead: User
) -> None:
    (response,) = answers(SEVERAL)
    third = make_user(Role.CURATOR, "zheng")
    check(response, curator, "A")
    assert queue(lead) == queue(curator, S.SECOND) == []
    assert queue(lead, S.SECOND) == [response]
    check(response, lead, "B", source=S.SECOND)
    assert queue(third, S.SECOND) == queue(lead, S.DIFFER) == []
    assert queue(third, S.DIFFER) == [response]
    assert list(differences()) == [response.pk]
    check(response, third, "B", source=S.DIFFER)
    assert queue(third, S.DIFFER) == []
    assert differences() == {}


def test_two_who_check_at_once_begin_in_different_places(curator: User, lead: User) -> None:
    made = answers(*[WORDLESS] * 4)
    found = waiting(curator, QueueChoice())
    assert begins_after(found, curator) == 0
    assert next_waiting(found, begins_after(found, lead)) == made[2]
    assert next_waiting(found, made[3].pk) == made[0], "from the end it goes on at the start"


def test_one_goes_back_through_own_checks(curator: User, lead: User) -> None:
    one, other, third = answers(*[SEVERAL] * 3)
    assert own_last(curator) is None
    for response in (one, other):
        check(response, curator, "A")
    check(third, lead, "A")
    last = own_last(curator)
    assert last is not None
    assert last.response == other
    before = own_last(curator, other)
    assert before is not None
    assert before.response == one
    assert own_last(curator, one) is None


# ---- what counts ----


def test_a_person_counts_before_a_model_and_a_model_before_the_patterns(curator: User) -> None:
    (response,) = answers(MEANT)
    assert decided_readings([response.pk]) == {}
    reading = read_by_model(response)
    by_model = decided_readings([response.pk])[response.pk]
    assert (by_model.answers, by_model.method) == (("B",), "model")
    assert (by_model.model_reading, by_model.answer_check) == (reading.pk, None)
    confirmed = check(response, curator, "B")
    assert confirmed.confirmed
    by_person = decided_readings([response.pk])[response.pk]
    assert (by_person.answers, by_person.method) == (("B",), "person")
    assert by_person.spans == by_model.spans, "the words that the model showed"
    assert (by_person.model_reading, by_person.answer_check) == (None, confirmed.pk)
    other = check(response, curator, "C", based_on=1)
    assert (other.number, other.follows, other.confirmed) == (2, confirmed, False)
    now = decided_readings([response.pk])[response.pk]
    assert (now.answers, now.spans, now.answer_check) == (("C",), (None,), other.pk)
    assert AnswerCheck.objects.count() == 2, "nothing is written over"


def test_people_who_differ_settle_nothing(curator: User, lead: User, admin: User) -> None:
    (response,) = answers(TAGGED)
    check(response, curator, "A")
    check(response, lead, "B")
    one = decided_readings([response.pk])[response.pk]
    assert (one.answers, one.outcome) == ((None,), "ambiguous")
    check(response, admin, "A")
    two = decided_readings([response.pk])[response.pk]
    assert (two.answers, two.outcome) == (("A",), "read")
    assert one.answer_check != two.answer_check, "a score by the first is outdated"


def test_a_model_that_found_nothing_changes_nothing_and_gaps_stay(curator: User) -> None:
    empty, response = answers(SEVERAL, "1. A 3. C")
    read_by_model(empty, '{"outcome": "no_answer"}')
    assert decided_readings([empty.pk]) == {}
    check(empty, curator, outcome="ambiguous")
    assert decided_readings([empty.pk])[empty.pk].outcome == "ambiguous"
    response.revision.question_type = QuestionType.SEVERAL_QUESTIONS
    response.revision.answer_key = ["A", "B", "C"]
    response.revision.save()
    made = check(response, curator, "A", None, "C")
    assert made.answers == ["A", None, "C"]
    assert decided_readings([response.pk])[response.pk].answers == ("A", None, "C")


def test_the_score_follows_what_people_say(curator: User, lead: User) -> None:
    (response,) = answers(MEANT)

    def newest() -> tuple[str, str]:
        response.refresh_from_db()
        score = response.strict_score
        assert score is not None
        return score.outcome, str(score.points)

    assert newest() == ("no_answer", "0.00")
    read_by_model(response)
    check(response, curator, "A")
    assert newest() == ("wrong", "0.00")
    check(response, curator, "B", based_on=1)
    assert newest() == ("correct", "6.00")
    check(response, lead, outcome="no_answer")
    assert newest() == ("ambiguous", "0.00"), "conflicting checks"
    assert response.scores.filter(policy="strict").count() == 4, "earlier scores stay"


# ---- saving ----


def test_a_check_is_saved_once(curator: User, lead: User) -> None:
    (response,) = answers(SEVERAL)
    key = uuid.uuid4()
    first = saved(response, curator, "A", key=key)
    again = saved(response, curator, "A", key=key)
    assert (again.check, again.repeated) == (first.check, True)
    with pytest.raises(Conflict, match="another window"):
        saved(response, curator, "B", key=key)
    with pytest.raises(Conflict, match="another window"):
        saved(response, curator, "B")
    assert AnswerCheck.objects.count() == 1
    assert AuditEntry.objects.filter(tag="answer.checked", actor=curator).count() == 1
    saved(response, curator, "B", based_on=1)
    assert AuditEntry.objects.filter(tag="answer.checked_again").count() == 1
    with pytest.raises(BadInput, match="new submission id"):
        saved(response, lead, "A", key=key)


def test_what_the_item_cannot_have_is_refused(curator: User) -> None:
    (response,) = answers(SEVERAL)
    for said, outcome in (
        *((("E",), "read"), (("AB",), "read"), (("A", "B"), "read"), ((None,), "read")),
        *((("A",), "no_answer"), ((None, None), "refused"), (("A",), "maybe")),
    ):
        with pytest.raises(BadInput):
            check(response, curator, *said, outcome=outcome)
    assert not AnswerCheck.objects.exists()


# ---- samples ----


def test_a_sample_is_drawn_by_its_random_seed(curator: User, lead: User) -> None:
    made = answers(*[TAGGED] * 20, SEVERAL)
    run = made[0].run
    first = draw_sample(run, 5, acting_user=lead, random_seed=7)
    drawn = set(first.responses.values_list("pk", flat=True))
    assert (first.size, first.among, first.random_seed, len(drawn)) == (5, 20, 7, 5)
    assert drawn <= {one.pk for one in made[:20]}
    second = draw_sample(run, 100, acting_user=lead)
    assert (second.size, second.among) == (15, 15), "nobody checks the same for two samples"
    with pytest.raises(BadInput, match="no unchecked answers"):
        draw_sample(run, 1, acting_user=lead)
    CheckSample.responses.through.objects.all().delete()
    CheckSample.objects.all().delete()
    again = draw_sample(run, 5, acting_user=lead, random_seed=7)
    assert set(again.responses.values_list("pk", flat=True)) == drawn


def test_a_sample_says_how_often_the_patterns_were_wrong(curator: User, lead: User) -> None:
    made = answers(*[TAGGED] * 10)
    run = made[0].run
    draw_sample(run, 10, acting_user=lead)
    for response in made[:3]:
        check(response, curator, "A")
    wrong = check(made[3], curator, "B")
    (found,) = samples([run])
    assert (found.checked, found.wrong) == (4, 1)
    assert (found.rate.value, found.rate.n) == (0.25, 4)
    check(made[3], curator, "A", based_on=wrong.number)
    assert samples([run])[0].wrong == 0, "the newest check of a person counts"
    for person in (lead, make_user(Role.CURATOR)):
        check(made[1], person, "A" if person == lead else "B")
    (slip,) = samples([run])
    assert (slip.checked, slip.wrong, labour([run])[0].corrected) == (4, 0, 0), "two against one"
    check(made[0], lead, "B")
    (tied,) = samples([run])
    assert (tied.checked, tied.wrong, labour([run])[0].corrected) == (3, 0, 0)
    check(made[0], make_user(Role.CURATOR), "B")
    (found,) = samples([run])
    assert (found.checked, found.wrong, labour([run])[0].corrected) == (4, 1, 1)


# ---- corrections and labour ----


def test_a_correction_becomes_a_case_that_check_cases_runs(
    curator: User, lead: User, tmp_path: Path
) -> None:
    plain, meant, several, open_ = answers(TAGGED, MEANT, SEVERAL, TAGGED)
    read_by_model(meant)
    check(plain, curator, "A")
    check(meant, curator, "B")
    check(several, curator, outcome="refused")
    check(open_, curator, "B")
    check(open_, lead, "C")
    cases = list(corrections())
    assert [case["expect"] for case in cases] == [{"outcome": "refused"}], (
        "what was confirmed is no correction, and where people differ there is none yet"
    )
    assert cases[0]["output"] == SEVERAL
    assert (cases[0]["kind"], cases[0]["letters"], cases[0]["parts"]) == (
        "single_choice",
        "ABCD",
        1,
    )
    assert "canary" not in json.dumps(cases)
    assert "was read as ambiguous by" in cases[0]["note"]
    check(plain, lead, "A")
    check(open_, make_user(Role.CURATOR, "zheng"), "C")
    report = check_corrections()
    assert (report.total, report.right) == (2, 0)
    file = tmp_path / "corrections.json"
    assert write_corrections(file, acting_user=None) == 2
    assert check_cases(file, readers={}).as_dict()["total"] == 2
    assert AuditEntry.objects.filter(tag="answer.corrections_exported").count() == 1
    with pytest.raises(BadInput, match="Cannot write"):
        write_corrections(tmp_path / "no" / "where.json", acting_user=None)


def test_a_correction_that_the_reader_has_learned_counts_as_right(curator: User) -> None:
    (response,) = answers(TAGGED)
    response.extractions.filter(policy="strict").update(answers=["C"], reader_version="strict-0")
    check(response, curator, "A")
    report = check_corrections()
    assert (report.total, report.right) == (1, 1)
    told = logged_in(curator).get("/api/v1/answer-checks/corrections/").json()
    assert (told["total"], told["right"], len(told["cases"])) == (1, 1, 1)
    entry = AuditEntry.objects.get(tag="answer.corrections_exported")
    assert (entry.actor, entry.detail) == (curator, {"rows": 1})


def test_labour_is_who_read_what_counts(curator: User) -> None:
    plain, second, meant, found, several, empty = answers(
        TAGGED, TAGGED, MEANT, MEANT, SEVERAL, WORDLESS
    )
    run = plain.run

    def shares() -> tuple[dict[str, int], int, int]:
        (one,) = labour([run])
        return dict(one.by), one.checked, one.corrected

    assert shares() == ({"pattern": 2, "unread": 4}, 0, 0)
    read_by_model(meant)
    read_by_model(found)
    assert shares() == ({"pattern": 2, "model": 2, "unread": 2}, 0, 0)
    check(plain, curator, "A")
    check(meant, curator, "B")
    assert shares() == ({"pattern": 2, "model": 2, "unread": 2}, 2, 0), "confirmed is not read"
    check(second, curator, "B")
    check(found, curator, "C")
    check(several, curator, "D")
    check(empty, curator, outcome="no_answer")
    assert shares() == ({"pattern": 1, "model": 1, "person": 3, "unread": 1}, 6, 3)
    (one,) = labour([run])
    assert (one.total, one.share("person"), one.share("mined")) == (6, 0.5, 0.0)


def test_the_database_wants_one_reading_for_each_check(curator: User) -> None:
    (response,) = answers(MEANT)
    reading = read_by_model(response)
    made = check(response, curator, "B")
    both = response.extractions.filter(policy="strict").first()
    with pytest.raises(IntegrityError), transaction.atomic():
        AnswerCheck.objects.filter(pk=made.pk).update(extraction=both)
    with pytest.raises(IntegrityError), transaction.atomic():
        AnswerCheck.objects.filter(pk=made.pk).update(model_reading=None)
    assert AnswerCheck.objects.get().model_reading == reading
