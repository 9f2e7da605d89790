"""The pages of labelling: the queue, the blind second labelling, agreement, differences, rates."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import HumanRate, LabelOpinion, LabelResolution, LabelRevision, Question
from questions.rules.four_tuple import Label
from questions.rules.vocabulary import ItemStatus, Modal
from questions.selectors.labelling import (
    Progress,
    by_whom,
    modals_of_agibench,
    next_waiting,
    progress,
    waiting,
)
from questions.selectors.labels import four_tuple, history_rows
from questions.selectors.opinions import agreements, model_shares
from questions.services.opinions import give_opinion, undo_opinion
from questions.services.suggestions import import_suggestions
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task, make_user
from tests.questions.label_world import MECHANICS, imported_labels, make_knowledge

WHOLE = {
    "ability_branch": "reasoning",
    "knowledge": MECHANICS,
    "difficulty": "4",
    "modal": "text",
}
HTMX = {"HX-Request": "true"}


@pytest.fixture
def items(db: None) -> list[Question]:
    make_knowledge()
    task = make_task()
    return [make_question(task, stem=f"question number {n}") for n in (1, 2, 3)]


@pytest.fixture
def other(db: None) -> User:
    return make_user(Role.CURATOR, "zhao")


def address(question: Question, query: str = "") -> str:
    return reverse("questions:labelling-item", args=[question.public_id]) + query


def save(user: User, question: Question, query: str = "", **fields: object) -> object:
    data = WHOLE | {"seen": question.label_id or 0} | fields
    return logged_in(user).post(address(question, query), data, headers=HTMX)


def label(question: Question, user: User, **change: object) -> None:
    question.refresh_from_db()
    give_opinion(question, WHOLE | change, acting_user=user, sets_labels=True)


# ---- the queue ----


def test_the_overview_says_what_waits_and_by_whom(items: list[Question], curator: User) -> None:
    label(items[0], curator)
    page = logged_in(curator).get(reverse("questions:labelling")).text
    assert "1 of 3 have all four labels." in page
    assert "Label 2 questions" in page
    assert [(share.name, share.opinions, share.labels) for share in by_whom()] == [("chen", 1, 1)]


def test_large_numbers_have_their_thousands_apart(
    items: list[Question], curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("questions.views.labelling.progress", lambda *_, **__: Progress(927, 12097))
    pages = [reverse("questions:labelling"), address(items[0])]
    overview, desk = (logged_in(curator).get(page).text for page in pages)
    assert "927 of 12,097 have all four labels." in overview
    assert "927 / 12,097 labelled" in desk


def test_the_modals_of_agibench_stand_beside_its_paper(curator: User, db: None) -> None:
    task = make_task(make_dataset("agibench"))
    for modal in (Modal.TEXT, Modal.TEXT, Modal.IMAGE):
        imported_labels(make_question(task), modal=modal)
    make_question(make_task(make_dataset("other")))
    found = {count.modal: (count.found, count.paper) for count in modals_of_agibench()}
    assert found == {
        "text": (2, 863),
        "text_table": (0, 10),
        "text_image": (0, 38),
        "image": (1, 5),
        "text_image_table": (0, 11),
    }
    client, page = logged_in(curator), reverse("questions:labelling")
    assert "In its paper" in client.get(page).text
    assert "In its paper" in client.get(f"{page}?dataset=agibench").text
    assert "In its paper" not in client.get(f"{page}?dataset=other").text


def test_filters_of_the_address_choose_the_queue(items: list[Question], curator: User) -> None:
    client = logged_in(curator)
    start = reverse("questions:labelling-next")
    assert client.get(start)["Location"] == address(items[0])
    assert client.get(f"{start}?after={items[0].pk}")["Location"] == address(items[1])
    assert client.get(f"{start}?after={items[2].pk}")["Location"] == address(items[0])
    assert client.get(f"{start}?year=2020")["Location"] == address(items[0], "?year=2020")
    nothing = client.get(f"{start}?subject=History")["Location"]
    assert nothing == reverse("questions:labelling") + "?subject=History"


def test_saving_labels_and_shows_the_next(items: list[Question], curator: User) -> None:
    page = save(curator, items[0], "?year=2020", reason="clear")
    assert "question number 2" in page.text
    assert page["HX-Push-Url"] == address(items[1], "?year=2020")
    said = "Reasoning · Mechanics · Level 4 · Text"
    assert f'id="saved-labels" hx-swap-oob="true">{said}<' in page.text
    assert f"Saved: {said}. Next question:" in page.text
    items[0].refresh_from_db()
    row = items[0].label
    assert (row.ability_branch, row.knowledge.slug, row.difficulty, row.modal, row.reason) == (
        "reasoning",
        MECHANICS,
        4,
        "text",
        "clear",
    )
    assert LabelOpinion.objects.get().wrote == row


def test_the_last_one_leads_to_the_overview(items: list[Question], curator: User) -> None:
    for question in items[:2]:
        label(question, curator)
    answer = save(curator, items[2])
    assert answer["HX-Redirect"] == reverse("questions:labelling")
    assert progress(Question.objects.all(), curator, second=False).left == 0


def test_without_scripts_it_is_a_plain_form(items: list[Question], curator: User) -> None:
    client = logged_in(curator)
    answer = client.post(address(items[0]), WHOLE | {"seen": 0})
    assert (answer.status_code, answer["Location"]) == (302, address(items[1]))
    refused = client.post(address(items[1]), {"seen": 0, "reason": "so"})
    assert refused.status_code == 400
    assert "Give at least one label." in refused.text
    assert 'value="so"' in refused.text
    bad = client.post(address(items[1]), {"difficulty": "9", "modal": "image"})
    assert "A level must be a whole number from 1 to 5." in bad.text
    assert LabelRevision.objects.count() == 1


def test_undo_gives_the_item_back_as_it_was(items: list[Question], curator: User) -> None:
    imported_labels(items[0])
    save(curator, Question.objects.get(pk=items[0].pk))
    page = logged_in(curator).post(reverse("questions:labelling-undo"), headers=HTMX)
    assert "question number 1" in page.text
    assert 'name="difficulty" value="4" checked' in page.text  # as it had been given
    items[0].refresh_from_db()
    assert (items[0].label.difficulty, items[0].label.origins["difficulty"]) == (3, "derived")
    again = logged_in(curator).post(reverse("questions:labelling-undo"), headers=HTMX)
    assert (again.status_code, "nothing to undo" in again.text) == (409, True)


def test_an_undo_that_is_sent_twice_undoes_one(items: list[Question], curator: User) -> None:
    client, undo = logged_in(curator), reverse("questions:labelling-undo")
    for item in items[:2]:
        label(item, curator)
    page = client.get(address(items[2])).text
    last = re.search(r'name="last" value="(\d+)"', page)
    assert last is not None
    answers = [client.post(undo, {"last": last[1]}, headers=HTMX) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 409]
    assert "Since this page was opened" in answers[1].text
    for item in items[:2]:
        item.refresh_from_db()
    assert [four_tuple(item.label).difficulty for item in items[:2]] == [4, None]
    after = re.search(r'name="last" value="(\d+)"', answers[0].text)
    assert after is not None
    assert client.post(undo, {"last": after[1]}, headers=HTMX).status_code == 200


def test_the_second_to_save_is_told(items: list[Question], curator: User, other: User) -> None:
    label(items[0], other)
    answer = save(curator, items[0], seen=0, difficulty="1")
    told = json.loads(answer["HX-Trigger"])["notice"]["text"]
    assert "Somebody has changed the labels" in told
    items[0].refresh_from_db()
    assert items[0].label.difficulty == 4
    assert [row.row.overtaken for row in history_rows(items[0])] == [True, False]


@pytest.mark.parametrize("undone", [False, True])
def test_overtaken_labels_count_when_given_again_at_the_desk(
    undone: bool, items: list[Question], curator: User, other: User
) -> None:
    label(items[0], other)
    save(curator, items[0], seen=0, difficulty="1")
    client = logged_in(curator)
    page = client.get(address(items[0])).text
    if undone:
        page = client.post(reverse("questions:labelling-undo"), headers=HTMX).text
    seen = re.search(r'name="seen" value="(\d+)"', page)
    assert seen is not None
    answer = save(curator, items[0], seen=int(seen[1]), difficulty="1")
    assert "notice" not in json.loads(answer.get("HX-Trigger", "{}"))
    items[0].refresh_from_db()
    assert (items[0].label.difficulty, items[0].label.author) == (1, curator)


def test_excluded_items_and_own_ones_do_not_wait(items: list[Question], curator: User) -> None:
    Question.objects.filter(pk=items[0].pk).update(status=ItemStatus.EXCLUDED)
    # Partly labelled: no longer for this curator, still for others.
    give_opinion(items[1], {"modal": "text"}, acting_user=curator, sets_labels=True)
    queue = waiting(Question.objects.all(), curator, second=False)
    assert list(queue) == [items[2]]
    assert next_waiting(queue, items[2].pk) == items[2]


def test_the_history_says_who_when_and_why(items: list[Question], curator: User) -> None:
    imported_labels(items[0])
    label(items[0], curator)
    client = logged_in(curator)
    place = reverse("questions:labelling-history", args=[items[0].public_id])
    whole, part = client.get(place).text, client.get(place, headers=HTMX).text
    assert "<html" in whole
    assert "<html" not in part
    for text in ("chen", "Import", "Derived from the human rate", "Set by a person", "Mechanics"):
        assert text in part
    assert [sorted(row.changed) for row in history_rows(items[0])] == [
        ["ability_branch", "difficulty", "knowledge"],
        ["difficulty", "modal"],
    ]


def test_pages_make_few_queries_whatever_the_bank(
    items: list[Question], curator: User, django_assert_max_num_queries: object
) -> None:
    client = logged_in(curator)
    client.get(address(items[0]))
    with django_assert_max_num_queries(20):  # type: ignore[operator]
        client.get(address(items[0]))
    with django_assert_max_num_queries(25):  # type: ignore[operator]
        client.get(reverse("questions:labelling"))


# ---- the second labelling ----


def test_the_second_labelling_shows_nothing_of_the_first(
    items: list[Question], curator: User, other: User
) -> None:
    give_opinion(items[0], WHOLE, acting_user=other, sets_labels=True, reason="secret reason")
    HumanRate.objects.create(question=items[0], value=Decimal("0.37"), source="board")
    suggest(items[0], other, difficulty=2)
    client = logged_in(curator)
    start = reverse("questions:labelling-next") + "?mode=second"
    assert client.get(start)["Location"] == address(items[0], "?mode=second")
    page = client.get(address(items[0], "?mode=second")).text
    assert "question number 1" in page
    for shown in ("checked", "selected", "zhao", "secret reason", "37 %", "canary", "history"):
        assert shown not in page.split('id="desk"')[1], shown
    save(curator, items[0], "?mode=second", difficulty="1")
    items[0].refresh_from_db()
    assert items[0].label.difficulty == 4
    assert items[0].labels.count() == 1
    done = progress(Question.objects.all(), curator, second=True)
    assert (done.done, done.total) == (1, 1)
    assert not waiting(Question.objects.all(), other, second=True).exists()


def test_who_skips_with_labels_of_another_in_sight_is_not_independent(
    items: list[Question], curator: User, other: User
) -> None:
    for item in items[:2]:
        give_opinion(item, {"difficulty": 4}, acting_user=other, sets_labels=True)
    client, start = logged_in(curator), reverse("questions:labelling-next")
    for query in ("", "?after=0"):
        assert client.get(start + query, follow=True).context["choices"].chosen["difficulty"] == "4"
    client.get(f"{start}?after={items[0].pk}&mode=second", follow=True)  # shows nothing of it
    for item in items[:2]:
        save(curator, item, "?mode=second")
    given = LabelOpinion.objects.filter(author=curator).exclude(difficulty=None)
    assert dict(given.values_list("question", "seen_suggestion")) == {
        items[0].pk: True,
        items[1].pk: False,
    }
    assert [pair.items for pair in agreements()] == [1]
    assert LabelOpinion.objects.filter(author=curator, difficulty=None).count() == 1


def test_who_skips_with_a_suggestion_in_sight_is_not_independent(
    items: list[Question], curator: User, other: User
) -> None:
    suggest(items[0], other, difficulty=3)
    client, start = logged_in(curator), reverse("questions:labelling-next")
    assert client.get(start, follow=True).context["suggestion"] is not None
    client.get(f"{start}?after=0", follow=True)
    for item in items[:2]:
        give_opinion(item, {"difficulty": 3}, acting_user=other, sets_labels=True)
        save(curator, item, "?mode=second", difficulty="3")
    assert LabelOpinion.objects.get(author=curator, question=items[0], difficulty=3).seen_suggestion
    assert [pair.items for pair in agreements()] == [1]


def test_who_completes_an_opinion_after_labels_were_shown_is_independent_for_its_first_part(
    items: list[Question], curator: User, other: User
) -> None:
    give_opinion(items[0], {"difficulty": 4}, acting_user=curator, sets_labels=False)
    give_opinion(items[0], WHOLE | {"difficulty": 4}, acting_user=other, sets_labels=True)
    logged_in(curator).get(address(items[0]))
    save(curator, items[0], "?mode=second", **(WHOLE | {"difficulty": 4}))
    (pair,) = agreements()
    assert {label: found.n for label, found in pair.labels.items()} == {
        label: int(label is Label.DIFFICULTY) for label in Label
    }


def test_a_suggestion_that_nobody_saw_counts_for_no_model(
    items: list[Question], curator: User, other: User
) -> None:
    for question in items[:2]:
        suggest(question, curator, difficulty=2)
    give_opinion(items[0], {"difficulty": 2}, acting_user=other, sets_labels=True)
    save(curator, items[0], "?suggestions=off", difficulty="2")  # with the other's labels in sight
    assert LabelOpinion.objects.get(author=curator, difficulty=2).seen_suggestion
    shown = logged_in(curator).get(address(items[1])).context["suggestion"]
    save(curator, items[1], suggestion=shown.pk, difficulty="2")
    (share,) = model_shares()
    assert (share.questions, share.answered, share.taken) == (2, 1, {Label.DIFFICULTY: 1})


def test_an_undo_gives_a_model_no_labels_that_were_given_without_it(
    items: list[Question], curator: User
) -> None:
    give_opinion(items[0], {"difficulty": 3}, acting_user=curator, sets_labels=False)
    suggest(items[0], curator, difficulty=3)
    shown = logged_in(curator).get(address(items[0])).context["suggestion"]
    save(curator, items[0], suggestion=shown.pk, difficulty="4")
    (share,) = model_shares()
    assert (share.answered, share.taken) == (1, {Label.DIFFICULTY: 0})
    undo_opinion(acting_user=curator)  # 3 counts again, said before anything was suggested
    (share,) = model_shares()
    assert (share.answered, share.taken) == (0, {})


def test_agreement_and_differences_on_their_pages(
    items: list[Question], curator: User, other: User
) -> None:
    for question, level in zip(items, (4, 2, 1), strict=True):
        label(question, other)
        question.refresh_from_db()
        give_opinion(
            question, WHOLE | {"difficulty": level}, acting_user=curator, sets_labels=False
        )
    client = logged_in(curator)
    page = client.get(reverse("questions:labelling-agreement")).text
    assert "1 of 3" in page
    assert "both curators always chose the same single value" in page
    page = client.get(reverse("questions:labelling-differences")).text
    assert "2 questions with differing labels." in page

    theirs = LabelOpinion.objects.get(author=curator, question=items[1])
    place = reverse("questions:labelling-resolve", args=[items[1].public_id])
    sent = {"choice": theirs.pk, "last": theirs.pk, "reason": "read again"}
    answer = client.post(f"{place}?page=2", sent)
    assert answer.url == reverse("questions:labelling-differences", query={"page": 2})
    items[1].refresh_from_db()
    assert (items[1].label.difficulty, items[1].label.reason) == (2, "read again")
    assert LabelResolution.objects.get().chosen == theirs
    assert "1 question with" in client.get(reverse("questions:labelling-differences")).text
    place = reverse("questions:labelling-resolve", args=[items[2].public_id])
    newest = LabelOpinion.objects.get(author=curator, question=items[2]).pk
    sent = {"last": newest - 1, "choice": "own", "difficulty": "5", "reason": "as I typed it"}
    for given, words in ((sent, "in the meantime"), ({**sent, "choice": ""}, "Choose whose")):
        refused = client.post(f"{place}?page=1", given)
        assert refused.status_code in (400, 409)
        assert words in refused.text
        assert 'value="as I typed it"' in refused.text, "it is in the form still"
        assert '<option value="5" selected>' in refused.text
    assert client.post(place, {**sent, "last": newest}).status_code == 302
    refused = client.post(place, {**sent, "reason": "once more"})
    assert "Your reason was: once more" in refused.text, "also where nothing is left to resolve"


def test_curators_of_one_name_are_told_apart(
    items: list[Question], curator: User, other: User
) -> None:
    User.objects.filter(pk__in=[curator.pk, other.pk]).update(display_name="王伟")
    label(items[0], other)
    give_opinion(items[0], WHOLE | {"difficulty": 2}, acting_user=curator, sets_labels=False)
    client = logged_in(curator)
    first, second = (
        f"王伟 ({one})" for one in User.objects.order_by("pk").values_list("username", flat=True)
    )
    page = client.get(reverse("questions:labelling-agreement")).text
    assert f"{first} · {second}</a>" in page
    assert f"{first} ↓ &nbsp;{second} →" in page
    for name in ("labelling-differences", "labelling"):
        page = client.get(reverse(f"questions:{name}")).text
        assert page.count(first) == page.count(second) == 1


def test_a_refused_resolution_stays_on_its_page_of_the_list(
    items: list[Question], curator: User, other: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("questions.views.label_agreement.PAGE", 1)
    for question, level in zip(items, (4, 2, 1), strict=True):
        label(question, other)
        give_opinion(
            question, WHOLE | {"difficulty": level}, acting_user=curator, sets_labels=False
        )
    listed = reverse("questions:labelling-differences")
    client = logged_in(curator)
    place = reverse("questions:labelling-resolve", args=[items[2].public_id]) + "?page=2"
    assert f'action="{place}"' in client.get(listed + "?page=2").text
    refused = client.post(place, {"choice": "", "reason": "mine"})
    assert refused.status_code == 400
    assert f'href="{listed}?page=1"' in refused.text
    assert f'action="{place}"' in refused.text


# ---- suggestions ----


def suggest(question: Question, user: User, **labels: object) -> None:
    line = {"id": str(question.public_id), "model": "canary-gpt"} | labels
    file = SimpleUploadedFile("s.jsonl", json.dumps(line).encode())
    assert import_suggestions(file, acting_user=user).new == 1


def upload(client: Client, *lines: object) -> object:
    text = "\n".join(json.dumps(line) for line in lines).encode()
    place = reverse("questions:labelling-suggestions")
    return client.post(place, {"file": SimpleUploadedFile("s.jsonl", text)})


def test_a_suggestion_is_shown_and_counted_apart(items: list[Question], curator: User) -> None:
    client = logged_in(curator)
    line = {
        "dataset": "exam",
        "task": items[0].task.slug,
        "external_id": items[0].external_id,
        "model": "canary-gpt",
        "difficulty": 2,
        "knowledge": MECHANICS,
    }
    assert upload(client, line).status_code == 302
    items[0].refresh_from_db()
    assert items[0].label is None
    page = client.get(address(items[0])).text
    assert "canary-gpt suggests" in page
    assert "canary" not in client.get(address(items[0], "?suggestions=off")).text
    suggestion = LabelOpinion.objects.get(author=None)
    save(curator, items[0], suggestion=suggestion.pk, difficulty="3")
    assert LabelOpinion.objects.get(author=curator, difficulty=3).seen_suggestion
    page = client.get(reverse("questions:labelling-suggestions")).text
    assert "1 / 1" in page  # knowledge was taken
    assert "0 / 1" in page  # the level was not
    save(curator, items[1], suggestion=suggestion.pk)  # of another item: nothing was seen
    assert not LabelOpinion.objects.get(author=curator, question=items[1]).seen_suggestion


def test_a_file_with_a_bad_line_writes_nothing(items: list[Question], curator: User) -> None:
    good = {"id": str(items[0].public_id), "model": "m", "difficulty": 2}
    answer = upload(
        logged_in(curator),
        good,
        {**good, "difficulty": 7},
        {**good, "id": "00000000-0000-4000-8000-000000000000"},
        {**good, "knowledge": "alchemy"},
        {"model": "m", "difficulty": 2},
        {**good, "model": ""},
        {**good, "colour": "red"},
        ["no object"],
        {"id": str(items[0].public_id), "model": "m"},
        {**good, "model": "gpt\ud800"},
        {"dataset": "exam\0", "task": "t", "external_id": "1", "model": "m", "difficulty": 2},
        {**good, "model": "g\u200bpt"},
        {**good, "model": "g\u0440\u0442"},
        {**good, "difficulty": 5},
        {**good, "model": "n", "external_id": items[1].external_id},
    )
    assert answer.status_code == 400
    for sentence in (
        "“7” is not a value of “difficulty”.",
        "There is no such question.",
        "There is no knowledge point called “alchemy”.",
        "The line does not state the question.",
        "The line does not state the model.",
        "There is no field called “colour”.",
        "The line is not a JSON object in braces.",
        "The line contains no label.",
        "The line holds a character that cannot be stored.",
        "A name must not contain invisible or control characters.",
        "A word of a name must not mix letters of scripts that look alike.",
        "Line 1 has the same question and model.",
        "The line names its question in two ways.",
    ):
        assert sentence in answer.text
    assert answer.text.count("cannot be stored") == 2
    assert not LabelOpinion.objects.exists()


def test_a_file_costs_no_query_for_each_task_that_it_names(
    items: list[Question], curator: User
) -> None:
    """Nor the reading of what no suggestion holds: a line of 16 kB at most."""
    place = {"model": "m", "difficulty": 2, "dataset": "exam", "external_id": "1"}
    client = logged_in(curator)
    counts = []
    for number in (1, 60):
        with CaptureQueriesContext(connection) as made:
            answer = upload(client, *({**place, "task": f"{task}"} for task in range(number)))
        assert answer.text.count("There is no such question.") == min(number, 50)
        counts.append(len(made))
    assert counts[0] == counts[1]
    assert "The line is longer than 16 kB." in upload(client, {"x": [[]] * 9000}).text


def test_the_same_suggestion_is_kept_once(items: list[Question], curator: User) -> None:
    client = logged_in(curator)
    line = {"id": str(items[0].public_id), "model": "m", "difficulty": 2}
    upload(client, line)
    upload(client, line, {**line, "id": str(items[1].public_id)})
    assert LabelOpinion.objects.count() == 2


# ---- human rates ----


def test_a_rate_is_added_and_corrected_on_its_page(items: list[Question], curator: User) -> None:
    client = logged_in(curator)
    place = reverse("questions:rates", args=[items[0].public_id])
    given = {"percent": "61", "source": "board 2020", "weight": "1"}
    opened = client.get(place)
    given["key"] = str(opened.context["form_key"])
    assert f'name="key" value="{given["key"]}"' in opened.text
    for _twice in range(2):
        assert client.post(place, given).status_code == 302
    rate = HumanRate.objects.get()
    assert rate.value == Decimal("0.61")
    corrected = given | {"corrects": rate.pk, "percent": "55.25 %", "reason": "misprint"}
    assert client.post(place, corrected).status_code == 302
    page = client.get(place).text
    for text in ("55.25 % answer this question correctly: level 3.", "misprint", "corrected"):
        assert text in page
    items[0].refresh_from_db()
    assert (items[0].label.difficulty, items[0].label.origins) == (3, {"difficulty": "derived"})
    refused = client.post(place, given | {"percent": "a lot"})
    assert (refused.status_code, "Enter the rate in per cent." in refused.text) == (400, True)
    assert 'value="a lot"' in refused.text
    assert client.post(place, given | {"corrects": "999999", "reason": "x"}).status_code == 404
    assert HumanRate.objects.count() == 2


def test_a_lead_reads_and_changes_nothing(items: list[Question], lead: User) -> None:
    client = logged_in(lead)
    assert "Label 3" not in client.get(reverse("questions:labelling")).text
    place = reverse("questions:rates", args=[items[0].public_id])
    assert "Add rate" not in client.get(place).text
    assert client.post(place, {"percent": "61", "source": "x"}).status_code == 403
    assert client.get(address(items[0])).status_code == 403
