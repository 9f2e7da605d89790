"""Sheets through their pages: taken, downloaded, printed, filled in, looked at, saved."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import timedelta
from typing import Any

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from pytest_django import Settings

from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import Mark, MarkingRound, MarkingSheet
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.one_file import one_file_of
from tests.conftest import logged_in
from tests.evaluations.marking_world import round_over, small_round, subjective_question
from tests.evaluations.sheet_world import as_csv, as_xlsx, filled, points, table_of, workbook_of
from tests.factories import make_response, make_run
from tests.visible_text import KNOWN_WORDS, latin_words, visible_text

pytestmark = pytest.mark.django_db


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    """Three responses of 12 points; each teacher marks all of them."""
    return small_round([teacher, other_teacher], 3, marking_notes="Units count half.")


def take(client: Client, made: MarkingRound, space: str = "marking", **fields: Any) -> MarkingSheet:
    until = timezone.localdate() + timedelta(days=7)
    sent = {"responses": 2, "until": until.isoformat()} | fields
    response = client.post(reverse(f"{space}:sheets", args=[made.public_id]), sent)
    assert response.status_code == 302, response.text
    return MarkingSheet.objects.latest("pk")


def of(sheet: MarkingSheet, name: str, space: str = "marking") -> str:
    return reverse(f"{space}:{name}", args=[sheet.public_id])


def upload(client: Client, sheet: MarkingSheet, content: bytes, space: str = "marking"):  # type: ignore[no-untyped-def]
    file = SimpleUploadedFile("marks.csv", content)
    return client.post(of(sheet, "sheet", space), {"file": file})


def save(client: Client, sheet: MarkingSheet, preview: str, space: str = "marking"):  # type: ignore[no-untyped-def]
    rows = re.search(r'name="rows" value="([^"]+)"', preview)
    assert rows
    return client.post(of(sheet, "sheet-save", space), {"rows": rows.group(1)})


@pytest.mark.parametrize("shape", ["csv", "xlsx"])
def test_a_sheet_is_taken_filled_in_looked_at_and_saved(
    shape: str, made: MarkingRound, teacher: User
) -> None:
    client = logged_in(teacher)
    sheet = take(client, made)
    assert "2 of 2 responses are left to be marked" in client.get(of(sheet, "sheet")).text
    response = client.get(of(sheet, f"sheet-{shape}"))
    assert f'.{shape}"' in response["Content-Disposition"]
    read, write = (table_of, as_csv) if shape == "csv" else (workbook_of, as_xlsx)
    rows = read(response.content)
    assert len(rows) == 3
    one, two = rows[1][0], rows[2][0]
    marks = {one: points("3", "2.5", "6") | {"Comment": "good"}, two: points("9", "1", "1")}
    content = write(filled(rows, marks))
    seen = upload(client, sheet, content).text
    assert "New: 1. Changed: 0. Already saved: 0. Not filled in: 0." in seen
    assert "1 row was not accepted" in seen
    assert "Scoring point 1: 9 is above its maximum of 3." in seen
    assert not Mark.objects.exists()
    assert "1 mark was saved." in save(client, sheet, seen).text
    assert (Mark.objects.get().total, Mark.objects.get().comment) == (11.5, "good")
    again = upload(client, sheet, content).text
    assert "New: 0. Changed: 0. Already saved: 1. Not filled in: 0." in again
    assert 'name="rows"' not in again
    assert "1 of 2 responses is left to be marked" in client.get(of(sheet, "sheet")).text
    assert [row[0] for row in read(client.get(of(sheet, f"sheet-{shape}")).content)[1:]] == [two]


def test_a_sheet_with_long_texts_is_read_back(
    made: MarkingRound, teacher: User, settings: Settings
) -> None:
    """What a sheet of hundreds of long responses weighs: other requests may have 4 MB."""
    client = logged_in(teacher)
    sheet = take(client, made)
    rows = table_of(client.get(of(sheet, "sheet-csv")).content)
    one, two = rows[1][0], rows[2][0]
    rows = filled(rows, {one: points("3", "2.5", "6"), two: points("1", "1", "1")})
    long = [[*row, "长" * 1_000_000 if row[0] in (one, two) else "more"] for row in rows]
    content = as_csv(long)
    assert len(content) > 5 << 20
    usual = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100_050  # as if there were thousands of comments
    refused = upload(client, sheet, content)
    assert refused.status_code == 400
    assert "Split its rows into two files" in refused.text, "before anything is shown to be saved"
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = usual
    save(client, sheet, upload(client, sheet, content).text)
    assert Mark.objects.count() == 2


def test_a_preview_saves_what_it_showed_and_for_its_sheet_only(
    made: MarkingRound, teacher: User
) -> None:
    client = logged_in(teacher)
    sheet, other = take(client, made, responses=1), take(client, made, responses=1)
    rows = table_of(client.get(of(sheet, "sheet-csv")).content)
    seen = upload(client, sheet, as_csv(filled(rows, {rows[1][0]: points(3, 3, 6)}))).text
    assert save(client, other, seen).status_code == 400
    broken = seen.replace('name="rows" value="', 'name="rows" value="x')
    assert save(client, sheet, broken).status_code == 400
    assert not Mark.objects.exists()
    for _ in range(2):
        assert save(client, sheet, seen).status_code == 200
    assert Mark.objects.count() == 1


def test_a_file_in_chinese_is_read_on_an_english_page(made: MarkingRound, teacher: User) -> None:
    client = logged_in(teacher)
    sheet = take(client, made)
    response = client.get(of(sheet, "sheet-csv"), headers={"accept-language": "zh-CN"})
    rows = table_of(response.content)
    assert rows[0][5:8] == ["采分点1", "采分点2", "采分点3"]
    marks = {f"采分点{number}": value for number, value in enumerate((3, 3, 6), start=1)}
    content = as_csv(filled(rows, {rows[1][0]: marks | {"标记": "拒答"}}), "gb18030")
    assert "New: 1" in upload(client, sheet, content).text


def test_a_wrong_file_is_one_sentence_and_nothing_is_lost(
    made: MarkingRound, teacher: User
) -> None:
    client = logged_in(teacher)
    sheet = take(client, made)
    response = upload(client, sheet, b"a,b\n1,2\n")
    assert (response.status_code, "This is not a marking sheet" in response.text) == (400, True)
    assert client.post(of(sheet, "sheet")).status_code == 400


def test_a_second_file_of_one_person_waits_for_the_first(made: MarkingRound, teacher: User) -> None:
    client = logged_in(teacher)
    sheet = take(client, made)
    with one_file_of(teacher.pk):
        assert upload(client, sheet, b"no sheet").status_code == 503
    assert upload(client, sheet, b"no sheet").status_code == 400


def test_a_sheet_is_its_teachers_and_reads_as_none_to_another(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    sheet = take(logged_in(teacher), made)
    other = logged_in(other_teacher)
    for name in ("sheet", "sheet-csv", "sheet-xlsx", "sheet-print"):
        own = other.get(of(sheet, name))
        none = other.get(reverse(f"marking:{name}", args=["11111111-1111-4111-8111-111111111111"]))
        assert own.status_code == none.status_code == 404
    assert other.post(of(sheet, "sheet-return")).status_code == 404
    theirs = take(other, made)
    rows = table_of(logged_in(teacher).get(of(sheet, "sheet-csv")).content)
    seen = upload(other, theirs, as_csv(filled(rows, {rows[1][0]: points(3, 3, 6)}))).text
    assert "This row belongs to another marking sheet." in seen
    assert 'name="rows"' not in seen


def test_what_cannot_be_taken_is_said_on_the_page(made: MarkingRound, teacher: User) -> None:
    client = logged_in(teacher)
    where = reverse("marking:sheets", args=[made.public_id])
    response = client.post(where, {"responses": 2, "until": "2020-01-01"})
    assert (response.status_code, "Choose a day between today" in response.text) == (400, True)
    take(client, made, responses=3)
    late = client.post(where, {"responses": 2, "until": timezone.localdate().isoformat()})
    assert "There are no responses to download now." in late.text


def test_the_rest_of_a_sheet_is_given_back(made: MarkingRound, teacher: User) -> None:
    client = logged_in(teacher)
    sheet = take(client, made, responses=3)
    page = client.post(of(sheet, "sheet-return"), follow=True).text
    assert "3 responses were returned to the queue." in page
    given_back = client.get(of(sheet, "sheet")).text
    assert "0 of 3 responses are left to be marked" in given_back
    assert "No response on this sheet is left to be marked." in given_back
    assert "are marked" not in given_back


def test_a_round_that_closed_keeps_the_file(made: MarkingRound, teacher: User) -> None:
    client = logged_in(teacher)
    sheet = take(client, made)
    rows = table_of(client.get(of(sheet, "sheet-csv")).content)
    content = as_csv(filled(rows, {rows[1][0]: points(3, 3, 6)}))
    close_round(made, acting_user=None, now=timezone.now())
    response = upload(client, sheet, content)
    assert (response.status_code, "Keep your file" in response.text) == (409, True)


@pytest.mark.parametrize(
    ("days", "hour", "usual"),
    [(None, 0, 7), (30, 12, 7), (3, 23, 3), (3, 12, 2), (0, 12, 0), (-5, 12, 0)],
)
def test_a_sheet_ends_before_the_round_should_be_done(
    days: int | None, hour: int, usual: int, made: MarkingRound, teacher: User
) -> None:
    now = timezone.localtime()
    if days is not None:
        end = now.replace(hour=hour, minute=59, second=0, microsecond=0)
        MarkingRound.objects.filter(pk=made.pk).update(deadline=end + timedelta(days=days))
    page = logged_in(teacher).get(reverse("marking:sheets", args=[made.public_id])).text
    assert f'value="{timezone.localdate() + timedelta(days=usual)}"' in page


# ---- the lead, for a teacher ----


def test_a_lead_takes_a_sheet_and_types_it_in_for_a_teacher(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    client = logged_in(lead)
    sheet = take(client, made, "rounds", teacher=teacher.pk)
    assert sheet.teacher == teacher
    assert str(teacher) in client.get(reverse("rounds:sheets", args=[made.public_id])).text
    rows = table_of(client.get(of(sheet, "sheet-csv", "rounds")).content)
    content = as_csv(filled(rows, {rows[1][0]: points(3, 3, 6)}))
    seen = upload(client, sheet, content, "rounds").text
    assert "1 mark was saved." in save(client, sheet, seen, "rounds").text
    assert Mark.objects.get().teacher == teacher
    assert AuditEntry.objects.get(tag="sheet.read").actor == lead
    assert AuditEntry.objects.get(tag="sheet.downloaded").detail["rows"] == 2
    assert client.get(of(sheet, "sheet-print", "rounds")).status_code == 200


def test_a_lead_who_marks_in_the_round_does_not_see_its_sheets(
    teacher: User, other_teacher: User, lead: User
) -> None:
    lead.groups.add(*teacher.groups.all())
    made = small_round([teacher, lead], 2)
    sheet = take(logged_in(teacher), made)
    assert logged_in(lead).get(of(sheet, "sheet-csv", "rounds")).status_code == 403


# ---- paper ----


def test_a_sheet_is_printed_one_response_a_page(made: MarkingRound, teacher: User) -> None:
    client = logged_in(teacher)
    page = client.get(of(take(client, made), "sheet-print")).text
    assert page.count('<article class="print-page"') == 3, "two responses and the marking notes"
    for text in ("names the law", "Units count half.", "print.css", "math.js", "data-print"):
        assert text in page
    assert "<nav" not in page


def test_paper_says_where_a_response_is_cut_or_hides_something(
    teacher: User, other_teacher: User
) -> None:
    """Who marks on paper read 200,000 characters of a longer response, and nothing said so."""
    question = subjective_question()
    run = make_run(question.task.dataset, "canary-gpt-7f3a")
    text = "推理。" * 70_000 + "$\\color{white}{full marks}$ THE END"
    made = round_over([make_response(question, run, text)], [teacher, other_teacher])
    client = logged_in(teacher)
    page = client.get(of(take(client, made, responses=1), "sheet-print")).text
    assert '<details class="fold display-changes" open>' in page
    for said in ("Hidden text", "Words in the colour of the paper", "THE END"):
        assert said in page


def test_an_own_response_is_printed_with_its_mark_and_nobody_elses(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    client = logged_in(teacher)
    sheet = take(client, made)
    rows = table_of(client.get(of(sheet, "sheet-csv")).content)
    marks = {rows[1][0]: points(3, "2.5", 6) | {"Comment": "all there"}}
    save(client, sheet, upload(client, sheet, as_csv(filled(rows, marks))).text)
    answer = Mark.objects.get().slot.answer
    where = reverse("marking:print", args=[answer.public_id])
    page = client.get(where).text
    assert '<td class="print-box">2.5</td>' in page
    assert "all there" in page
    assert logged_in(other_teacher).get(where).status_code == 404


def test_paper_of_a_response_without_a_rubric_has_a_total(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], question=subjective_question(rubric=()))
    client = logged_in(teacher)
    sheet = take(client, made)
    assert '<td class="print-box"></td>' in client.get(of(sheet, "sheet-print")).text
    rows = table_of(client.get(of(sheet, "sheet-csv")).content)
    seen = upload(client, sheet, as_csv(filled(rows, {rows[1][0]: {"Total": "7.5"}}))).text
    save(client, sheet, seen)
    assert Mark.objects.get().total == 7.5


def how_to_of(client: Client, made: MarkingRound) -> list[str]:
    """The sentences of a workbook's second page."""
    content = client.get(of(take(client, made), "sheet-xlsx")).content
    page = openpyxl.load_workbook(io.BytesIO(content)).worksheets[1]
    return [str(row[0]) for row in page.iter_rows(values_only=True)]


def test_a_workbook_names_the_columns_that_it_has(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    client = logged_in(teacher)
    said = how_to_of(client, made)
    assert "“Point 1”" in said[0]
    assert said[1] == "The total can be left empty."
    question = subjective_question(rubric=())
    bare = how_to_of(client, small_round([teacher, other_teacher], question=question))
    assert bare[0] == "Enter the mark in the column “Total”."
    assert not [sentence for sentence in bare if "oint" in sentence]


def test_a_workbook_holds_nothing_but_the_desk_shows(made: MarkingRound, teacher: User) -> None:
    client = logged_in(teacher)
    content = client.get(of(take(client, made), "sheet-xlsx")).content
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        whole = b"".join(opened.read(name) for name in opened.namelist())
    assert b"canary" not in whole
    assert teacher.username.encode() not in whole


def test_pages_of_sheets_are_chinese_to_a_chinese_reader(
    teacher: User, other_teacher: User, lead: User
) -> None:
    call_command("compile_translations")
    made = small_round([teacher, other_teacher], 3, name="第一轮", marking_notes="单位漏写。")
    client, leads = logged_in(teacher), logged_in(lead)
    for one in (client, leads):
        one.defaults["HTTP_ACCEPT_LANGUAGE"] = "zh-CN"
    empty = client.get(reverse("marking:sheets", args=[made.public_id]))
    sheet = take(client, made)
    rows = table_of(client.get(of(sheet, "sheet-csv")).content)
    marks = {f"采分点{number}": 3 for number in (1, 2, 3)}
    content = as_csv(filled(rows, {rows[1][0]: marks, rows[2][0]: marks | {"采分点2": 9}}))
    seen = upload(client, sheet, content)
    pages = [
        *(empty, seen, save(client, sheet, seen.text), upload(client, sheet, b"a,b")),
        *(client.get(of(sheet, name)) for name in ("sheet", "sheet-print")),
        client.get(reverse("marking:sheets", args=[made.public_id])),
        leads.get(reverse("rounds:sheets", args=[made.public_id])),
        leads.get(of(sheet, "sheet", "rounds")),
    ]
    people = {person.username for person in (teacher, other_teacher, lead)}
    for page in pages:
        assert '<html lang="zh-hans">' in page.text
        assert not list(latin_words(visible_text(page.text), KNOWN_WORDS | people))
    translation.deactivate()
