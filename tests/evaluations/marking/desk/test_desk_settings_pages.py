""" "Preferences", and what the desk makes of it; the response that the page holds ahead."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from evaluations.marking.desk.rules.desk_keys import Action, default
from evaluations.models import DeskSettings, Draft, Mark, MarkingRound, Slot
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking.desk.test_marking_pages import HTMX, address, filled
from tests.evaluations.marking_world import answers_of, held_slot, small_round

pytestmark = pytest.mark.django_db
SETTINGS = "/marking/settings/"


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher], 3)


@pytest.fixture
def client(teacher: User) -> Client:
    return logged_in(teacher)


def chosen(**own: str) -> dict[str, str]:
    """The whole form as a browser sends it, with *own* keys in it."""
    keys = {f"key-{action.value}": default(action) for action in Action}
    return keys | {"shortcuts": "on", "type_size": "100"} | own


def test_own_keys_stand_on_the_buttons_and_in_the_list(client: Client, made: MarkingRound) -> None:
    own = {"key-undo": "z", "key-flag": "", "key-on": "j"}
    sent = chosen(**own, type_size="130", advance="on")
    assert client.post(SETTINGS, sent).status_code == 302
    stored = DeskSettings.objects.get()
    assert stored.keys == {"undo": "z", "flag": "", "on": "j"}
    page = client.post(address("next", made), follow=True).text
    assert 'data-type-size="130"' in page
    assert "data-advance" in page
    assert re.search(r">Undo <kbd>z</kbd>", page)
    assert re.search(r">Flag </summary>", page)
    assert "<dt><kbd>↓</kbd> <kbd>j</kbd> </dt><dd>Next scoring point</dd>" in page
    assert "<dd>Flags; a digit sets one</dd>" not in page
    own = re.search(r'data-shortcuts="on" data-keys="([^"]*)"', page)
    assert own
    expected = '{"f": "", "u": "", "z": "u", "j": "ArrowDown"}'
    assert own[1].replace("&quot;", '"') == expected


def test_without_shortcuts_no_button_shows_a_key(client: Client, made: MarkingRound) -> None:
    sent = chosen()
    del sent["shortcuts"]
    client.post(SETTINGS, sent)
    page = client.post(address("next", made), follow=True).text
    assert 'data-shortcuts="off"' in page
    form = page[page.index('id="marks"') : page.index("desk-hint")]
    assert re.findall(r"<button[^>]*data-key.*?</button>", form)
    assert not any("<kbd" in one for one in re.findall(r"<button[^>]*data-key.*?</button>", form))


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ({"key-undo": "s"}, "“s” cannot be used for both “Skip: the response returns at the end”"),
        ({"key-undo": "7"}, "“Go to your last mark” needs another key: digits give points."),
        ({"key-undo": "ab"}, "“Go to your last mark” needs a key that types one character."),
    ],
)
def test_a_refused_choice_is_one_sentence_and_changes_nothing(
    client: Client, own: dict[str, str], sentence: str
) -> None:
    answer = client.post(SETTINGS, chosen(**own))
    assert answer.status_code == 400
    assert sentence in answer.text
    assert f'value="{own["key-undo"]}"' in answer.text
    assert not DeskSettings.objects.exists()


@pytest.mark.parametrize("size", ["79", "105", "170", "nan", ""])
def test_only_the_sizes_that_are_offered(client: Client, size: str) -> None:
    assert client.post(SETTINGS, chosen(type_size=size)).status_code == 400
    assert not DeskSettings.objects.exists()


def test_back_to_the_usual_ones_for_oneself_alone(
    client: Client, teacher: User, other_teacher: User
) -> None:
    for person in (teacher, other_teacher):
        DeskSettings.objects.create(user=person, keys={"undo": "z"})
    assert client.post(SETTINGS, {"reset": "yes"}, follow=True).status_code == 200
    assert DeskSettings.objects.get().user == other_teacher


# ---- the response that the page holds ahead ----


def print_of(page: str) -> str:
    found = re.search(r'data-digest="(\w{16})"', page)
    assert found
    return found[1]


def test_a_save_of_a_page_that_holds_the_next_response_is_answered_briefly(
    client: Client, made: MarkingRound, teacher: User
) -> None:
    now = held_slot(answers_of(made)[0], teacher).answer
    page = client.get(address("desk", now)).text
    ahead = client.post(address("ahead", now), headers=HTMX)
    assert ahead.status_code == 200
    sent = filled(page, "3", "2", "1", ahead=print_of(ahead.text))
    saved = client.post(address("save", now), sent, headers=HTMX)
    assert '<div id="desk" data-ahead></div>' in saved.text
    assert 'id="marks"' not in saved.text
    assert 'id="saved"' in saved.text
    assert Mark.objects.count() == 1
    shown = client.get(saved["HX-Push-Url"]).text
    assert print_of(shown) == print_of(ahead.text)


def test_what_changed_meanwhile_is_sent_whole(
    client: Client, made: MarkingRound, teacher: User
) -> None:
    """Another window typed into the response that this page holds ahead."""
    now = held_slot(answers_of(made)[0], teacher).answer
    page = client.get(address("desk", now)).text
    ahead = client.post(address("ahead", now), headers=HTMX).text
    slot = Slot.objects.filter(holder=teacher).exclude(answer=now).get()
    Draft.objects.create(slot=slot, teacher=teacher, sequence=9, content={"comment": "typed"})
    sent = filled(page, "3", "2", "1", ahead=print_of(ahead))
    saved = client.post(address("save", now), sent, headers=HTMX).text
    assert 'id="marks"' in saved
    assert ">typed</textarea>" in saved


def test_the_last_response_has_none_ahead(
    client: Client, made: MarkingRound, teacher: User
) -> None:
    now = held_slot(answers_of(made)[0], teacher).answer
    Slot.objects.exclude(answer=now).delete()
    assert client.post(address("ahead", now), headers=HTMX).status_code == 204


def test_nobody_elses_response_leads_to_one_ahead(made: MarkingRound, other_teacher: User) -> None:
    other = logged_in(other_teacher)
    first = answers_of(made)[0]
    assert other.post(address("ahead", first)).status_code == 404
    assert other.get(reverse("marking:settings")).status_code == 200
