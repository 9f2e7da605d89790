"""The arbiter marks before seeing: neither the page nor a decision knows the other marks before."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from evaluations.marking.monitoring.selectors.monitoring import watched_round
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.sheets.rules.sheet_rows import FilledRow
from evaluations.marking.sheets.services.sheet_reading import check_rows
from evaluations.models import (
    ArbiterMark,
    BlindAnswer,
    Mark,
    MarkChange,
    MarkingRound,
    MarkingSheet,
)
from evaluations.models.vocabulary import RoundStatus, SlotKind
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking.arbitration.test_arbitration_pages import hidden
from tests.evaluations.marking_world import (
    answers_of,
    give,
    later,
    small_round,
    subjective_question,
)
from tests.factories import make_rubric

pytestmark = pytest.mark.django_db
THEIRS = ("7.25", "3.75")


@pytest.fixture
def answer(teacher: User, other_teacher: User) -> BlindAnswer:
    """A response that waits for the lead, in a round that asks for the lead's mark first."""
    question = subjective_question(())
    settings = {"arbiter_marks_first": True, "mark_step": Decimal("0.25"), "question": question}
    made = small_round([teacher, other_teacher], 1, **settings)
    (answer,) = answers_of(made)
    for person, total in zip((teacher, other_teacher), THEIRS, strict=True):
        give(answer, person, total, comment=f"canary-{total}")
    assert answer.slots.filter(kind=SlotKind.ARBITRATION).exists()
    return answer


@pytest.mark.parametrize("htmx", [False, True])
def test_the_marks_are_shown_after_the_leads_own(
    answer: BlindAnswer, lead: User, htmx: bool
) -> None:
    """T017: not on the page before, nor on that of the round; a decision before is refused."""
    client, made = logged_in(lead), answer.round
    headers = {"HX-Request": "true"} if htmx else {}
    where = reverse("rounds:response", args=[made.public_id, answer.public_id])
    round_page = reverse("rounds:round", args=[made.public_id])
    for page in (where, round_page):
        text = client.get(page, headers=headers).text
        assert not [total for total in THEIRS if total in text], page
    seen = ",".join(map(str, Mark.objects.values_list("pk", flat=True)))
    decision = {"answer": answer.public_id, "key": uuid.uuid4(), "seen": seen}
    decision |= {"decision": "first", "reason": "slip", "total": ""}
    refused = client.post(where, decision, headers=headers)
    assert refused.status_code == 400
    assert not ArbiterMark.objects.exists()
    assert "There is no total." in refused.text, "it has no scoring points"
    bad = client.post(where, decision | {"total": "99"}, headers=headers)
    assert bad.status_code == 400
    own = {"answer": answer.public_id, "key": uuid.uuid4(), "total": "5.5", "comment": "why\r\nso"}
    shown = client.post(where, own, headers=headers, follow=True)
    assert all(total in shown.text for total in THEIRS)
    assert "Your mark before seeing the others: 5.5" in shown.text
    assert 'value="5.5"' in shown.text, "a start for the decision"
    again = client.post(where, own, headers=headers, follow=True)
    assert again.status_code == 200, "the stored mark is shown"
    assert "Your mark before seeing the others: 5.5" in again.text
    other = client.post(where, own | {"total": "7", "key": uuid.uuid4()}, headers=headers)
    assert other.status_code == 409
    assert "Your mark before seeing the others is already stored, and stays." in other.text
    assert 'value="7"' in other.text, "what was typed stays"
    assert "A teacher has changed a mark" not in other.text
    (kept,) = ArbiterMark.objects.all()
    assert (str(kept.total), kept.lead, kept.comment) == ("5.50", lead, "why\nso")
    made_final = client.post(where, decision | {"decision": "own", "total": "5.5"}, headers=headers)
    assert made_final.status_code in (200, 302)
    answer.refresh_from_db()
    assert answer.final is not None
    assert answer.final.value == kept.total


def test_no_page_or_file_shows_the_marks_before_the_final_one(
    answer: BlindAnswer, lead: User, admin: User, teacher: User
) -> None:
    """T017: another lead has it, no lead has it yet, in monitors, files and reports."""
    made, client = answer.round, logged_in(lead)
    base, case = f"/rounds/{made.public_id}/", f"responses/{answer.public_id}/"
    query = f"?dataset={made.dataset.slug}"
    pages = [base + page for page in ("", case, "marks.csv", "tolerance/", "monitoring/")]
    pages += [f"{base}monitoring/export/", f"{base}monitoring/{teacher.public_id}/"]
    pages += [
        f"{base}monitoring/{teacher.public_id}/send-back/",
        f"/reports/export/agreement.csv{query}",
    ]
    pages += [f"/reports/pairs/{query}", f"/api/v1/reports/agreement/{query}"]
    pages += [f"/reports/export/{name}.csv{query}" for name in ("responses", "scores", "marks")]

    def shows(person: User) -> list[str]:
        texts = {page: logged_in(person).get(page) for page in pages}
        assert {one.status_code for one in texts.values()} == {200}, texts
        return [page for page, one in texts.items() if any(mark in one.text for mark in THEIRS)]

    assert logged_in(admin).post(f"{base}{case}claim/").status_code == 302
    assert shows(lead) == [], "another lead has the response at hand"
    answer.slots.filter(kind=SlotKind.ARBITRATION).delete()
    second = answer.slots.filter(kind=SlotKind.SECOND)
    second.update(revisable_until=timezone.now() + timedelta(hours=1))
    assert shows(lead) == [], "a mark may still be revised"
    assert "In this round leads mark before they see other marks" in client.get(pages[1]).text
    assert watched_round(made).teachers[0].marks == ()
    second.update(revisable_until=None)
    own = {"answer": answer.public_id, "key": uuid.uuid4(), "total": "5"}
    assert client.post(pages[1], own).status_code == 302
    assert shows(lead) == [pages[1]], "the case, to the lead who has given a mark"
    assert shows(admin) == []
    MarkingRound.objects.filter(pk=made.pk).update(status=RoundStatus.CLOSED)
    assert {*pages[1:3], pages[9]} <= set(shows(admin))


def test_another_lead_marks_first_too(answer: BlindAnswer, lead: User, admin: User) -> None:
    where = reverse("rounds:response", args=[answer.round.public_id, answer.public_id])
    own = {"answer": answer.public_id, "key": uuid.uuid4(), "total": "5"}
    logged_in(lead).post(where, own)
    text = logged_in(admin).get(where).text
    assert not [total for total in THEIRS if total in text]


def test_other_ways_to_the_marks_are_closed_too(
    answer: BlindAnswer, lead: User, admin: User, teacher: User, tmp_path: Path
) -> None:
    """T017: the audit trail, the operators' site, the command, drafts, the preview of a sheet."""
    made = answer.round
    User.objects.filter(pk=admin.pk).update(is_staff=True, is_superuser=True)
    mark = Mark.objects.get(teacher=teacher)
    MarkChange.objects.create(
        table="evaluations_mark", row=1, answer=answer.pk, action="UPDATE",
        before=f"canary {THEIRS[0]}", changed_at=timezone.now(),
    )  # fmt: skip
    file, client = tmp_path / "marks.csv", logged_in(User.objects.get(pk=admin.pk))
    pages = ["/audit/", "/audit/export/", "/admin/evaluations/mark/"]
    pages += [f"/admin/evaluations/mark/{mark.pk}/change/", "/admin/evaluations/markchange/"]

    def shown() -> list[str]:
        """Pages and files with a mark, and whether a table of the operators' site has rows."""
        call_command("export", "marks", "--dataset", made.dataset.slug, "--output", str(file))
        texts = {"command": file.read_text(encoding="utf-8-sig")}
        for page in pages:
            got = client.get(page, follow=True)
            texts[page] = got.getvalue().decode()
            if cl := (got.context or {}).get("cl"):
                texts[page] = " ".join([*THEIRS] * cl.result_count)
        # A time such as 07:09:17.254000 is no mark.
        told = re.compile("|".join(rf"(?<!\d){re.escape(total)}(?!\d)" for total in THEIRS))
        return [page for page, text in texts.items() if told.search(text)]

    assert shown() == []
    # A lead types numbers into a sheet of the teacher until one is "already saved".
    sheet = MarkingSheet.objects.create(
        round=made, teacher=teacher, responses=1, held_until=timezone.now()
    )
    cells = {"response": str(answer.public_id), "sheet": str(sheet.public_id), "version": "1"}
    said = []
    for total in ("1", *THEIRS):
        row = FilledRow(
            line=2, points=(), total=total, comment=f"canary-{total}", flags="", **cells
        )
        for reader in (lead, teacher):
            (one,) = check_rows(sheet, [row], acting_user=reader, now=timezone.now())
            said.append((one.state, one.before, one.sentence))
    assert said[0] == said[2] == said[4]
    assert said[0][:2] == ("bad", None)
    assert said[1] != said[3], "their teacher sees what it changes"
    MarkingRound.objects.filter(pk=made.pk).update(status=RoundStatus.CLOSED)
    assert shown() == ["command", *pages]


def test_under_a_new_rubric_the_lead_marks_first_again(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """The mark before was for other scoring points: it neither opens the others nor is a start."""
    question = subjective_question()
    made = small_round([teacher, other_teacher], 1, arbiter_marks_first=True, question=question)
    (answer,) = answers_of(made)
    where = reverse("rounds:response", args=[made.public_id, answer.public_id])
    client = logged_in(lead)
    for again in (False, True):
        if again:
            make_rubric(question, (("a", "3"), ("b", "3"), ("c", "6")))
            use_new_rubric(made, question, scope=RemarkScope.ALL, acting_user=lead, now=later(2))
        for person, points in ((teacher, "0 0 0"), (other_teacher, "3 3 6")):
            give(answers_of(made)[0], person, points.split(), now=later(3))
        page = client.get(where).text
        assert "Your mark first" in page
        assert 'name="point-1" inputmode="decimal" value=""' in page
        own = {"answer": answer.public_id, "key": hidden(page)["key"], "point-1": "2.5"}
        own |= {"point-2": "2", "point-3": "5"}
        assert client.post(where, own).status_code == 302
        assert "Your mark before seeing the others: 9.5" in client.get(where).text
    assert ArbiterMark.objects.count() == 2
